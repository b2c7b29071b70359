"""One Elo scale for several players from the games of several matches.

The model is Bradley and Terry's: player i scores p = 1 / (1 + exp(r_j - r_i)) on average against player j, a draw being
half a win. Ratings maximize the likelihood; one drawn game is added to every pair that met, so that they stay finite
where one side has won all games. Intervals come from the curvature of the likelihood at its maximum.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from tools.matchlib.elo import Z_95

ELO = 400.0 / math.log(10.0)
ADDED_GAMES = 1.0
MAX_STEPS = 200
# Steps of Newton's method are kept this short, in natural units, where the curvature is small.
LONGEST_STEP = 2.0
PRECISION = 1e-9


class PairResult(NamedTuple):
    """Games of one match."""

    first: str
    second: str
    score: float  # wins and half draws of the first
    games: int


class Rating(NamedTuple):
    """A player on the scale; the anchor's interval is a point."""

    elo: float
    low: float
    high: float
    games: int


def rate_players(results: Iterable[PairResult], anchor: str) -> dict[str, Rating]:
    """Return the ratings of all players whom matches connect with the anchor, whose Elo is 0.

    Games of a player against itself say nothing of it.
    """
    played = [result for result in results if result.games > 0 and result.first != result.second]
    players = _connected_with(anchor, played)
    index = {player: number for number, player in enumerate(players)}
    scores, games = np.zeros((2, len(players), len(players)))
    for first, second, score, count in played:
        if first in index:
            i, j = index[first], index[second]
            scores[i, j] += score
            scores[j, i] += count - score
            games[[i, j], [j, i]] += count
    prior = ADDED_GAMES * (games > 0)
    rating, spread = _maximize(scores + prior / 2.0, games + prior)
    return {
        player: Rating(ELO * rating[i], ELO * (rating[i] - Z_95 * spread[i]), ELO * (rating[i] + Z_95 * spread[i]),
                       int(games[i].sum()))
        for player, i in index.items()
    }


def _connected_with(anchor: str, played: list[PairResult]) -> list[str]:
    """Return the anchor, first, and everybody connected with it by games."""
    found = [anchor]
    for player in found:
        for result in played:
            if player in result[:2]:
                found += [other for other in result[:2] if other not in found]
    return found


def _maximize(scores: np.ndarray, games: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return ratings and their standard deviations [P] in natural units, those of player 0 being 0."""
    rating, spread = np.zeros(len(games)), np.zeros(len(games))
    if len(games) == 1:
        return rating, spread
    for _ in range(MAX_STEPS):
        expected = 1.0 / (1.0 + np.exp(rating[None, :] - rating[:, None]))
        slope = (scores - games * expected).sum(axis=1)[1:]
        weight = games * expected * (1.0 - expected)
        curvature = (np.diag(weight.sum(axis=1)) - weight)[1:, 1:]
        step = np.linalg.solve(curvature, slope)
        rating[1:] += step * min(1.0, LONGEST_STEP / np.abs(step).max()) if step.any() else 0.0
        if np.abs(step).max() < PRECISION:
            break
    spread[1:] = np.sqrt(np.diag(np.linalg.inv(curvature)))
    return rating, spread
