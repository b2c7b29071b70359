// The panels beside the board: clock, candidates, and what the review of the game found.

import { shorten } from "./board.js";
import { connection } from "./connection.js";
import { $, makeRowButton } from "./page.js";
import { game, isReviewing, state } from "./state.js";
import { say } from "./text.js";
import { colorName, pointName } from "./words.js";

// From so many points, or so much win rate where leads are not known, a move is doubtful, and bad.
const GRADES = { points: [1.5, 4], rate: [0.06, 0.15] };
const MAX_MISTAKES = 12;
const MAX_ROWS = 8;
let chosenAt = null; // the node where a candidate was chosen by a key: the first one of the next has the focus then

export function drawClock() {
  const clock = game.position?.clock;
  $("clock").hidden = !clock;
  for (const letter of clock ? ["b", "w"] : []) {
    const used = clock.running === letter ? (performance.now() - state.clockSeenAt) / 1000 : 0;
    const left = Math.max(0, clock[letter] - used);
    const text = `${Math.floor(left / 60)}:${String(Math.floor(left % 60)).padStart(2, "0")}`;
    $(`clock-${letter}`).textContent = `${colorName(letter)} ${text}`;
    $(`clock-${letter}`).className = clock.running === letter ? "running" : "";
  }
}

// board follows the expected line of the move that is pointed at.
export function drawCandidates(shown, board) {
  const body = $("candidates").tBodies[0];
  $("candidates-box").hidden = !state.settings.analyze;
  body.replaceChildren(...(shown?.moves ?? []).slice(0, MAX_ROWS).map((move) => {
    const row = document.createElement("tr");
    const button = makeRowButton(`candidate-${move.point}`, pointName(move.point));
    button.onfocus = () => board.hover(move.point);
    button.onblur = () => board.hover(null);
    const cells = [button, `${(100 * move.winrate).toFixed(1)}`, signed(move.lead), shorten(move.visits),
      `${(100 * move.prior).toFixed(1)}`, move.pv.slice(1, 9).map(pointName).join(" ")];
    for (const content of cells) row.insertCell().append(content);
    row.onmouseenter = () => board.hover(move.point);
    row.onmouseleave = () => board.hover(null);
    row.onclick = (event) => {
      chosenAt = event.detail === 0 ? game.position.node : null;
      connection.send("play", { point: move.point });
    };
    return row;
  }));
  if (document.activeElement !== document.body) chosenAt = null; // somebody has gone elsewhere
  if (chosenAt === null || chosenAt === game.position.node || !body.rows.length) return;
  body.rows[0].querySelector("button").focus({ preventScroll: true });
  chosenAt = null;
}

const signed = (number) => (number > 0 ? "+" : "") + number.toFixed(1);

export function grade(node) {
  const loss = game.loss(node);
  if (!loss) return "";
  const [value, limits] = loss.points === null ? [loss.rate, GRADES.rate] : [loss.points, GRADES.points];
  return value >= limits[1] ? "bad" : value >= limits[0] ? "doubtful" : "";
}

// The moves of a line that lost most, in their order.
export function findMistakes(line) {
  return line.map((node, number) => ({ node, number, loss: game.loss(node), grade: grade(node) }))
    .filter((item) => item.grade).sort((a, b) => size(b.loss) - size(a.loss)).slice(0, MAX_MISTAKES)
    .sort((a, b) => a.number - b.number);
}

export function drawReview() {
  const isRunning = isReviewing();
  $("progress").hidden = !isRunning;
  $("progress").max = Math.max(1, state.progress.total);
  $("progress").value = state.progress.done;
  document.querySelector("[data-do=review]").textContent = say(isRunning ? "stop" : "review");
  $("progress-text").textContent = isRunning ? say("reviewDone", state.progress.done, state.progress.total) : "";
  $("mistakes").replaceChildren(...findMistakes(game.line()).map(({ node, number, loss, grade }) => {
    const item = document.createElement("li");
    const text = loss.points === null
      ? say("rateLost", number, colorName(node.color), pointName(node.point), (100 * loss.rate).toFixed(0))
      : say("pointsLost", number, colorName(node.color), pointName(node.point), loss.points.toFixed(1));
    const button = Object.assign(document.createElement("button"), {
      type: "button", id: `mistake-${node.id}`, className: grade, textContent: text,
    });
    button.onclick = () => connection.send("go", { node: node.parent });
    item.append(button);
    return item;
  }));
}

const size = (loss) => loss.points ?? 100 * loss.rate;
