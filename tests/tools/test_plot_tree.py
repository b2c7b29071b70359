"""Search trees as pictures: what is drawn is the tree that was searched, on our own board, in one safe file."""
from __future__ import annotations

import gzip
import json
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from board.go_board import GoBoard
from board.stone import Stone
from mcts.dump import dump_tree
from mcts.params import SearchLimit
from mcts.tree import MCTSTree
from tests.gtp.players import Controller
from tests.mcts.evaluators import HashEvaluator
from tests.mcts.trees import Game, small_params
from tests.tools.in_process import run_in_process
from tools.plot_tree import main
from tools.treelib.dump_reader import DumpError, parse_dump, read_dump
from tools.treelib.layout import lay_out
from tools.treelib.page import embed_json, format_page, format_row
from tools.treelib.svg import (
    BOX_HEIGHT,
    BOX_WIDTH,
    TreeDrawing,
    describe_node,
    draw_grid,
    draw_stones,
    format_svg,
)
from tools.treelib.view import ShownPosition, TreeView, describe_view, find_position, make_view, name_move

SIZE, VISITS = 3, 150
ALL = 5000
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def dump_text() -> str:
    """Return the dump of a search in a game with captures and passes ahead."""
    game = Game(SIZE, komi=0.5)
    for move in ((2, 2), None, (1, 1)):
        game.play(move)
    tree = MCTSTree(HashEvaluator(SIZE), SIZE, small_params(4))
    tree.search(game.board, game.stone, SearchLimit(VISITS, strict=True))
    return dump_tree(tree, cgos_mode=False)


@pytest.fixture
def content(dump_text: str) -> dict[str, Any]:
    """Return the decoded dump, to be spoiled."""
    return json.loads(dump_text)


@pytest.fixture
def view(content: dict[str, Any]) -> TreeView:
    """Return the whole tree."""
    return make_view(parse_dump(content), ALL)


class Outline(HTMLParser):
    """Reads the page: rows, which of them are folded, and whether tags are balanced."""

    VOID = frozenset({"meta", "rect", "circle", "path"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.folded: list[bool] = []
        self.rows: dict[int, int] = {}  # number of folded ancestors by node
        self.links: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.links += [name for name in ("src", "href", "action") if name in values]
        if tag == "details":
            self.folded.append("open" not in values)
        if "data-node" in values:
            above = self.folded[:-1] if tag == "summary" else self.folded
            self.rows[int(values["data-node"] or -1)] = sum(above)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.VOID:
            return
        assert self.open.pop() == tag
        if tag == "details":
            self.folded.pop()


def stones_of(board: GoBoard) -> str:
    return "".join(".XO"[stone] for stone in board.get_board_data())


def page_data(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_svg_is_well_formed_and_has_every_node(view: TreeView) -> None:
    root = ElementTree.fromstring(format_svg(view))
    nodes = [element.get("data-node") for element in root.iter(f"{SVG}g") if element.get("class") == "node"]
    assert sorted(map(int, filter(None, nodes))) == list(range(len(view.nodes))) and view.left_out == 0
    titles = [element.text or "" for element in root.iter(f"{SVG}title")]
    assert sum("prior" in title for title in titles) == len(view.nodes) - 1


def test_boxes_do_not_overlap_and_stay_in_the_picture(view: TreeView) -> None:
    drawing = TreeDrawing(view)
    width, height = drawing.size
    corners = [drawing.corner(place) for place in lay_out(view.root).values()]
    assert len(set(corners)) == len(view.nodes)
    for x, y in corners:
        assert x > drawing.side and x + BOX_WIDTH <= width and y + BOX_HEIGHT <= height
    columns: dict[int, list[int]] = {}
    for x, y in corners:
        columns.setdefault(x, []).append(y)
    gaps = [b - a for ys in columns.values() for a, b in zip(sorted(ys), sorted(ys)[1:], strict=False)]
    assert min(gaps) > BOX_HEIGHT and min(b - a for a, b in zip(sorted(columns), sorted(columns)[1:], strict=False)) \
        > BOX_WIDTH


def test_long_texts_are_squeezed_into_their_boxes(view: TreeView) -> None:
    view.nodes[3].visits, view.nodes[3].hidden = 12_345_678, 1_234_567
    root = ElementTree.fromstring(format_svg(view))
    for box in (element for element in root.iter(f"{SVG}g") if element.get("class") == "node"):
        for text in box.iter(f"{SVG}text"):
            room = BOX_WIDTH - int(text.get("x") or 0)
            assert int(text.get("textLength") or 6 * len(text.text or "")) < room


def test_the_boards_show_the_position_and_the_main_line(view: TreeView) -> None:
    root = ElementTree.fromstring(format_svg(view))
    boards = [element for element in root.iter(f"{SVG}g") if element.get("class") == "board"]
    for board, node in zip(boards, (view.root, view.main_line[-1]), strict=True):
        position = find_position(view, node)
        drawn = {int(stone.get("data-point") or -1) for stone in board.iter(f"{SVG}circle") if stone.get("data-point")}
        assert drawn == {index for index, char in enumerate(position.stones) if char != "."}


def test_a_stone_is_drawn_at_the_coordinates_of_its_point_and_in_its_color() -> None:
    board, color = GoBoard(5), Stone.BLACK
    for vertex in ("B5", "E2"):
        board.put_stone(board.coordinate.convert_from_gtp_format(vertex), color)
        color = Stone.get_opponent_color(color)
    root = ElementTree.fromstring(f"<g>{draw_grid(5)}{draw_stones(ShownPosition(stones_of(board), {}), 5)}</g>")
    across = {text.get("x"): text.text for text in root.iter("text") if text.text and text.text.isalpha()}
    down = {int(text.get("y") or 0) - 3: text.text for text in root.iter("text") if text.text and text.text.isdigit()}
    found = {f"{across[stone.get('cx')]}{down[int(stone.get('cy') or 0)]}": stone.get("fill")
             for stone in root.iter("circle") if stone.get("class") == "stone"}
    assert found == {"B5": "#16181b", "E2": "#fdfdfb"}


def test_who_moves_and_who_moved_is_told(view: TreeView) -> None:
    assert describe_view(view)[0].startswith("White to move, move 4, 3x3")
    for node in view.nodes[1:]:
        color = "White" if len(node.line) % 2 else "Black"
        stone = "O" if color == "White" else "X"
        assert describe_node(view, node)[0].startswith(f"{color} {name_move(view, node)}: ")
        row = format_row(view, node)
        assert node.edge is not None and f'class="k {stone}"' in row and f"prior {node.edge.prior:.1%}" in row
    root = ElementTree.fromstring(format_svg(view))
    fills = {element.get("data-node"): element.find(f"{SVG}circle") for element in root.iter(f"{SVG}g")}
    for node in view.nodes[1:]:
        circle = fills[str(node.index)]
        assert circle is not None and circle.get("fill") == ("#fff" if len(node.line) % 2 else "#16181b")


def test_every_position_equals_our_own_board(content: dict[str, Any], view: TreeView) -> None:
    page = page_data(format_page(view))
    met_captures = 0
    for node, drawn in zip(view.nodes, page["nodes"], strict=True):
        board = GoBoard(SIZE)
        for color, pos in content["move_history"]:
            board.put_stone(pos, Stone[color.upper()])
        color, numbers = Stone.WHITE, {}
        for number, step in enumerate(node.line, 1):
            assert step.edge is not None
            board.put_stone(step.edge.pos, color)
            color = Stone.get_opponent_color(color)
            numbers[step.edge.pos] = number
        met_captures += sum(board.prisoner) > 0
        assert drawn["stones"] == "".join(".XO"[stone] for stone in board.get_board_data())
        expected = {str(index): numbers[pos] for index, pos in enumerate(board.onboard_pos)
                    if pos in numbers and board.board[pos] != Stone.EMPTY}
        assert drawn["numbers"] == expected
    assert met_captures


def test_win_rates_are_those_of_the_tree(content: dict[str, Any], view: TreeView) -> None:
    nodes = content["tree"]["node"]
    for node in view.nodes[1:]:
        assert node.parent is not None and node.edge is not None
        above = nodes[node.parent.index]
        i = above["children_index"].index(node.index)
        assert node.winrate == pytest.approx(above["children_value_sum"][i] / above["children_visits"][i])
        assert node.edge.prior == above["children_policy"][i] and node.edge.visits == above["children_visits"][i]
        assert node.edge.value == pytest.approx(1 - nodes[node.index]["raw_value"])


def test_the_page_folds_and_needs_nothing_from_outside(view: TreeView) -> None:
    page = format_page(view)
    outline = Outline(page)
    assert not outline.open and not outline.links and "http" not in page.replace("http://www.w3.org/2000/svg", "")
    assert sorted(outline.rows) == list(range(len(view.nodes)))
    for number, node in enumerate(view.nodes):
        if node.on_main_line or node.parent is view.root:
            assert outline.rows[number] == 0  # seen at once
    assert any(outline.rows.values())  # the rest is folded


@pytest.mark.parametrize("limit", [1, 2, 30])
def test_a_large_tree_is_cut_and_says_so(content: dict[str, Any], limit: int) -> None:
    dump = parse_dump(content)
    view, total = make_view(dump, limit), len(dump.visits)
    assert len(view.nodes) == limit and view.left_out == total - limit
    assert sum(node.hidden for node in view.nodes) == view.left_out
    assert all(node.parent is None or node.parent in view.nodes for node in view.nodes)
    note = f"{limit} of {total} nodes shown; {total - limit} with fewer visits left out"
    assert note in format_svg(view) and note in format_page(view)
    least = min(node.visits for node in view.nodes)
    children = {edge.child: edge.visits for node in view.nodes for edge in dump.edges[node.index]}
    shown = {node.index for node in view.nodes}
    assert limit == 1 or all(visits <= least + 1 for child, visits in children.items()
                             if child is not None and child not in shown)


def test_the_same_dump_gives_the_same_bytes(dump_text: str) -> None:
    first, second = (make_view(parse_dump(json.loads(dump_text)), 40) for _ in range(2))
    assert format_svg(first) == format_svg(second) and format_page(first) == format_page(second)


def test_data_cannot_leave_its_script() -> None:
    text = embed_json({"text": "</script><script>alert(1)</script><!-- & -->"})
    assert "<" not in text and ">" not in text and "&" not in text
    assert json.loads(text)["text"].startswith("</script>")


@pytest.mark.parametrize("wrap", [
    lambda text: text.encode(), lambda text: f"= {text}\n\n".encode(), lambda text: f"=12 {text}\n\n".encode(),
    lambda text: gzip.compress(text.encode()),
])
def test_all_forms_of_a_dump_can_be_read(dump_text: str, tmp_path: Path, wrap: Any) -> None:
    (tmp_path / "tree.json").write_bytes(wrap(dump_text))
    assert len(read_dump(tmp_path / "tree.json").visits) > 100


def test_a_damaged_archive_is_one_line(dump_text: str, tmp_path: Path) -> None:
    packed = gzip.compress(dump_text.encode())
    for spoilt in (packed[:10] + b"\xff" + packed[11:], packed[:-9], packed[:-8] + bytes(8)):  # block, end, checksum
        (tmp_path / "tree.gz").write_bytes(spoilt)
        with pytest.raises(DumpError, match="not JSON"):
            read_dump(tmp_path / "tree.gz")


def test_the_tree_of_a_genmove_can_be_drawn() -> None:
    # As doc/gtp.md has it: the move stands on the board, and the tree begins before it.
    gtp = Controller()
    gtp.ask("boardsize 5")
    gtp.ask("play b c3")
    move = gtp.ask("genmove w")
    view = make_view(parse_dump(json.loads(gtp.ask("tamago-dump_tree"))), ALL)
    assert find_position(view, view.root).stones.count(".") == 24
    assert move in format_page(view) and ElementTree.fromstring(format_svg(view)) is not None


def spoil(content: dict[str, Any], path: str, value: Any) -> None:
    *names, last = [int(name) if name.isdigit() else name for name in path.split(".")]
    inner: Any = content
    for name in names:
        inner = inner[name]
    inner[last] = value


@pytest.mark.parametrize(("path", "value", "complaint"), [
    ("dump_version", 1, "dump_version is 1"), ("board_size", 99, "board_size 99"), ("board_size", "9", "board_size"),
    ("komi", float("nan"), "komi"), ("tree", [], "node is missing"), ("tree.node", [], "empty"),
    ("tree.current_root", -1, "no node"), ("tree.to_move", "<b>", "no color"),
    ("move_history", [["black", 999]], "game"),
    ("move_history", [5], "game"), ("tree.node.0.num_children", 10**9, "children in every list"),
    ("tree.node.0.num_children", True, "num_children"), ("tree.node.0.action.0", 777, "777"),
    ("tree.node.0.action.0", [], "no point"), ("tree.node.0.children_index.0", 10**6, "no node"),
    ("tree.node.0.children_index.0", 0, "two parents"), ("tree.node.0.children_visits.0", "x", "no number"),
    ("tree.node.0.children_policy.0", float("inf"), "no number"), ("tree.node.1", None, "node 1"),
    pytest.param("tree.node.1.node_visits", 10**400, "node_visits of node 1 is no number", id="beyond-floats"),
])
def test_foreign_dumps_are_refused_in_one_line(content: dict[str, Any], path: str, value: Any, complaint: str) -> None:
    spoil(content, path, value)
    with pytest.raises(DumpError) as raised:
        parse_dump(content)
    assert complaint in str(raised.value) and "\n" not in str(raised.value)


def test_an_illegal_line_is_refused(content: dict[str, Any]) -> None:
    root = content["tree"]["node"][0]
    used = root["children_index"].index(max(root["children_index"]))
    root["action"][used] = content["move_history"][0][1]  # occupied
    with pytest.raises(DumpError, match="illegal"):
        format_page(make_view(parse_dump(content), ALL))


def plot(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_in_process(main, *arguments)


def test_the_command_writes_a_file_or_one_line(dump_text: str, tmp_path: Path) -> None:
    source, out = tmp_path / "tree.json", tmp_path / "tree.html"
    source.write_text(dump_text)
    done = plot(str(source), "--out", str(out), "--max-nodes", "20")
    assert done.returncode == 0 and done.stdout == "" and "20 of" in done.stderr
    assert out.read_text().startswith("<!DOCTYPE html>")
    source.write_text("[1, 2")
    for arguments in ((str(source), "--out", str(out)), (str(source), "--out", str(tmp_path / "tree.png"))):
        failed = plot(*arguments)
        assert failed.returncode == 2 and failed.stderr.count("\n") == 1 and failed.stderr.startswith("plot_tree.py: ")
    assert out.read_text().startswith("<!DOCTYPE html>")
