"""What a search found, as plain data."""

import math
from dataclasses import dataclass, field, replace

# Width of the confidence bound in standard errors (95 % one-sided for a normal mean).
LCB_WIDTH = 1.645
# Variance of a win rate about which nothing is known; it weighs like one visit.
UNKNOWN_VARIANCE = 0.25


@dataclass(frozen=True)
class CandidateMove:
    """One move of the root; win rates are in [0, 1] and those of the side that searches."""

    pos: int
    visits: int
    winrate: float
    prior: float
    lcb: float
    order: int
    raw_value: float | None = None  # the network's value after the move, None if it was not evaluated
    pv: list[int] = field(default_factory=list)  # the move and the replies expected after it
    pv_visits: list[int] = field(default_factory=list)  # visits of each move of the pv


@dataclass(frozen=True)
class SearchResult:
    """The outcome of one search."""

    pos: int  # the move to play, maybe PASS
    visits: int  # visits made by this search
    total_visits: int  # with those kept from earlier searches
    seconds: float
    winrate: float  # of the move to play
    raw_value: float  # the network's win rate of the root
    candidates: list[CandidateMove]  # by order
    tree_is_full: bool = False
    time_limit: float = math.inf  # seconds after which it had to end
    slowest_batch: float = 0.0  # seconds
    temperature: float = 1.0  # of the root: its priors are the network's policy ** (1 / temperature), normalized

    @property
    def mean_winrate(self) -> float:
        """Win rate over all visits, the network's where there is none."""
        visits = sum(move.visits for move in self.candidates)
        return sum(move.visits * move.winrate for move in self.candidates) / visits if visits else self.raw_value

    def with_first(self, pos: int) -> "SearchResult":
        """Return the same result with the candidate `pos` as the move to play, and so of order 0."""
        if pos == self.pos:
            return self
        ranked = sorted(self.candidates, key=lambda move: (move.pos != pos, move.order))
        moves = [replace(move, order=order) for order, move in enumerate(ranked)]
        winrate = moves[0].winrate if moves[0].visits else self.raw_value
        return replace(self, pos=pos, winrate=winrate, candidates=moves)


def single_move(pos: int, winrate: float, prior: float) -> SearchResult:
    """Return the result of a decision without a search."""
    move = CandidateMove(pos, 1, winrate, prior, lower_confidence_bound(1, winrate, winrate * winrate), 0, winrate,
                         [pos], [1])
    return SearchResult(pos, 1, 1, 0.0, winrate, winrate, [move])


def lower_confidence_bound(visits: int, value_sum: float, square_sum: float, width: float = LCB_WIDTH) -> float:
    """Return mean - width * standard error of a move's values, not below 0.

    The variance is the sample's with one visit of UNKNOWN_VARIANCE added, so that few visits mean a wide bound.
    """
    if visits == 0:
        return 0.0
    mean = value_sum / visits
    variance = (max(0.0, square_sum - visits * mean * mean) + UNKNOWN_VARIANCE) / visits
    return max(0.0, mean - width * math.sqrt(variance / visits))
