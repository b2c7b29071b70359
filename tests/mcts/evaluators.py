"""Evaluators without a network: their answers are a hash of the planes, or constant."""
from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping

import numpy as np

from board.geometry import get_geometry

Answer = tuple[np.ndarray, np.ndarray]


class HashEvaluator:
    """Answers that look random but follow from the planes alone; it remembers what it was asked.

    No random generator takes part, so that golden trees do not depend on its version. A larger `spread` makes
    policies sharper.
    """

    def __init__(self, board_size: int, salt: int = 0, spread: float = 4.0) -> None:
        self.actions = board_size * board_size + 1
        self.salt, self.spread = salt, spread
        self.asked: Counter[bytes] = Counter()
        self.batches: list[int] = []

    def __call__(self, planes: np.ndarray) -> Answer:
        self.batches.append(len(planes))
        answers = [self.answer(position) for position in planes]
        return np.stack([logits for logits, _ in answers]), np.stack([value for _, value in answers])

    def answer(self, planes: np.ndarray) -> Answer:
        """Return logits [A] and chances to lose, draw and win [3] of one position."""
        key = planes.astype(np.int8).tobytes()
        self.asked[key] += 1
        digest = hashlib.shake_256(self.salt.to_bytes(4, "little") + key).digest(2 * (self.actions + 3))
        numbers = (np.frombuffer(digest, dtype="<u2") + 1.0) / 65536
        chances = numbers[self.actions :]
        logits = self.spread * numbers[: self.actions]
        return logits.astype(np.float32), (chances / chances.sum()).astype(np.float32)


class TellingEvaluator(HashEvaluator):
    """A HashEvaluator that tells leads and ownership as well: of no use, but different for every position."""

    tells_lead = True

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, ...]:  # type: ignore[override]
        logits, values = super().__call__(planes)
        ownership = np.sin(7.0 * logits[:, :-1]).astype(np.float32)
        return logits, values, (10.0 * values[:, 2] - 3.0).astype(np.float32), ownership


class ConstantEvaluator:
    """The same logits and the same win rate for every position, whoever is to move."""

    def __init__(self, board_size: int, logits: Mapping[int, float] | None = None, win: float = 0.5,
                 before: Callable[[], None] | None = None) -> None:
        """`logits` are given by pos, 0 for the others; `before` is called before every answer."""
        index = get_geometry(board_size).policy_index
        self.logits = np.zeros(board_size * board_size + 1, dtype=np.float32)
        for pos, logit in (logits or {}).items():
            self.logits[index[pos]] = logit
        self.value = np.array([1.0 - win, 0.0, win], dtype=np.float32)
        self.before = before
        self.calls = 0

    def __call__(self, planes: np.ndarray) -> Answer:
        self.calls += 1
        if self.before is not None:
            self.before()
        return np.tile(self.logits, (len(planes), 1)), np.tile(self.value, (len(planes), 1))


class ColorEvaluator(ConstantEvaluator):
    """Constant logits, and values that favor one side: `win` is Black's win rate."""

    def __call__(self, planes: np.ndarray) -> Answer:
        logits, value = super().__call__(planes)
        white = planes[:, 5, 0, 0] < 0
        value[white] = value[white][:, ::-1]
        return logits, value
