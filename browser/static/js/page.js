// What all pages have: the languages, light and dark.

import { currentLanguage, setLanguage, translate } from "./text.js";

// onChange is called after the language was changed.
export function setUpPage(onChange) {
  const button = document.getElementById("language");
  const name = () => { button.textContent = currentLanguage() === "ja" ? "English" : "日本語"; };
  button.onclick = () => {
    setLanguage(currentLanguage() === "ja" ? "en" : "ja");
    name();
    onChange();
  };
  document.getElementById("theme").onclick = () => {
    const isDark = getComputedStyle(document.documentElement).colorScheme === "dark";
    localStorage.setItem("theme", isDark ? "light" : "dark");
    document.documentElement.dataset.theme = localStorage.getItem("theme");
  };
  const theme = localStorage.getItem("theme");
  if (theme) document.documentElement.dataset.theme = theme;
  name();
  translate();
}
