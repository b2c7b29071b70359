"""Search results that records keep beside a move: KataGo's, in the comment, and ours, in a property of its own.

KataGo's `C[W L N S v=V]`: White's probability to win, to lose, of no result, White's expected lead in points, visits.
Ours `HV[0.5312]`: the mover's win rate before the move. It is no standard property (`V` is the score for Black), which
SGF allows and other readers pass over; in the policy comment it would be taken for one more candidate.
"""

import math
from typing import NamedTuple

from board.stone import Stone

SEARCH_VALUE = "HV"
# Rounding to two decimals may move the sum of the three probabilities by this much.
SUM_TOLERANCE = 0.021


class SearchComment(NamedTuple):
    """White's chances before the move."""

    win: float
    loss: float
    no_result: float
    lead: float
    visits: int

    def get_win_rate(self, color: int) -> float:
        """Return the win rate of the side `color`, in [0, 1]; no result counts half."""
        won = self.loss if color == Stone.BLACK else self.win
        return min(max(won + 0.5 * self.no_result, 0.0), 1.0)


def decode_search_comment(text: str) -> SearchComment | None:
    """Return what a comment says, or None for any other comment; words after the visits are ignored."""
    words = text.split()
    if len(words) < 5 or not words[4].startswith("v="):
        return None
    try:
        win, loss, no_result, lead = map(float, words[:4])
        visits = int(words[4][2:])
    except ValueError:
        return None
    if not (min(win, loss, no_result) >= 0 and abs(win + loss + no_result - 1) <= SUM_TOLERANCE):
        return None
    return SearchComment(win, loss, no_result, lead, visits)


def encode_search_value(win_rate: float) -> str:
    """Return the property for the mover's win rate; raises ValueError unless it is in [0, 1]."""
    if not 0.0 <= win_rate <= 1.0:
        raise ValueError(f"{win_rate!r} is not a win rate")
    return f"{SEARCH_VALUE}[{win_rate:.4f}]"


def decode_search_value(text: str) -> float | None:
    """Return the win rate that the property's text says, or None for anything else."""
    try:
        win_rate = float(text)
    except ValueError:
        return None
    return win_rate if math.isfinite(win_rate) and 0.0 <= win_rate <= 1.0 else None
