"""Evaluators without a network.

Letters: N positions, S board size, A = S*S + 1 policy entries.
"""

from typing import Any

import numpy as np

from nn.evaluation import Evaluation
from nn.feature import plane_set_of

# Odd constants of splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
GAMMA = np.uint64(0x9E3779B97F4A7C15)
MIX_1, MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)

# Entries, at least, of the table that FreeEvaluator answers from.
TABLE_LENGTH = 4096
# Spread of the random logits: the first few moves of a node get most of the policy, as with a trained network.
LOGIT_SPREAD = 2.0
HASHED_LOGIT_RANGE = 8.0
# Share of draws in hashed values.
MAX_DRAW = 0.0625


class FreeEvaluator:
    """Answers from a table of random numbers in almost no time, in turn, whatever the position."""

    def __init__(self, board_size: int, most: int = TABLE_LENGTH) -> None:
        """Make the table; no call will ask about more than `most` positions."""
        rng, self._length = np.random.default_rng(0), max(most, TABLE_LENGTH)
        logits = rng.normal(scale=LOGIT_SPREAD, size=(self._length, board_size * board_size + 1))
        self._logits = logits.astype(np.float32)
        self._values = rng.dirichlet((1.0, 0.1, 1.0), size=self._length).astype(np.float32)
        self._next = 0

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the next N entries: policy logits [N, A] and values [N, 3]."""
        first = self._next if self._next + len(planes) <= self._length else 0
        self._next = first + len(planes)
        return self._logits[first : self._next], self._values[first : self._next]


class CountingEvaluator:
    """Passes everything on to another evaluator, and counts calls and positions, but for those of roots (`average`)."""

    def __init__(self, evaluator: Any) -> None:
        """Count from zero."""
        self._evaluator = evaluator
        self.calls = 0
        self.positions = 0

    def __getattr__(self, name: str) -> Any:
        """Return what else the evaluator has."""
        return getattr(self._evaluator, name)

    def _count(self, planes: np.ndarray) -> np.ndarray:
        """Count a call and return its planes."""
        self.calls += 1
        self.positions += len(planes)
        return planes

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, ...]:
        """Evaluate [N, P, S, S]."""
        return self._evaluator(self._count(planes))

    def start(self, planes: np.ndarray) -> Evaluation:
        """Prepare to evaluate, where the evaluator can."""
        return self._evaluator.start(self._count(planes))


def mix(numbers: np.ndarray) -> np.ndarray:
    """Return uint64 numbers scrambled (splitmix64); every input bit changes half of the output bits."""
    numbers = numbers + GAMMA
    numbers = (numbers ^ (numbers >> np.uint64(30))) * MIX_1
    numbers = (numbers ^ (numbers >> np.uint64(27))) * MIX_2
    return numbers ^ (numbers >> np.uint64(31))


def to_unit(numbers: np.ndarray) -> np.ndarray:
    """Return uint64 numbers as float32 in [0, 1), exactly (their upper 24 bits)."""
    return (numbers >> np.uint64(40)).astype(np.float32) / np.float32(2**24)


class HashEvaluator:
    """Gives every position its own policy and value, derived from a hash of its planes: a network without weights.

    Only integers and exact conversions are used, so that it answers the same everywhere.
    """

    def __init__(self, board_size: int) -> None:
        """Prepare the multipliers of the hash."""
        points = board_size * board_size
        inputs, actions = plane_set_of(self).planes * points, points + 1
        self._weights = mix(np.arange(inputs, dtype=np.uint64))
        self._actions = mix(np.arange(actions, dtype=np.uint64) + np.uint64(2**32))

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return policy logits float32 [N, A] and values float32 [N, 3] of planes [N, P, S, S]."""
        bits = planes.reshape(len(planes), -1).astype(np.int64).view(np.uint64)
        hashes = mix((bits * self._weights).sum(axis=1, dtype=np.uint64))
        logits = to_unit(mix(hashes[:, None] ^ self._actions)) * np.float32(HASHED_LOGIT_RANGE)
        draw = to_unit(mix(hashes ^ np.uint64(1))) * np.float32(MAX_DRAW)
        win = to_unit(mix(hashes ^ np.uint64(2))) * (1 - draw)
        return logits, np.stack((1 - draw - win, draw, win), axis=1)
