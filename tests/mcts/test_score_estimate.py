"""Ownership and leads from random games at the ends of lines."""

import numpy as np
import pytest

from board.constant import PASS
from board.go_board import GoBoard
from board.stone import Stone
from mcts.analysis import CandidateMove
from mcts.score_estimate import MAX_PAIRS, LineEstimate, ScoreEstimator, mean_estimate

BLACK, WHITE = Stone.BLACK, Stone.WHITE


def candidate(visits: int, *pv: int) -> CandidateMove:
    return CandidateMove(pv[0], visits, 0.5, 0.1, 0.4, 0, None, list(pv), [visits] * len(pv))


def settled_board(komi: float = 0.5) -> GoBoard:
    """Return 5x5: Black lives with the upper four rows and two eyes, the fifth row is empty and Black's too."""
    board = GoBoard(5, komi)
    eyes = {board.POS(2, 1), board.POS(4, 1)}
    board.set_up([pos for pos in board.onboard_pos[:20] if pos not in eyes], [])
    return board


def test_a_settled_position_is_known_for_both_sides():
    board = settled_board()
    for color, sign in ((BLACK, 1), (WHITE, -1)):
        estimate = ScoreEstimator(board, color).estimate_position(8)
        assert np.array_equal(estimate.ownership, np.full(25, sign))
        assert (estimate.lead, estimate.stdev) == (sign * 24.5, 0.0)
        assert np.array_equal(estimate.ownership_stdev, np.zeros(25))


def test_lines_are_played_out_before_counting():
    board = GoBoard(3, 0.0)
    center = board.POS(2, 2)
    estimator = ScoreEstimator(board, BLACK)
    line = candidate(5, board.POS(1, 2), PASS, board.POS(2, 2), PASS, board.POS(3, 2))
    moves = [line, candidate(3, PASS, center)]
    for _ in range(40):
        mine, theirs = estimator.estimate_moves(moves)
    assert mine.lead > theirs.lead
    assert mine.lead == pytest.approx(mine.ownership.sum()) and theirs.lead == pytest.approx(theirs.ownership.sum())
    assert board.moves == 1  # the game itself did not move


def test_all_lines_are_counted_as_often_as_asked_for():
    board = GoBoard(3, 0.0)
    moves = [candidate(9 - i, pos) for i, pos in enumerate(board.onboard_pos)]
    estimator = ScoreEstimator(board, BLACK)
    estimator.estimate_moves(moves)
    wanted = [50 + i for i in range(len(moves))]
    estimator.estimate_moves(moves, wanted)
    assert [len(line.leads) for line in estimator._lines.values()] == wanted


def test_counts_grow_with_the_reports_and_stop():
    board = GoBoard(3, 0.0)
    estimator = ScoreEstimator(board, WHITE)
    moves = [candidate(2, board.POS(2, 2)), candidate(1, PASS)]
    for _ in range(MAX_PAIRS):
        estimator.estimate_moves(moves)
    assert [len(line.leads) for line in estimator._lines.values()] == [MAX_PAIRS, MAX_PAIRS]
    estimator.estimate_moves(moves[:1])
    assert len(estimator._lines) == 1


def test_the_mean_is_weighted_by_visits():
    board = GoBoard(4, 0.0)
    estimator = ScoreEstimator(board, BLACK)
    moves = [candidate(3, board.POS(2, 2)), candidate(1, PASS)]
    first, second = estimator.estimate_moves(moves)
    mean = mean_estimate(moves, [first, second])
    assert mean.lead == pytest.approx(0.75 * first.lead + 0.25 * second.lead)
    assert np.allclose(mean.ownership, 0.75 * first.ownership + 0.25 * second.ownership)
    assert mean.lead == pytest.approx(mean.ownership.sum())
    spread = 0.75 * (first.stdev**2 + first.lead**2) + 0.25 * (second.stdev**2 + second.lead**2) - mean.lead**2
    assert mean.stdev == pytest.approx(spread**0.5)
    unvisited = mean_estimate([candidate(0, PASS)], [second])
    assert unvisited.lead == pytest.approx(second.lead)


def test_one_game_varies_more_than_the_mean_of_a_pair():
    assert LineEstimate(np.zeros(1), [1.0, 3.0]).stdev == 2.0


def test_the_same_seed_gives_the_same_numbers():
    board = GoBoard(5, 6.5)
    leads = [ScoreEstimator(board, BLACK, seed=3).estimate_position(4).lead for _ in range(2)]
    assert leads[0] == leads[1]
