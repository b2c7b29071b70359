"""The game of one tab: its clock, and how it has ended."""
from __future__ import annotations

import pytest

from board.ruleset import Rules
from board.stone import Stone
from browser import clock
from browser.points import PASS_POINT
from browser.table import Table


def test_the_clock_runs_for_the_side_to_move_and_stands_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(clock.time, "monotonic", lambda: now[0])
    table = Table(Rules(), range(3, 10), 5)
    table.new(5, 0.5, 0, minutes=1.0)
    running = table.clock
    assert running is not None
    for point, seconds in ((0, 50), (1, 20), (2, 5)):  # the first one is free
        now[0] += seconds
        table.play(point)
    assert (running.left(Stone.WHITE), running.left(Stone.BLACK), running.running) == (40, 55, Stone.WHITE)
    table.undo(1)
    now[0] += 1000
    assert (running.left(Stone.WHITE), running.left(Stone.BLACK), running.running) == (40, 55, None)
    table.play(3)
    now[0] += 41
    assert running.left(Stone.WHITE) == 0.0


@pytest.mark.parametrize(("size", "komi"), [(2, 7.0), (9, 100.0), (9, -100.0)])
def test_the_first_game_has_the_komi_of_the_options(size: int, komi: float) -> None:
    table = Table(Rules(komi=komi), range(2, 20), size)
    assert (table.tree.size, table.board.komi, table.is_fresh, table.clock) == (size, komi, True, None)


def test_a_result_goes_with_the_moves_before_it() -> None:
    table = Table(Rules(), range(2, 20), 3)
    for point in (0, 4):
        table.play(point)
    table.lose(Stone.BLACK)
    table.remove(table.tree.children(0)[0])
    assert table.ending is None and table.tree.result() == ""


def test_the_clock_stands_once_the_game_is_over() -> None:
    table = Table(Rules(), range(3, 10), 5)
    table.new(5, 0.5, 0, minutes=1.0)
    table.play(PASS_POINT)
    assert table.clock is not None and table.clock.running == Stone.WHITE
    table.play(PASS_POINT)
    assert table.is_over and table.clock.running is None
