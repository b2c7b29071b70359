"""One network on several devices (cores of the CPU, or GPUs), each of which takes a call of its own at a time.

Letters: N positions, P planes, S board size.
"""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from nn.inference.board_evaluator import Answers, BoardEvaluator, CompositeEvaluator


class SharedEvaluator(CompositeEvaluator):
    """Evaluators of one network; each thread that asks has one of them to itself."""

    def __init__(self, parts: Sequence[BoardEvaluator], symmetries: int = 1, calls_each: int = 1,
                 begin: Callable[[], None] = lambda: None) -> None:
        """Share out calls among `parts`, which look at a position in one way each.

        `calls_each` is how many each may have at a time; a thread calls `begin` before it calls one of them.
        """
        first = parts[0]
        super().__init__(parts, first.facts, first.batch_limit * len(parts), symmetries)
        self.calls_at_once = calls_each * len(parts)
        self.description, self.note = f"{first.description}, {self.calls_at_once} calls at a time", first.note
        self.call_sizes = first.call_sizes
        self._free, self._begin = deque([*parts] * calls_each), begin
        self._pool = ThreadPoolExecutor(len(parts), "network", begin)

    def evaluate_alone(self, planes: np.ndarray) -> Answers:
        """Evaluate positions as they lie, on a device that is free, in this thread."""
        part = self._free.popleft()
        try:
            self._begin()
            return part.evaluate_plainly(planes)
        finally:
            self._free.append(part)

    def _evaluate(self, planes: np.ndarray) -> Answers:
        """Evaluate at most batch_limit positions, in parts on all devices."""
        shares = np.array_split(planes, min(len(planes), len(self._parts)))
        answers = self._pool.map(lambda part, share: part.evaluate_plainly(share), self._parts, shares)
        return tuple(np.concatenate(arrays) for arrays in zip(*answers, strict=True))
