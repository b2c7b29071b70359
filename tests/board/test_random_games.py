"""Random games, half of them garbage: the board against the slow board, against sgfmill, and golden event counts."""
from __future__ import annotations

import random
from collections import Counter

import pytest
from sgfmill.boards import Board as SgfmillBoard

from board import rules
from board.go_board import IllegalMoveError
from tests.reference.slow_board import EMPTY, OTHER, Point
from tests.reference.twins import STONES, Twins, check_consistency, semantics

GAMES = [(size, seed, bool(seed % 2)) for size in range(2, 20) for seed in range(4 if size <= 7 else 1 + (size < 12))]


def choose(twins: Twins, color: str, rng: random.Random) -> Point | None:
    """Return a random legal point, mostly no own eye, sometimes a pass."""
    if rng.random() < 0.03:
        return None
    fill_eyes = rng.random() < 0.1
    slow = twins.slow
    for point in rng.sample(slow.points, len(slow.points)):
        if fill_eyes or not slow.is_complete_eye(point, color):
            result = slow.after(point, color)
            repeats = result is not None and twins.fast.check_superko and slow.was_seen(result[0])
            if result is not None and not repeats and (point, color) != slow.ko:
                return point
    return None


def count_events(twins: Twins, color: str, events: Counter[str]) -> None:
    """Count what is forbidden in a position, and how often a superko joins a string of one's own in atari."""
    slow = twins.slow
    events["ko forbids"] += slow.ko is not None and slow.ko[1] == color
    for point in slow.points:
        if slow.grid[point] != EMPTY:
            continue
        result = slow.after(point, color)
        if result is None:
            events["suicide"] += 1
        elif slow.was_seen(result[0]):
            events["superko"] += 1
            own = [near for near in slow.neighbors[point] if slow.grid[near] == color]
            events["superko beside own atari"] += any(len(slow.liberties(near)) == 1 for near in own)


def refuse_illegal(twins: Twins, color: str, rng: random.Random) -> None:
    """Try one random point; when it is illegal, it must be refused without any effect."""
    point = rng.choice(twins.slow.points)
    if not twins.slow.is_legal(point, color):
        before = semantics(twins.fast)
        with pytest.raises(IllegalMoveError, match=twins.name(point)):
            twins.fast.put_stone(twins.pos(point), STONES[color])
        assert semantics(twins.fast) == before


def game_length(size: int) -> int:
    """Return a number of moves that goes far beyond the usual, and fills larger boards once."""
    return 3 * size * size + 30 if size < 10 else size * size


def play_random_game(size: int, seed: int, check_superko: bool, compare_every: int, events: Counter[str]) -> None:
    """Play one game on three boards and compare them every few moves."""
    rng = random.Random(1000 * size + seed)
    twins, third, color = Twins(size, check_superko), SgfmillBoard(size), "b"
    for number in range(1, game_length(size)):
        point = choose(twins, color, rng)
        if point is None:
            twins.play(None, color)
        else:
            predicted = rules.hash_after(twins.fast.state, twins.pos(point), int(STONES[color]))
            taken = twins.play(point, color)
            assert predicted == twins.fast.positional_hash[0]
            events["capture"] += bool(taken)
            events["multi capture"] += len(taken) > 1
            events["ko"] += twins.slow.ko is not None
            ko = third.play(size - point[1], point[0] - 1, color)
            assert ko == (None if twins.slow.ko is None else sgfmill_point(twins.slow.ko[0], size))
        events["move"] += 1
        assert twins.fast.moves == number + 1
        color = color if rng.random() < 0.05 else OTHER[color]
        if number % compare_every == 0:
            twins.compare()
            refuse_illegal(twins, color, rng)
            count_events(twins, color, events)
            stones = {(row, column) for _, (row, column) in third.list_occupied_points()}
            assert stones == {sgfmill_point(p, size) for p in twins.slow.points if twins.slow.grid[p] != EMPTY}
            assert third.area_score() == twins.fast.count_score()
    twins.compare()


def sgfmill_point(point: Point, size: int) -> tuple[int, int]:
    """Return sgfmill's (row from the bottom, column), both from 0."""
    return size - point[1], point[0] - 1


@pytest.mark.parametrize(("size", "seed", "check_superko"), GAMES)
def test_random_game_equals_its_twins(size: int, seed: int, check_superko: bool) -> None:
    play_random_game(size, seed, check_superko, max(1, size * size // (10 if size < 13 else 6)), Counter())


@pytest.mark.plain
@pytest.mark.parametrize(("size", "seed", "check_superko"), [(2, 7, True), (3, 8, False), (4, 9, True), (6, 10, True)])
def test_small_random_game_equals_its_twins(size: int, seed: int, check_superko: bool) -> None:
    play_random_game(size, seed, check_superko, max(2, size * size // 3), Counter())


@pytest.mark.slow
def test_the_stress_meets_every_event() -> None:
    events: Counter[str] = Counter()
    for seed in range(20, 44):
        play_random_game(2 + seed % 5, seed, seed % 2 == 0, 2, events)
    assert all(events.values()) and events == GOLDEN_EVENTS


GOLDEN_EVENTS = Counter({
    "move": 1938, "capture": 230, "multi capture": 113, "ko": 10, "ko forbids": 3, "suicide": 1159, "superko": 22,
    "superko beside own atari": 5,
})


@pytest.mark.slow
@pytest.mark.parametrize("size", [5, 9])
def test_a_game_of_any_length_is_recorded(size: int) -> None:
    rng = random.Random(size)
    twins, color = Twins(size), "b"
    played = []
    for _ in range(1500):
        point = choose(twins, color, rng)
        twins.play(point, color)
        played.append((STONES[color], twins.pos(point)))
        color = OTHER[color]
    assert twins.fast.get_move_history() == played and twins.fast.moves == 1501
    check_consistency(twins.fast)
    for number in (1, 256, 257, 1500):
        assert twins.fast.record.get(number)[:2] == played[number - 1]
    with pytest.raises(IndexError):
        twins.fast.record.get(1501)
