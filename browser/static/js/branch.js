// The search tree at one place: what PUCT compares there. Rows lead down, the path leads up again.

import { $, makeRowButton } from "./page.js";
import { say } from "./text.js";

const DIGITS = 3;
// What stands for a value that the search has proven.
const PROVEN = { win: "✓", draw: "=", loss: "✗" };

export class Branch {
  // connection takes the wishes; name(point) and colorName(letter) put points and colors into words.
  constructor(connection, name, colorName) {
    this.connection = connection;
    this.name = name;
    this.colorName = colorName;
    this.path = [];
    this.message = null;
    this.takesFocus = false; // whether the last step of the path is to have it
    $("search-tree").ontoggle = () => this.look([]);
  }

  get isOpen() {
    return $("search-tree").open;
  }

  look(path) {
    this.path = path;
    this.connection.send("look", { on: this.isOpen, path });
  }

  // Another position is looked at, where the tree begins anew. The server is told, too: a wish for a branch of the old
  // position may reach it when the engine has moved already.
  leave() {
    this.message = null;
    this.path = [];
    if (this.isOpen) this.look(this.path);
  }

  receive(message) {
    if (message.path.join() === this.path.join()) this.message = message;
  }

  draw(isAnalyzing) {
    if (!this.isOpen) return;
    const { message } = this;
    const steps = ["", ...this.path].map((point, depth) => {
      const text = depth === 0 ? say("start") : this.name(point);
      const button = Object.assign(document.createElement("button"), { type: "button", id: `step-${depth}`, textContent: text });
      button.onclick = () => this.look(this.path.slice(0, depth));
      return button;
    });
    $("branch-path").replaceChildren(...steps);
    if (this.takesFocus) steps.at(-1).focus({ preventScroll: true });
    this.takesFocus = false;
    const body = $("branch").tBodies[0];
    if (!isAnalyzing || !message?.known) {
      const reason = message?.byPlayouts ? "noPuct" : "unknownBranch";
      $("branch-sum").textContent = !isAnalyzing ? say("analyzeFirst") : message ? say(reason) : "";
      body.replaceChildren();
      return;
    }
    const more = message.more ? ` (${say("moreMoves", message.more)})` : "";
    $("branch-sum").textContent = say("branchSum", this.colorName(message.color), message.visits, message.c.toFixed(DIGITS),
      (100 * message.raw).toFixed(1), message.urgency.toFixed(DIGITS)) + more;
    const most = Math.max(1, ...message.edges.map((edge) => edge.visits));
    const best = Math.max(...message.edges.map((edge) => edge.value + edge.bonus));
    body.replaceChildren(...message.edges.map((edge) => this.row(edge, most, best)));
  }

  row(edge, most, best) {
    const row = document.createElement("tr");
    const sum = edge.value + edge.bonus;
    const numbers = [edge.prior, edge.value, edge.bonus, sum].map((number) => number.toFixed(DIGITS));
    if (PROVEN[edge.proven]) numbers[1] = numbers[3] = PROVEN[edge.proven];
    const name = this.name(edge.point);
    const first = edge.visits ? makeRowButton(`branch-${edge.point}`, name) : name;
    for (const content of [first, edge.visits, ...numbers]) row.insertCell().append(content);
    if (!edge.visits) row.cells[3].className = "guess";
    if (sum === best) row.cells[5].className = "chosen";
    const bar = Object.assign(document.createElement("div"), { className: "bar" });
    bar.style.width = `${(100 * edge.visits) / most}%`;
    row.insertCell().append(bar);
    if (edge.visits) {
      row.onclick = (event) => {
        this.takesFocus = event.detail === 0; // by a key: its own row goes
        this.look([...this.path, edge.point]);
      };
    }
    return row;
  }
}
