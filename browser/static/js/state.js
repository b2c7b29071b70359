// What this tab knows: messages of the server change it (main.js), what draws and what is clicked reads it.

import { Game } from "./game.js";

export const game = new Game();

export const state = {
  settings: {},
  hello: { sizes: [9, 9], levels: 20 },
  analysis: null, // of the position that is looked at, or of none yet
  score: null,
  thinking: false,
  line: "open", // to the server
  engine: { state: "ready", text: "" },
  progress: { done: 0, total: 0 },
  clockSeenAt: 0,
  isKeptHere: false, // whether the server's game is the one that is kept
  reviewed: [], // the nodes that a review goes through
  kept: JSON.parse(sessionStorage.getItem("kept") ?? "null"), // the record of the game, and where in it this tab is
};

export const isReviewing = () => state.progress.total > 0 && state.progress.done < state.progress.total;
