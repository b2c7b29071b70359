"""Ladders: diagrams, and random games against plain recursion on the slow board."""
from __future__ import annotations

import random

import numpy as np
import pytest

from board.ladder import LadderWork, find_ladders, new_ladder_work
from tests.board.test_random_games import choose
from tests.reference import slow_ladder
from tests.reference.slow_board import OTHER, Point
from tests.reference.twins import STONES, Twins

# Black to catch the white stone: each atari forces the next along the diagonal.
LADDER = """
. . . . . . .
. . . . . . .
. . . X . . .
. . X O . . .
. . X . . . .
. . . . . . .
. . . . . . .
"""
# The same with a white stone in the way of each atari.
BROKEN = """
. . . . . . .
. . . . . O .
. . . X . . .
. . X O . . .
. . X . . . .
. . . . . O .
. . . . . . .
"""
# Along the edge no diagonal is needed.
ON_THE_EDGE = """
. . X O . .
. . X . X .
. . X . X .
. . . . . .
. . . . . .
. . . . . .
"""
# White is in atari, but takes one of the stones around.
CAPTURES_OUT = """
. . X O X .
. . X O X O
. . X . O .
. . . . . .
. . . . . .
. . . . . .
"""


def named(twins: Twins, found: np.ndarray) -> set[Point]:
    """Return the marked points."""
    return {twins.point(int(pos)) for pos in np.flatnonzero(found)}


def read(twins: Twins, work: LadderWork) -> tuple[set[Point], dict[str, set[Point]]]:
    """Return what the kernel finds, as the slow reader says it."""
    find_ladders(twins.fast.state, work)
    catching = {color: named(twins, work.catching & int(STONES[color])) for color in "bw"}
    return named(twins, work.caught), catching


@pytest.mark.plain
@pytest.mark.parametrize(("diagram", "stone", "caught"), [
    (LADDER, (4, 4), True), (BROKEN, (4, 4), False), (ON_THE_EDGE, (4, 1), True),
    (CAPTURES_OUT, (4, 1), False),
])
def test_diagrams(diagram: str, stone: Point, caught: bool) -> None:
    twins = Twins.from_diagram(diagram)
    before = twins.fast.state.buffer.copy()
    found = read(twins, new_ladder_work(twins.size))
    assert (stone in found[0]) is caught
    assert found == slow_ladder.find_ladders(twins.slow, nodes=20_000)
    assert np.array_equal(before, twins.fast.state.buffer)


@pytest.mark.plain
def test_the_move_that_catches_is_named() -> None:
    twins = Twins.from_diagram(LADDER)
    catching = read(twins, new_ladder_work(7))[1]
    assert catching["w"] and not catching["b"]


LARGE = pytest.param(9, 1, marks=pytest.mark.slow)


@pytest.mark.parametrize(("size", "games"), [(4, 6), (5, 4), (6, 3), (7, 2), LARGE])
def test_random_games(size: int, games: int) -> None:
    work = new_ladder_work(size)  # one for all, as in use: nothing may be left from before
    compared = met = 0
    for seed in range(games):
        rng, twins, color = random.Random(100 * size + seed), Twins(size), "b"
        for number in range(2 * size * size):
            twins.play(choose(twins, color, rng), color)
            color = OTHER[color]
            if number % (1 + size // 4):
                continue
            try:
                expected = slow_ladder.find_ladders(twins.slow, nodes=300)
            except slow_ladder.TooLongError:
                continue
            assert read(twins, work) == expected, twins.fast.get_board_string()
            compared += 1
            met += bool(expected[1]["b"] | expected[1]["w"])
    assert compared > 0.7 * games * size * size / (1 + size // 4) and met > 10, (compared, met)
