"""The rules of a game as one value."""
from __future__ import annotations

import math
import pickle
from dataclasses import dataclass
from typing import Any

import pytest

from board.constant import DEFAULT_KOMI
from board.go_board import GoBoard, copy_board
from board.ruleset import KoRule, Rules, Scoring


@pytest.mark.parametrize(("fields", "offender"), [
    ({"ko": KoRule.SITUATIONAL}, "situational"), ({"suicide": True}, "suicide"),
    ({"scoring": Scoring.TERRITORY}, "territory"), ({"komi": math.nan}, "nan"), ({"komi": math.inf}, "inf"),
])
def test_what_cannot_be_played_raises(fields: dict[str, Any], offender: str) -> None:
    with pytest.raises(ValueError, match=offender):
        Rules(**fields)


def test_defaults() -> None:
    assert Rules() == Rules.of(DEFAULT_KOMI, superko=False) == GoBoard(5).rules
    assert Rules.of(0.5, superko=True) == Rules(KoRule.POSITIONAL, komi=0.5)


def test_a_board_keeps_its_rules_through_every_kind_of_copy() -> None:
    rules = Rules.of(0.5, superko=True)
    board, copied = GoBoard.with_rules(5, rules), GoBoard(5)
    copy_board(copied, board)
    for other in (board, copied, board.copy(), pickle.loads(pickle.dumps(board))):
        assert other.rules == rules and other.get_komi() == 0.5 and other.check_superko
    board.clear()
    assert board.rules == rules


@dataclass(frozen=True)
class MoreRules(Rules):
    """Rules with one of a student's own."""

    button: bool = False


def test_the_lectures_names_leave_other_rules_alone() -> None:
    board = GoBoard.with_rules(5, MoreRules(button=True))
    board.check_superko, board.komi = True, 3.0
    assert board.rules == MoreRules(KoRule.POSITIONAL, komi=3.0, button=True)


def test_the_lectures_names_change_the_rules() -> None:
    board = GoBoard(5, 6.5, check_superko=True)
    assert board.rules == Rules.of(6.5, superko=True)
    board.set_komi(7.5)
    board.check_superko = False
    assert board.rules == Rules.of(7.5, superko=False)
    with pytest.raises(ValueError, match="komi"):
        board.komi = math.nan
