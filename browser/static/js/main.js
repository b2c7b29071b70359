// The page: what comes from the server is kept and shown.

import { Board, shorten } from "./board.js";
import { Branch } from "./branch.js";
import { connection } from "./connection.js";
import { drawGraph } from "./graph.js";
import { keep, keepPath } from "./kept.js";
import { choose, fill, fillLists, range } from "./lists.js";
import { $, drawWithFocus, notify, setUpPage } from "./page.js";
import { drawCandidates, drawClock, drawReview, findMistakes, grade } from "./panels.js";
import { game, state } from "./state.js";
import { say } from "./text.js";
import { drawVariations } from "./variations.js";
import { openLink, setUpWishes, uses } from "./wishes.js";
import { colorName, describeState, describeStones, describeTrouble, pointName } from "./words.js";

const CLOCK_MS = 250;
const board = new Board($("board"), (point) => connection.send("play", { point }));
const branch = new Branch(connection, pointName, colorName);
let frame = 0;

const receivers = {
  hello(message) {
    state.hello = message;
    fill($("new-size"), range(message.sizes[0], message.sizes[1]).map((size) => [size, `${size}×${size}`]));
    const set = JSON.parse(sessionStorage.getItem("settings") ?? "null");
    if (!message.known && set) connection.send("set", { ...set, reply: !state.kept?.sgf });
    if (!message.known && state.kept?.sgf) connection.send("load", state.kept);
    state.isKeptHere = message.known;
    state.thinking = false;
    state.progress = { done: 0, total: 0 };
    openLink();
    // Not on another game than it was meant for: one that was too long to keep is gone with the server that had it.
    if (message.known || state.kept?.sgf || game.nodes.size < 2) connection.sendWaiting();
  },
  game(message) { game.info = message; },
  nodes(message) {
    if (message.reset) {
      state.analysis = state.score = null;
      branch.leave();
      $("notice").hidden = true;
    }
    game.update(message);
  },
  view({ id, winrate, lead, visits }) { Object.assign(game.nodes.get(id) ?? {}, { winrate, lead, visits }); },
  position(message) {
    if (state.analysis?.node !== message.node) state.analysis = null;
    if (state.score?.node !== message.node) state.score = null;
    if (game.position?.node !== message.node) branch.leave();
    game.position = message;
    state.clockSeenAt = performance.now();
    keepPath();
  },
  branch(message) { if (message.node === game.position.node) branch.receive(message); },
  analysis(message) { if (message.node === game.position.node) state.analysis = message; },
  score(message) { state.score = message; },
  thinking({ on }) {
    state.thinking = on;
    keepPath();
  },
  settings(message) {
    const { type, ...rest } = state.settings = message;
    sessionStorage.setItem("settings", JSON.stringify(rest));
    if (branch.isOpen) branch.look(branch.path); // after a change of settings the server looks at no branch any more
  },
  engine(message) { state.engine = message; },
  progress(message) {
    state.progress = message;
    if (!message.total || message.done < message.total) return;
    const reviewed = state.reviewed.map((id) => game.nodes.get(id)).filter(Boolean);
    if (!findMistakes(reviewed).length) notify(say("noMistakes"));
  },
  kept({ type, ...content }) { keep(content.sgf && { ...content, path: game.path(), reply: state.thinking }); },
  record({ sgf, use }) { uses[use](sgf); },
  error: tell,
  notice: tell,
};

function tell({ sentence, values }) {
  notify(say(sentence, ...values));
}

function redraw() {
  frame ||= requestAnimationFrame(() => {
    frame = 0;
    if (game.position && game.here) drawWithFocus(draw);
    else $("status").textContent = describeTrouble() ?? say("loading");
  });
}

function draw() {
  const { position } = game;
  const { settings, score } = state;
  const analysis = settings.analyze ? state.analysis : null;
  const next = game.here.children.slice(0, 5).map((id) => game.nodes.get(id)).filter((node) => node.color);
  board.show({ position, analysis, view: $("view").value, ownership: $("ownership").checked, score, next });
  $("number").textContent = position.number;
  $("model").textContent = state.hello.models[position.size - state.hello.sizes[0]];
  const text = describeState();
  if ($("status").textContent !== text) $("status").textContent = text; // it is read out when it is written
  drawClock();
  $("board-text").textContent = describeStones();
  $("comment").textContent = position.comment;
  if (document.activeElement !== $("side")) $("side").value = settings.side;
  if (settings.seconds) choose($("strength"), `${settings.seconds} s`, say("secondsEach", settings.seconds));
  else choose($("strength"), settings.visits, say("visitsEach", settings.visits));
  $("strength").disabled = settings.level < state.hello.searchLevel;
  if (document.activeElement !== $("level")) $("level").value = settings.level;
  choose($("analysis-visits"), settings.analysisVisits, say("visitsShort", shorten(settings.analysisVisits ?? 0)));
  $("analyze").checked = settings.analyze;
  drawCandidates(analysis, board);
  drawReview();
  branch.draw(settings.analyze);
  const path = game.line();
  drawGraph($("graph"), path, position.node, path.map(grade), (node) => connection.send("go", { node }));
  drawVariations($("tree"), game, (node) => connection.send("go", { node }));
  const rate = game.here.winrate;
  $("graph-text").textContent = rate === undefined ? say("noGraph") : say("graph", Math.round(100 * rate));
}

setUpPage(() => { fillLists(); redraw(); });
setUpWishes(redraw);
fillLists();
$("review-visits").value = 100;
setInterval(drawClock, CLOCK_MS);
connection.start((message) => {
  receivers[message.type]?.(message);
  redraw();
}, (line) => {
  state.line = line;
  redraw();
});
