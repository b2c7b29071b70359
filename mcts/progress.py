"""How far a running search has come, and whether it may end."""

import math
import time
from dataclasses import dataclass, field

import numpy as np

from mcts.node import MCTSNode
from mcts.params import SearchLimit

# How much of the longest batch is remembered after another one: a stall of the machine is forgotten within some dozens.
LONGEST_BATCH_DECAY = 0.95
# The speed of a search is the mean over about so many batches, and it is not known before so many.
SPEED_BATCHES = 8
# A batch cannot be measured any shorter, seconds.
SHORTEST_BATCH = 1e-6
# A best move is clear unless one with at least this share of its visits has a win rate that is better by CLEAR_LEAD, or
# its own has fallen by CLEAR_FALL since the last move.
RIVAL_SHARE = 0.1
CLEAR_LEAD = 0.01
CLEAR_FALL = 0.05


@dataclass
class SearchProgress:
    """How far a running search has come."""

    limit: SearchLimit
    expected: float = 0.0  # win rate of the best move that was found at the last move
    begin: float = field(default_factory=lambda: time.perf_counter())
    last_end: float = 0.0  # when the last batch ended
    visits: int = 0  # made by this search
    batches: int = 0
    longest_batch: float = 0.0  # seconds; fades
    slowest_batch: float = 0.0  # seconds; does not
    speed: float = 0.0  # visits a second inside the batches
    time_limit: float = field(init=False)  # seconds that it may take, as far as known

    def __post_init__(self) -> None:
        """Start with the time of a search whose best move is clear."""
        self.time_limit = self.limit.seconds

    @property
    def seconds(self) -> float:
        """Time since the search began."""
        return time.perf_counter() - self.begin

    @property
    def out_of_time(self) -> bool:
        """Whether another batch might end after the time limit."""
        return self.seconds + self.longest_batch >= self.time_limit

    def add_batch(self, visits: int, begin: float) -> None:
        """Count a batch that has ended now and began then, as time.perf_counter tells; batches may overlap.

        The speed is a mean of speeds, not visits by time: a batch that is held up takes little from it, however long.
        """
        now = time.perf_counter()
        seconds, alone = now - begin, now - max(begin, self.last_end)
        self.last_end = now
        self.visits += visits
        self.batches += 1
        self.longest_batch = max(seconds, LONGEST_BATCH_DECAY * self.longest_batch)
        self.slowest_batch = max(seconds, self.slowest_batch)
        speed = visits / max(alone, SHORTEST_BATCH)
        self.speed += (speed - self.speed) / min(self.batches, SPEED_BATCHES)

    @property
    def visits_in_time(self) -> float:
        """Visits that the time left may bring at most; unlimited while the speed is not known."""
        if self.batches < SPEED_BATCHES:
            return math.inf
        return self.speed * (self.time_limit - self.seconds)

    def judge(self, root: MCTSNode) -> None:
        """Set the time limit by whether the most visited move is clear."""
        if self.limit.extra == 0.0:
            return
        visits, best, contenders = root.children_visits, root.most_visited(), root.contenders()
        value = root.children_value_sum / np.maximum(visits, 1)
        rivals = contenders[visits[contenders] >= max(RIVAL_SHARE * visits[best], 1)]
        highest = value[rivals].max(initial=0.0)
        if highest <= value[best] + CLEAR_LEAD and value[best] >= self.expected - CLEAR_FALL:
            self.time_limit = max(self.limit.seconds, self.seconds)
        else:
            self.time_limit = self.limit.seconds + self.limit.extra

    def is_settled(self, root: MCTSNode, share: float) -> bool:
        """Return whether the search may end: one move alone may be the best, or what remains cannot change the choice.

        That is among the moves with at least `share` of the most visited one's visits (MCTSNode.surest). On a clock,
        where time saved is worth more, those that the most visited one's mean beats do not count. A strict search goes
        on all the same, unless it would wait for its time with nothing to choose.
        """
        if self.limit.strict:
            return root.num_children < 2 and math.isfinite(self.limit.seconds)
        visits = np.sort(root.contending_visits)
        remaining = min(float(self.limit.visits - root.node_visits), self.visits_in_time)
        if len(visits) < 2 or share * visits[-1] - visits[-2] > remaining:
            return True
        return math.isfinite(self.limit.seconds) and visits[-1] - visits[-2] > remaining and not root.has_better(share)
