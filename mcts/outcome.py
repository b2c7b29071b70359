"""What finished games and playouts say of a position, beside the network.

A network knows the positions that its games showed. Late in a game against a weaker player it meets others: captured
races and dead stones that a strong player would not have left. There playouts that answer ataris (board/playout.py)
judge better, and the value of a position is (1 - share) * network + share * playouts, as AlphaGo mixed them (Silver et
al., Nature 529, 2016, "Searching with policy and value networks"). AlphaGo's share was one half; here it grows with the
stones on the board, since in the opening playouts know nothing. doc/search.md has the measurements.
"""

import numpy as np

from board.playout import ANSWER_CHANCE, SELF_ATARI_LIMIT, playout
from board.score import area_score
from board.state import BLACK, EMPTIES, SIZE, TO_MOVE, State, copy_words
from common.kernel import kernel
from mcts.params import Selection
from mcts.tree_arrays import Batch

DRAW = 0.5


@kernel
def final_lead(state: State, color: int, komi: float, batch: Batch) -> float:
    """Return by how many points `color` wins by area. Modifies the work space of batch."""
    score = area_score(state, batch.owner, batch.queue) - komi
    return score if color == BLACK else -score


@kernel
def value_of_lead(lead: float) -> float:
    """Return 1, 0.5 or 0: win, draw or loss by a final lead."""
    if lead == 0.0:
        return DRAW
    return 1.0 if lead > 0.0 else 0.0


@kernel
def playout_share(state: State, selection: Selection) -> float:
    """Return the share of the playouts in the value of a position, from 0 to selection.playout_share.

    It begins when selection.playout_begin of the points are filled and is whole at selection.playout_full.
    """
    filled = 1.0 - state.info[EMPTIES] / (state.info[SIZE] * state.info[SIZE])
    progress = (filled - selection.playout_begin) / (selection.playout_full - selection.playout_begin)
    return selection.playout_share * min(max(progress, 0.0), 1.0)


@kernel
def playout_value(start: np.ndarray, komi: float, count: int, batch: Batch) -> float:
    """Return the mean final value of `count` playouts for the side to move in the position of State.buffer `start`.

    The random numbers follow from the position, so that the same game always gives the same value. Modifies the work
    space of batch.
    """
    state = batch.playout
    copy_words(state.buffer, start)
    color = state.info[TO_MOVE]
    batch.random_state[0] = state.hash[0] | np.uint64(1)
    total = 0.0
    for _ in range(count):
        copy_words(state.buffer, start)
        playout(state, SELF_ATARI_LIMIT, ANSWER_CHANCE, batch.random_state)
        total += value_of_lead(final_lead(state, color, komi, batch))
    return total / count


@kernel
def play_out_batch(batch: Batch, waiting: int, komi: float, selection: Selection) -> None:
    """Play out the first `waiting` positions of a batch. Modifies batch.share, batch.playout_value and its work space.

    A kernel of its own: it runs while the network is busy, and a network that needs no playouts never compiles it.
    """
    for index in range(waiting):
        start = batch.positions.now[index]
        copy_words(batch.playout.buffer, start)
        batch.share[index] = playout_share(batch.playout, selection)
        if batch.share[index] > 0.0:
            batch.playout_value[index] = playout_value(start, komi, selection.playouts, batch)
