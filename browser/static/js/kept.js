// The record of the game, kept in this tab for a server that has forgotten it.

import { game, state } from "./state.js";

export function keep(content) {
  state.isKeptHere = true;
  state.kept = content;
  try {
    sessionStorage.setItem("kept", JSON.stringify(content));
  } catch { // the record is too long for the browser, which would come back with an older one
    sessionStorage.removeItem("kept");
  }
}

export function keepPath() {
  if (state.kept && state.isKeptHere) keep({ ...state.kept, path: game.path(), reply: state.thinking });
}
