// The page: what comes from the server is kept and shown, what the player does is sent there.

import { Board, shorten } from "./board.js";
import { Branch } from "./branch.js";
import { Connection } from "./connection.js";
import { Game, PASS } from "./game.js";
import { drawGraph } from "./graph.js";
import { makeLink, readLink } from "./link.js";
import { setUpPage } from "./page.js";
import { say } from "./text.js";
import { drawVariations } from "./variations.js";

const $ = (id) => document.getElementById(id);
const STRENGTHS = [1, 10, 50, 100, 200, 400, 1000, 3000, 10000];
// Seconds for each move; in the list they stand after the visits, as "1 s".
const SECONDS = [1, 3, 10, 30];
const ANALYSES = [200, 1000, 2000, 5000, 20000, 50000];
const REVIEWS = [25, 50, 100, 200, 500, 1000];
// From so many points, or so much win rate where leads are not known, a move is doubtful, and bad.
const GRADES = { points: [1.5, 4], rate: [0.06, 0.15] };
const MAX_MISTAKES = 12;
const MAX_ROWS = 8;
// Who takes a handicap gives no komi, but there is no draw.
const HANDICAP_KOMI = 0.5;
const MAX_FILE = 2_000_000;

const game = new Game();
const board = new Board($("board"), (point) => connection.send("play", { point }));
let settings = {};
let kept = JSON.parse(sessionStorage.getItem("kept") ?? "null"); // the record of the game, and where in it this tab is
let hello = { sizes: [9, 9], levels: 20 };
let analysis = null;
let score = null;
let thinking = false;
let line = "open";
let engine = { state: "ready", text: "" };
let progress = { done: 0, total: 0 };
let frame = 0;
let clockSeenAt = 0;

const receivers = {
  hello(message) {
    hello = message;
    $("model").textContent = message.model.split(/[\\/]/).pop();
    fill($("new-size"), range(message.sizes[0], message.sizes[1]).map((size) => [size, `${size}×${size}`]));
    const set = JSON.parse(sessionStorage.getItem("settings") ?? "null");
    if (!message.known && set) connection.send("set", set);
    if (!message.known && kept?.sgf) connection.send("load", kept);
    progress = { done: 0, total: 0 };
    openLink();
    lookAgain();
  },
  game(message) { game.info = message; },
  nodes(message) {
    if (message.reset) {
      analysis = score = null;
      $("notice").hidden = true;
    }
    game.update(message);
  },
  view({ id, winrate, lead, visits }) { Object.assign(game.nodes.get(id) ?? {}, { winrate, lead, visits }); },
  position(message) {
    if (analysis?.node !== message.node) analysis = null;
    if (score?.node !== message.node) score = null;
    if (game.position?.node !== message.node) branch.leave();
    game.position = message;
    clockSeenAt = performance.now();
    keepPath();
  },
  branch(message) { if (message.node === game.position.node) branch.receive(message); },
  analysis(message) { if (message.node === game.position.node) analysis = message; },
  score(message) { score = message; },
  thinking({ on }) {
    thinking = on;
    keepPath();
  },
  settings(message) {
    const { type, ...rest } = settings = message;
    sessionStorage.setItem("settings", JSON.stringify(rest));
    lookAgain();
  },
  engine(message) { engine = message; },
  progress(message) { progress = message; },
  kept({ type, ...content }) { keep(content.sgf && { ...content, path: game.path(), reply: thinking }); },
  record({ sgf, use }) { uses[use](sgf); },
  error({ text }) { notify(text); },
};

// The server looks at no branch of the tree any more after a change of settings, and a new one at none yet.
function lookAgain() {
  if (branch.isOpen) branch.look(branch.path);
}

function keep(content) {
  kept = content;
  try {
    sessionStorage.setItem("kept", JSON.stringify(content));
  } catch { // the record is too long for the browser, which would come back with an older one
    sessionStorage.removeItem("kept");
  }
}

function keepPath() {
  if (kept) keep({ ...kept, path: game.path(), reply: thinking });
}

const connection = new Connection((message) => {
  receivers[message.type]?.(message);
  redraw();
}, (state) => {
  line = state;
  redraw();
});

const branch = new Branch(connection, (point) => pointName(point), (letter) => colorName(letter));

async function openLink() {
  const linked = await readLink();
  if (linked?.sgf) connection.send("load", linked);
  else if (linked !== null) notify(say("badLink"));
}

// --- showing -------------------------------------------------------------------------------------------------------

function redraw() {
  frame ||= requestAnimationFrame(() => {
    frame = 0;
    if (game.position && game.here) draw();
    else $("status").textContent = engine.state === "failed" ? say("failed", engine.text) : say(line === "closed" ? "closed" : "loading");
  });
}

function draw() {
  const { position } = game;
  const wanted = settings.analyze ? analysis : null;
  const next = game.here.children.slice(0, 5).map((id) => game.nodes.get(id)).filter((node) => node.color);
  board.show({ position, analysis: wanted, view: $("view").value, ownership: $("ownership").checked, score, next });
  $("number").textContent = position.number;
  const state = describeState();
  if ($("status").textContent !== state) $("status").textContent = state; // it is read out when it is written
  drawClock();
  $("board-text").textContent = describeStones();
  $("comment").textContent = position.comment;
  if (document.activeElement !== $("side")) $("side").value = settings.side;
  if (settings.seconds) choose($("strength"), `${settings.seconds} s`, say("secondsEach", settings.seconds));
  else choose($("strength"), settings.visits, say("visitsEach", settings.visits));
  $("strength").disabled = settings.level < hello.searchLevel;
  if (document.activeElement !== $("level")) $("level").value = settings.level;
  choose($("analysis-visits"), settings.analysisVisits, say("visitsShort", shorten(settings.analysisVisits ?? 0)));
  $("analyze").checked = settings.analyze;
  drawCandidates(wanted);
  drawReview();
  branch.draw(settings.analyze);
  const path = game.line();
  drawGraph($("graph"), path, position.node, path.map(grade), (node) => connection.send("go", { node }));
  drawVariations($("tree"), game, (node) => connection.send("go", { node }));
  const rate = game.here.winrate;
  $("graph-text").textContent = rate === undefined ? say("noGraph") : say("graph", Math.round(100 * rate));
}

function drawClock() {
  const clock = game.position?.clock;
  $("clock").hidden = !clock;
  for (const letter of clock ? ["b", "w"] : []) {
    const used = clock.running === letter ? (performance.now() - clockSeenAt) / 1000 : 0;
    const left = Math.max(0, clock[letter] - used);
    const text = `${Math.floor(left / 60)}:${String(Math.floor(left % 60)).padStart(2, "0")}`;
    $(`clock-${letter}`).textContent = `${colorName(letter)} ${text}`;
    $(`clock-${letter}`).className = clock.running === letter ? "running" : "";
  }
}
setInterval(drawClock, 250);

const colorName = (letter) => say(letter === "b" ? "black" : "white");
const pointName = (point) => (point === PASS ? say("passWord") : game.name(point));

function describeState() {
  const { position } = game;
  if (line === "closed") return say("closed");
  if (engine.state === "failed") return say("failed", engine.text);
  const parts = [];
  if (position.last === PASS) parts.push(say("passed", colorName(position.lastColor)));
  else if (position.last !== null) parts.push(say("playedAt", colorName(position.lastColor), game.name(position.last)));
  if (position.loser) parts.push(say(position.onTime ? "timeUp" : "resigned", colorName(position.loser), colorName(position.loser === "b" ? "w" : "b")));
  else if (position.over && score) parts.push(score.lead ? say("won", colorName(score.lead > 0 ? "b" : "w"), Math.abs(score.lead)) : say("draw"));
  else if (position.over) parts.push(say("counting"));
  else parts.push(say(thinking ? "thinking" : "toMove", colorName(position.toMove)));
  if (engine.state === "loading") parts.push(say("loading"));
  const { black, white, result } = game.info;
  if (black || white) parts.push(`${black || "?"} – ${white || "?"}${result ? ` (${result})` : ""}.`);
  else if (result && !position.over) parts.push(`(${result})`);
  parts.push(say("prisoners", ...position.prisoners), say("komiIs", position.komi));
  const { winrate, lead } = game.here;
  if (settings.analyze && winrate !== undefined) {
    const rate = Math.round(100 * winrate);
    parts.push(lead === null ? say("rateIs", rate) : say("rateAndLead", rate, describeLead(lead)));
  }
  return parts.join(" ");
}

function describeLead(lead) {
  return Math.abs(lead) < 0.05 ? say("even") : say("leadOf", colorName(lead > 0 ? "b" : "w"), Math.abs(lead).toFixed(1));
}

function describeStones() {
  const { position } = game;
  const named = (letter) => [...position.stones].flatMap((stone, point) => (stone === letter ? [game.name(point)] : []));
  const list = (letter) => named(letter).join(" ") || say("none");
  return `${say("stones", position.size, list("X"), list("O"))} ${$("status").textContent}`;
}

function drawCandidates(shown) {
  const body = $("candidates").tBodies[0];
  $("candidates-box").hidden = !settings.analyze;
  body.replaceChildren(...(shown?.moves ?? []).slice(0, MAX_ROWS).map((move) => {
    const row = document.createElement("tr");
    const cells = [pointName(move.point), `${(100 * move.winrate).toFixed(1)}`, signed(move.lead), shorten(move.visits),
      `${(100 * move.prior).toFixed(1)}`, move.pv.slice(1, 9).map(pointName).join(" ")];
    row.append(...cells.map((text) => Object.assign(document.createElement("td"), { textContent: text })));
    row.onmouseenter = () => board.hover(move.point);
    row.onmouseleave = () => board.hover(null);
    row.onclick = () => connection.send("play", { point: move.point });
    return row;
  }));
}

const signed = (number) => (number > 0 ? "+" : "") + number.toFixed(1);

function grade(node) {
  const loss = game.loss(node);
  if (!loss) return "";
  const [value, limits] = loss.points === null ? [loss.rate, GRADES.rate] : [loss.points, GRADES.points];
  return value >= limits[1] ? "bad" : value >= limits[0] ? "doubtful" : "";
}

function drawReview() {
  const isRunning = progress.total > 0 && progress.done < progress.total;
  $("progress").hidden = !isRunning;
  $("progress").max = Math.max(1, progress.total);
  $("progress").value = progress.done;
  $("progress-text").textContent = isRunning ? say("reviewDone", progress.done, progress.total) : "";
  document.querySelector("[data-do=review]").textContent = say(isRunning ? "stop" : "review");
  const path = game.line();
  const mistakes = path.map((node, number) => ({ node, number, loss: game.loss(node), grade: grade(node) }))
    .filter((item) => item.grade).sort((a, b) => size(b.loss) - size(a.loss)).slice(0, MAX_MISTAKES)
    .sort((a, b) => a.number - b.number);
  $("mistakes").replaceChildren(...mistakes.map(({ node, number, loss, grade }) => {
    const item = document.createElement("li");
    const text = loss.points === null
      ? say("rateLost", number, colorName(node.color), pointName(node.point), (100 * loss.rate).toFixed(0))
      : say("pointsLost", number, colorName(node.color), pointName(node.point), loss.points.toFixed(1));
    const button = Object.assign(document.createElement("button"), { type: "button", className: grade, textContent: text });
    button.onclick = () => connection.send("go", { node: node.parent });
    item.append(button);
    return item;
  }));
}

const size = (loss) => loss.points ?? 100 * loss.rate;

let noticeTimer = 0;
function notify(text) {
  $("notice").textContent = text;
  $("notice").hidden = false;
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => { $("notice").hidden = true; }, 6000);
}

// --- doing ---------------------------------------------------------------------------------------------------------

const go = (node) => node && connection.send("go", { node: node.id });

const actions = {
  first: () => go(game.nodes.get(0)),
  previous: () => go(game.parent(game.here)),
  next: () => go(game.nodes.get(game.here.children[0])),
  last: () => go(game.line().at(-1)),
  variationUp: () => go(game.nodes.get(game.sibling(-1))),
  variationDown: () => go(game.nodes.get(game.sibling(1))),
  undo: () => connection.send("undo"),
  pass: () => connection.send("play", { point: PASS }),
  resign: () => connection.send("resign"),
  genmove: () => connection.send(thinking ? "hurry" : "genmove"),
  analyze: () => connection.send("set", { analyze: !settings.analyze }),
  ownership: () => { $("ownership").checked = !$("ownership").checked; redraw(); },
  review: () => {
    if (progress.total > 0 && progress.done < progress.total) connection.send("stop");
    else connection.send("review", { visits: Number($("review-visits").value) });
  },
  remove: () => (game.position.node === 0 ? notify(say("notSaved")) : connection.send("remove", { node: game.position.node })),
  open: () => $("file").click(),
  save: () => useRecord("save"),
  link: () => useRecord("link"),
  new() {
    $("new-size").value = game.position.size;
    $("new-handicap").value = game.info.handicap || 0;
    if ($("new-handicap").selectedIndex < 0) $("new-handicap").value = 0;
    $("new-komi").value = game.info.komi;
    $("new-side").value = settings.side;
    $("new-level").value = settings.level;
    limitHandicap();
    $("new-dialog").showModal();
  },
};

// A record that is too long to be kept here is the server's to give.
function useRecord(use) {
  if (kept) uses[use](kept.sgf);
  else connection.send("record", { use });
}

const uses = {
  save(sgf) {
    const address = URL.createObjectURL(new Blob([sgf], { type: "application/x-go-sgf" }));
    Object.assign(document.createElement("a"), { href: address, download: "hiyoko.sgf" }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  },
  async link(sgf) {
    const link = await makeLink(sgf, game.path());
    try {
      await navigator.clipboard.writeText(link);
      notify(say("copied"));
    } catch {
      notify(say("linkIs", link));
    }
  },
};

const KEYS = {
  ArrowLeft: "previous", ArrowRight: "next", ArrowUp: "variationUp", ArrowDown: "variationDown", Home: "first", End: "last",
  a: "analyze", t: "ownership", p: "pass", u: "undo", g: "genmove", n: "new", s: "save", o: "open",
};

document.addEventListener("click", (event) => {
  const name = event.target.closest("[data-do]")?.dataset.do;
  if (name) actions[name]();
});

document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input:not([type=checkbox]), select, textarea, dialog");
  const name = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!name || isTyping || event.ctrlKey || event.metaKey || event.altKey || !game.position) return;
  event.preventDefault();
  actions[name]();
});

$("side").onchange = () => { connection.send("set", { side: $("side").value }); $("side").blur(); };
$("level").onchange = () => { connection.send("set", { level: Number($("level").value) }); $("level").blur(); };
$("strength").onchange = () => {
  const number = parseInt($("strength").value, 10);
  connection.send("set", $("strength").value.endsWith("s") ? { seconds: number } : { visits: number, seconds: 0 });
  $("strength").blur();
};
$("analysis-visits").onchange = () => connection.send("set", { analysisVisits: Number($("analysis-visits").value) });
$("analyze").onchange = () => {
  settings.analyze = $("analyze").checked; // a redraw before the answer would show the old one
  connection.send("set", { analyze: settings.analyze });
};
$("view").onchange = $("ownership").onchange = redraw;
$("file").onchange = async () => {
  const [file] = $("file").files;
  if (file) openFile(file);
  $("file").value = "";
};
$("point-form").onsubmit = (event) => {
  event.preventDefault();
  const point = game.pointOf($("point").value);
  if (point === null) notify(say("badPoint", $("point").value));
  else connection.send("play", { point });
  $("point").value = "";
};
// Handicap stones and komi that do not fit the board cannot be chosen.
function limitHandicap() {
  const points = Number($("new-size").value) ** 2;
  $("new-komi").value = Math.max(-points, Math.min(points, Number($("new-komi").value)));
  for (const option of $("new-handicap").options) option.disabled = Number(option.value) >= points;
  if (!$("new-handicap").selectedOptions[0]?.disabled) return;
  $("new-handicap").value = 0;
  $("new-komi").value = Math.min(points, hello.komi);
}
$("new-size").onchange = limitHandicap;
$("new-handicap").onchange = () => { $("new-komi").value = Number($("new-handicap").value) ? HANDICAP_KOMI : hello.komi; };
$("new-dialog").onclose = () => {
  if ($("new-dialog").returnValue !== "ok") return;
  connection.send("new", {
    size: Number($("new-size").value), handicap: Number($("new-handicap").value), komi: Number($("new-komi").value),
    minutes: Number($("new-minutes").value), side: $("new-side").value, level: Number($("new-level").value),
  });
};
document.ondragover = (event) => event.preventDefault();
document.ondrop = (event) => {
  event.preventDefault();
  const [file] = event.dataTransfer.files;
  if (file) openFile(file);
};
window.onhashchange = openLink;

// Bytes that are no UTF-8 are an older record's, nearly always a Japanese one.
async function openFile(file) {
  if (file.size > MAX_FILE) return notify(say("tooLong"));
  const bytes = await file.arrayBuffer();
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    text = new TextDecoder("shift_jis").decode(bytes);
  }
  connection.send("load", { sgf: text, path: [] });
}

// --- the lists -----------------------------------------------------------------------------------------------------

const range = (first, last) => Array.from({ length: last - first + 1 }, (_, index) => first + index);

function fill(select, items) {
  const value = select.value;
  select.replaceChildren(...items.map(([key, text]) => new Option(text, key)));
  if (items.some(([key]) => String(key) === value)) select.value = value;
}

function levelName(level) {
  return level === 1 ? say("levelFirst") : level === hello.levels ? say("levelFull") : level;
}

function choose(select, value, text) {
  if (value === undefined || document.activeElement === select) return;
  if (![...select.options].some((option) => option.value === String(value))) select.append(new Option(text, value));
  select.value = value;
}

function begin() {
  for (const id of ["level", "new-level"]) fill($(id), range(1, hello.levels).map((level) => [level, levelName(level)]));
  fill($("strength"), [...STRENGTHS.map((visits) => [visits, say("visitsEach", visits)]),
    ...SECONDS.map((seconds) => [`${seconds} s`, say("secondsEach", seconds)])]);
  fill($("analysis-visits"), ANALYSES.map((visits) => [visits, say("visitsShort", shorten(visits))]));
  fill($("review-visits"), REVIEWS.map((visits) => [visits, say("visitsEach", visits)]));
  fill($("new-handicap"), [[0, say("handicapNone")], ...range(2, 9).map((stones) => [stones, stones])]);
  $("review-visits").value ||= 100;
}

setUpPage(() => { begin(); redraw(); });
begin();
$("review-visits").value = 100;
