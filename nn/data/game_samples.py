"""Training samples that are encoded while the network learns: any plane set from the same files of games.

A few threads replay the games up to the positions of the coming batches and encode them, in compiled code that holds no
lock, so that the network never waits.

Letters: N samples, G games, M moves of a file, S board size, A = S*S + 1 policy entries.
"""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from board.geometry import SYMMETRIES, get_geometry
from board.rules import play_recorded
from board.state import (
    BLACK,
    History,
    State,
    clear_state,
    copy_words,
    new_history,
    new_state,
    start_history,
    turn_to,
)
from board.string import set_up_stones
from common.cores import count_usable_cores
from common.kernel import kernel
from nn.data.data_file import sum_arrays
from nn.data.dataset import Samples, TrainingData, split_samples
from nn.data.game_file import GameFile, join_games
from nn.data.labels import OWNERSHIP_STEPS, unpack_policies
from nn.feature import Encoder, PlaneSet, Positions, remember, take_position

# Batches that are encoded ahead of the network.
AHEAD = 4
BOTH = 0.5  # weight of the recorded win rate where the teacher's is known, too


class Moves(NamedTuple):
    """The part of a GameFile that is replayed; its fields are explained there."""

    start: np.ndarray
    pos: np.ndarray
    color: np.ndarray
    setup_start: np.ndarray
    setup_pos: np.ndarray
    setup_color: np.ndarray


@kernel
def replay_samples(games: Moves, number: np.ndarray, rows: np.ndarray, board_size: int, state: State, history: History,
                   past: np.ndarray, positions: Positions) -> None:
    """Replay games up to some of their positions, and keep these as positions 0, 1, ... Modifies all from state on.

    Sample rows[n] stands in game number[n].
    """
    pos, color = games.pos, games.color
    for n in range(len(rows)):
        clear_state(state, board_size)
        stones = slice(games.setup_start[number[n]], games.setup_start[number[n] + 1])
        set_up_stones(state, games.setup_pos[stones], games.setup_color[stones])
        start_history(history, state)
        for i in range(len(past)):
            copy_words(past[i], state.buffer)
        for move in range(games.start[number[n]], rows[n]):
            remember(past, state)
            play_recorded(state, history, pos[move], color[move])
        turn_to(state, color[rows[n]])
        take_position(positions, n, state, history, past)


class SampleEncoder:
    """The work space of one thread."""

    def __init__(self, plane_set: PlaneSet, board_size: int, count: int, longest: int) -> None:
        """Make room for batches of `count` samples from games of up to `longest` moves."""
        self._board_size = board_size
        self._state, self._history = new_state(board_size), new_history(longest + 2)
        self._positions = plane_set.new_positions(board_size, count)
        self._past = np.zeros((plane_set.looks_back, len(self._state.buffer)), dtype=np.uint64)
        self._encoder = Encoder(plane_set, board_size, plane_set.new_planes(board_size, count))

    def encode(self, games: GameFile, rows: np.ndarray, number: np.ndarray) -> np.ndarray:
        """Return the planes of the samples `rows`, which stand in the games `number`, float32 [N, P, S, S]."""
        moves = Moves(*(getattr(games, name) for name in Moves._fields))
        replay_samples(moves, number, rows, self._board_size, self._state, self._history, self._past, self._positions)
        return self._encoder(self._positions, len(rows), games.komi[number]).copy()


class NamedGames(NamedTuple):
    """A file's name and what is in it."""

    name: str
    games: GameFile
    searched: bool = False  # self-play: only positions with a policy, the search's or a teacher's, are samples


def sum_games(games: GameFile) -> int:
    """Return a sum that tells games, and what is said of their positions, from others of as many."""
    return sum_arrays((games.pos, games.komi, games.value, games.win_rate, games.score, *games.labels))


class GameSamples(TrainingData):
    """Samples of games on boards of one size."""

    def __init__(self, files: list[NamedGames], plane_set: PlaneSet, board_size: int, batch_size: int, seed: int,
                 test_share: float, teacher_weight: float) -> None:
        """Take files of one board size; the last `test_share` of all games is for testing."""
        self.board_size, self._batch_size, self._seed = board_size, batch_size, seed
        self._names = [file.name for file in files]
        # One array of each kind: a batch that touched hundreds of files would be made of as many small parts.
        self._games = join_games([file.games for file in files])
        self._label_start = self._games.labels.policy_start
        # The policy of self-play is the target whole, as a search found it: its moves were drawn with Gumbel noise.
        self._teacher_weight = np.repeat(np.array([1.0 if file.searched else teacher_weight for file in files],
                                                  dtype=np.float32), [len(file.games.komi) for file in files])
        self._offset = np.cumsum([0] + [len(file.games.pos) for file in files])
        rows = [np.flatnonzero(file.games.labels.policy_count) if file.searched else np.arange(len(file.games.pos))
                for file in files]
        self._rows = np.concatenate([first + own for first, own in zip(self._offset, rows, strict=False)])
        first_test = self._games.start[split_samples(len(self._games.komi), test_share)]
        self._train = int(np.searchsorted(self._rows, first_test))
        longest = int(np.diff(self._games.start).max())
        self._threads = max(1, count_usable_cores() // 2)
        self._encoders: deque[SampleEncoder] = deque(
            SampleEncoder(plane_set, board_size, min(batch_size, len(self._rows)), longest)
            for _ in range(self._threads))
        self._index = get_geometry(board_size).policy_index

    @property
    def train_count(self) -> int:
        """Number of training samples."""
        return self._train

    @property
    def test_count(self) -> int:
        """Number of test samples."""
        return len(self._rows) - self._train

    @property
    def batches_per_epoch(self) -> int:
        """Number of training batches of one epoch; an incomplete last one is left out unless it is alone."""
        return self._train // self._batch_size or 1

    def identity(self) -> list[Any]:
        """Return what tells these data from others: for each file its positions, and the sum of all files."""
        return [[name, int(count), self._sum] for name, count in zip(self._names, np.diff(self._offset), strict=True)]

    @cached_property
    def _sum(self) -> int:
        """The sum of all games; a window of self-play, which has an identity of its own, does without it."""
        return sum_games(self._games)

    def training_batches(self, epoch: int, skip: int = 0) -> Iterator[tuple[Samples, np.ndarray]]:
        """Yield batches and the symmetry [N] of each sample, from batch number `skip` of the epoch on.

        Everything follows from the seed and the epoch alone: a resumed run sees what it would have seen.
        """
        rng = np.random.default_rng([self._seed, epoch])
        order = rng.permutation(self._train)
        symmetries = rng.integers(0, SYMMETRIES, self._train)
        yield from self.batches(self._rows[order], symmetries, range(skip, self.batches_per_epoch))

    def test_batches(self) -> Iterator[tuple[Samples, np.ndarray]]:
        """Yield all test samples in order, as they are (symmetry 0)."""
        rows = self._rows[self._train:]
        yield from self.batches(rows, np.zeros(len(rows), dtype=np.int64))

    def rows_of(self, file: int) -> np.ndarray:
        """Return the positions of a file that are samples, as `batches` numbers them."""
        first, end = np.searchsorted(self._rows, self._offset[file:file + 2])
        return self._rows[first:end]

    def batches(self, rows: np.ndarray, symmetries: np.ndarray, numbers: range | None = None
                ) -> Iterator[tuple[Samples, np.ndarray]]:
        """Yield positions, numbered through all files, in batches with their symmetries; only the batches `numbers`."""
        size = self._batch_size
        chosen = range(-(-len(rows) // size)) if numbers is None else numbers
        parts = (slice(number * size, (number + 1) * size) for number in chosen)
        yield from self._encode_ahead((rows[part], symmetries[part]) for part in parts)

    def _encode_ahead(
        self, parts: Iterator[tuple[np.ndarray, np.ndarray]]
    ) -> Iterator[tuple[Samples, np.ndarray]]:
        """Yield the samples of the parts in order, made by threads before they are asked for."""
        waiting: deque[tuple[Future[Samples], np.ndarray]] = deque()
        with ThreadPoolExecutor(self._threads, thread_name_prefix="samples") as pool:
            try:
                for rows, symmetries in parts:
                    waiting.append((pool.submit(self._make, rows), symmetries))
                    if len(waiting) > AHEAD + self._threads:
                        future, own = waiting.popleft()
                        yield future.result(), own
                while waiting:
                    future, own = waiting.popleft()
                    yield future.result(), own
            finally:
                pool.shutdown(wait=False, cancel_futures=True)

    def _make(self, rows: np.ndarray) -> Samples:
        """Return the samples with these numbers, in their order."""
        games, actions = self._games, self.board_size**2 + 1
        number = np.searchsorted(games.start, rows, side="right") - 1
        side = np.where(games.color[rows] == BLACK, 1.0, -1.0).astype(np.float32)
        known = ~np.isnan(games.labels.lead[rows])
        move = self._index[games.pos[rows]]
        policy = unpack_policies(games.labels, self._label_start, rows, actions)
        # A move without a win rate beside it was not searched: it may have been drawn, or played by anybody.
        teacher = np.where(np.isnan(games.win_rate[rows]), np.float32(1.0), self._teacher_weight[number])
        share = np.where(policy.any(axis=1), 1.0 - teacher, 1.0)
        policy *= teacher[:, None]
        policy[np.arange(len(rows)), move] += share
        played, label = games.win_rate[rows].astype(np.float32), games.labels.win_rate[rows].astype(np.float32)
        win_rate = np.where(np.isnan(label), played,
                            np.where(np.isnan(played), label, BOTH * played + (1.0 - BOTH) * label))
        lead = np.where(known, games.labels.lead[rows].astype(np.float32),
                        side * (games.score[number].astype(np.float32) - games.komi[number]))
        owner = side[:, None] * games.owner[number]
        label_owner = games.labels.ownership[rows] * (2.0 / OWNERSHIP_STEPS) - 1.0
        ownership = np.where(known[:, None], label_owner, owner).astype(np.float32)
        encoder = self._encoders.popleft()
        try:
            planes = encoder.encode(games, rows, number)
        finally:
            self._encoders.append(encoder)
        return Samples(planes, policy, games.value[rows], win_rate, ownership, lead.astype(np.float32),
                       move.astype(np.int16))
