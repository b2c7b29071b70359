// The runs that are watched: cards with numbers, and curves of all chosen runs in the same charts.

import { makeLink } from "./link.js";
import { $, drawWithFocus, notify, setUpPage } from "./page.js";
import { say } from "./text.js";

const POLL_MS = 5000;
// The first colors; others are as far from each other as a circle allows.
const GOLDEN_ANGLE = 137.5;
const COLORS = ["#2f7fc0", "#d0722a", "#3f9b52", "#a34fa3", "#b8a000", "#c0404a"];
// Charts in their order: the curves of train and test, or one curve with its interval.
const LOSSES = ["policy_loss", "value_loss", "policy_top1", "value_top1", "move_top1", "lead_error"];
const SINGLE = ["game_length", "black_win_rate", "elo"];
const WIDTH = 420;
const HEIGHT = 220;
const PAD = { left: 46, right: 10, top: 10, bottom: 24 };

let folders = [];
const hidden = new Set();
const unfolded = new Set(); // folders whose settings are shown

const runsOf = () => folders.flatMap((folder, index) => folder.tables.map((table) => ({
  ...table, index, id: `${index}/${table.name}`, title: folders.length > 1 ? `${folder.folder}/${table.name}` : table.name,
})));

function make(tag, attributes = {}, ...content) {
  const element = Object.assign(document.createElement(tag), attributes);
  element.append(...content);
  return element;
}

function makeSvg(tag, attributes, parent) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  parent?.append(element);
  return element;
}

export function duration(seconds) {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  return hours ? say("hours", hours, minutes) : minutes ? say("minutesLong", minutes) : say("secondsLong", Math.round(seconds));
}

async function look() {
  try {
    const answer = await fetch("/runs/data");
    if (answer.status === 401) location.reload(); // the server wants another token now
    if (!answer.ok) throw new Error(answer.statusText);
    folders = await answer.json();
    if ($("notice").textContent === say("closed")) $("notice").hidden = true; // any other line has its own time
  } catch {
    $("notice").textContent = say("closed");
    $("notice").hidden = false;
  }
  setTimeout(look, POLL_MS);
  draw();
}

const draw = () => drawWithFocus(drawAll);

function drawAll() {
  const runs = runsOf();
  runs.forEach((run, index) => { run.color = COLORS[index] ?? `hsl(${Math.round(GOLDEN_ANGLE * index) % 360} 55% 45%)`; });
  $("none").hidden = runs.length > 0 || folders.some((folder) => folder.archive);
  $("cards").replaceChildren(...folders.map((folder, index) => drawCard(folder, index, runs)).filter(Boolean));
  const shown = runs.filter((run) => !hidden.has(run.id));
  const keys = [...new Set(shown.map((run) => run.key))];
  const both = LOSSES.map((name) => [name, ["train", "test"].map((part) => [`${part}_${name}`, part])]);
  const single = SINGLE.map((name) => [name, [[name, "test"]]]);
  $("charts").replaceChildren(...keys.flatMap((key) => {
    const alike = shown.filter((run) => run.key === key);
    return [...both, ...single].map(([name, curves]) => drawChart(name, curves, alike)).filter(Boolean);
  }));
}

function drawCard(folder, index, runs) {
  const own = runs.filter((run) => run.index === index);
  if (!own.length && !folder.archive) return null;
  const card = make("article", { className: "card" }, make("h3", { textContent: folder.folder }));
  for (const run of own) {
    const box = make("input", { type: "checkbox", id: `run-${run.id}`, checked: !hidden.has(run.id) });
    box.onchange = () => { hidden[box.checked ? "delete" : "add"](run.id); draw(); };
    const mark = make("span", { className: "mark" });
    mark.style.background = run.color;
    const last = run.columns[run.key].at(-1);
    const place = last === undefined ? say("noRows") : `${say(run.key)} ${last}`;
    const text = ` ${run.name}: ${place}, ${say("changed", duration(run.age))}`;
    card.append(make("label", { className: "run" }, box, mark, text));
  }
  if (folder.archive) drawArchive(card, folder.archive, index);
  return card;
}

function drawArchive(card, archive, index) {
  const { generation, games, wanted, perHour, secondsLeft, settings, newest, newestFrom } = archive;
  const parts = [wanted ? say("gamesOfWanted", generation, games, wanted) : say("gamesOf", generation, games),
    perHour ? say("perHour", perHour) : say("quiet")];
  if (secondsLeft !== null) parts.push(say("left", duration(secondsLeft)));
  card.append(make("p", { textContent: `${parts.join(", ")}.` }));
  if (wanted) card.append(make("progress", { max: wanted, value: games }));
  const buttons = newest.map((number) => {
    const button = make("button", { type: "button", id: `game-${index}-${number}`, textContent: number });
    button.onclick = () => openGame(index, newestFrom, number);
    return button;
  });
  card.append(make("p", { className: "row games" }, `${say("newestGames")}: `, ...buttons));
  const rows = Object.entries(settings).map(([name, value]) => make("tr", {}, make("td", { textContent: name }), make("td", { textContent: value })));
  const summary = make("summary", { id: `settings-${index}`, textContent: say("settings") });
  const details = make("details", { open: unfolded.has(index) }, summary, make("table", {}, ...rows));
  details.ontoggle = () => unfolded[details.open ? "add" : "delete"](index);
  card.append(details);
}

async function openGame(folder, generation, number) {
  const tab = window.open("about:blank");
  if (!tab) return; // the browser allows none
  tab.sessionStorage.clear(); // a copy of this tab's, whose game is another one
  const answer = await fetch(`/runs/${folder}/${generation}/${number}`).catch(() => null);
  if (!answer?.ok) {
    tab.close();
    return notify(say(answer ? "noGame" : "closed", number));
  }
  const link = await makeLink(await answer.text(), []);
  tab.location = link.replace("/runs#", "/#");
}

function drawChart(name, curves, runs) {
  const lines = runs.flatMap((run) => curves.map(([column, part]) => {
    const values = run.columns[column] ?? [];
    const points = run.columns[run.key].map((x, row) => [x, values[row] ?? null]).filter(([, y]) => y !== null);
    return { run, part, points, interval: intervalOf(run, column) };
  })).filter((line) => line.points.length && line.points.some(([, y]) => y !== 0));
  if (!lines.length) return null;
  const all = lines.flatMap((line) => [...line.points, ...line.interval]);
  const [left, right] = bounds(all.map(([x]) => x));
  const [bottom, top] = bounds(all.map(([, y]) => y), 0.05);
  const x = (value) => PAD.left + ((value - left) / (right - left)) * (WIDTH - PAD.left - PAD.right);
  const y = (value) => HEIGHT - PAD.bottom - ((value - bottom) / (top - bottom)) * (HEIGHT - PAD.top - PAD.bottom);
  const svg = makeSvg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": say(name) });
  for (const share of [0, 0.5, 1]) {
    const value = bottom + share * (top - bottom);
    makeSvg("line", { x1: PAD.left, x2: WIDTH - PAD.right, y1: y(value), y2: y(value), class: "grid" }, svg);
    makeSvg("text", { x: PAD.left - 6, y: y(value) + 4, "text-anchor": "end" }, svg).textContent = shortNumber(value);
    const place = left + share * (right - left);
    const anchor = ["start", "middle", "end"][2 * share];
    makeSvg("text", { x: x(place), y: HEIGHT - 6, "text-anchor": anchor }, svg).textContent = shortNumber(place);
  }
  for (const line of lines) {
    const color = line.run.color;
    const path = line.points.map(([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`).join(" ");
    const band = line.interval.map(([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`).join(" ");
    if (band) makeSvg("polygon", { points: band, fill: color, class: "interval" }, svg);
    makeSvg("polyline", { points: path, stroke: color, class: line.part }, svg);
    for (const [a, b] of line.part === "test" ? line.points : []) makeSvg("circle", { cx: x(a), cy: y(b), r: 2.5, fill: color }, svg);
  }
  const last = lines.filter((line) => line.part === "test").map((line) => `${line.run.title} ${shortNumber(line.points.at(-1)[1])}`);
  const title = `${say(name)} (${say(runs[0].key)})`;
  const legend = curves.length > 1 ? `${say("train")} ┄ ${say("test")} ─` : "";
  return make("figure", {}, make("figcaption", { textContent: [title, legend, last.length && last.length <= COLORS.length ? say("nowIs", last.join(", ")) : ""].filter(Boolean).join(" · ") }), svg);
}

// The outline of a column's interval, along its lower ends and back along the upper ones; empty where there is none.
function intervalOf({ columns, key }, column) {
  const side = (name) => columns[key].map((x, row) => [x, columns[name]?.[row] ?? null]).filter(([, y]) => y !== null);
  const [low, high] = [side(`${column}_low`), side(`${column}_high`)];
  return low.length && low.length === high.length ? [...low, ...high.reverse()] : [];
}

function bounds(values, margin = 0) {
  const [low, high] = values.reduce(([least, most], value) => [Math.min(least, value), Math.max(most, value)], [Infinity, -Infinity]);
  const room = (high - low) * margin;
  return high > low ? [low - room, high + room] : [low - 0.5, high + 0.5];
}

const shortNumber = (value) => (Math.abs(value) >= 100 ? Math.round(value).toString() : Number(value.toPrecision(3)).toString());

setUpPage(draw);
look();
