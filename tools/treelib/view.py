"""What of a search tree is shown: the most visited nodes, each with its line and its position."""

import heapq
from dataclasses import dataclass, field

from board.constant import PASS
from board.go_board import GoBoard, IllegalMoveError
from board.stone import Stone
from tools.treelib.dump_reader import Dump, DumpError, Edge

STONE_CHARS = {Stone.EMPTY: ".", Stone.BLACK: "X", Stone.WHITE: "O"}


@dataclass
class ViewNode:
    """A node that is shown.

    Attributes:
        edge: the move that leads here, None at the root.
        color: the side that played it; at the root the opponent of the side to move.
        visits: of the node.
        parent: the node above, None at the root.
        children: nodes shown below, the most visited first.
        hidden: visited nodes below, at any depth, that are not shown.
        on_main_line: whether the most visited moves lead here from the root.
    """

    edge: Edge | None
    color: Stone
    visits: int
    index: int
    parent: "ViewNode | None" = None
    children: list["ViewNode"] = field(default_factory=list)
    hidden: int = 0
    on_main_line: bool = False

    @property
    def winrate(self) -> float | None:
        """Mean value of the visits for the side that played the move, None without visits or at the root."""
        return self.edge.value_sum / self.edge.visits if self.edge and self.edge.visits > 0 else None

    @property
    def line(self) -> list["ViewNode"]:
        """The nodes from the first move after the root to this one."""
        node, line = self, []
        while node.parent is not None:
            line.append(node)
            node = node.parent
        return line[::-1]


@dataclass(frozen=True)
class TreeView:
    """The part of a tree that is shown; `nodes` begins with the root, parents stand before their children."""

    board: GoBoard
    nodes: list[ViewNode]
    left_out: int

    @property
    def root(self) -> ViewNode:
        """The root."""
        return self.nodes[0]

    @property
    def main_line(self) -> list[ViewNode]:
        """The most visited line, without the root."""
        return [node for node in self.nodes if node.on_main_line and node.parent is not None]


@dataclass(frozen=True)
class ShownPosition:
    """The board after a line: stones row by row from the top (. X O), and the number of the move that put a stone."""

    stones: str
    numbers: dict[int, int]


def make_view(dump: Dump, max_nodes: int) -> TreeView:
    """Return the `max_nodes` most visited nodes; a node is never shown without its parent."""
    root = ViewNode(None, Stone.get_opponent_color(dump.to_move), dump.visits[dump.root], dump.root,
                    on_main_line=True)
    nodes: list[ViewNode] = []
    waiting = [(-root.visits, dump.root, root)]
    while waiting and len(nodes) < max_nodes:
        node = heapq.heappop(waiting)[2]
        nodes.append(node)
        if node.parent is not None:
            node.parent.children.append(node)
            node.on_main_line = node.parent.on_main_line and node.parent.children[0] is node
        for edge in dump.edges[node.index]:
            if edge.child is not None:
                child = ViewNode(edge, Stone.get_opponent_color(node.color), dump.visits[edge.child], edge.child, node)
                heapq.heappush(waiting, (-edge.visits, edge.child, child))
    left_out = 0
    for _, _, node in waiting:
        count = _count_below(dump, node.index)
        left_out += count
        if node.parent is not None:
            node.parent.hidden += count
    return TreeView(dump.board, nodes, left_out)


def _count_below(dump: Dump, index: int) -> int:
    """Return how many nodes a subtree has, its root counted."""
    waiting, count = [index], 0
    while waiting:
        count += 1
        waiting += [edge.child for edge in dump.edges[waiting.pop()] if edge.child is not None]
    return count


def find_position(view: TreeView, node: ViewNode) -> ShownPosition:
    """Return the position at a node, by our own board; raises DumpError when a move of the line is illegal."""
    board = view.board.copy()
    last: dict[int, int] = {}
    for number, step in enumerate(node.line, 1):
        assert step.edge is not None
        try:
            board.put_stone(step.edge.pos, step.color)
        except IllegalMoveError as error:
            raise DumpError(f"a move of the tree is illegal: {error}") from error
        last[step.edge.pos] = number
        for pos in [pos for pos in last if pos != PASS and board.board[pos] == Stone.EMPTY]:
            del last[pos]  # captured
    last.pop(PASS, None)
    stones = "".join(STONE_CHARS[board.board[pos]] for pos in board.onboard_pos)
    return ShownPosition(stones, {board.onboard_pos.index(pos): number for pos, number in sorted(last.items())})


def name_move(view: TreeView, node: ViewNode) -> str:
    """Return the move that leads to a node as GTP writes it."""
    if node.edge is None:
        return "root"
    return "pass" if node.edge.pos == PASS else view.board.coordinate.convert_to_gtp_format(node.edge.pos)


def describe_view(view: TreeView) -> list[str]:
    """Return lines about the tree: whose move it is, how much is shown."""
    board, shown = view.board, len(view.nodes)
    to_move = "Black" if view.root.color == Stone.WHITE else "White"
    rest = f"; {view.left_out:,} with fewer visits left out" if view.left_out else ""
    return [
        f"{to_move} to move, move {board.moves}, {board.board_size}x{board.board_size}, komi {board.get_komi():g}",
        f"{view.root.visits:,} visits, {shown:,} of {shown + view.left_out:,} nodes shown{rest}",
    ]
