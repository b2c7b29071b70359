// What the player does: buttons, keys, lists and files become wishes, which go to the server.

import { connection } from "./connection.js";
import { PASS } from "./game.js";
import { makeLink, readLink, toBase64 } from "./link.js";
import { openNewGame } from "./new_game.js";
import { $, notify } from "./page.js";
import { game, isReviewing, state } from "./state.js";
import { say } from "./text.js";

const MAX_FILE = 2_000_000;
let redraw = () => {};

// onChange is called after the player has changed what is shown, which a reload keeps.
export function setUpWishes(onChange) {
  const shown = JSON.parse(sessionStorage.getItem("shown") ?? "null");
  if (shown) [$("view").value, $("ownership").checked] = shown;
  redraw = () => {
    sessionStorage.setItem("shown", JSON.stringify([$("view").value, $("ownership").checked]));
    onChange();
  };
}

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
  genmove: () => connection.send(state.thinking ? "hurry" : "genmove"),
  analyze: () => connection.send("set", { analyze: !state.settings.analyze }),
  ownership: () => { $("ownership").checked = !$("ownership").checked; redraw(); },
  review: () => {
    if (isReviewing()) return connection.send("stop");
    state.reviewed = game.line().map((node) => node.id);
    connection.send("review", { visits: Number($("review-visits").value) });
  },
  remove: () => (game.position.node === 0 ? notify(say("notSaved")) : connection.send("remove", { node: game.position.node })),
  open: () => $("file").click(),
  save: () => useRecord("save"),
  link: () => useRecord("link"),
  new: openNewGame,
};

// A record that is too long to be kept here is the server's to give.
function useRecord(use) {
  if (state.kept) uses[use](state.kept.sgf);
  else connection.send("record", { use });
}

export const uses = {
  save(sgf) {
    const address = URL.createObjectURL(new Blob([sgf], { type: "application/x-go-sgf" }));
    Object.assign(document.createElement("a"), { href: address, download: "hiyoko.sgf" }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  },
  async link(sgf) {
    const link = makeLink(sgf, game.path());
    notify(await copy(link) ? say("copied") : say("linkIs", await link));
  },
};

// Put a text that is promised on the clipboard. Safari takes nothing after the click was answered, so that it gets the
// promise; older browsers wait for the text, and without encryption, on another machine, know the oldest way only.
async function copy(promise) {
  try {
    const content = promise.then((text) => new Blob([text], { type: "text/plain" }));
    await navigator.clipboard.write([new ClipboardItem({ "text/plain": content })]);
    return true;
  } catch {
    const text = await promise;
    return navigator.clipboard?.writeText(text).then(() => true, () => copyAsOfOld(text)) ?? copyAsOfOld(text);
  }
}

function copyAsOfOld(text) {
  const focused = document.activeElement;
  const area = Object.assign(document.createElement("textarea"), { value: text, className: "for-readers" });
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  focused.focus();
  return isCopied;
}

const KEYS = {
  ArrowLeft: "previous", ArrowRight: "next", ArrowUp: "variationUp", ArrowDown: "variationDown", Home: "first", End: "last",
  a: "analyze", t: "ownership", p: "pass", u: "undo", g: "genmove", n: "new", s: "save", o: "open",
};

document.addEventListener("click", (event) => {
  const name = event.target.closest("[data-do]")?.dataset.do;
  if (name && game.position) actions[name]();
});

document.addEventListener("keydown", (event) => {
  if (event.repeat && event.key === "Enter" && event.target.closest("button")) return event.preventDefault();
  const isTyping = event.target.closest("input:not([type=checkbox]), select, textarea, dialog");
  const name = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  const isHeld = event.repeat && !event.key.startsWith("Arrow"); // a key that lies there takes no game back
  if (!name || isTyping || isHeld || event.ctrlKey || event.metaKey || event.altKey || !game.position) return;
  event.preventDefault();
  actions[name]();
});

// Keys are to move through the game again once something was chosen, but not while they go through the list.
let isByKeys = false;
document.addEventListener("pointerdown", () => { isByKeys = false; }, true);
document.addEventListener("keydown", (event) => { isByKeys = event.target.matches("select"); }, true);
const leave = (list) => { if (!isByKeys) list.blur(); };

$("side").onchange = () => { connection.send("set", { side: $("side").value }); leave($("side")); };
$("level").onchange = () => { connection.send("set", { level: Number($("level").value) }); leave($("level")); };
$("strength").onchange = () => {
  const number = parseFloat($("strength").value);
  connection.send("set", $("strength").value.endsWith("s") ? { seconds: number } : { visits: number, seconds: 0 });
  leave($("strength"));
};
$("analysis-visits").onchange = () => connection.send("set", { analysisVisits: Number($("analysis-visits").value) });
$("analyze").onchange = () => {
  state.settings.analyze = $("analyze").checked; // a redraw before the answer would show the old one
  connection.send("set", { analyze: state.settings.analyze });
};
$("view").onchange = $("ownership").onchange = () => redraw();
$("file").onchange = async () => {
  const [file] = $("file").files;
  if (file) openFile(file);
  $("file").value = "";
};
$("point-form").onsubmit = (event) => {
  event.preventDefault();
  const text = $("point").value.normalize("NFKC").trim(); // Japanese keyboards write wide letters
  $("point").value = "";
  if (!text || !game.position) return;
  const point = text === say("passWord") ? PASS : game.pointOf(text);
  if (point === null) notify(say("badPoint", text));
  else connection.send("play", { point });
};
document.ondragover = (event) => event.preventDefault();
document.ondrop = (event) => {
  event.preventDefault();
  const [file] = event.dataTransfer.files;
  if (file) openFile(file);
};
window.onhashchange = openLink;

export async function openLink() {
  const linked = await readLink();
  if (typeof linked?.sgf === "string") connection.send("load", linked);
  else if (linked !== null) notify(say("badLink"));
}

// In which letters a record is written the server finds out.
async function openFile(file) {
  $("new-dialog").close(); // who drops a file there wants that game, not a new one
  if (file.size > MAX_FILE) return notify(say("tooLong"));
  connection.send("load", { file: toBase64(new Uint8Array(await file.arrayBuffer())), path: [] });
}
