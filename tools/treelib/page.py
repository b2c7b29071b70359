"""A search tree as one HTML page: nodes fold, the board follows the pointer. Style and script are in the page itself.

The outline is made of `details` elements, so it folds without the script too; the script only draws the board.
"""

import json
from html import escape

from board.stone import Stone
from tools.treelib.svg import CELL, MARGIN, STONE_RADIUS, board_side, describe_node, draw_grid, percent
from tools.treelib.view import TreeView, ViewNode, describe_view, find_position, name_move

# So many levels are unfolded at first, and the main line.
OPEN_LEVELS = 1

STYLE = """
:root{color-scheme:light dark;--ink:#1c1f23;--soft:#5b636d;--paper:#f7f8fa;--line:#d5dae0;--main:#b87400;--bar:#3b7dd8}
@media(prefers-color-scheme:dark){:root{--ink:#e8eaed;--soft:#a3abb5;--paper:#17191c;--line:#3a4048;--main:#e5a53a;
--bar:#6aa0ea}}
body{margin:0;background:var(--paper);color:var(--ink);font:14px/1.45 system-ui,"Segoe UI",Helvetica,Arial,sans-serif}
header{padding:14px 18px;border-bottom:1px solid var(--line)}h1{font-size:17px;margin:0}
p{margin:2px 0;color:var(--soft)}
main{display:flex;flex-wrap:wrap;align-items:flex-start;gap:20px;padding:14px 18px}
#tree{flex:1 1 420px;min-width:0;overflow-x:auto}
aside{position:sticky;top:14px;order:2;max-width:100%}aside svg{max-width:100%;height:auto}
details details,details .leaf{margin-left:18px;border-left:1px solid var(--line);padding-left:6px}
summary,.leaf{cursor:pointer;white-space:nowrap;border-radius:4px;padding:1px 4px}
summary.here,.leaf.here{background:color-mix(in srgb,var(--bar) 22%,transparent)}
.main{color:var(--main);font-weight:600}.k{display:inline-block;width:11px;height:11px;border-radius:50%;
border:1px solid var(--soft);vertical-align:-1px;margin-right:5px}.k.X{background:#16181b}.k.O{background:#fff}
.r{color:var(--soft);font-weight:400;font-variant-numeric:tabular-nums}
.v{display:inline-block;height:7px;background:var(--bar);margin-left:8px;border-radius:2px}
button{font:inherit;padding:2px 10px;margin:6px 6px 0 0}#say{white-space:pre-line;max-width:34em}
"""
SCRIPT = """
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const stones = document.getElementById("stones"), say = document.getElementById("say");
const make = (name, values, text) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in values) element.setAttribute(key, values[key]);
  if (text !== undefined) element.textContent = text;
  stones.append(element);
};
let here = null;
function show(row) {
  const node = data.nodes[row.dataset.node];
  if (here) here.classList.remove("here");
  (here = row).classList.add("here");
  say.textContent = node.text;
  stones.replaceChildren();
  [...node.stones].forEach((char, point) => {
    if (char === ".") return;
    const x = data.margin + point % data.size * data.cell, y = data.margin + Math.floor(point / data.size) * data.cell;
    const black = char === "X";
    make("circle", {cx: x, cy: y, r: data.radius, fill: black ? "#16181b" : "#fdfdfb", stroke: "#16181b"});
    if (node.numbers[point])
      make("text", {x, y: y + 4, "text-anchor": "middle", "font-size": 11, fill: black ? "#fff" : "#16181b"},
           node.numbers[point]);
  });
}
for (const row of document.querySelectorAll("[data-node]"))
  for (const event of ["mouseenter", "focus", "click"]) row.addEventListener(event, () => show(row));
const fold = open => document.querySelectorAll("#tree details").forEach(one => { one.open = open; });
document.getElementById("unfold").addEventListener("click", () => fold(true));
document.getElementById("fold").addEventListener("click", () => {
  fold(false);
  document.querySelector("#tree details").open = true;
});
show(document.querySelector("[data-node]"));
"""
BAR_WIDTH = 120


def embed_json(content: object) -> str:
    """Return JSON that no HTML parser takes for markup."""
    text = json.dumps(content, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def format_row(view: TreeView, node: ViewNode) -> str:
    """Return what stands in a node's row of the outline."""
    share = node.visits / max(view.root.visits, 1)
    name = f'<span class="{"main" if node.on_main_line else "other"}">{escape(name_move(view, node))}</span>'
    bar = f'<span class="v" style="width:{BAR_WIDTH * min(share, 1.0):.0f}px"></span>'
    if node.edge is None:
        return f'{name} <span class="r">{node.visits:,} visits</span>'
    stone = "X" if node.color == Stone.BLACK else "O"
    more = f", +{node.hidden:,} left out" if node.hidden else ""
    return (f'<span class="k {stone}"></span>{name} <span class="r">{percent(node.winrate)}, {node.visits:,} visits, '
            f"prior {percent(node.edge.prior)}{more}</span>{bar}")


def format_outline(view: TreeView) -> str:
    """Return the nodes as nested `details`; the first levels and the main line are open."""
    parts: list[str] = []
    waiting: list[tuple[ViewNode, int] | str] = [(view.root, 0)]
    numbers = {id(node): number for number, node in enumerate(view.nodes)}
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            parts.append(item)
            continue
        node, depth = item
        row = f'data-node="{numbers[id(node)]}" tabindex="0">{format_row(view, node)}'
        if not node.children:
            parts.append(f'<div class="leaf" {row}</div>\n')
            continue
        is_open = " open" if depth < OPEN_LEVELS or node.on_main_line else ""
        parts.append(f"<details{is_open}><summary {row}</summary>\n")
        waiting += ["</details>\n", *((child, depth + 1) for child in reversed(node.children))]
    return "".join(parts)


def format_page(view: TreeView) -> str:
    """Return a view as an HTML document; raises DumpError for a line that cannot be played."""
    size = view.board.board_size
    nodes = []
    for node in view.nodes:
        position = find_position(view, node)
        nodes.append({"stones": position.stones, "numbers": position.numbers,
                      "text": "\n".join(describe_node(view, node))})
    data = {"size": size, "cell": CELL, "margin": MARGIN, "radius": CELL * STONE_RADIUS, "nodes": nodes}
    title, subtitle = (escape(line) for line in describe_view(view))
    side = board_side(size)
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Search tree: {title}</title><style>{STYLE}</style></head><body>
<header><h1>{title}</h1><p>{subtitle}</p>
<button id="unfold" type="button">Unfold all</button><button id="fold" type="button">Fold all</button></header>
<main><div id="tree">
{format_outline(view)}</div>
<aside><svg xmlns="http://www.w3.org/2000/svg" width="{side}" height="{side}" viewBox="0 0 {side} {side}" role="img"
 aria-label="Board">{draw_grid(size)}<g id="stones"></g></svg><p id="say"></p></aside></main>
<script type="application/json" id="data">{embed_json(data)}</script>
<script>{SCRIPT}</script></body></html>
"""
