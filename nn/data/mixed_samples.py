"""Samples of boards of several sizes: each batch is of one size, and the sizes take turns by chance."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nn.data.data_file import DataError
from nn.data.dataset import Samples, TrainingData
from nn.data.game_file import read_game_file
from nn.data.game_samples import GameSamples, NamedGames
from nn.feature import PlaneSet


def open_game_samples(
    paths: list[Path], plane_set: PlaneSet, sizes: tuple[int, ...], batch_size: int, seed: int, test_share: float,
    teacher_weight: float, self_play: Sequence[Path] = (),
) -> "GameSamples | MixedSamples":
    """Return the samples of files of games, the last `test_share` of the games of each board size for testing.

    Files of self-play stand before the others, so that it is records that are tested on where there are enough of them.

    With several sizes, a batch of the smallest has `batch_size` samples and those of the others about as many points,
    so that every step costs the same. Raises DataError for a file that cannot be used.
    """
    by_size: dict[int, list[NamedGames]] = {}
    for path in (*self_play, *paths):
        games = read_game_file(path, sizes)
        by_size.setdefault(int(games.board_size), []).append(NamedGames(path.name, games, path in self_play))
    for size in set(sizes) - set(by_size):
        raise DataError(f"no {size}x{size} game among the data: leave out --size {size}, or give games of it")
    points = batch_size * min(by_size) ** 2
    parts = [GameSamples(files, plane_set, size, max(1, points // size**2), seed, test_share, teacher_weight)
             for size, files in sorted(by_size.items())]
    return parts[0] if len(parts) == 1 else MixedSamples(parts, seed)


class MixedSamples(TrainingData):
    """The samples of several GameSamples."""

    def __init__(self, parts: list[GameSamples], seed: int) -> None:
        """Take one part for each board size."""
        self._parts, self._seed = parts, seed

    @property
    def train_count(self) -> int:
        """Number of training samples."""
        return sum(part.train_count for part in self._parts)

    @property
    def test_count(self) -> int:
        """Number of test samples."""
        return sum(part.test_count for part in self._parts)

    @property
    def batches_per_epoch(self) -> int:
        """Number of training batches of one epoch."""
        return sum(part.batches_per_epoch for part in self._parts)

    def identity(self) -> list[Any]:
        """Return what tells these data from others."""
        return [[part.board_size, part.identity()] for part in self._parts]

    def training_batches(self, epoch: int, skip: int = 0) -> Iterator[tuple[Samples, np.ndarray]]:
        """Yield batches and the symmetry [N] of each sample, from batch number `skip` of the epoch on.

        Everything follows from the seed and the epoch alone: a resumed run sees what it would have seen.
        """
        turns = np.repeat(np.arange(len(self._parts)), [part.batches_per_epoch for part in self._parts])
        turns = np.random.default_rng([self._seed, epoch]).permutation(turns)
        done = np.bincount(turns[:skip], minlength=len(self._parts))
        batches = [part.training_batches(epoch, int(own)) for part, own in zip(self._parts, done, strict=True)]
        for turn in turns[skip:]:
            yield next(batches[turn])

    def test_batches(self) -> Iterator[tuple[Samples, np.ndarray]]:
        """Yield all test samples, smallest board first, as they are (symmetry 0)."""
        for part in self._parts:
            yield from part.test_batches()
