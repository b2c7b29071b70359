// The dialog that begins a new game.

import { connection } from "./connection.js";
import { $ } from "./page.js";
import { game, state } from "./state.js";

// Who takes a handicap gives no komi, but there is no draw.
const HANDICAP_KOMI = 0.5;

let wantedKomi; // by the user, or proposed: a small board may have no room for it, and the next one has

export function openNewGame() {
  $("new-size").value = game.position.size;
  $("new-handicap").value = game.info.handicap || 0;
  if ($("new-handicap").selectedIndex < 0) $("new-handicap").value = 0;
  wantedKomi = game.info.komi;
  $("new-side").value = state.settings.side;
  $("new-level").value = state.settings.level;
  limitHandicap();
  $("new-dialog").returnValue = ""; // older browsers keep it where Escape closes the dialog
  $("new-dialog").showModal();
}

// Handicap stones and komi that do not fit the board cannot be chosen.
function limitHandicap() {
  const points = Number($("new-size").value) ** 2;
  for (const option of $("new-handicap").options) option.disabled = Number(option.value) >= points;
  if ($("new-handicap").selectedOptions[0]?.disabled) {
    $("new-handicap").value = 0;
    wantedKomi = state.hello.komi;
  }
  $("new-komi").value = Math.max(-points, Math.min(points, wantedKomi));
}
$("new-size").onchange = limitHandicap;
$("new-komi").oninput = () => { wantedKomi = Number($("new-komi").value); };
$("new-handicap").onchange = () => {
  wantedKomi = Number($("new-handicap").value) ? HANDICAP_KOMI : state.hello.komi;
  limitHandicap();
};
$("new-dialog").onclose = () => {
  if ($("new-dialog").returnValue !== "ok") return;
  connection.send("new", {
    size: Number($("new-size").value), handicap: Number($("new-handicap").value), komi: Number($("new-komi").value),
    minutes: Number($("new-minutes").value), side: $("new-side").value, level: Number($("new-level").value),
  });
};
