"""A search tree, and a board, as SVG; made of text that is escaped, with no script and no outside file."""

from html import escape

from board.constant import GTP_X_COORDINATE
from board.stone import Stone
from tools.treelib.layout import Place, lay_out
from tools.treelib.view import ShownPosition, TreeView, ViewNode, describe_view, find_position, name_move

# Pixels.
CELL = 24
MARGIN = 22
COLUMN_WIDTH, ROW_HEIGHT = 158, 46
BOX_WIDTH, BOX_HEIGHT = 124, 36
# The room for text in a box, and the letters that surely fit it.
TEXT_WIDTH, TEXT_LETTERS = BOX_WIDTH - 30, 16
PADDING, HEADER_HEIGHT = 16, 56
MAX_LINE_WIDTH = 7.0
STONE_RADIUS = 0.46
# The points marked on an empty board, by size (first line 1).
STAR_LINES = {9: (3, 5, 7), 13: (4, 7, 10), 19: (4, 10, 16)}
FONT = "font-family:system-ui,'Segoe UI',Helvetica,Arial,sans-serif"
STYLE = f"""text{{{FONT};font-size:12px;fill:#1c1f23}}.t{{font-size:16px;font-weight:600}}
.s{{fill:#5b636d;font-size:11px}}
.n{{fill:#fff;stroke:#b5bcc4}}.m{{fill:#fff6df;stroke:#d08a00;stroke-width:2}}.e{{fill:none;stroke:#b5bcc4}}
.p{{stroke:#d08a00}}.b{{fill:#d9dee4}}.w{{fill:#3b7dd8}}"""


def draw_grid(size: int) -> str:
    """Return the empty board: wood, lines, star points, coordinates."""
    low, high = MARGIN, MARGIN + (size - 1) * CELL
    whole = board_side(size)
    lines = "".join(f"M{low} {low + i * CELL}H{high}M{low + i * CELL} {low}V{high}" for i in range(size))
    parts = [f'<rect width="{whole}" height="{whole}" rx="4" fill="#e3b76c"/>',
             f'<path d="{lines}" stroke="#5d4420" fill="none"/>']
    stars = STAR_LINES.get(size, ())
    parts += [f'<circle cx="{low + (x - 1) * CELL}" cy="{low + (y - 1) * CELL}" r="2.5" fill="#5d4420"/>'
              for y in stars for x in stars]
    for i in range(size):
        at = low + i * CELL
        label = 'font-size="9" text-anchor="middle" fill="#5d4420" style="font-size:9px"'
        parts.append(f'<text x="{at}" y="{high + 18}" {label}>{GTP_X_COORDINATE[i + 1]}</text>')
        parts.append(f'<text x="8" y="{at + 3}" {label}>{size - i}</text>')
    return "".join(parts)


def draw_stones(position: ShownPosition, size: int) -> str:
    """Return the stones, those put by the line with their move numbers."""
    parts = []
    for index, char in enumerate(position.stones):
        if char == ".":
            continue
        x, y = MARGIN + index % size * CELL, MARGIN + index // size * CELL
        fill, ink = ("#16181b", "#fff") if char == "X" else ("#fdfdfb", "#16181b")
        parts.append(f'<circle class="stone" data-point="{index}" cx="{x}" cy="{y}" r="{CELL * STONE_RADIUS:g}" '
                     f'fill="{fill}" stroke="#16181b"/>')
        if index in position.numbers:
            parts.append(f'<text x="{x}" y="{y + 4}" text-anchor="middle" style="font-size:11px;fill:{ink}">'
                         f"{position.numbers[index]}</text>")
    return "".join(parts)


def board_side(size: int) -> int:
    """Return the width and height of a board in pixels."""
    return 2 * MARGIN + (size - 1) * CELL


def percent(value: float | None) -> str:
    """Return a probability for people; a dash when there is none."""
    return "-" if value is None else f"{value:.1%}"


def describe_node(view: TreeView, node: ViewNode) -> list[str]:
    """Return lines about a node: its move and what the search knows about it."""
    if node.edge is None:
        return describe_view(view)
    color = "Black" if node.color == Stone.BLACK else "White"
    line = " ".join(f"{number} {name_move(view, step)}" for number, step in enumerate(node.line, 1))
    hidden = [f"{node.hidden:,} nodes below are left out"] if node.hidden else []
    return [f"{color} {name_move(view, node)}: {node.edge.visits:,} visits, win rate {percent(node.winrate)}",
            f"prior {percent(node.edge.prior)}, network's value {percent(node.edge.value)} (all of {color})",
            f"line: {line}", *hidden]


class TreeDrawing:
    """The nodes and edges of a view, below a header and beside two boards."""

    def __init__(self, view: TreeView) -> None:
        """Lay the tree out."""
        self.view = view
        self.places = lay_out(view.root)
        self.side = board_side(view.board.board_size)
        self._left, self._top = 2 * PADDING + self.side, HEADER_HEIGHT + PADDING

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        columns = 1 + max(place.column for place in self.places.values())
        rows = 1 + max(place.row for place in self.places.values())
        tree = self._left + columns * COLUMN_WIDTH, self._top + rows * ROW_HEIGHT + PADDING
        return max(tree[0], 640), max(tree[1], self._top + 2 * (self.side + 40))

    def corner(self, place: Place) -> tuple[int, int]:
        """Return the upper left corner of a node's box."""
        return self._left + place.column * COLUMN_WIDTH, self._top + place.row * ROW_HEIGHT

    def draw(self) -> str:
        """Return the whole picture as an SVG document."""
        width, height = self.size
        edges = "".join(self._draw_edge(node) for node in self.view.nodes)
        nodes = "".join(self._draw_node(node) for node in self.view.nodes)
        return (f'<?xml version="1.0" encoding="UTF-8"?>\n<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
                f'height="{height}" viewBox="0 0 {width} {height}"><style>{STYLE}</style>'
                f'<rect width="{width}" height="{height}" fill="#f7f8fa"/>'
                f"{self._draw_header()}{self._draw_boards()}{edges}{nodes}</svg>\n")

    def _draw_header(self) -> str:
        """Return the lines about the whole tree."""
        title, subtitle = describe_view(self.view)
        return (f'<text class="t" x="{PADDING}" y="28">{escape(title)}</text>'
                f'<text x="{PADDING}" y="48">{escape(subtitle)}</text>')

    def _draw_boards(self) -> str:
        """Return the position of the root and that at the end of the main line."""
        last = self.view.main_line[-1] if self.view.main_line else self.view.root
        parts, y = [], self._top
        for caption, node in (("Position", self.view.root), ("Most visited line", last)):
            size = self.view.board.board_size
            parts.append(f'<text x="{PADDING}" y="{y + 12}">{caption}</text>'
                         f'<g class="board" transform="translate({PADDING} {y + 20})">'
                         f"{draw_grid(size)}{draw_stones(find_position(self.view, node), size)}</g>")
            y += self.side + 40
        return "".join(parts)

    def _draw_edge(self, node: ViewNode) -> str:
        """Return the line from the parent, as wide as its share of the root's visits asks for."""
        if node.parent is None:
            return ""
        (x0, y0), (x1, y1) = self.corner(self.places[node.parent.index]), self.corner(self.places[node.index])
        x0, y0, y1 = x0 + BOX_WIDTH, y0 + BOX_HEIGHT // 2, y1 + BOX_HEIGHT // 2
        middle = (x0 + x1) // 2
        width = 1 + (MAX_LINE_WIDTH - 1) * min(1.0, node.visits / max(self.view.root.visits, 1))
        kind = "e p" if node.on_main_line else "e"
        curve = f"M{x0} {y0}C{middle} {y0} {middle} {y1} {x1} {y1}"
        return f'<path class="{kind}" stroke-width="{width:.1f}" d="{curve}"/>'

    def _draw_node(self, node: ViewNode) -> str:
        """Return a box with the move, its win rate and visits, and a bar as long as the win rate."""
        x, y = self.corner(self.places[node.index])
        title = escape("\n".join(describe_node(self.view, node)))
        fill = "#16181b" if node.color == Stone.BLACK else "#fff"
        kind = "m" if node.on_main_line else "n"
        stone = f'<circle cx="14" cy="14" r="7" fill="{fill}" stroke="#16181b"/>' if node.edge else ""
        head = name_move(self.view, node) + ("" if node.winrate is None else f"  {percent(node.winrate)}")
        more = f", +{node.hidden:,}" if node.hidden else ""
        small = f"{node.visits:,} visits{more}"
        squeeze = f' textLength="{TEXT_WIDTH}"' if len(small) > TEXT_LETTERS else ""
        bar = "" if node.winrate is None else (
            f'<rect class="b" x="4" y="31" width="{BOX_WIDTH - 8}" height="2"/><rect class="w" x="4" y="31" '
            f'width="{(BOX_WIDTH - 8) * min(max(node.winrate, 0.0), 1.0):.1f}" height="2"/>')
        return (f'<g class="node" data-node="{node.index}" transform="translate({x} {y})"><title>{title}</title>'
                f'<rect class="{kind}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="5"/>{stone}'
                f'<text x="26" y="15">{escape(head)}</text>'
                f'<text class="s" x="26" y="27"{squeeze}>{small}</text>{bar}</g>')


def format_svg(view: TreeView) -> str:
    """Return a view as an SVG document; raises DumpError for a line that cannot be played."""
    return TreeDrawing(view).draw()
