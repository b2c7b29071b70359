"""Two networks that judge together, as AlphaGo's did: one tells the policy, the other what a position is worth."""

from collections.abc import Callable
from typing import Any

import numpy as np

from nn.inference.board_evaluator import BoardEvaluator
from nn.model_file import ModelFileError

Answers = tuple[np.ndarray, ...]


class PairedEvaluator:
    """Policy of one evaluator with the value (and lead and ownership, if it tells them) of another.

    It is an evaluator like each of them (nn/inference/board_evaluator.py); what is not its own is the policy's.
    """

    def __init__(self, policy: BoardEvaluator, value: BoardEvaluator, path: str) -> None:
        """Pair two evaluators of one board size; raises ModelFileError, naming `path`, where they see other planes."""
        if policy.plane_set != value.plane_set:
            raise ModelFileError(path, f"it sees the {value.plane_set.name} planes, the policy's network the "
                                       f"{policy.plane_set.name} ones", "give another file with --value-model")
        self._policy, self._value = policy, value
        self.tells_lead = value.tells_lead
        self.calls_at_once = min(policy.calls_at_once, value.calls_at_once)

    def __getattr__(self, name: str) -> Any:
        """Return what only the policy's evaluator has, such as its plane set."""
        return getattr(self._policy, name)

    def prepare(self) -> None:
        """Get both ready."""
        self._policy.prepare()
        self._value.prepare()

    def __call__(self, planes: np.ndarray) -> Answers:
        """Evaluate planes [N, P, S, S]."""
        return join(self._policy(planes), self._value(planes))

    def start(self, planes: np.ndarray) -> Callable[[], Answers]:
        """Begin to evaluate planes; return what waits for the answers."""
        policy, value = self._policy.start(planes), self._value.start(planes)
        return lambda: join(policy(), value())

    def average(self, planes: np.ndarray) -> Answers:
        """Evaluate planes through all symmetries and return the means."""
        return join(self._policy.average(planes), self._value.average(planes))

    def evaluate_plainly(self, planes: np.ndarray) -> Answers:
        """Evaluate planes as they lie."""
        return join(self._policy.evaluate_plainly(planes), self._value.evaluate_plainly(planes))


def join(policy: Answers, value: Answers) -> Answers:
    """Return the policy of the one answer with all the rest of the other."""
    return (policy[0], *value[1:])
