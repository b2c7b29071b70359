"""Ownership and score lead of the lines that a search found, by playouts from the ends of the lines.

For networks that have no head for either (the others: mcts/tree_estimate.py). A search knows what it expects (its
principal variations), and playouts that answer ataris (board/playout.py) tell how such a position is divided when
nobody plays well any more: big territories and captured strings come out right, life and death that needs exact play
tends towards 0. The lead is that of area, komi included. doc/gtp.md has the measurement that chose this way.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from board import rules
from board.geometry import get_geometry
from board.go_board import GoBoard
from board.playout import playout_ownership
from board.state import SIZE, State, copy_state, new_state
from board.stone import Stone
from mcts.analysis import CandidateMove

# Random games come in pairs, in which the players take turns to begin.
PAIR = 2
SHARED_PAIRS = 48  # in the first report, shared among the lines by visits
FIRST_PAIRS = 2  # the fewest for a line that is seen for the first time
MORE_PAIRS = 2  # for each line with each further report
MAX_PAIRS = 64  # for one line
# The candidates that are refined in each report; the visits concentrate on them.
REFINED = 6


@dataclass
class LineEstimate:
    """What the random games after one line say, for Black.

    Attributes:
        ownership: float64 [S*S], sum over the pairs, each from -1 (White's) to +1 (Black's), row by row from the top.
        leads: lead of each pair, komi included.
    """

    ownership: np.ndarray
    leads: list[float]

    @property
    def mean_ownership(self) -> np.ndarray:
        """Ownership of each point, float64 [S*S]."""
        return self.ownership / len(self.leads)

    @property
    def lead(self) -> float:
        """Mean lead."""
        return sum(self.leads) / len(self.leads)

    @property
    def stdev(self) -> float:
        """Standard deviation of the lead after a single random game."""
        if len(self.leads) < 2:
            return 0.0
        mean = self.lead
        variance = sum((lead - mean) ** 2 for lead in self.leads) / (len(self.leads) - 1)
        return math.sqrt(PAIR * variance)


@dataclass(frozen=True)
class Estimate:
    """Ownership, float64 [S*S], lead and its standard deviation, for the side that asked."""

    ownership: np.ndarray
    lead: float
    stdev: float

    @property
    def ownership_stdev(self) -> np.ndarray:
        """Standard deviation of each point's owner (-1 or 1) after a single random game, float64 [S*S]."""
        return np.sqrt(np.maximum(0.0, 1.0 - self.ownership**2))


class Estimator(Protocol):
    """What a report asks for ownership and leads."""

    def estimate_moves(self, moves: Sequence[CandidateMove], least_pairs: Sequence[int] = ()) -> list[Estimate]:
        """Return an estimate for each move, in order; `least_pairs` of random games where it takes these."""


class ScoreEstimator:
    """Estimates for the lines of one position; what was counted for a line is kept as long as it is reported."""

    def __init__(self, board: GoBoard, color: Stone, seed: int = 0) -> None:
        """Estimate lines that start on `board` with a move of `color`, for `color`."""
        self._state = new_state(board.board_size)
        copy_state(self._state, board.state)
        self._color, self._komi = color, board.get_komi()
        self._sign = 1.0 if color == Stone.BLACK else -1.0
        self._points = get_geometry(board.board_size).points
        self._rng = np.random.Generator(np.random.PCG64(seed))
        self._lines: dict[tuple[int, ...], LineEstimate] = {}

    def estimate_moves(self, moves: Sequence[CandidateMove], least_pairs: Sequence[int] = ()) -> list[Estimate]:
        """Return an estimate for the line of each move, in order; the first ones are counted more closely.

        The line of move i rests on `least_pairs[i]` pairs of random games at least.
        """
        known, self._lines = self._lines, {}
        visits = max(sum(move.visits for move in moves), 1)
        for rank, move in enumerate(moves):
            line = tuple(move.pv)
            pairs = 0 if line in known else max(FIRST_PAIRS, round(SHARED_PAIRS * move.visits / visits))
            if rank < REFINED and line in known and len(known[line].leads) < MAX_PAIRS:
                pairs = MORE_PAIRS
            self._lines[line] = known.get(line) or LineEstimate(np.zeros(len(self._points)), [])
            least = least_pairs[rank] if least_pairs else 0
            self._count(line, max(pairs, least - len(self._lines[line].leads)))
        return [self._signed(self._lines[tuple(move.pv)]) for move in moves]

    def estimate_position(self, pairs: int = MAX_PAIRS) -> Estimate:
        """Return an estimate for the position itself."""
        line = self._lines.setdefault((), LineEstimate(np.zeros(len(self._points)), []))
        self._count((), pairs)
        return self._signed(line)

    def _count(self, line: tuple[int, ...], pairs: int) -> None:
        """Play so many more pairs of random games after a line."""
        state, estimate = after_line(self._state, int(self._color), line), self._lines[line]
        for _ in range(pairs):
            ownership = playout_ownership(state, PAIR, self._rng)[self._points]
            estimate.ownership += ownership
            estimate.leads.append(float(ownership.sum()) - self._komi)

    def _signed(self, line: LineEstimate) -> Estimate:
        """Return an estimate for the side that asked."""
        return Estimate(self._sign * line.mean_ownership, self._sign * line.lead, line.stdev)


def after_line(start: State, color: int, line: Sequence[int]) -> State:
    """Return the state after a line that `color` begins at `start`."""
    state = new_state(int(start.info[SIZE]))
    copy_state(state, start)
    for pos in line:
        rules.play(state, pos, color)
        color = 3 - color
    return state


def mean_estimate(moves: Sequence[CandidateMove], estimates: Sequence[Estimate]) -> Estimate:
    """Return the mean of the estimates of the moves of a position, weighted by visits."""
    weights = np.array([float(move.visits) for move in moves])
    weights = weights / weights.sum() if weights.sum() > 0 else np.full(len(moves), 1.0 / len(moves))
    lead = sum(weight * one.lead for weight, one in zip(weights, estimates, strict=True))
    square = sum(weight * (one.stdev**2 + one.lead**2) for weight, one in zip(weights, estimates, strict=True))
    ownership = sum(weight * one.ownership for weight, one in zip(weights, estimates, strict=True))
    return Estimate(np.asarray(ownership), float(lead), math.sqrt(max(0.0, square - lead * lead)))
