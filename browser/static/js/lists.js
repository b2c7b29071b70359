// The lists to choose from.

import { shorten } from "./board.js";
import { $ } from "./page.js";
import { state } from "./state.js";
import { say } from "./text.js";

const STRENGTHS = [1, 10, 50, 100, 200, 400, 1000, 3000, 10000];
// Seconds for each move; in the list they stand after the visits, as "1 s".
const SECONDS = [1, 3, 10, 30];
const ANALYSES = [200, 1000, 2000, 5000, 20000, 50000];
const REVIEWS = [25, 50, 100, 200, 500, 1000];

export const range = (first, last) => Array.from({ length: last - first + 1 }, (_, index) => first + index);

export function fill(select, items) {
  const value = select.value;
  select.replaceChildren(...items.map(([key, text]) => new Option(text, key)));
  if (items.some(([key]) => String(key) === value)) select.value = value;
}

function levelName(level) {
  return level === 1 ? say("levelFirst") : level === state.hello.levels ? say("levelFull") : level;
}

export function choose(select, value, text) {
  if (value === undefined || document.activeElement === select) return;
  if (![...select.options].some((option) => option.value === String(value))) select.append(new Option(text, value));
  select.value = value;
}

export function fillLists() {
  for (const id of ["level", "new-level"]) fill($(id), range(1, state.hello.levels).map((level) => [level, levelName(level)]));
  fill($("strength"), [...STRENGTHS.map((visits) => [visits, say("visitsEach", visits)]),
    ...SECONDS.map((seconds) => [`${seconds} s`, say("secondsEach", seconds)])]);
  fill($("analysis-visits"), ANALYSES.map((visits) => [visits, say("visitsShort", shorten(visits))]));
  fill($("review-visits"), REVIEWS.map((visits) => [visits, say("visitsEach", visits)]));
  fill($("new-handicap"), [[0, say("handicapNone")], ...range(2, 9).map((stones) => [stones, stones])]);
}
