// The tree of variations: moves to the right, variations below; a click goes there.

import { say } from "./text.js";

const STEP = 22;
const RADIUS = 7;
const MAX_NODES = 3000;

export function drawVariations(box, game, onGo) {
  const nodes = game.nodes;
  if (nodes.size > MAX_NODES) return box.replaceChildren(say("manyNodes", nodes.size, MAX_NODES));
  if (!nodes.size) return box.replaceChildren();
  const place = new Map();
  let lanes = 0;
  const waiting = [[0, 0, 0]];
  while (waiting.length) {
    const [id, column, wanted] = waiting.pop();
    const node = nodes.get(id);
    if (!node) continue;
    const isFirst = node.parent === null || nodes.get(node.parent)?.children[0] === id;
    const lane = isFirst ? wanted : lanes;
    lanes = Math.max(lanes, lane + 1);
    place.set(id, { column, lane });
    for (const child of [...node.children].reverse()) waiting.push([child, column + 1, lane]);
  }
  const width = STEP * (Math.max(...[...place.values()].map(({ column }) => column)) + 1);
  const height = STEP * lanes;
  const at = ({ column, lane }) => [STEP * (column + 0.5), STEP * (lane + 0.5)];
  const parts = [];
  for (const [id, spot] of place) {
    const [x, y] = at(spot);
    const parent = place.get(nodes.get(id).parent);
    if (parent) {
      const [px, py] = at(parent);
      parts.unshift(`<path d="M${px} ${py}V${Math.max(py, y - STEP / 2)}L${x} ${y}"/>`);
    }
    const color = nodes.get(id).color ?? "root";
    const here = id === game.position.node ? " here" : "";
    parts.push(`<circle data-id="${id}" class="${color}${here}" cx="${x}" cy="${y}" r="${RADIUS}"/>`);
  }
  box.innerHTML = `<svg width="${width}" height="${height}">${parts.join("")}</svg>`;
  box.onclick = (event) => {
    if (event.target.dataset?.id) onGo(Number(event.target.dataset.id));
  };
  const current = box.querySelector(".here");
  if (current) {
    const [x, y] = at(place.get(game.position.node));
    if (x < box.scrollLeft + STEP || x > box.scrollLeft + box.clientWidth - STEP) box.scrollLeft = x - box.clientWidth / 2;
    if (y < box.scrollTop + STEP || y > box.scrollTop + box.clientHeight - STEP) box.scrollTop = y - box.clientHeight / 2;
  }
}
