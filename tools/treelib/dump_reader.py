"""A search tree from the JSON that `tamago-dump_tree` answers; nothing in the file is trusted."""

import gzip
import json
import math
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from board.constant import MAX_BOARD_SIZE, MIN_BOARD_SIZE, PASS
from board.go_board import GoBoard
from board.stone import Stone
from common.exit_status import ProgramError

DUMP_VERSION = 2
NO_CHILD = -1
GZIP_MAGIC = b"\x1f\x8b"
COLORS = {"black": Stone.BLACK, "white": Stone.WHITE}


class DumpError(ProgramError):
    """The file is no tree dump that can be drawn; the text is one line for the user."""


@dataclass(frozen=True)
class Edge:
    """A move from a node; prior, value and win rate are in [0, 1] and those of the side that plays it.

    `child` is the index of the node after the move, None if it was never visited; `value` is the network's.
    """

    pos: int
    child: int | None
    visits: int
    prior: float
    value: float
    value_sum: float


@dataclass(frozen=True)
class Dump:
    """A tree: the position of its root, and the moves from every node."""

    board: GoBoard
    to_move: Stone
    root: int
    visits: list[int]
    edges: list[list[Edge]]


def read_dump(path: Path) -> Dump:
    """Read a dump, plain or gzipped, as a bare line of JSON or as the engine's answer (`= {...}`).

    Raises DumpError, and OSError for a file that cannot be read.
    """
    data = path.read_bytes()
    try:
        text = (gzip.decompress(data) if data.startswith(GZIP_MAGIC) else data).decode("utf-8-sig")
        content = json.loads(re.sub(r"\A\s*=\d*\s*", "", text))
    except (ValueError, EOFError, OSError, RecursionError, zlib.error) as error:
        raise DumpError(f"not JSON: {' '.join(str(error).split())}") from error
    return parse_dump(content)


def parse_dump(content: Any) -> Dump:
    """Return the tree in decoded JSON; raises DumpError."""
    if not isinstance(content, dict) or "tree" not in content or "board_size" not in content:
        raise DumpError("no tree dump: the fields tree and board_size are missing")
    version = content.get("dump_version")
    if version != DUMP_VERSION:
        raise DumpError(f"dump_version is {version!r}, not {DUMP_VERSION}")
    board = _read_board(content)
    tree = content["tree"]
    nodes = _get(tree, "node", list)
    if not nodes:
        raise DumpError("the tree is empty: search before dumping it")
    root = _get(tree, "current_root", int)
    if not 0 <= root < len(nodes):
        raise DumpError(f"current_root {root} is no node")
    points = {PASS, *board.onboard_pos}
    edges = [_read_edges(node, index, len(nodes), points) for index, node in enumerate(nodes)]
    visits = [int(_number(node.get("node_visits"), f"node_visits of node {index}")) for index, node in enumerate(nodes)]
    _check_parents(edges, root)
    return Dump(board, _read_color(_get(tree, "to_move", str)), root, visits, edges)


def _get(content: Any, name: str, kind: type, node: int | None = None) -> Any:
    """Return a field of the right type; raises DumpError."""
    where = "" if node is None else f" of node {node}"
    value = content.get(name) if isinstance(content, dict) else None
    if not isinstance(value, kind) or isinstance(value, bool):
        raise DumpError(f"{name}{where} is missing or of the wrong type")
    return value


def _read_color(name: str) -> Stone:
    """Return a color; raises DumpError."""
    if name not in COLORS:
        raise DumpError(f"{name[:20]!r} is no color")
    return COLORS[name]


def _read_board(content: dict[str, Any]) -> GoBoard:
    """Return the position of the root, by the game in the dump; raises DumpError."""
    size, komi = _get(content, "board_size", int), _number(content.get("komi"), "komi")
    if not MIN_BOARD_SIZE <= size <= MAX_BOARD_SIZE:
        raise DumpError(f"board_size {size} is not {MIN_BOARD_SIZE} to {MAX_BOARD_SIZE}")
    board = GoBoard(size, komi)
    moves, handicap = (_get(content, name, list) for name in ("move_history", "handicap_history"))
    try:
        board.set_history([(_read_color(str(color)), int(pos)) for color, pos in moves], [int(pos) for pos in handicap])
    except (TypeError, ValueError, OverflowError) as error:
        raise DumpError(f"the game cannot be replayed: {error}") from error
    return board


def _number(value: Any, name: str) -> float:
    """Return a finite number; raises DumpError."""
    try:
        if not isinstance(value, bool) and isinstance(value, int | float) and math.isfinite(value):
            return float(value)
    except OverflowError:  # of an integer with hundreds of digits
        pass
    raise DumpError(f"{name} is no number")


def _read_edges(node: Any, index: int, num_nodes: int, points: set[int]) -> list[Edge]:
    """Return the moves from a node, each with what the node knows about it; raises DumpError."""
    names = ("action", "children_index", "children_visits", "children_policy", "children_value", "children_value_sum")
    count = _get(node, "num_children", int, index)
    columns = [_get(node, name, list, index)[:max(count, 0)] for name in names]
    if any(len(column) != count for column in columns):
        raise DumpError(f"node {index} does not have {count} children in every list")
    edges = []
    for pos, child, visits, *values in zip(*columns, strict=True):
        where = f"a child of node {index}"
        if not isinstance(pos, int) or pos not in points:
            raise DumpError(f"{where} is at {str(pos)[:20]}, which is no point")
        if not isinstance(child, int) or not NO_CHILD <= child < num_nodes:
            raise DumpError(f"{where} has the index {str(child)[:20]}, which is no node")
        numbers = [_number(value, f"a number of {where}") for value in (visits, *values)]
        edges.append(Edge(pos, None if child == NO_CHILD else child, int(numbers[0]), *numbers[1:]))
    return edges


def _check_parents(edges: list[list[Edge]], root: int) -> None:
    """Raise DumpError unless the nodes are a tree: no node is reached twice."""
    seen = {root}
    for node in edges:
        for edge in node:
            if edge.child is not None and edge.child in seen:
                raise DumpError(f"node {edge.child} has two parents")
            if edge.child is not None:
                seen.add(edge.child)
