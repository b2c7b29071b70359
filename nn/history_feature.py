"""The plane set of AlphaGo Zero and AlphaZero (Silver et al., Nature 550, 2017, methods): eight boards.

0 and 1 own and opponent's stones, 2 and 3 the same one move ago, and so on to seven moves ago; 16 the side to move, 1
for Black and 0 for White. The start of the game stands for what was before it.
"""

import numpy as np

from board.state import BLACK, TO_MOVE, State, copy_words, new_state
from common.kernel import kernel
from nn.feature import PlaneSet, Positions
from nn.plane_kernels import fill_plane, mark_stones

BOARDS = 8
HISTORY_PLANES = 2 * BOARDS + 1


@kernel
def encode_history(positions: Positions, count: int, komi: np.ndarray, work: State, out: np.ndarray) -> None:
    """Write the planes of the first `count` positions to out [N, 17, S, S]. Modifies work and out."""
    for n in range(count):
        copy_words(work.buffer, positions.now[n])
        color, planes = work.info[TO_MOVE], out[n]
        fill_plane(planes, HISTORY_PLANES - 1, 1 if color == BLACK else 0)
        mark_stones(work, color, planes, 0)
        for age in range(1, BOARDS):
            copy_words(work.buffer, positions.past[n, age - 1])
            mark_stones(work, color, planes, 2 * age)


HISTORY = PlaneSet("history", HISTORY_PLANES, looks_back=BOARDS - 1, knows_ko=False, encode=encode_history,
                   new_work=new_state)
