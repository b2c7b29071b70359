"""A call of the network in three steps, so that a search need not stand still while the network calculates.

Whoever has the tree prepares an evaluation (`start` of an evaluator); any thread calculates it, which is where the time
goes and needs nothing but the network; then whoever has the tree takes the answers.
"""

from collections.abc import Callable

import numpy as np

# What a network says of N positions, in the order that Evaluator tells (nn/feature.py).
Answers = tuple[np.ndarray, ...]
# What stands in the place of leads [N] and ownership [N, S*S] that a network does not tell.
NO_LEADS, NO_OWNERSHIP = np.zeros(0, dtype=np.float32), np.zeros((0, 0), dtype=np.float32)


def as_they_are(answers: Answers) -> Answers:
    """Return the answers."""
    return answers


class Evaluation:
    """A call that is prepared; to be calculated once, then to be taken once."""

    def __init__(self, calculate: Callable[[], Answers], finish: Callable[[Answers], Answers] = as_they_are) -> None:
        """Take what calculates, whatever else goes on, and what then makes the answers of it."""
        self._calculate, self._finish = calculate, finish
        self._found: Answers = ()

    def calculate(self) -> None:
        """Have the network calculate, in this thread."""
        self._found = self._calculate()

    def take(self) -> Answers:
        """Return the answers."""
        return self._finish(self._found)

    def answer(self) -> Answers:
        """Calculate and take at once."""
        self.calculate()
        return self.take()
