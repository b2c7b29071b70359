"""The bench signature: one number that stands for the trees of fixed searches.

A change that only makes the program faster or clearer leaves it as it is; a change of the search, the rules or the
parameters changes it, and says so in its commit message. Only moves and visit counts are hashed, in an order that
does not depend on how the tree is stored.
"""

import zlib
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from board.go_board import GoBoard
from mcts.node import MCTSNode
from mcts.params import SearchLimit, SearchParams
from mcts.tree import MCTSTree
from tools.benchlib.evaluators import HashEvaluator
from tools.benchlib.measure import BenchSettings, Figure
from tools.benchlib.positions import make_random_board

TREE_SIZE = 4096


class Case(NamedTuple):
    """One search from a position of random moves."""

    board_size: int
    moves: int
    komi: float
    visits: int
    batch_size: int
    shot: bool = False


# The late positions of small boards end in two passes inside the tree, with captures, kos and superko before.
CASES = (
    Case(9, 0, 7.0, 600, 1), Case(9, 30, 7.0, 600, 8), Case(9, 70, 6.5, 600, 16), Case(5, 12, 0.5, 800, 1),
    Case(4, 20, 0.0, 800, 4), Case(13, 60, 7.5, 300, 8), Case(19, 150, 7.5, 300, 16),
    Case(9, 0, 7.0, 200, 1, shot=True), Case(9, 40, 7.0, 400, 8, shot=True), Case(5, 16, 0.5, 333, 4, shot=True),
)


def hash_tree(root: MCTSNode, seed: int) -> tuple[int, int]:
    """Return the number of evaluated nodes below a node, and a checksum of their moves and visits mixed with `seed`."""
    nodes, stack = 0, [root]
    while stack:
        node = stack.pop()
        nodes += 1
        seed = zlib.crc32(np.stack((node.action, node.children_visits)).astype("<i4").tobytes(), seed)
        children = (node.child(int(i)) for i in np.flatnonzero(node.children_visits))
        stack.extend(child for child in children if child is not None)
    return nodes, seed


def search_twice(tree: MCTSTree, board: GoBoard, case: Case) -> Iterator[int]:
    """Search, play the move and search again, with what is kept of the tree; yield the move after each search."""
    for _ in range(2):
        color, limit = board.get_to_move(), SearchLimit(case.visits, strict=True)
        search = tree.search_with_sequential_halving if case.shot else tree.search
        move = search(board, color, limit).pos
        yield move
        board.put_stone(move, color)


def calculate_signature(cases: tuple[Case, ...] = CASES) -> tuple[int, int]:
    """Return the number of nodes of all trees, and the signature."""
    total, signature = 0, 0
    for number, case in enumerate(cases):
        board = make_random_board(case.board_size, case.moves, number, case.komi)
        params = SearchParams(batch_size=case.batch_size, tree_size=TREE_SIZE)
        tree = MCTSTree(HashEvaluator(case.board_size), case.board_size, params)
        for move in search_twice(tree, board, case):
            nodes, signature = hash_tree(tree.root, zlib.crc32(str(move).encode(), signature))
            total += nodes
    return total, signature


def measure_signature(settings: BenchSettings) -> Iterator[Figure | str]:
    """Yield the signature."""
    nodes, signature = calculate_signature()
    yield Figure("nodes in the trees of the signature", "", (nodes,))
    yield Figure("signature", "", (signature,))
