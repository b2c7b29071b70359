"""What a node is worth where its moves weigh differently: against the naive twin, and what must hold at all times."""
from __future__ import annotations

import math

import numpy as np
import pytest

from mcts.backup import chance_below, favor_good_moves, prune_noise
from mcts.params import SearchLimit, Selection
from mcts.tree import MCTSTree
from mcts.tree_arrays import ROOT, Tree, new_tree
from tests.mcts.evaluators import HashEvaluator, TellingEvaluator
from tests.mcts.trees import Game, compare_trees, small_params
from tests.reference.naive_search import NaiveSearch

BOTH = Selection(value_weight=0.25, noise_scale=0.075)


def node_of(visits: list[int], means: list[float], priors: list[float]) -> Tree:
    """Return a tree of a root whose moves were tried in this order."""
    tree, count = new_tree(1, len(visits)), len(visits)
    tree.node_edges[ROOT] = tree.node_front[ROOT] = count
    tree.edge_visits[:], tree.edge_prior[:] = visits, priors
    tree.edge_value_sum[:] = np.array(visits) * np.array(means)
    return tree


@pytest.mark.parametrize("selection", [
    Selection(value_weight=0.25), Selection(noise_scale=0.075), BOTH, BOTH._replace(value_weight=1.0, noise_scale=0.01),
    BOTH._replace(spread_scale=0.85, urgency_power=2.0, lead_weight=0.2),
])
@pytest.mark.parametrize("batch_size", [1, 4])
def test_tree_equals_the_naive_tree(selection: Selection, batch_size: int) -> None:
    """Every node, with leads, too; a network whose values differ much and one whose values differ little."""
    for size, length, visits, spread in ((3, 3, 150, 1.0), (3, 9, 200, 8.0), (5, 8, 100, 3.0)):
        game = Game.random(size, length, seed=length, komi=0.5)
        tree = MCTSTree(TellingEvaluator(size, length, spread), size, small_params(batch_size, selection=selection))
        tree.search(game.board, game.stone, SearchLimit(visits, strict=True))
        naive = NaiveSearch(TellingEvaluator(size, length, spread), selection, game.board.komi, batch_size)
        root = game.start(naive)
        naive.search(root, visits)
        assert compare_trees(tree.root, root, game, 1e-6) == tree.num_nodes


def test_the_distribution_is_students() -> None:
    """Values of the table of Student's t with three degrees of freedom (one-sided)."""
    for z, share in ((0.0, 0.5), (0.978, 0.8), (1.638, 0.9), (2.353, 0.95), (4.541, 0.99)):
        assert chance_below(z) == pytest.approx(share, abs=2e-4)
        assert chance_below(-z) == pytest.approx(1.0 - share, abs=2e-4)


@pytest.mark.plain
def test_visits_beyond_a_fair_share_of_a_worse_move_are_noise() -> None:
    """The second move has 30 visits where its prior asks for 10 and twice that is let pass: up to 10 are left out."""
    weight = np.zeros(2)
    for mean, least, most in ((0.6, 30, 30), (0.5, 30, 30), (0.49, 20, 30), (0.2, 20, 20.2)):
        tree = node_of([40, 30], [0.5, mean], [0.8, 0.2])
        total = prune_noise(tree, ROOT, 0.05, weight)
        assert weight[0] == 40 and least <= weight[1] <= most and total == pytest.approx(weight.sum())
    assert prune_noise(node_of([40, 15], [0.5, 0.1], [0.8, 0.2]), ROOT, 0.05, weight) == 55, "a fair share stays"


@pytest.mark.plain
def test_good_moves_weigh_more_and_the_sum_stays() -> None:
    """Moves alike keep their visits; of two that differ the better one gains what the other loses."""
    weight = np.array([30.0, 20.0, 10.0])
    favor_good_moves(node_of([30, 20, 10], [0.5, 0.5, 0.5], [0.5, 0.3, 0.2]), ROOT, 60.0, 0.25, weight)
    np.testing.assert_allclose(weight, [30, 20, 10])
    favor_good_moves(node_of([30, 20, 10], [0.5, 0.7, 0.1], [0.5, 0.3, 0.2]), ROOT, 60.0, 0.25, weight)
    assert weight.sum() == pytest.approx(60.0) and weight[1] > 20 and weight[2] < 10
    assert weight[2] > 10 * (1e-4) ** 0.25, "no move's weight becomes 0"


@pytest.mark.parametrize("selection", [BOTH, Selection(value_weight=1.0), Selection(noise_scale=0.001)])
def test_values_stay_win_rates(selection: Selection) -> None:
    """And the bound of each move holds: the mean of squares is no less than the square of the mean."""
    game = Game.random(5, 6, seed=3)
    tree = MCTSTree(HashEvaluator(5, 7, 9.0), 5, small_params(4, selection=selection))
    tree.search(game.board, game.stone, SearchLimit(400, strict=True))
    arrays = tree.arrays
    visited = np.flatnonzero(arrays.edge_visits[:arrays.counters[1]])
    mean = arrays.edge_value_sum[visited] / arrays.edge_visits[visited]
    square = arrays.edge_value_square_sum[visited] / arrays.edge_visits[visited]
    assert (mean >= 0).all() and (mean <= 1).all() and (square >= mean**2 - 1e-9).all() and (square <= 1 + 1e-9).all()
    assert math.isclose(float(arrays.edge_visits[visited].sum()), sum(arrays.node_visits[:tree.num_nodes]))
