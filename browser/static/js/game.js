// What the page knows of the game: the nodes of the tree and the position that is looked at. No rules of Go.

export const PASS = -1;
const COLUMNS = "ABCDEFGHJKLMNOPQRST";

export class Game {
  constructor() {
    this.nodes = new Map();
    this.position = null;
    this.info = null;
  }

  update(message) {
    if (message.reset) this.nodes.clear();
    for (const id of message.removed) this.nodes.delete(id);
    for (const node of message.nodes) this.nodes.set(node.id, { ...node, children: this.nodes.get(node.id)?.children ?? [] });
    for (const node of this.nodes.values()) node.children = [];
    for (const id of [...this.nodes.keys()].sort((a, b) => a - b)) {
      const parent = this.nodes.get(this.nodes.get(id).parent);
      if (parent) parent.children.push(id);
    }
  }

  get here() {
    return this.nodes.get(this.position?.node);
  }

  parent(node) {
    return node && this.nodes.get(node.parent);
  }

  // The nodes from the root through the present one to the end of its line.
  line() {
    const line = [];
    for (let node = this.here; node; node = this.parent(node)) line.unshift(node);
    for (let node = this.here; node?.children.length; line.push(node)) node = this.nodes.get(node.children[0]);
    return line;
  }

  // Which child to take at each step from the root to the present node.
  path() {
    const path = [];
    for (let node = this.here; this.parent(node); node = this.parent(node)) {
      path.unshift(this.parent(node).children.indexOf(node.id));
    }
    return path;
  }

  // The same place in the neighboring variation, by step +1 or -1; null if there is none.
  sibling(step) {
    for (let node = this.here; this.parent(node); node = this.parent(node)) {
      const siblings = this.parent(node).children;
      const other = siblings[siblings.indexOf(node.id) + step];
      if (siblings.length > 1) return other ?? null;
    }
    return null;
  }

  // What the move of a node lost for its player: {points, rate}, each null where it is not known.
  loss(node) {
    const before = this.parent(node);
    if (!before || node.winrate === undefined || before.winrate === undefined || !node.color) return null;
    const sign = node.color === "b" ? 1 : -1;
    const known = node.lead !== null && before.lead !== null;
    return { points: known ? sign * (before.lead - node.lead) : null, rate: sign * (before.winrate - node.winrate) };
  }

  name(point) {
    const size = this.position.size;
    return point === PASS ? "pass" : COLUMNS[point % size] + (size - Math.floor(point / size));
  }

  // The point of a name such as "D4", null for none.
  pointOf(text) {
    const size = this.position.size;
    const word = text.toUpperCase();
    if (word === "PASS") return PASS;
    const column = COLUMNS.indexOf(word[0]);
    const row = Number(word.slice(1));
    const isPoint = /^[A-HJ-T][0-9]{1,2}$/.test(word) && column < size && row >= 1 && row <= size;
    return isPoint ? (size - row) * size + column : null;
  }
}
