// Win rate and lead over the game; a click goes to the move.

const WIDTH = 600;
const HEIGHT = 130;
const PAD = 6;

function make(name, attributes, parent) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  parent?.append(element);
  return element;
}

// grades: for each node of the line "" or how bad its move was ("bad", "doubtful").
export function drawGraph(box, line, here, grades, onGo) {
  const svg = make("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none" });
  const last = Math.max(1, line.length - 1);
  const x = (index) => PAD + ((WIDTH - 2 * PAD) * index) / last;
  const most = Math.max(5, ...line.map((node) => Math.abs(node.lead ?? 0)));
  const yRate = (rate) => PAD + (HEIGHT - 2 * PAD) * (1 - rate);
  const yLead = (lead) => HEIGHT / 2 - ((HEIGHT / 2 - PAD) * lead) / most;
  make("line", { x1: 0, x2: WIDTH, y1: HEIGHT / 2, y2: HEIGHT / 2, class: "middle" }, svg);
  const known = line.map((node, index) => [node, index]).filter(([node]) => node.winrate !== undefined);
  const points = (y) => known.map(([node, index]) => `${x(index).toFixed(1)},${y(node).toFixed(1)}`).join(" ");
  make("polyline", { points: points((node) => yLead(node.lead ?? 0)), class: "lead" }, svg);
  make("polyline", { points: points((node) => yRate(node.winrate)), class: "rate" }, svg);
  for (const [node, index] of known) {
    if (known.length === 1) make("circle", { cx: x(index), cy: yRate(node.winrate), r: 3, class: "only" }, svg);
    if (grades[index]) make("circle", { cx: x(index), cy: yRate(node.winrate), r: 4, class: grades[index] }, svg);
  }
  const at = line.findIndex((node) => node.id === here);
  if (at >= 0) make("line", { x1: x(at), x2: x(at), y1: 0, y2: HEIGHT, class: "here" }, svg);
  svg.addEventListener("click", (event) => {
    const share = (event.offsetX / svg.clientWidth) * WIDTH;
    const index = Math.round(((share - PAD) / (WIDTH - 2 * PAD)) * last);
    const node = line[Math.max(0, Math.min(line.length - 1, index))];
    if (node) onGo(node.id);
  });
  box.replaceChildren(svg);
}
