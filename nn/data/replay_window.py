"""Training samples of self-play: the newest games of the archive, a few positions of each.

Letters: N samples, G games.
"""

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import learning_param
from board.geometry import SYMMETRIES
from nn.data.data_file import DataError, GameTable, read_game_table
from nn.data.dataset import Samples, SizedSamples, file_number, find_data_files, load_samples
from nn.data.game_file import read_game_file
from nn.data.game_samples import GameSamples, NamedGames
from nn.feature import PlaneSet

SELF_PLAY_GAMES = "rl_games_*.npz"


@dataclass(frozen=True)
class WindowFile:
    """What a folder of self-play has in the window."""

    path: Path
    number: int  # of the folder
    table: GameTable
    train: np.ndarray  # bool [G]: games to learn from
    test: np.ndarray  # bool [G]: games held out

    def draw(self, games: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return the samples (int64, ascending) of up to POSITIONS_PER_GAME positions of each chosen game."""
        counts = self.table.samples
        game = np.repeat(np.arange(len(counts)), counts)
        order = np.lexsort((rng.random(len(game)), game))
        rank = np.arange(len(game)) - np.repeat(np.cumsum(counts) - counts, counts)
        return np.sort(order[(rank < learning_param.POSITIONS_PER_GAME) & games[game]])


class ReplayWindow:
    """The newest `window_size` usable games of the data files, held-out games included."""

    pattern = "rl_data_*.npz"

    def __init__(
        self, folder: Path, board_size: int, batch_size: int, seed: int, window_size: int, test_share: float
    ) -> None:
        """Choose the games; raises DataError where there are none or a file is not ours."""
        self.board_size = board_size
        self.batch_size = batch_size
        self.seed = seed
        self.files = _open_files(find_data_files(folder, self.pattern), board_size, window_size, test_share)
        if not self.files:
            raise DataError(f"{folder}: the files hold no games, make new ones with --kifu-dir FOLDER")
        self._training: tuple[int, Samples] | None = None
        self._test: Samples | None = None

    @property
    def generation(self) -> int:
        """Number of the newest folder."""
        return max(file.number for file in self.files)

    @property
    def train_count(self) -> int:
        """Number of training samples of one epoch."""
        return sum(_count(file, file.train) for file in self.files)

    @property
    def test_count(self) -> int:
        """Number of test samples."""
        return sum(_count(file, file.test) for file in self.files)

    @property
    def batches_per_epoch(self) -> int:
        """Number of training batches of one epoch; an incomplete last one is left out unless it is alone."""
        return self.train_count // self.batch_size or 1

    def identity(self) -> list[Any]:
        """Return what tells these data from others."""
        return [[file.number, int(file.train.sum()), int(file.test.sum()), file.table.total(),
                 zlib.crc32(file.table.label.tobytes()), *file.table.judged.tolist()]
                for file in self.files]

    def columns(self) -> dict[str, str]:
        """Return what a report says about the games: how many, and those of the newest folder."""
        newest = next(file for file in self.files if file.number == self.generation)
        played = newest.table.samples > 0
        label = newest.table.label[played & (newest.table.label >= 0)]
        return {
            "games": str(sum(int((file.train | file.test).sum()) for file in self.files)),
            "game_length": f"{newest.table.moves[played].mean():.2f}",
            "black_win_rate": f"{label.mean() / 2.0:.4f}" if len(label) else "",
        }

    def training_batches(self, epoch: int, skip: int = 0) -> Iterator[tuple[Samples, np.ndarray]]:
        """Yield batches and the symmetry [N] of each sample, from batch number `skip` of the epoch on.

        Everything follows from the seed, the generation, the epoch and the data alone, so a resumed run sees what it
        would have seen.
        """
        if self._training is None or self._training[0] != epoch:
            self._training = None
            self._training = epoch, self._gather([file.train for file in self.files], self.generation, epoch)
        samples = self._training[1]
        rng = np.random.default_rng([self.seed, self.generation, epoch])
        shuffled = rng.permutation(len(samples.value))
        symmetries = rng.integers(0, SYMMETRIES, len(shuffled))
        for batch in range(skip, self.batches_per_epoch):
            part = slice(batch * self.batch_size, (batch + 1) * self.batch_size)
            yield samples.take(shuffled[part]), symmetries[part]

    def test_batches(self) -> Iterator[tuple[Samples, np.ndarray]]:
        """Yield the test samples in order, as they are (symmetry 0)."""
        if self._test is None:
            self._test = self._gather([file.test for file in self.files])
        for start in range(0, len(self._test.value), self.batch_size):
            part = self._test.take(slice(start, start + self.batch_size))
            yield part, np.zeros(len(part.value), dtype=np.int64)

    def _gather(self, games: list[np.ndarray], *seed: int) -> Samples:
        """Draw positions of the chosen games (bool [G] for each file), one file in memory at a time."""
        parts = SizedSamples(sum(map(_count, self.files, games)), self.board_size)
        for file, chosen in zip(self.files, games, strict=True):
            drawn = file.draw(chosen, np.random.default_rng([self.seed, *seed, file.number]))
            if len(drawn):
                parts.add(load_samples(file.path, self.board_size).take(drawn))
        return parts.samples


class GameWindow(ReplayWindow):
    """A window over files of games, whose planes are made while the network learns (nn/data/game_samples.py)."""

    pattern = SELF_PLAY_GAMES

    def __init__(
        self, folder: Path, plane_set: PlaneSet, board_size: int, batch_size: int, seed: int, window_size: int,
        test_share: float,
    ) -> None:
        """Choose the games and read their files; raises DataError as above."""
        super().__init__(folder, board_size, batch_size, seed, window_size, test_share)
        games = [NamedGames(file.path.name, read_game_file(file.path, [board_size]), searched=True)
                 for file in self.files]
        self._samples = GameSamples(games, plane_set, board_size, batch_size, seed, 0.0, 1.0)

    def training_batches(self, epoch: int, skip: int = 0) -> Iterator[tuple[Samples, np.ndarray]]:
        """Yield batches and the symmetry [N] of each sample, from batch number `skip` of the epoch on."""
        rows = self._draw([file.train for file in self.files], self.generation, epoch)
        rng = np.random.default_rng([self.seed, self.generation, epoch])
        order, symmetries = rng.permutation(len(rows)), rng.integers(0, SYMMETRIES, len(rows))
        yield from self._samples.batches(rows[order], symmetries, range(skip, self.batches_per_epoch))

    def test_batches(self) -> Iterator[tuple[Samples, np.ndarray]]:
        """Yield the test samples in order, as they are (symmetry 0)."""
        rows = self._draw([file.test for file in self.files])
        yield from self._samples.batches(rows, np.zeros(len(rows), dtype=np.int64))

    def _draw(self, games: list[np.ndarray], *seed: int) -> np.ndarray:
        """Return the numbers of samples of the chosen games (bool [G] for each file)."""
        rows = []
        for place, (file, chosen) in enumerate(zip(self.files, games, strict=True)):
            drawn = file.draw(chosen, np.random.default_rng([self.seed, *seed, file.number]))
            rows.append(self._samples.rows_of(place)[drawn])
        return np.concatenate(rows)


def is_held_out(folder: int, game: int, share: float) -> bool:
    """Tell whether a game is for testing: it is, or is not, whatever window it stands in."""
    return zlib.crc32(f"{folder}/{game}".encode()) < share * 2**32


def _count(file: WindowFile, games: np.ndarray) -> int:
    """Return how many samples these games give."""
    return int(np.minimum(file.table.samples, learning_param.POSITIONS_PER_GAME)[games].sum())


def _open_files(paths: list[Path], board_size: int, window_size: int, test_share: float) -> list[WindowFile]:
    """Return the files that reach into the window, oldest first; the oldest one may enter with its last games only."""
    files: list[WindowFile] = []
    for path in reversed(paths):
        table = read_game_table(path, board_size)
        # A copy would count its games twice.
        if table is None or not re.fullmatch(r"rl_(data|games)_(0|[1-9]\d*)", path.stem):
            raise DataError(f"{path} is no file of self-play games of board size {board_size}: make it anew with "
                            "--kifu-dir FOLDER")
        usable = np.flatnonzero(table.samples)[-window_size:]
        window_size -= len(usable)
        chosen, held_out = np.zeros((2, len(table.samples)), dtype=np.bool_)
        chosen[usable] = True
        held_out[usable] = [is_held_out(file_number(path), int(table.number[row]), test_share) for row in usable]
        if len(usable):
            files.insert(0, WindowFile(path, file_number(path), table, chosen & ~held_out, held_out))
        if window_size <= 0:
            break
    # A handful of games, all of them held out: better learn from them than not start.
    if files and not any(file.train.any() for file in files):
        files = [WindowFile(file.path, file.number, file.table, file.test, file.train) for file in files]
    return files
