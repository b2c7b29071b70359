"""Counts known from elsewhere, or found by both twins alike."""
from __future__ import annotations

import itertools

import pytest

from board.constant import PASS
from board.go_board import GoBoard
from board.stone import Stone
from tests.reference.slow_board import OTHER, SlowBoard


@pytest.mark.parametrize(("size", "count"), [(1, 1), (2, 57), (3, 12675)])
def test_number_of_legal_positions(size: int, count: int) -> None:
    """Tromp and Farnebäck, "Combinatorics of Go", table 1."""
    slow = SlowBoard(size)
    board = GoBoard(board_size=size) if size > 1 else None
    legal = 0
    for colors in itertools.product(".bw", repeat=size * size):
        slow.grid = dict(zip(slow.points, colors, strict=True))
        expected = slow.legal_position()
        legal += expected
        if board is not None:
            black = [pos for pos, color in zip(board.onboard_pos, colors, strict=True) if color == "b"]
            white = [pos for pos, color in zip(board.onboard_pos, colors, strict=True) if color == "w"]
            try:
                board.set_up(black, white)
            except ValueError:
                assert not expected
            else:
                assert expected
    assert legal == count


def count_fast(board: GoBoard, color: Stone, depth: int) -> int:
    """Return the number of move sequences of a length, alternating, passes included, two of them ending the game."""
    if depth == 0 or board.is_over:
        return depth == 0
    total = 0
    for pos in [PASS, *board.get_all_legal_pos(color)]:
        board.put_stone(pos, color)
        total += count_fast(board, Stone.get_opponent_color(color), depth - 1)
        board.undo()
    return total


def count_slow(board: SlowBoard, color: str, depth: int, superko: bool, passes: int = 0) -> int:
    """Return the same number with the slow board."""
    if depth == 0 or passes == 2:
        return depth == 0
    total = 0
    for point in [None, *board.points]:
        if point is not None and (
            not board.is_legal(point, color) or (superko and board.is_superko(point, color))
        ):
            continue
        after = board.copy()
        after.play(point, color)
        total += count_slow(after, OTHER[color], depth - 1, superko, passes + 1 if point is None else 0)
    return total


PERFT = {
    # size, superko: sequences of 1, 2, 3, ... moves
    (2, False): [5, 21, 68, 156, 316, 604, 1168, 2592],
    (2, True): [5, 21, 68, 156, 316, 604, 1088, 2184],
    (3, True): [10, 91, 738, 5281, 33384],
    (4, False): [17, 273, 4112],
}


@pytest.mark.parametrize(("size", "superko"), PERFT)
def test_number_of_move_sequences(size: int, superko: bool) -> None:
    board = GoBoard(board_size=size, check_superko=superko)
    counts = [count_fast(board, Stone.BLACK, depth + 1) for depth in range(len(PERFT[size, superko]))]
    assert counts == PERFT[size, superko]
    assert board.moves == 1


@pytest.mark.parametrize(("size", "superko", "depth"), [(2, False, 8), (2, True, 8), (3, True, 4), (4, False, 3)])
def test_the_twin_counts_the_same_sequences(size: int, superko: bool, depth: int) -> None:
    assert count_slow(SlowBoard(size), "b", depth, superko) == PERFT[size, superko][depth - 1]
