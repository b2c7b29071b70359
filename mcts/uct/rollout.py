"""AlphaGo's fast rollouts: playouts by learnt patterns from the new positions of a search with a network.

Silver et al., Nature 529 (2016), "Rollout policy": a linear softmax policy of small patterns around each move, much
faster than the network. Here its moves weigh what they do in the search without a network (playout_policy.py).
"""

import numpy as np

from board.state import BLACK, TO_MOVE, copy_words
from common.kernel import kernel
from mcts.outcome import playout_share, value_of_lead
from mcts.params import Selection
from mcts.tree_arrays import Batch
from mcts.uct.params import UctParams
from mcts.uct.playout_board import PlayoutGame, new_playout_work, start_playout
from mcts.uct.playout_policy import PlayoutRules, play_out, playout_score
from mcts.uct.playout_rules import make_rules


@kernel
def rollout_value(
    work: PlayoutGame, rules: PlayoutRules, start: np.ndarray, previous: int, komi: float, count: int,
) -> float:
    """Return the mean final value of `count` playouts for the side to move in the position of State.buffer `start`.

    `previous` is the move before its last one. The random numbers follow from the position. Modifies work.
    """
    copy_words(work.state.buffer, start)
    sign = 1.0 if work.state.info[TO_MOVE] == BLACK else -1.0
    work.random_state[0] = work.state.hash[0] | np.uint64(1)
    total = 0.0
    for _ in range(count):
        copy_words(work.state.buffer, start)
        start_playout(work, rules.table, previous)
        play_out(work, rules)
        total += value_of_lead(sign * (playout_score(work) - komi))
    return total / count


@kernel
def roll_out_batch(
    work: PlayoutGame, rules: PlayoutRules, batch: Batch, waiting: int, komi: float, selection: Selection,
) -> None:
    """Play out the first `waiting` positions of a batch. Modifies batch.share, batch.playout_value and work."""
    for index in range(waiting):
        start = batch.positions.now[index]
        copy_words(work.state.buffer, start)
        batch.share[index] = playout_share(work.state, selection)
        if batch.share[index] > 0.0:
            previous = batch.positions.recent[index, 1]
            batch.playout_value[index] = rollout_value(work, rules, start, previous, komi, selection.playouts)


class PatternRollouts:
    """Plays out batches; takes the place of mcts.outcome.play_out_batch."""

    def __init__(self, board_size: int, uct: UctParams) -> None:
        """Take the rules of playouts from `uct`; raises PatternFileError."""
        self._work, self._rules = new_playout_work(board_size), make_rules(uct)

    def __call__(self, batch: Batch, waiting: int, komi: float, selection: Selection) -> None:
        """Play out the first `waiting` positions of a batch. Modifies batch.share and batch.playout_value."""
        roll_out_batch(self._work, self._rules, batch, waiting, komi, selection)
