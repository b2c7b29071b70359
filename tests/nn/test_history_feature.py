"""AlphaZero's planes: eight boards, against a game that is replayed."""
from __future__ import annotations

import numpy as np
import pytest

from board.constant import PASS
from board.go_board import GoBoard
from board.stone import Stone
from nn.feature import encode_board
from nn.history_feature import BOARDS, HISTORY, HISTORY_PLANES


def stones_of(board: GoBoard, color: Stone) -> np.ndarray:
    size = board.board_size
    return np.array([board.board[pos] == color for pos in board.onboard_pos], dtype=np.float32).reshape(size, size)


@pytest.mark.parametrize(("size", "seed"), [(2, 1), (5, 2), (9, 3)])
def test_random_games(size: int, seed: int) -> None:
    rng, seen = np.random.default_rng(seed), set()
    boards: list[GoBoard] = []
    board, color = GoBoard(size, check_superko=True), Stone.BLACK
    for number in range(2 * size * size):
        boards.insert(0, board.copy())
        other = Stone.get_opponent_color(color)
        expected = [stones_of(boards[min(age, number)], of) for age in range(BOARDS) for of in (color, other)]
        planes = encode_board(board, color, HISTORY)
        assert planes.shape == (HISTORY_PLANES, size, size)
        assert np.array_equal(planes[:-1], expected) and (planes[-1] == (color == Stone.BLACK)).all()
        seen.add(planes.tobytes())
        moves = board.get_all_legal_pos(color) + [PASS]
        board.put_stone(moves[rng.integers(len(moves))], color)
        color = other
        if board.is_over:
            break
    assert len(seen) > number


def test_stones_set_up_stand_before_the_first_move() -> None:
    board = GoBoard(5)
    corner = board.onboard_pos[0]
    board.set_up([corner], [])
    board.put_stone(board.onboard_pos[7], Stone.WHITE)
    planes = encode_board(board, Stone.BLACK, HISTORY)
    assert all(planes[2 * age, 0, 0] == 1 for age in range(BOARDS)) and planes[1, 1, 2] == 1
    assert planes[3:16:2].sum() == 0 and planes[0:16:2].sum() == BOARDS
