"""What the JSON protocol's answer says of the position."""
from __future__ import annotations

import pytest

from board.go_board import GoBoard
from board.stone import Stone
from gtp.analysis.report import position_hashes
from gtp.analysis_format import winrate_of
from mcts.analysis import CandidateMove, SearchResult
from tests.gtp.analysts import Analyst, make_query
from tests.gtp.players import FakeEvaluator


def test_the_networks_win_rate_is_blacks_too() -> None:
    (answer,) = Analyst(evaluator=FakeEvaluator(5, 0.75)).ask(make_query(initialPlayer="w"))
    assert answer["rootInfo"]["rawWinrate"] == pytest.approx(0.25)


def test_a_ko_makes_another_position() -> None:
    ko, plain = GoBoard(5), GoBoard(5)
    a1, a2, b1, b2, c1 = map(ko.coordinate.convert_from_gtp_format, ("A1", "A2", "B1", "B2", "C1"))
    ko.set_up([b2, c1], [b1, a2], Stone.BLACK)
    ko.put_stone(a1, Stone.BLACK)
    plain.set_up([a1, b2, c1], [a2], Stone.WHITE)
    assert ko.ko_pos == b1 and ko.get_board_data(0) == plain.get_board_data(0)
    assert not {*position_hashes(ko, Stone.WHITE)} & {*position_hashes(plain, Stone.WHITE)}


def test_a_move_that_nobody_has_visited_is_as_good_as_the_position() -> None:
    visited = CandidateMove(13, 4, 0.75, 0.5, 0.25, 0)
    other = CandidateMove(14, 0, 0.0, 0.5, 0.0, 1)
    result = SearchResult(13, 4, 4, 1.0, 0.75, 0.5, [visited, other])
    assert [winrate_of(move, result) for move in (visited, other)] == [0.75, 0.75]
