"""The least prior of moves that settle an atari."""
from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from board.constant import PASS
from board.string import stones_in_atari
from mcts.atari import least_prior
from mcts.params import SearchLimit, Selection
from mcts.tree import MCTSTree
from tests.mcts.evaluators import ConstantEvaluator
from tests.mcts.trees import Game, check_tree, small_params

# Black may take six stones at C1, White may save them there by taking one.
ATARI = """
    . . . . . .
    . . X O . .
    X X X X . .
    X O O O X .
    X O X O X .
    X O . X . .
"""
CAPTURE = (3, 6)


@pytest.mark.slow
def test_stones_in_atari_as_the_slow_board_counts_them() -> None:
    own = large = 0
    for size, length, seed in [*product((5,), (25,), range(8)), *product((9,), (70, 90), range(5))]:
        game = Game.random(size, length, seed)
        slow = game.twins.slow
        in_atari = [(slow.liberties(min(string)), string) for string in slow.strings()]
        for point in slow.points:
            if slow.grid[point] != ".":
                continue
            expected = max((len(string) for liberties, string in in_atari if liberties == {point}), default=0)
            assert stones_in_atari(game.board.state, game.twins.pos(point)) == expected
            large += expected >= 5
            own += any(liberties == {point} and slow.grid[min(string)] == game.color for liberties, string in in_atari)
    assert own > 3 and large > 3


@pytest.mark.parametrize(("stones", "expected"), [(0, 0.0), (1, 0.0), (2, 0.06), (6, 0.1)])
def test_the_least_prior_grows_with_the_string(stones: int, expected: float) -> None:
    row = ". " + "O " * stones + ". " * (7 - stones)
    top = ". " + "X " * stones + ". " * (7 - stones)
    left = "X " + "O " * stones + ". " * (7 - stones)
    game = Game.from_diagram("\n".join([top, left if stones else row, top, *[". " * 8] * 5]), "b")
    assert least_prior(game.board.state, game.twins.pos((stones + 2, 2)), 0.12) == pytest.approx(expected)


@pytest.mark.parametrize("color", ["b", "w"])
def test_a_move_that_the_network_overlooks_is_a_candidate_of_the_search(color: str) -> None:
    game = Game.from_diagram(ATARI, color)
    pos = game.twins.pos(CAPTURE)
    network = ConstantEvaluator(6, {pos: -30.0})
    for atari_prior, seen in ((0.0, False), (0.12, True)):
        tree = MCTSTree(network, 6, small_params(selection=Selection(atari_prior=atari_prior)))
        tree.search(game.board, game.stone, SearchLimit(100, strict=True))
        index = tree.root.action.tolist().index(pos)
        assert (tree.root.child(index) is not None) == seen
        assert tree.root.children_policy[index] == pytest.approx(0.1 / 1.1 if seen else 0.0, abs=1e-6)
        check_tree(tree)


def test_what_the_network_likes_better_is_left_alone() -> None:
    game = Game.from_diagram(ATARI, "b")
    pos = game.twins.pos(CAPTURE)
    trees = []
    for atari_prior in (0.0, 0.12):
        tree = MCTSTree(ConstantEvaluator(6, {pos: 3.0}), 6, small_params(selection=Selection(atari_prior=atari_prior)))
        tree.search(game.board, game.stone, SearchLimit(2, strict=True))
        trees.append(tree.root)
    np.testing.assert_array_equal(trees[0].children_policy, trees[1].children_policy)
    assert math.isclose(float(trees[0].children_policy.sum()), 1.0, abs_tol=1e-6) and PASS in trees[0].action
