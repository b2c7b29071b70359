// Colors, points, positions and the state of the game in the words of the language that is chosen.

import { PASS } from "./game.js";
import { $ } from "./page.js";
import { game, state } from "./state.js";
import { say } from "./text.js";

export const colorName = (letter) => say(letter === "b" ? "black" : "white");
export const pointName = (point) => (point === PASS ? say("passWord") : game.name(point));

// Why nothing goes on, null where it does.
export function describeTrouble() {
  if (state.line === "closed") return say("closed");
  return state.engine.state === "failed" ? say("failed", state.engine.text) : null;
}

export function describeState() {
  const trouble = describeTrouble();
  if (trouble) return trouble;
  const { position } = game;
  const parts = [];
  if (position.last === PASS) parts.push(say("passed", colorName(position.lastColor)));
  else if (position.last !== null) parts.push(say("playedAt", colorName(position.lastColor), game.name(position.last)));
  if (position.loser) parts.push(say(position.onTime ? "timeUp" : "resigned", colorName(position.loser), colorName(position.loser === "b" ? "w" : "b")));
  else if (position.over && state.score) parts.push(state.score.lead ? say("won", colorName(state.score.lead > 0 ? "b" : "w"), Math.abs(state.score.lead)) : say("draw"));
  else if (position.over) parts.push(say("counting"));
  else parts.push(say(state.thinking ? "thinking" : "toMove", colorName(position.toMove)));
  if (state.engine.state === "loading") parts.push(say("loading"));
  const { black, white, result } = game.info;
  if (black || white) parts.push(`${black || "?"} – ${white || "?"}${result ? ` (${result})` : ""}.`);
  else if (result && !position.over) parts.push(`(${result})`);
  parts.push(say("prisoners", ...position.prisoners), say("komiIs", position.komi));
  const { winrate, lead } = game.here;
  if (state.settings.analyze && winrate !== undefined) {
    const rate = Math.round(100 * winrate);
    parts.push(lead === null ? say("rateIs", rate) : say("rateAndLead", rate, describeLead(lead)));
  }
  return parts.join(" ");
}

function describeLead(lead) {
  return Math.abs(lead) < 0.05 ? say("even") : say("leadOf", colorName(lead > 0 ? "b" : "w"), Math.abs(lead).toFixed(1));
}

export function describeStones() {
  const { position } = game;
  const named = (letter) => [...position.stones].flatMap((stone, point) => (stone === letter ? [game.name(point)] : []));
  const list = (letter) => named(letter).join(" ") || say("none");
  return `${say("stones", position.size, list("X"), list("O"))} ${$("status").textContent}`;
}
