"""What every evaluator has in common, whatever calculates: symmetries, large batches, and what it tells of itself.

Letters: N positions, P planes, S board size, A = S*S + 1 policy entries.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from board.geometry import SYMMETRIES
from nn.evaluation import Answers, Evaluation
from nn.inference.orientation import Orientation, Turns
from nn.plane_sets import find_plane_set


@dataclass(frozen=True)
class NetworkFacts:
    """What is told of a network without it.

    Attributes:
        features: name of its plane set (find_plane_set).
        board_size: the size that it is prepared for.
        sizes: the first and the last that it can be prepared for.
        tells_lead: whether it tells lead and ownership, too.
        filters, blocks: its shape, for people.
        trained_on: board sizes that it has learnt.
    """

    features: str
    board_size: int
    sizes: tuple[int, int]
    tells_lead: bool
    filters: int
    blocks: int
    trained_on: tuple[int, ...]

    def to_bytes(self) -> bytes:
        """Return the facts as a line of JSON."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def parse(cls, content: bytes) -> "NetworkFacts":
        """Return what to_bytes wrote; raises ValueError and TypeError for anything else."""
        fields: dict[str, Any] = json.loads(content)
        if not isinstance(fields, dict):
            raise ValueError("facts are an object")
        fields.update((name, tuple(value)) for name, value in fields.items() if isinstance(value, list))
        return cls(**fields)

    def describe(self, where: str) -> str:
        """Return shape and size, and where and how it calculates, for people."""
        return f"{self.filters}x{self.blocks} network for {self.board_size}x{self.board_size} {where}"

    @property
    def note(self) -> str:
        """A warning for the user, mostly empty."""
        if self.board_size in self.trained_on:
            return ""
        learnt = " and ".join(f"{size}x{size}" for size in self.trained_on)
        return (f"the network has learnt on {learnt} only: on {self.board_size}x{self.board_size} it plays by what "
                "carries over")


class BoardEvaluator(ABC):
    """A callable from planes to policy and value for one board size.

    A position and its mirror images get one answer: they are turned to the same way before the network sees them
    (nn/inference/orientation.py). With `symmetries` above 1 every position is seen through so many of the 8 symmetries
    of the board instead, and the answers are averaged: a steadier judgment for so many times the work.

    Attributes:
        facts: what is told of the network.
        plane_set: the planes it takes.
        board_size: the only board size it evaluates.
        sizes: those that the network could be loaded for.
        tells_lead: whether it tells lead and ownership, too.
        batch_limit: positions that are evaluated at a time; a call may bring more.
        calls_at_once: how many threads may calculate what `start` prepares at a time without waiting for each other.
        call_sizes: sizes that calls are filled up to; empty where a call calculates exactly its positions.
        on_gpu: whether it calculates on a GPU.
        full_call: number of positions beyond which larger calls are no cheaper for each position.
        description: device, number format and shape of the network, for people.
        note: a warning for the user, mostly empty.
    """

    calls_at_once = 1
    call_sizes: Sequence[int] = ()
    full_call = 16
    on_gpu = False

    def __init__(self, facts: NetworkFacts, where: str, batch_limit: int, symmetries: int) -> None:
        """Take what is known of the network; `where` tells device and number format."""
        self.facts, self.plane_set = facts, find_plane_set(facts.features)
        self.board_size = facts.board_size
        self.sizes = range(facts.sizes[0], facts.sizes[1] + 1)
        self.tells_lead = facts.tells_lead
        self.batch_limit = batch_limit
        self.description = facts.describe(where)
        self.note = facts.note
        self._symmetries = symmetries
        self._orientation = Orientation(self.board_size, self.plane_set.planes)

    def prepare(self) -> None:  # noqa: B027 (most have nothing to do)
        """Begin to get ready what the first search needs; it waits for what is not."""

    def prepare_more(self) -> None:  # noqa: B027 (most have nothing to do)
        """Begin to get ready what longer searches need, once the first one has begun."""

    @abstractmethod
    def _evaluate(self, planes: np.ndarray) -> Answers:
        """Evaluate at most batch_limit positions."""

    def __call__(self, planes: np.ndarray) -> Answers:
        """Evaluate positions.

        Args:
            planes: float32 [N, P, S, S], N at least 1.

        Returns:
            Policy logits float32 [N, A], and the probabilities float32 [N, 3] that the side to move loses, draws, wins;
            from networks that tell them also its lead in points, float32 [N], and the ownership, float32 [N, S*S], from
            -1 (the opponent's) to 1.

        Raises:
            ValueError: the planes have another shape.
        """
        if self._symmetries > 1:
            return self.average(planes, self._symmetries)
        turned, chosen = self._orientation.turn(self._checked(planes))
        return self._turn_back(self.evaluate_plainly(turned), chosen)

    @property
    def turns(self) -> Turns:
        """How positions are turned before the network sees them: not at all where it looks in several ways."""
        turns = self._orientation.turns
        return turns._replace(weight=np.zeros_like(turns.weight)) if self._symmetries > 1 else turns

    def evaluate_turned(self, planes: np.ndarray) -> Answers:
        """Evaluate positions that the caller has turned as `turns` says."""
        return self._average(planes, self._symmetries, self.evaluate_plainly)

    def evaluate_turned_alone(self, planes: np.ndarray) -> Answers:
        """Do the same on one core, beside other threads that do."""
        return self._average(planes, self._symmetries, self.evaluate_alone)

    def start(self, planes: np.ndarray) -> Evaluation:
        """Prepare to evaluate positions; the planes may be overwritten before that is calculated."""
        if self._symmetries > 1:
            return Evaluation(partial(self.evaluate_turned_alone, planes.copy()))
        turned, chosen = self._orientation.turn(self._checked(planes))
        return Evaluation(partial(self.evaluate_alone, turned), lambda answers: self._turn_back(answers, chosen))

    def evaluate_alone(self, planes: np.ndarray) -> Answers:
        """Evaluate positions as they lie, in this thread; calls_at_once threads may do so at a time."""
        return self.evaluate_plainly(planes)

    def _turn_back(self, answers: Answers, chosen: np.ndarray) -> Answers:
        """Return answers about positions that were turned as `chosen` tells, as they lay before."""
        return tuple(answer if self._is_of_boards(answer) else self._orientation.turn_back(answer, chosen)
                     for answer in answers)

    def average(self, planes: np.ndarray, symmetries: int = SYMMETRIES) -> Answers:
        """Evaluate positions as above, each through so many symmetries; return the means.

        Those are of logits (the geometric mean of the policies), chances, leads and owners.
        """
        return self._average(planes, symmetries, self.evaluate_plainly)

    def _average(self, planes: np.ndarray, symmetries: int, evaluate: Callable[[np.ndarray], Answers]) -> Answers:
        """Return the means of what `evaluate` says of positions through so many symmetries."""
        if symmetries == 1:
            return evaluate(self._checked(planes))
        size, count = self.board_size, self.plane_set.planes
        points = self._checked(planes).reshape(len(planes), count, size * size)
        turned = [points[:, :, order[:-1]] for order in self._orientation.turns.order[:symmetries]]
        answers = evaluate(np.concatenate(turned).reshape(-1, count, size, size))
        return tuple(self._mean_of_boards(answer, symmetries) if self._is_of_boards(answer)
                     else self._mean_by_point(answer, symmetries) for answer in answers)

    def _checked(self, planes: np.ndarray) -> np.ndarray:
        """Return planes that have the right shape; raises ValueError."""
        size, count = self.board_size, self.plane_set.planes
        if planes.shape[1:] != (count, size, size) or len(planes) == 0:
            raise ValueError(f"planes have shape {planes.shape}, not [N, {count}, {size}, {size}]")
        return planes

    def _is_of_boards(self, answer: np.ndarray) -> bool:
        """Tell whether an answer is about whole boards (value, lead), not about their points."""
        return answer.ndim == 1 or answer.shape[1] < self.board_size**2

    @staticmethod
    def _mean_of_boards(values: np.ndarray, symmetries: int) -> np.ndarray:
        """Return the mean over the symmetries of values [symmetries * N, ...]."""
        return values.reshape(symmetries, -1, *values.shape[1:]).mean(axis=0)

    def _mean_by_point(self, values: np.ndarray, symmetries: int) -> np.ndarray:
        """Return the mean over the symmetries of values by point [symmetries * N, A or S*S], as the board lies."""
        values = values.reshape(symmetries, -1, values.shape[1])
        order = self._orientation.turns.inverse[:symmetries, np.newaxis, :values.shape[2]]
        return np.take_along_axis(values, order, axis=2).mean(axis=0)

    def evaluate_plainly(self, planes: np.ndarray) -> Answers:
        """Evaluate any number of positions as they lie, which their mirror images need not share."""
        if len(planes) <= self.batch_limit:
            return self._evaluate(planes)
        starts = range(0, len(planes), self.batch_limit)
        parts = [self._evaluate(planes[start:start + self.batch_limit]) for start in starts]
        return tuple(np.concatenate(arrays) for arrays in zip(*parts, strict=True))


class CompositeEvaluator(BoardEvaluator):
    """An evaluator that has others do its work; whoever makes it says what it is."""

    def __init__(self, parts: Sequence[BoardEvaluator], facts: NetworkFacts, batch_limit: int, symmetries: int) -> None:
        """Stand for `parts`."""
        super().__init__(facts, "", batch_limit, symmetries)
        self._parts = parts

    def prepare(self) -> None:
        """Get all ready."""
        for part in self._parts:
            part.prepare()

    def prepare_more(self) -> None:
        """Get the rest ready."""
        for part in self._parts:
            part.prepare_more()
