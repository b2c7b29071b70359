"""One network on several devices (cores of the CPU, or GPUs), each of which takes a call of its own at a time.

Letters: N positions, P planes, S board size.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue

import numpy as np

from nn.evaluation import Answers
from nn.inference.board_evaluator import BoardEvaluator, CompositeEvaluator


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
        self.call_sizes, self.full_call, self.on_gpu = first.call_sizes, first.full_call, first.on_gpu
        self._begin, self._free = begin, SimpleQueue[BoardEvaluator]()
        for part in [*parts] * calls_each:
            self._free.put(part)
        self._pool = ThreadPoolExecutor(len(parts), "network")

    def evaluate_alone(self, planes: np.ndarray) -> Answers:
        """Evaluate positions as they lie, in this thread, on the first device that is free."""
        part = self._free.get()
        try:
            self._begin()
            return part.evaluate_plainly(planes)
        finally:
            self._free.put(part)

    def _evaluate(self, planes: np.ndarray) -> Answers:
        """Evaluate at most batch_limit positions, in parts on all devices, the first of them in this thread."""
        first, *shares = np.array_split(planes, min(len(planes), len(self._parts)))
        others = [self._pool.submit(self.evaluate_alone, share) for share in shares]
        answers = [self.evaluate_alone(first), *(other.result() for other in others)]
        return tuple(np.concatenate(arrays) for arrays in zip(*answers, strict=True))


def share_threads(make: Callable[[int], BoardEvaluator], symmetries: int, threads: int) -> BoardEvaluator:
    """Return an evaluator for so many threads of a CPU, of parts that `make` returns for a number of symmetries."""
    return make(symmetries) if threads == 1 else SharedEvaluator([make(1) for _ in range(threads)], symmetries)
