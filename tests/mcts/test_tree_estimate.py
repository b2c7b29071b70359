"""Leads and ownership that the network tells: kept with the tree, and averaged as one would by hand."""
from __future__ import annotations

import numpy as np
import pytest

from board.go_board import GoBoard
from board.stone import Stone
from mcts.node import MCTSNode
from mcts.params import SearchLimit
from mcts.tree import MCTSTree
from mcts.tree_estimate import PRIOR_VISITS, TreeEstimator
from tests.mcts.evaluators import TellingEvaluator
from tests.mcts.trees import small_params

SIZE = 3


def sum_below(node: MCTSNode, tree: MCTSTree, sign: int) -> tuple[np.ndarray, float, int]:
    """Return the ownership and the leads of all positions below (included), signed, and how many these are."""
    arrays = tree.arrays
    owned = sign * arrays.node_ownership[node.index].astype(float) / 127.0
    lead, count = sign * node.lead, 1
    for i in range(node.num_children):
        child = node.child(i)
        if child is not None:
            below = sum_below(child, tree, -sign)
            owned, lead, count = owned + below[0], lead + below[1], count + below[2]
    return owned, lead, count


@pytest.mark.plain
@pytest.mark.parametrize("visits", [1, 7, 60])
def test_moves_are_averaged_over_all_positions_after_them(visits: int) -> None:
    board, tree = GoBoard(SIZE, komi=0.5), MCTSTree(TellingEvaluator(SIZE), SIZE, small_params())
    result = tree.search(board, Stone.BLACK, SearchLimit(visits, strict=True))
    moves = [move for move in result.candidates if move.visits]
    root = tree.root
    for move, estimate in zip(moves, TreeEstimator(tree, board, Stone.BLACK).estimate_moves(moves), strict=True):
        i = int(np.flatnonzero(root.action == move.pos)[0])
        child = root.child(i)
        assert child is not None
        owned, lead, count = sum_below(child, tree, -1)
        assert np.allclose(estimate.ownership, owned / count)
        if count == move.visits:  # no game ended twice in the same way
            assert root.children_lead_sum[i] == pytest.approx(lead, abs=1e-4)
        expected = (root.children_lead_sum[i] + PRIOR_VISITS * root.lead) / (move.visits + PRIOR_VISITS)
        assert estimate.lead == pytest.approx(expected)


@pytest.mark.parametrize("color", [Stone.BLACK, Stone.WHITE])
def test_reports_in_the_middle_of_a_search_tell_what_it_knows_so_far(color: Stone) -> None:
    """They told the network's judgment of the position for every move until the search had ended."""
    board, tree = GoBoard(SIZE, komi=0.5), MCTSTree(TellingEvaluator(SIZE), SIZE, small_params())
    estimator, told = TreeEstimator(tree, board, color), []

    def report(searched: MCTSTree) -> None:
        moves = [move for move in searched.result().candidates if move.visits]
        told.append([estimate.lead for estimate in estimator.estimate_moves(moves)])
        root = searched.root
        visits, sums = root.children_visits, root.children_lead_sum
        leads = (sums + PRIOR_VISITS * root.lead) / (visits + PRIOR_VISITS)
        assert sorted(told[-1]) == pytest.approx(sorted(leads[visits > 0]))

    tree.search(board, color, SearchLimit(60, strict=True), report)
    tree.search(board, color, SearchLimit(90, strict=True), report)
    assert len(told) > 3 and any(len(set(leads)) > 1 for leads in told[:-1])


def test_what_was_told_is_kept_for_the_next_move() -> None:
    board, tree = GoBoard(SIZE, komi=0.5), MCTSTree(TellingEvaluator(SIZE), SIZE, small_params())
    best = tree.search(board, Stone.BLACK, SearchLimit(60, strict=True)).pos
    i = int(np.flatnonzero(tree.root.action == best)[0])
    child = tree.root.child(i)
    assert child is not None
    lead, ownership = child.lead, tree.arrays.node_ownership[child.index].copy()
    sums = child.children_lead_sum.copy()
    board.put_stone(best, Stone.BLACK)
    tree.search(board, Stone.WHITE, SearchLimit(1))
    assert tree.root.lead == lead and np.array_equal(tree.arrays.node_ownership[0], ownership)
    assert np.array_equal(tree.root.children_lead_sum, sums)


def test_a_finished_game_is_counted() -> None:
    board, tree = GoBoard(SIZE, komi=0.5), MCTSTree(TellingEvaluator(SIZE), SIZE, small_params())
    board.put_stone(board.POS(2, 2), Stone.BLACK)
    board.put_stone(0, Stone.WHITE)
    tree.search(board, Stone.BLACK, SearchLimit(40, strict=True))
    passed = tree.root.child(int(np.flatnonzero(tree.root.action == 0)[0]))
    assert passed is not None and passed.num_children == 0
    assert passed.lead == -8.5 and passed.value == 0.0  # White's, after Black's pass
    assert (tree.arrays.node_ownership[passed.index] == -127).all()


def test_estimates_stay_those_of_the_position_that_was_searched_when_its_move_is_played() -> None:
    board, tree = GoBoard(SIZE, komi=0.5), MCTSTree(TellingEvaluator(SIZE), SIZE, small_params())
    estimator = TreeEstimator(tree, board, Stone.BLACK)
    result = tree.search(board, Stone.BLACK, SearchLimit(30, strict=True))
    before = [estimate.lead for estimate in estimator.estimate_moves(result.candidates)]
    board.put_stone(result.pos, Stone.BLACK)
    assert [estimate.lead for estimate in estimator.estimate_moves(result.candidates)] == before
