"""What a network says of the positions of many games that are walked through side by side.

Letters: G games, N of them that go on, L moves of the longest game, S board size, A = S*S + 1 policy entries.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from board.geometry import get_geometry
from board.state import new_state
from engine.options import find_file
from nn.data.labels import Labels, pack_ownership, pack_policies
from nn.evaluation import Answers
from nn.feature import Encoder, Positions
from nn.inference.board_evaluator import BoardEvaluator
from nn.model_file import ModelFileError
from tools.labellib.teacher import LabelError
from tools.labellib.walks import Walks, read_policies


@contextmanager
def naming_option(option: str) -> Iterator[None]:
    """Within, a network that cannot be used is that of an option; raises LabelError."""
    try:
        yield
    except ModelFileError as error:
        raise LabelError(f"{option}: cannot use model {error.path}: {error.reason}") from None


class Judged(NamedTuple):
    """What a teacher has said of every position of G games so far, in room for L moves."""

    policy: np.ndarray  # float32 [G, L, A]
    win_rate: np.ndarray  # float32 [G, L]
    lead: np.ndarray  # float32 [G, L]
    ownership: np.ndarray  # uint8 [G, L, S*S]

    def keep(self, rows: np.ndarray, move: int, policy: np.ndarray, answers: Answers) -> None:
        """Keep what was said of the positions before a move in the games `rows` [N]."""
        self.policy[rows, move] = policy
        self.win_rate[rows, move] = answers[1][:, 2] + 0.5 * answers[1][:, 1]
        self.lead[rows, move] = answers[2]
        self.ownership[rows, move] = pack_ownership(answers[3])

    def labels(self, g: int, moves: int) -> Labels:
        """Return what was said of game `g`, which has so many moves."""
        policy, win_rate, lead, ownership = (array[g, :moves] for array in self)
        return Labels(*pack_policies(policy), win_rate.astype(np.float16), lead.astype(np.float16), ownership)


def new_judged(count: int, longest: int, board_size: int) -> Judged:
    """Return room for so many games of so many moves."""
    points = board_size**2
    return Judged(np.zeros((count, longest, points + 1), dtype=np.float32),
                  np.zeros((count, longest), dtype=np.float32), np.zeros((count, longest), dtype=np.float32),
                  np.zeros((count, longest, points), dtype=np.uint8))


class Judge:
    """A network, and room for what it sees."""

    def __init__(self, evaluator: BoardEvaluator, count: int) -> None:
        """Make room for `count` positions at a time."""
        size, plane_set = evaluator.board_size, evaluator.plane_set
        self._evaluator, self._index = evaluator, get_geometry(size).policy_index
        self._encoder = Encoder(plane_set, size, plane_set.new_planes(size, count))
        self._state, self._legal = new_state(size), np.zeros(size**2, dtype=np.int32)

    def ask(self, walks: Walks, rows: np.ndarray, positions: Positions, komi: np.ndarray,
            ) -> tuple[np.ndarray, Answers]:
        """Return the policy over the legal moves, float32 [N, A], and all answers, about the first N positions.

        They are those that the games `rows` [N] have come to (show_walks); `komi` float [N] is that of each.
        """
        answers = self._evaluator(self._encoder(positions, len(rows), komi))
        policy = np.zeros_like(answers[0])
        read_policies(walks, rows, self._state, answers[0], self._index, self._legal, policy)
        return policy, answers


def find_network(option: str, path: str) -> str:
    """Return where a model file is; raises LabelError."""
    try:
        return find_file(path, "model file", f"give its path with {option}")
    except FileNotFoundError as error:
        raise LabelError(str(error)) from None


def check_tells_lead(evaluator: BoardEvaluator, path: str) -> None:
    """Raise LabelError for a network that says too little to be a teacher."""
    if not evaluator.tells_lead:
        raise LabelError(f"--teacher {path} tells no lead and no ownership: give a network of KataGo, or a pooled one")
