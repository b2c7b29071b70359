"""The lower confidence bound of a move."""
from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcts.analysis import LCB_WIDTH, lower_confidence_bound

# A busy machine draws examples slowly; that is no fault of theirs.
quick = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
VALUES = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=50)


def bound(values: list[float]) -> float:
    """Return the bound of a move with these values."""
    return lower_confidence_bound(len(values), sum(values), sum(value * value for value in values))


def test_nothing_is_known_about_an_unvisited_move() -> None:
    assert lower_confidence_bound(0, 0.0, 0.0) == 0.0


@quick
@given(VALUES)
def test_it_lies_below_the_mean(values: list[float]) -> None:
    mean = sum(values) / len(values)
    assert 0.0 <= bound(values) <= mean
    assert bound(values) < mean or mean == 0.0


@quick
@given(VALUES, st.integers(2, 9))
def test_more_visits_with_the_same_values_raise_it(values: list[float], times: int) -> None:
    assert bound(values * times) >= bound(values) - 1e-9


@quick
@given(st.floats(0.0, 1.0), st.integers(1, 500))
def test_equal_values_come_close_to_the_mean(value: float, visits: int) -> None:
    # Only the one visit of unknown variance, 1/4, is left: standard error 1 / (2 n).
    assert bound([value] * visits) == pytest.approx(max(0.0, value - LCB_WIDTH / (2 * visits)), abs=1e-6)


def test_spread_values_give_a_lower_bound() -> None:
    assert bound([0.0, 1.0] * 50) < bound([0.4, 0.6] * 50) < bound([0.5] * 100)


def test_worked_by_hand() -> None:
    # Four values 0, 1, 1, 1: mean 3/4, sum of squared deviations 3/4, with 1/4 added 1, over 4 visits 1/4; the
    # standard error is sqrt(1/16) = 1/4.
    assert bound([0.0, 1.0, 1.0, 1.0]) == pytest.approx(0.75 - 1.645 / 4)
    assert bound([0.0, 0.1]) == 0.0
