"""Elo differences with their uncertainty.

The score of n games is s = (wins + draws / 2) / n. Its 95 % interval is Wilson's score interval,

    (s + z^2 / 2n  -+  z * sqrt(s (1 - s) / n + z^2 / 4n^2)) / (1 + z^2 / n),    z = 1.96,

which stays inside 0..1 and is meaningful at 0 % and 100 %; counting a draw as half a win in it overstates the variance
of games with draws, so the interval is never too narrow for them. Scores become Elo by the logistic curve,

    elo = 400 * log10(s / (1 - s)),

which is infinite at 0 % and at 100 %: there one end of the interval remains finite, and says what is known.
"""

import math
from dataclasses import dataclass

# The 97.5 % point of the normal distribution.
Z_95 = 1.959963984540054


@dataclass(frozen=True)
class EloEstimate:
    """The score of a match (0..1) and the Elo difference, each with its 95 % interval."""

    score: float
    score_low: float
    score_high: float
    elo: float
    elo_low: float
    elo_high: float


def get_elo(score: float) -> float:
    """Return the Elo difference that predicts this score (0..1); infinite at the ends."""
    if score <= 0.0:
        return -math.inf
    if score >= 1.0:
        return math.inf
    return 400.0 * math.log10(score / (1.0 - score))


def get_wilson_interval(score: float, games: int) -> tuple[float, float]:
    """Return the 95 % interval of a score (0..1) over so many games (E. B. Wilson, 1927); 0..1 without any games."""
    if games == 0:
        return 0.0, 1.0
    spread = Z_95 * Z_95 / games
    half = Z_95 * math.sqrt(score * (1.0 - score) / games + spread / (4.0 * games))
    low = (score + spread / 2.0 - half) / (1.0 + spread)
    high = (score + spread / 2.0 + half) / (1.0 + spread)
    return (0.0 if score == 0.0 else max(0.0, low)), (1.0 if score == 1.0 else min(1.0, high))


def estimate_elo(wins: int, draws: int, losses: int) -> EloEstimate:
    """Return the score and the Elo difference of the side that these numbers belong to."""
    games = wins + draws + losses
    score = (wins + draws / 2.0) / games if games else 0.5
    low, high = get_wilson_interval(score, games)
    return EloEstimate(score, low, high, get_elo(score), get_elo(low), get_elo(high))


def format_elo(value: float) -> str:
    """Return an Elo difference as signed text."""
    return f"{value:+.0f}" if math.isfinite(value) else "unknown"


def format_estimate(estimate: EloEstimate) -> str:
    """Return the Elo difference and its interval, as in `+120 [+60, +190]`; only its finite end after a clean sweep."""
    if estimate.score == 0.0:
        return f"below {format_elo(estimate.elo_high)}"
    if estimate.score == 1.0:
        return f"above {format_elo(estimate.elo_low)}"
    low, high = format_elo(estimate.elo_low), format_elo(estimate.elo_high)
    return f"{format_elo(estimate.elo)} [{low}, {high}]"
