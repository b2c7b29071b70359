"""Several networks that judge together: an ensemble, or one for the policy and one for the value, as AlphaGo's were.

Each sees its own planes: where they take different sets, all of them are made (nn/plane_sets.py).

Letters: N positions, S board size, A = S*S + 1 policy entries.
"""

from collections.abc import Callable, Sequence

import numpy as np

from nn.evaluation import Answers
from nn.inference.board_evaluator import BoardEvaluator, CompositeEvaluator, NetworkFacts
from nn.plane_sets import AND

# Least chance of a move in an ensemble: its logit stays a number.
TINY = 1e-12


class JoinedEvaluator(CompositeEvaluator):
    """An evaluator that asks several others, of one board size, and makes one answer of theirs."""

    def __init__(self, parts: Sequence[BoardEvaluator], join: Callable[[Sequence[Answers]], Answers], tells_lead: bool,
                 symmetries: int = 1) -> None:
        """Join evaluators that look at a position in one way each; `join` makes one answer of one of each."""
        size, sets = parts[0].board_size, {part.plane_set.name: part.plane_set.planes for part in parts}
        sizes = max(part.sizes[0] for part in parts), min(part.sizes[-1] for part in parts)
        facts = NetworkFacts(AND.join(sets), size, sizes, tells_lead, filters=0, blocks=0, trained_on=(size,))
        super().__init__(parts, facts, min(part.batch_limit for part in parts), symmetries)
        self.calls_at_once = min(part.calls_at_once for part in parts)
        self.call_sizes, self.full_call = parts[0].call_sizes, max(part.full_call for part in parts)
        self.on_gpu = any(part.on_gpu for part in parts)
        self.description = " and ".join(part.description for part in parts)
        self.note = "; ".join(dict.fromkeys(part.note for part in parts if part.note))
        begins = dict(zip(sets, np.cumsum([0, *sets.values()]), strict=False))
        self._join = join
        self._shares = [slice(begins[part.plane_set.name], begins[part.plane_set.name] + part.plane_set.planes)
                        for part in parts]

    def _share_out(self, planes: np.ndarray) -> list[np.ndarray]:
        """Return what each of the parts sees of planes."""
        return [np.ascontiguousarray(planes[:, share]) for share in self._shares]

    def _evaluate(self, planes: np.ndarray) -> Answers:
        """Evaluate at most batch_limit positions."""
        return self._join([part.evaluate_plainly(own)
                           for part, own in zip(self._parts, self._share_out(planes), strict=True)])

    def evaluate_alone(self, planes: np.ndarray) -> Answers:
        """Evaluate positions as they lie, in this thread; calls_at_once threads may do so at a time."""
        return self._join([part.evaluate_alone(own)
                           for part, own in zip(self._parts, self._share_out(planes), strict=True)])


def average(answers: Sequence[Answers]) -> Answers:
    """Return the mean of what several networks say: of chances, and of leads and ownership where these are told."""
    chances = [np.exp(answer[0] - answer[0].max(axis=1, keepdims=True)) for answer in answers]
    mean = sum(chance / chance.sum(axis=1, keepdims=True) for chance in chances) / len(chances)
    told = [answer[2:] for answer in answers if len(answer) > 2]
    others = [np.mean(arrays, axis=0) for arrays in ([answer[1] for answer in answers], *zip(*told, strict=True))]
    return np.log(mean + TINY), *others


def take_value(answers: Sequence[Answers]) -> Answers:
    """Return the first network's policy with all else of the second."""
    policy, value = answers
    return policy[0], *value[1:]


def make_ensemble(parts: Sequence[BoardEvaluator], symmetries: int = 1) -> JoinedEvaluator:
    """Return the mean of several evaluators."""
    return JoinedEvaluator(parts, average, any(part.tells_lead for part in parts), symmetries)


def pair(policy: BoardEvaluator, value: BoardEvaluator, symmetries: int = 1) -> JoinedEvaluator:
    """Return the policy of one evaluator with the value (and lead and ownership, if it tells them) of another."""
    return JoinedEvaluator((policy, value), take_value, value.tells_lead, symmetries)
