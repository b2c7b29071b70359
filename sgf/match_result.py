"""How a game ended, and the `RE` property that says so."""

import math
import re
from enum import IntEnum

from board.stone import Stone

# "B+3.5", "W+R", "W+Time", "B+" and, from old programs, "Black wins by resignation".
WINNER = re.compile(r"(B|W|BLACK|WHITE)\s*(?:\+\s*(.*)|WINS?\b.*|WON\b.*)", re.DOTALL)
DRAWS = ("0", "DRAW", "JIGO")
NOT_COUNTED = math.nan
# More decimals than one are written where komi has them.
SCORE_DECIMALS = 6


class MatchResult(IntEnum):
    """Winner of a game; UNKNOWN is a game without a (readable) result and never a draw."""

    UNKNOWN = -1
    DRAW = 0
    BLACK_WIN = 1
    WHITE_WIN = 2

    @staticmethod
    def from_text(text: str) -> "MatchResult":
        """Return the result that an SGF `RE` value states, UNKNOWN for "?", "Void", "" and anything unreadable.

        A win by no points ("B+0.0", "W+-0.0") contradicts itself and is UNKNOWN.
        """
        word = text.strip().upper()
        if word in DRAWS:
            return MatchResult.DRAW
        match = WINNER.fullmatch(word)
        if match is None or re.fullmatch(r"-.*|0+(\.0*)?", match.group(2) or ""):
            return MatchResult.UNKNOWN
        return MatchResult.BLACK_WIN if word[0] == "B" else MatchResult.WHITE_WIN

    @staticmethod
    def from_score(score: float) -> "MatchResult":
        """Return the result of a game that Black won by `score` points (negative: White)."""
        if score == 0:
            return MatchResult.DRAW
        return MatchResult.BLACK_WIN if score > 0 else MatchResult.WHITE_WIN

    @staticmethod
    def lost_by(color: Stone) -> "MatchResult":
        """Return the result of a game that `color` gave up."""
        return MatchResult.WHITE_WIN if color == Stone.BLACK else MatchResult.BLACK_WIN

    def to_value_label(self) -> int:
        """Return Black's value class: 2 win, 1 draw, 0 loss, -1 unknown."""
        labels = {MatchResult.WHITE_WIN: 0, MatchResult.DRAW: 1, MatchResult.BLACK_WIN: 2, MatchResult.UNKNOWN: -1}
        return labels[self]


def format_margin(points: float, least: int = 1) -> str:
    """Return points without a sign: "3.5", and "2.0", or "2" where no decimal is needed (`least` 0)."""
    whole, _, decimals = f"{abs(points):.{SCORE_DECIMALS}f}".partition(".")
    return f"{whole}.{decimals.rstrip('0').ljust(least, '0')}".rstrip(".")


def format_score(lead: float, least: int = 1) -> str:
    """Return Black's lead as "B+3.5", "W+2.0" or "0"; points as above."""
    points = format_margin(lead, least)
    return "0" if float(points) == 0.0 else f"{'B' if lead > 0.0 else 'W'}+{points}"


def read_margin(text: str) -> float:
    """Return by how many points Black won (negative: White) by an SGF `RE` value, NOT_COUNTED if it does not say."""
    result = MatchResult.from_text(text)
    if result == MatchResult.DRAW:
        return 0.0
    winner = WINNER.fullmatch(text.strip().upper())
    if result == MatchResult.UNKNOWN or winner is None or re.fullmatch(r"\d+(\.\d*)?", winner.group(2) or "") is None:
        return NOT_COUNTED
    points = float(winner.group(2))
    return points if result == MatchResult.BLACK_WIN else -points
