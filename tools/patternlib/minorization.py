"""Minorization-maximization of a generalized Bradley-Terry model (Coulom 2007, as in tools/learn_patterns.py).

In each position every move is a team of its features' values; the strength of a team is the product of its members'
gammas, and the chance that it wins is its share of the strengths of all moves of the position. One update of a
feature's values, all others held fixed, is

    gamma = (wins + 1) / (sum over positions of the strengths of mates / the strengths of all + 2 / (gamma + 1))

The ones are the prior, a win and a loss against a player of strength 1. No update lowers the likelihood, these two
games included.
"""

import math
from typing import NamedTuple

import numpy as np

from common.kernel import kernel
from tools.patternlib.rows import Column, Rows


class Foresight(NamedTuple):
    """How well gammas foretell the moves of some positions."""

    log_likelihood: float  # mean logarithm of the chance of the move that was played
    first: float  # share of the positions where no other move was thought stronger


@kernel
def multiply_column(values: np.ndarray, factors: np.ndarray, strengths: np.ndarray) -> None:
    """Multiply the strength of each row [R] by the factor of its value. Modifies strengths."""
    for row in range(len(values)):
        strengths[row] *= factors[values[row]]


@kernel
def sum_mates(
    values: np.ndarray, start: np.ndarray, strengths: np.ndarray, gammas: np.ndarray, out: np.ndarray,
) -> None:
    """Add to out [V], for each value, its mates' strengths over those of all moves of a position. Modifies out."""
    for position in range(len(start) - 1):
        total = 0.0
        for row in range(start[position], start[position + 1]):
            total += strengths[row]
        for row in range(start[position], start[position + 1]):
            out[values[row]] += strengths[row] / gammas[values[row]] / total


@kernel
def judge_rows(start: np.ndarray, played: np.ndarray, strengths: np.ndarray, out: np.ndarray) -> None:
    """Add to out [2] the log chance of each played move, and 1 for each that no other exceeds. Modifies out."""
    for position in range(len(played)):
        total, highest, own = 0.0, 0.0, strengths[played[position]]
        for row in range(start[position], start[position + 1]):
            total += strengths[row]
            highest = max(highest, strengths[row])
        out[0] += math.log(own / total)
        out[1] += 1.0 if own >= highest else 0.0


class Model:
    """The gammas of some columns of rows, learnt and judged."""

    def __init__(self, columns: tuple[Column, ...], values: list[int]) -> None:
        """Begin with all gammas 1; `values` says how many each column has."""
        self.columns = columns
        self.gammas = [np.ones(count) for count in values]

    def _strengths(self, rows: Rows, data: list[np.ndarray]) -> np.ndarray:
        strengths = np.ones(len(rows.features))
        for values, gammas in zip(data, self.gammas, strict=True):
            multiply_column(values, gammas, strengths)
        return strengths

    def _data(self, rows: Rows) -> list[np.ndarray]:
        return [np.ascontiguousarray(rows.features[:, column]) for column, _, _ in self.columns]

    def learn(self, rows: Rows, rounds: int) -> None:
        """Update all columns in turn, `rounds` times."""
        data = self._data(rows)
        strengths = self._strengths(rows, data)
        wins = [np.bincount(values[rows.played], minlength=len(gammas)).astype(float)
                for values, gammas in zip(data, self.gammas, strict=True)]
        for _ in range(rounds):
            for i, values in enumerate(data):
                mates = np.zeros(len(self.gammas[i]))
                sum_mates(values, rows.start, strengths, self.gammas[i], mates)
                better = (wins[i] + 1.0) / (mates + 2.0 / (self.gammas[i] + 1.0))
                multiply_column(values, better / self.gammas[i], strengths)
                self.gammas[i] = better

    def judge(self, rows: Rows) -> Foresight:
        """Return how well the gammas foretell the moves of rows."""
        sums = np.zeros(2)
        judge_rows(rows.start, rows.played, self._strengths(rows, self._data(rows)), sums)
        mean = sums / max(1, len(rows.played))
        return Foresight(float(mean[0]), float(mean[1]))

    def normalized(self) -> list[np.ndarray]:
        """Return the gammas so that the first value of each column has 1: a factor for a whole column says nothing."""
        return [gammas / gammas[0] for gammas in self.gammas]
