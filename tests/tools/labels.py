"""Labels beside what the teacher says of each position, asked one by one."""
from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from board.constant import PASS
from board.geometry import get_geometry
from board.go_board import GoBoard
from board.stone import Stone
from nn.data.labels import OWNERSHIP_STEPS, LabelFile, unpack_policies
from nn.feature import generate_input_planes
from nn.inference.board_evaluator import BoardEvaluator
from sgf.collection import Kifu


def compare_with_teacher(teacher: BoardEvaluator, game: Kifu, file: LabelFile, first: int,
                         ) -> Iterator[tuple[GoBoard, int, Stone]]:
    """Replay a game on the slow way and ask the teacher about every position; yield it with its move and mover."""
    size = game.size
    board, index = GoBoard(size, game.komi, check_superko=True), get_geometry(size).policy_index
    black, white = ([int(pos) for pos, color in zip(game.setup_pos, game.setup_color, strict=True) if color == side]
                    for side in (Stone.BLACK, Stone.WHITE))
    board.set_up(black, white, Stone(int(game.color[0])))
    policies = unpack_policies(file.labels, file.policy_start, np.arange(first, first + len(game.pos)), size**2 + 1)
    for n, (pos, number) in enumerate(zip(game.pos.tolist(), game.color.tolist(), strict=True)):
        color, row = Stone(number), first + n
        logits, chances, lead, ownership = teacher(generate_input_planes(board, color, 0, teacher.plane_set)[None])
        legal = [*board.get_all_legal_pos(color), PASS]
        assert pos in legal
        policy = np.zeros(size**2 + 1)
        policy[index[legal]] = np.exp(logits[0][index[legal]] - logits[0].max())
        np.testing.assert_allclose(policies[n], policy / policy.sum(), atol=1e-3)
        assert file.labels.win_rate[row] == pytest.approx(chances[0, 2] + 0.5 * chances[0, 1], abs=1e-3)
        assert file.labels.lead[row] == pytest.approx(lead[0], abs=1e-2, rel=1e-2)
        steps = file.labels.ownership[row] * 2.0 / OWNERSHIP_STEPS - 1.0
        np.testing.assert_allclose(steps, ownership[0], atol=1.02 / OWNERSHIP_STEPS)
        yield board, pos, color
        board.put_stone(pos, color)
