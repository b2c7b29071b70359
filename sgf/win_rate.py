"""The search result that KataGo writes into a move's comment.

`C[W L N S v=V]`: White's probability to win, to lose, of no result, White's expected lead in points, visits.
"""

from typing import NamedTuple

from board.stone import Stone

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


def encode_search_comment(comment: SearchComment) -> str:
    """Return the comment's text."""
    return (f"{comment.win:.2f} {comment.loss:.2f} {comment.no_result:.2f} {comment.lead:.1f} "
            f"v={comment.visits}")


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
