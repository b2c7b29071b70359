"""Input planes of the network.

Six planes of S x S: 0 empty, 1 own stones, 2 opponent's stones, 3 the previous move, 4 all ones if the previous
move was a pass, 5 the side to move (+1 Black, -1 White).
"""

from collections.abc import Callable

import numpy as np

from board.constant import PASS
from board.geometry import get_geometry
from board.go_board import GoBoard
from board.state import BLACK, EMPTY, LAST_MOVE, SIZE, WIDTH
from board.stone import Stone
from common.kernel import kernel
from nn.constant import INPUT_PLANES

# What takes planes, float32 [N, 6, S, S], to policy logits, float32 [N, S*S + 1], and the chances to lose, draw and
# win, float32 [N, 3]: the network (nn/inference/evaluator.py), or whatever stands in for it.
Evaluator = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


@kernel
def encode_planes(state, color, out):
    """Write the planes of `state` with `color` to move to `out` [6, S, S] of any dtype. Modifies out."""
    info = state.info
    size, width, last = info[SIZE], info[WIDTH], info[LAST_MOVE]
    side = 1 if color == BLACK else -1
    passed = 1 if last == PASS else 0
    for y in range(size):
        for x in range(size):
            pos = (y + 1) * width + x + 1
            stone = state.stones[pos]
            out[0, y, x] = 1 if stone == EMPTY else 0
            out[1, y, x] = 1 if stone == color else 0
            out[2, y, x] = 1 if stone == 3 - color else 0
            out[3, y, x] = 1 if pos == last else 0
            out[4, y, x] = passed
            out[5, y, x] = side


def generate_input_planes(board: GoBoard, color: Stone, sym: int = 0) -> np.ndarray:
    """Return the planes of a board, float32 [6, S, S], seen through symmetry `sym` (0 to 7)."""
    geometry = get_geometry(board.board_size)
    planes = np.empty((INPUT_PLANES, board.board_size, board.board_size), dtype=np.float32)
    encode_planes(board.state, int(color), planes)
    if sym == 0:
        return planes
    order = geometry.policy_index[geometry.symmetry[sym, geometry.points]]
    return planes.reshape(INPUT_PLANES, -1)[:, order].reshape(planes.shape)
