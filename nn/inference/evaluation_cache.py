"""What the network said before: a position that is seen again, in another line, search or analysis, costs no call.

Letters: N positions, P planes, S board size.
"""

from collections import OrderedDict
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

import numpy as np

from board.geometry import SYMMETRIES
from nn.evaluation import NO_LEADS, NO_OWNERSHIP, Answers, Evaluation
from nn.inference.answer_store import keep_answers, look_up, new_answer_store, new_inquiry
from nn.inference.board_evaluator import BoardEvaluator

# Memory for answers, bytes.
CACHE_BYTES = 64 << 20
# Means over symmetries that are kept besides, of the positions that searches began with; 3 KB each on 19x19.
KEPT_MEANS = 1000


class CachedEvaluator:
    """An evaluator that remembers its answers by a hash of the planes; all else is the evaluator's own.

    Mirror images share an answer, as they do without a cache. One thread at a time may use it, but to calculate what it
    has prepared.

    Attributes:
        asked, found: positions it was asked for, and those that it knew.
    """

    def __init__(self, evaluator: BoardEvaluator, memory: int = CACHE_BYTES) -> None:
        """Remember what `evaluator` says, within so many bytes."""
        self._evaluator, self._turns = evaluator, evaluator.turns
        self._store = new_answer_store(memory, evaluator.board_size, evaluator.plane_set.planes, evaluator.tells_lead)
        self._means: OrderedDict[bytes, Answers] = OrderedDict()  # the one asked for last is the last
        self.asked = self.found = 0

    def __getattr__(self, name: str) -> Any:
        """Return what only the evaluator has, such as its plane set, or other ways to ask it."""
        return getattr(self._evaluator, name)

    def __call__(self, planes: np.ndarray) -> Answers:
        """Evaluate planes [N, P, S, S] as the evaluator does, whose call holds only what is new."""
        return self._look_up(planes, self._evaluator.evaluate_turned).answer()

    def start(self, planes: np.ndarray) -> Evaluation:
        """Prepare to evaluate planes; only what is calculated of that may run beside other uses."""
        return self._look_up(planes, self._evaluator.evaluate_turned_alone)

    def average(self, planes: np.ndarray, symmetries: int = SYMMETRIES) -> Answers:
        """Return the means over so many symmetries, as the evaluator does.

        A search looks in all ways at the position it begins with, and reports and diagnostics then ask about it.
        """
        key = blake2b(planes.tobytes(), digest_size=16, salt=bytes([symmetries])).digest()
        if key not in self._means:
            self._means[key] = self._evaluator.average(planes, symmetries)
            if len(self._means) > KEPT_MEANS:
                self._means.popitem(last=False)
        self._means.move_to_end(key)
        return tuple(answer.copy() for answer in self._means[key])

    def _look_up(self, planes: np.ndarray, evaluate: Callable[[np.ndarray], Answers]) -> Evaluation:
        """Prepare to evaluate planes, of which `evaluate` is called with what is new, turned."""
        evaluator, count = self._evaluator, len(planes)
        size, tells_lead = evaluator.board_size, evaluator.tells_lead
        points = np.ascontiguousarray(planes, dtype=np.float32).reshape(count, -1, size * size)
        turned, inquiry = np.empty_like(points), new_inquiry(count, size, tells_lead)
        new = look_up(points, self._turns, self._store, inquiry, turned, turned.view(np.uint32))
        self.asked += count
        self.found += count - new

        def calculate() -> Answers:
            return evaluate(turned[:new].reshape(new, -1, size, size)) if new else ()

        def finish(answers: Answers) -> Answers:
            if answers:
                logits, values, *others = answers
                leads, ownership = others or (NO_LEADS, NO_OWNERSHIP)
                keep_answers(logits, values, leads, ownership, self._turns, self._store, inquiry)
            told = (inquiry.leads, inquiry.ownership) if tells_lead else ()
            return inquiry.logits, inquiry.values, *told

        return Evaluation(calculate, finish)

    def clear(self) -> None:
        """Forget all answers."""
        self._store.age[:] = 0
        self._means.clear()
