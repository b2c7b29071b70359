"""The rich planes that KataGo's do not have: what every move would leave, against boards on which it is played."""
from __future__ import annotations

import numpy as np
import pytest

from board.constant import PASS
from board.go_board import GoBoard
from board.stone import Stone
from nn import rich_feature
from nn.feature import encode_board
from nn.katago_feature import AREA, CATCHING, CAUGHT, KOMI, LIBERTIES, PASSED, RECENT, REPEATS, STONES
from nn.plane_sets import KATAGO
from nn.rich_feature import RICH

SHARED = [(0, 0, 1), (STONES, rich_feature.STONES, 2), (LIBERTIES, rich_feature.LIBERTIES, 3),
          (REPEATS, rich_feature.REPEATS, 1), (RECENT, rich_feature.RECENT, 5), (CAUGHT, rich_feature.CAUGHT, 1),
          (CATCHING, rich_feature.CATCHING, 1), (AREA, rich_feature.AREA, 2), (PASSED, rich_feature.PASSED, 1),
          (KOMI, rich_feature.KOMI, 3)]


def after_moves(board: GoBoard, color: Stone) -> np.ndarray:
    """Return the planes of liberties after each move and of captures, by playing every legal move."""
    size = board.board_size
    planes = np.zeros((4, size, size), dtype=np.float32)
    for pos in board.get_all_legal_pos(color):
        after = board.copy()
        after.put_stone(pos, color)
        y, x = divmod(pos, size + 2)
        liberties = len(after.strings.string[after.strings.get_id(pos)].get_liberties())
        planes[min(liberties, 3) - 1, y - 1, x - 1] = 1
        planes[3, y - 1, x - 1] = sum(after.prisoner) > sum(board.prisoner)
    return planes


@pytest.mark.parametrize(("size", "seed"), [(3, 1), (5, 2), (7, 3)])
def test_random_games(size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    board, color = GoBoard(size, komi=6.5, check_superko=True), Stone.BLACK
    for _ in range(3 * size * size):
        planes = encode_board(board, color, RICH)
        assert np.array_equal(planes[rich_feature.AFTER : rich_feature.AFTER + 4], after_moves(board, color))
        other = encode_board(board, color, KATAGO)
        for theirs, ours, count in SHARED:
            assert np.array_equal(planes[ours : ours + count], other[theirs : theirs + count]), (theirs, ours)
        moves = board.get_all_legal_pos(color) + [PASS]
        board.put_stone(moves[rng.integers(len(moves))], color)
        color = Stone.get_opponent_color(color)
        if board.is_over:
            break
