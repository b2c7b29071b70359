"""The planes of KataGo's networks against planes made from the slow board."""
from __future__ import annotations

import random

import numpy as np
import pytest

from board.constant import NO_MOVE, PASS
from board.state import TO_MOVE, copy_state, new_state
from nn.feature import Encoder, encode_board
from nn.katago_feature import KATAGO_PLANES
from nn.plane_kernels import bound_komi, count_shown_moves, parity_wave
from nn.plane_sets import KATAGO
from tests.board.test_random_games import choose
from tests.reference import slow_ladder
from tests.reference.slow_board import EMPTY, OTHER, Point, SlowBoard
from tests.reference.twins import STONES, Twins

Move = tuple[str, Point | None]


def paint(planes: np.ndarray, plane: int, points: set[Point]) -> None:
    """Set the points of a plane to 1."""
    for x, y in points:
        planes[plane, y - 1, x - 1] = 1


def visible_moves(moves: list[Move], color: str, score: float) -> list[Point | None]:
    """Return the last moves that a network may see, the newest first."""
    if moves and moves[-1][1] is None and score <= 0:
        return []
    shown: list[Point | None] = []
    for mover, point in reversed(moves[-5:]):
        passed_twice = point is None and shown and shown[-1] is None
        if mover == color or passed_twice:
            break
        shown.append(point)
        color = mover
    return shown


def slow_planes(boards: list[SlowBoard], moves: list[Move], color: str, komi: float) -> np.ndarray:
    """Return the planes of the newest of `boards` (one before each move, and the last), float64 [30, S, S]."""
    now, planes = boards[-1], np.zeros((KATAGO_PLANES, boards[-1].size, boards[-1].size))
    planes[0] = 1
    paint(planes, 1, {point for point in now.points if now.grid[point] == color})
    paint(planes, 2, {point for point in now.points if now.grid[point] == OTHER[color]})
    for string in now.strings():
        if len(now.liberties(min(string))) <= 3:
            paint(planes, 2 + len(now.liberties(min(string))), string)
    paint(planes, 6, {p for p in now.points if now.grid[p] == EMPTY and now.is_superko(p, color)})
    owner, own_komi = now.safe_area(), komi if color == "w" else -komi
    for plane, side in ((18, color), (19, OTHER[color])):
        paint(planes, plane, {point for point in now.points if owner[point] == side})
    score = planes[18].sum() - planes[19].sum() + own_komi
    shown = visible_moves(moves, color, score)
    for k, point in enumerate(shown):
        paint(planes, 9 + k, {point} if point else set())
        planes[22 + k] = point is None
    for age in range(3):
        caught, catching = slow_ladder.find_ladders(boards[-1 - min(age, len(shown))], nodes=1000)
        paint(planes, 14 + age, caught)
        if not age:
            paint(planes, 17, catching[OTHER[color]])
    planes[27] = own_komi / 20
    planes[28] = bool(moves) and moves[-1][1] is None and score > 0
    phase = (own_komi - len(now.points)) % 2
    planes[29] = phase if phase < 0.5 else 1 - phase if phase < 1.5 else phase - 2
    return planes


def fast_planes(twins: Twins, states: list, moves: list[Move], color: str, komi: float, encoder: Encoder) -> np.ndarray:
    """Return the same planes from the kernels."""
    positions = KATAGO.new_positions(twins.size, 1)
    for buffer, age in ((positions.now[0], 0), (positions.past[0, 0], 1), (positions.past[0, 1], 2)):
        buffer[:] = states[-1 - min(age, len(states) - 1)].buffer
    for k, (mover, point) in enumerate(reversed(moves[-5:])):
        if mover != (OTHER[color] if k % 2 == 0 else color):
            break
        positions.recent[0, k] = PASS if point is None else twins.pos(point)
    for point in twins.slow.points:
        if twins.slow.grid[point] == EMPTY and twins.slow.is_superko(point, color):
            positions.repeats[0, twins.pos(point)] = 1
    return encoder(positions, 1, komi)[0]


@pytest.mark.parametrize(("size", "komi"), [(4, 0.0), (5, 7.0), (5, 6.5), (6, -3.5), (7, 7.0), (7, 60.0)])
def test_random_games(size: int, komi: float) -> None:
    rng, twins, color = random.Random(size), Twins(size, check_superko=True), "b"
    boards, states, seen = [], [], np.zeros(KATAGO_PLANES, dtype=bool)
    moves: list[Move] = []
    encoder = Encoder(KATAGO, size, np.full((1, KATAGO_PLANES, size, size), 9, np.float32))
    for number in range(3 * size * size):
        boards.append(twins.slow.copy())
        states.append(new_state(size))
        copy_state(states[-1], twins.fast.state)
        states[-1].info[TO_MOVE] = int(STONES[color])
        if number % 3 == 0 or (moves and moves[-1][1] is None):
            try:
                expected = slow_planes(boards, moves, color, komi)
            except slow_ladder.TooLongError:
                continue
            found = fast_planes(twins, states, moves, color, komi, encoder)
            for plane in range(KATAGO_PLANES):
                assert np.allclose(found[plane], expected[plane], atol=1e-6), (number, plane)
                seen[plane] |= expected[plane].any()
        point = None if rng.random() < 0.05 else choose(twins, color, rng)
        twins.play(point, color)
        moves.append((color, point))
        color = OTHER[color] if rng.random() < 0.97 else color
    assert set(np.flatnonzero(~seen)) <= {6, 7, 8, 20, 21, *range(23, KATAGO_PLANES)}


def test_a_game_is_shown_as_its_positions_are() -> None:
    rng, twins, color = random.Random(1), Twins(6, check_superko=True), "b"
    twins.fast.set_komi(6.5)
    boards, moves = [twins.slow.copy()], []
    for _ in range(40):
        point = choose(twins, color, rng)
        twins.play(point, color)
        boards.append(twins.slow.copy())
        moves.append((color, point))
        color = OTHER[color]
        expected = slow_planes(boards, moves, color, 6.5)
        assert np.allclose(encode_board(twins.fast, STONES[color], KATAGO), expected, atol=1e-6)


def test_a_pass_is_hidden_where_a_second_pass_would_not_win() -> None:
    twins = Twins(5)
    twins.play(None, "b")
    recent = np.array([PASS, *[NO_MOVE] * 4], np.int16)
    assert [count_shown_moves(twins.fast.state, recent, score) for score in (-0.5, 0.0, 0.5)] == [0, 0, 1]


def test_komi_beyond_the_worth_of_the_board_is_shown_as_that() -> None:
    assert [bound_komi(komi, 25) for komi in (1e4, 44.5, -44.5, -1e4)] == [45.0, 44.5, -44.5, -45.0]


@pytest.mark.parametrize(("points", "komi", "wave"), [
    (81, 7.0, 0.0), (81, 6.5, -0.5), (81, 7.5, 0.5), (81, 6.0, 0.0), (81, -7.5, -0.5), (36, 6.5, 0.5), (36, 7.0, 0.0),
    (81, 7.25, 0.25), (81, 6.75, -0.25),
])
def test_whom_half_a_point_of_komi_helps(points: int, komi: float, wave: float) -> None:
    assert parity_wave(points, komi) == wave
