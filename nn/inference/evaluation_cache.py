"""What the network said before: a position that is seen again, in another line, search or analysis, costs no call.

Letters: N positions, P planes, S board size.
"""

from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from nn.feature import Evaluator

Waiter = Callable[[], tuple[np.ndarray, ...]]

# Memory for answers, bytes, and what Python needs for each beside its numbers.
CACHE_BYTES = 64 << 20
OVERHEAD_BYTES = 700
# Part of the oldest answers that goes when the memory is used up.
FORGOTTEN = 8


class CachedEvaluator:
    """An evaluator that remembers its answers by a hash of the planes; all else is the evaluator's own.

    Attributes:
        asked, found: positions it was asked for, and those that it knew.
    """

    def __init__(self, evaluator: Evaluator, memory: int = CACHE_BYTES) -> None:
        """Remember what `evaluator` says, within so many bytes."""
        self._evaluator, self._memory = evaluator, memory
        self.asked = self.found = 0
        self._answers: dict[int, tuple[np.ndarray, ...]] = {}

    def __getattr__(self, name: str) -> Any:
        """Return what only the evaluator has, such as its plane set, or other ways to ask it."""
        return getattr(self._evaluator, name)

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, ...]:
        """Evaluate planes [N, P, S, S] as the evaluator does, whose call holds only what is new."""
        return self._look_up(planes, lambda new: partial(self._evaluator, new))()

    def start(self, planes: np.ndarray) -> Waiter:
        """Begin to evaluate what is new of the planes as the evaluator does; return what waits for all answers."""
        return self._look_up(planes, self._evaluator.start)  # type: ignore[attr-defined]

    def _look_up(self, planes: np.ndarray, start: Callable[[np.ndarray], Waiter]) -> Waiter:
        """Return what gives the answers for planes, of which `start` is called with what is new."""
        keys = [hash(position.tobytes()) for position in planes]
        rows = [self._answers.get(key) for key in keys]
        new = [n for n, row in enumerate(rows) if row is None]
        self.asked += len(keys)
        self.found += len(keys) - len(new)
        wait = start(planes if len(new) == len(keys) else planes[new]) if new else tuple

        def finish() -> tuple[np.ndarray, ...]:
            answers = wait()
            self._remember([keys[n] for n in new], answers)
            if len(new) == len(keys):
                return answers
            for n, row in zip(new, zip(*answers, strict=True), strict=True):
                rows[n] = row
            return tuple(np.stack(arrays) for arrays in zip(*(row for row in rows if row is not None), strict=True))

        return finish

    def _remember(self, keys: list[int], answers: tuple[np.ndarray, ...]) -> None:
        """Keep answers by their keys; the oldest ones make room."""
        if not keys:
            return
        room = max(1, self._memory // (sum(answer[0].nbytes for answer in answers) + OVERHEAD_BYTES))
        if len(self._answers) + len(keys) > room:
            for key in list(islice(self._answers, room // FORGOTTEN + len(keys))):
                self._answers.pop(key, None)
        self._answers.update(zip(keys, zip(*answers, strict=True), strict=True))

    def clear(self) -> None:
        """Forget all answers."""
        self._answers.clear()
