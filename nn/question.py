"""A call of the network in three steps, so that a search need not stand still while the network calculates.

Whoever has the tree prepares a question (`start` of an evaluator); any thread asks it, which is where the time goes and
needs nothing but the network; then whoever has the tree takes the answers.
"""

from collections.abc import Callable

import numpy as np

Answers = tuple[np.ndarray, ...]


def as_they_are(answers: Answers) -> Answers:
    """Return the answers."""
    return answers


class Question:
    """A call that is prepared; to be asked once, then to be answered once."""

    def __init__(self, ask: Callable[[], Answers], finish: Callable[[Answers], Answers] = as_they_are) -> None:
        """Take what calculates, beside anything else, and what makes the answers of that, beside nothing else."""
        self._ask, self._finish = ask, finish
        self._found: Answers = ()

    def ask(self) -> None:
        """Have the network calculate, in this thread."""
        self._found = self._ask()

    def take(self) -> Answers:
        """Return the answers."""
        return self._finish(self._found)

    def answer(self) -> Answers:
        """Ask and take at once."""
        self.ask()
        return self.take()
