"""One network on several devices (GPUs, or cores of the CPU), each of which takes a call of its own at a time.

Letters: N positions, P planes, S board size.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle

import numpy as np

from nn.inference.board_evaluator import Answers, BoardEvaluator, CompositeEvaluator


class SharedEvaluator(CompositeEvaluator):
    """Evaluators of one network, each in a thread of its own, that take the calls in turn.

    In turn, not whoever is free: a search finishes its calls in the order in which it began them, and stays the same.
    """

    def __init__(self, parts: Sequence[BoardEvaluator], symmetries: int = 1, calls_each: int = 1,
                 begin: Callable[[], None] = lambda: None) -> None:
        """Share out calls among `parts`, which look at a position in one way each.

        `calls_each` is how many may wait for each, the one it works on included; each thread calls `begin` first.
        """
        first = parts[0]
        super().__init__(parts, first.facts, first.batch_limit * len(parts), symmetries)
        self.calls_at_once = calls_each * len(parts)
        self.description, self.note = f"{first.description}, {self.calls_at_once} calls at a time", first.note
        self._pools = [ThreadPoolExecutor(1, "network", begin) for _ in parts]
        self._turns = cycle(range(len(parts)))
        for pool in self._pools:
            pool.submit(lambda: None).result()  # its thread begins now

    def start_plainly(self, planes: np.ndarray) -> Callable[[], Answers]:
        """Begin to evaluate positions on the device whose turn it is."""
        device = next(self._turns)
        return self._pools[device].submit(self._parts[device].evaluate_plainly, planes).result

    def _evaluate(self, planes: np.ndarray) -> Answers:
        """Evaluate at most batch_limit positions, in parts on all devices."""
        waits = [self.start_plainly(part) for part in np.array_split(planes, min(len(planes), len(self._parts)))]
        return tuple(np.concatenate(arrays) for arrays in zip(*(wait() for wait in waits), strict=True))
