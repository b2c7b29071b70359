// What all pages have: the languages, light and dark, messages, the focus.

import { currentLanguage, setLanguage, translate } from "./text.js";

export const $ = (id) => document.getElementById(id);

// onChange is called after the language was changed.
export function setUpPage(onChange) {
  const button = $("language");
  const name = () => { button.textContent = currentLanguage() === "ja" ? "English" : "日本語"; };
  button.onclick = () => {
    setLanguage(currentLanguage() === "ja" ? "en" : "ja");
    name();
    $("notice").hidden = true; // it is in the other language
    onChange();
  };
  $("theme").onclick = () => {
    const isDark = getComputedStyle(document.documentElement).colorScheme === "dark";
    localStorage.setItem("theme", isDark ? "light" : "dark");
    document.documentElement.dataset.theme = localStorage.getItem("theme");
  };
  const theme = localStorage.getItem("theme");
  if (theme) document.documentElement.dataset.theme = theme;
  name();
  translate();
}

const NOTICE_MS = 6000;
let noticeTimer = 0;

// Show a message over the page for a while.
export function notify(text) {
  const notice = $("notice");
  notice.textContent = text;
  notice.hidden = false;
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => { notice.hidden = true; }, NOTICE_MS);
}

// What a click on its row does, for those who have no mouse.
export function makeRowButton(id, textContent) {
  return Object.assign(document.createElement("button"), { type: "button", className: "cell", id, textContent });
}

// Draw what makes its elements anew: the one that had the focus is known again by its id.
export function drawWithFocus(draw) {
  const { id } = document.activeElement;
  draw();
  if (id && document.activeElement === document.body) $(id)?.focus({ preventScroll: true });
}
