"""What a search is asked for beside position and limit."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mcts.restriction import Restriction


@dataclass(frozen=True)
class Wishes:
    """What a search is asked for beside position and limit.

    Attributes:
        on_report: called with the tree (MCTSTree) after every batch.
        should_stop: asked before every batch.
        restriction: moves that are no candidates.
        root_temperature: how much wider than usual the search is at the root.
        rng: where noise comes from; None for none.
    """

    on_report: Callable[[Any], None] | None = None
    should_stop: Callable[[], bool] | None = None
    restriction: Restriction | None = None
    root_temperature: float = 1.0
    rng: np.random.Generator | None = None
