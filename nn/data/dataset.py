"""Training samples: npz files in, shuffled batches out.

Letters: N samples, S board size, A = S*S + 1 policy entries.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch

from board.geometry import SYMMETRIES
from nn.constant import INPUT_PLANES, UNKNOWN_VALUE
from nn.data.data_file import DataError, read_arrays, sum_arrays

CACHE_BYTES = 2 << 30  # samples kept in memory between epochs; beyond that files are read again


class Samples(NamedTuple):
    """Samples of one file or batch, as they lie on disk."""

    planes: np.ndarray  # int8 or float32 [N, P, S, S]
    policy: np.ndarray  # uint8 or float32 [N, A]
    value: np.ndarray  # int8 [N]: 0 loss, 1 draw, 2 win, -1 unknown
    win_rate: np.ndarray  # float32 [N], NaN where none
    ownership: np.ndarray  # int8 or float32 [N, S*S]: from -1 the opponent's to 1 the mover's, 0 nobody's or unknown
    lead: np.ndarray  # float32 [N]: points the mover is ahead, komi included, NaN unknown
    move: np.ndarray  # int16 [N]: entry of the policy that was played, -1 unknown

    def take(self, index: np.ndarray | slice) -> "Samples":
        """Return the samples of an index."""
        return Samples(*(array[index] for array in self))


def _unknown(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the leads and the moves of samples that do not tell them."""
    return np.full(count, np.nan, dtype=np.float32), np.full(count, -1, dtype=np.int16)


class SizedSamples:
    """Room for a known number of samples, filled part by part."""

    def __init__(self, count: int, board_size: int) -> None:
        """Make room for `count` samples with policies of probabilities."""
        self.samples = Samples(
            np.empty((count, INPUT_PLANES, board_size, board_size), dtype=np.int8),
            np.empty((count, board_size * board_size + 1), dtype=np.float32),
            np.empty(count, dtype=np.int8), np.empty(count, dtype=np.float32),
            np.empty((count, board_size * board_size), dtype=np.int8), *_unknown(count),
        )
        self._filled = 0

    def add(self, part: Samples) -> None:
        """Append samples."""
        end = self._filled + len(part.value)
        for own, array in zip(self.samples, part, strict=True):
            own[self._filled:end] = array
        self._filled = end


class TrainingData(Protocol):
    """What a training loop asks of its data."""

    @property
    def generation(self) -> int:
        """Number of the newest games; 0 where games have no generations."""
        return 0

    @property
    def train_count(self) -> int:
        """Number of training samples."""

    @property
    def test_count(self) -> int:
        """Number of test samples."""

    @property
    def batches_per_epoch(self) -> int:
        """Number of training batches of one epoch."""

    def identity(self) -> list[Any]:
        """Return what tells these data from others."""

    def columns(self) -> dict[str, str]:
        """Return what a report says about the data; mostly nothing, as all there is to say is in the losses."""
        return {}

    def training_batches(self, epoch: int, skip: int = 0) -> Iterator[tuple[Samples, np.ndarray]]:
        """Yield batches and the symmetry of each sample, from batch `skip` of the epoch on."""

    def test_batches(self) -> Iterator[tuple[Samples, np.ndarray]]:
        """Yield all test samples with their symmetries."""


class LoadedBatch(NamedTuple):
    """Samples as they lie on disk, as tensors, with their symmetries; on any device."""

    planes: torch.Tensor
    policy: torch.Tensor
    value: torch.Tensor
    win_rate: torch.Tensor
    ownership: torch.Tensor
    lead: torch.Tensor
    move: torch.Tensor
    symmetry: torch.Tensor  # int64 [N], 0 to 7

    def to(self, device: torch.device) -> "LoadedBatch":
        """Return the batch on a device."""
        return LoadedBatch(*(tensor.to(device, non_blocking=True) for tensor in self.for_device(device)))

    def for_device(self, device: torch.device) -> "LoadedBatch":
        """Return the batch in memory from which it comes to a device while the program goes on."""
        return self if device.type == self.planes.device.type else LoadedBatch(*(one.pin_memory() for one in self))


class TrainingBatch(NamedTuple):
    """One batch on the device, ready for the network."""

    planes: torch.Tensor  # float32 [N, P, S, S], channels_last
    policy: torch.Tensor  # float32 [N, A]
    value: torch.Tensor  # int8 [N]
    win_rate: torch.Tensor  # float32 [N]
    ownership: torch.Tensor  # int8 or float32 [N, S*S]
    lead: torch.Tensor  # float32 [N]
    move: torch.Tensor  # int64 [N], -1 unknown


@dataclass(frozen=True)
class SampleFile:
    """A file and how its samples are split: the first `train` of `total` are learnt from, the rest are for testing."""

    path: Path
    total: int
    train: int
    sum: int = 0  # of results and win rates: tells it from others of as many


def file_number(path: Path) -> int:
    """Return the number in a file's name, -1 without one."""
    numbers = re.findall(r"\d+", path.stem)
    return int(numbers[-1]) if numbers else -1


def find_data_files(folder: Path, pattern: str) -> list[Path]:
    """Return the npz files of a pattern in the order of their numbers; raises DataError if there is none."""
    paths = sorted(folder.glob(pattern), key=file_number)
    if not paths:
        raise DataError(f"no {pattern} in {folder}: make some from games with --kifu-dir FOLDER")
    return paths


def split_samples(total: int, test_share: float) -> int:
    """Return how many of `total` samples are for training.

    The test samples are the last of a file, so that at most one game per file lies on both sides.
    """
    if test_share <= 0.0 or total < 2:
        return total
    return min(total - 1, max(1, total - round(total * test_share)))


def open_files(paths: list[Path], test_share: float) -> list[SampleFile]:
    """Count the samples of each file and split them; raises DataError for a file that cannot be used."""
    files = []
    for path in paths:
        known = read_arrays(path, ("value", "win_rate"), ("value",))
        total = len(known["value"])
        files.append(SampleFile(path, total, split_samples(total, test_share), sum_arrays(known.values())))
    if sum(file.train for file in files) == 0:
        raise DataError(f"{paths[0].parent}: the files hold no samples, make new ones with --kifu-dir FOLDER")
    return files


def load_samples(path: Path, board_size: int, needs_ownership: bool = False) -> Samples:
    """Read a file of ours or of TamaGo's; raises DataError when it is unreadable or of another board size.

    Ownership is all unknown where the file has none, unless it is needed.
    """
    needed = ("input", "policy", "value", "ownership") if needs_ownership else ("input", "policy", "value")
    arrays = read_arrays(path, ("input", "policy", "value", "win_rate", "ownership"), needed)
    planes, policy, value = arrays["input"], arrays["policy"], arrays["value"]
    count, points = len(value), board_size * board_size
    if planes.shape != (count, INPUT_PLANES, board_size, board_size) or policy.shape != (count, points + 1):
        raise DataError(f"{path} is not for board size {board_size} (input {planes.shape}, policy {policy.shape}): "
                        "give the right --size, or make the data anew with --kifu-dir FOLDER")
    policy_type = np.float32 if policy.dtype.kind == "f" else np.uint8
    win_rate = arrays.get("win_rate", np.full(count, np.nan))
    ownership = arrays.get("ownership", np.zeros((count, points), dtype=np.int8))
    if value.size and not (value.min() >= UNKNOWN_VALUE and value.max() <= 2):
        raise DataError.unusable(f"{path} has value classes outside -1..2")
    return Samples(planes.astype(np.int8, copy=False), policy.astype(policy_type, copy=False),
                   value.astype(np.int8), win_rate.astype(np.float32, copy=False),
                   ownership.astype(np.int8, copy=False), *_unknown(count))


class DataSet(TrainingData):
    """The files of a run, read one at a time, with a seeded order for each epoch."""

    def __init__(
        self, files: list[SampleFile], board_size: int, batch_size: int, seed: int, needs_ownership: bool = False
    ) -> None:
        """Take the split files; nothing is read yet."""
        self.files = files
        self.board_size = board_size
        self.batch_size = batch_size
        self.seed = seed
        self.needs_ownership = needs_ownership
        self._cache: dict[Path, Samples] = {}

    @property
    def train_count(self) -> int:
        """Number of training samples."""
        return sum(file.train for file in self.files)

    @property
    def test_count(self) -> int:
        """Number of test samples."""
        return sum(file.total - file.train for file in self.files)

    def batches_in(self, file: SampleFile) -> int:
        """Return the number of training batches of a file; an incomplete last one is left out unless it is alone."""
        return file.train // self.batch_size or int(file.train > 0)

    @property
    def batches_per_epoch(self) -> int:
        """Number of training batches of one epoch."""
        return sum(self.batches_in(file) for file in self.files)

    def identity(self) -> list[Any]:
        """Return what tells these data from others."""
        return [[file.path.name, file.total, file.sum] for file in self.files]

    def training_batches(self, epoch: int, skip: int = 0) -> Iterator[tuple[Samples, np.ndarray]]:
        """Yield batches and the symmetry [N] of each sample, from batch number `skip` of the epoch on.

        Everything follows from the seed, the epoch and the file alone: a resumed run sees what it would have seen.
        """
        order = np.random.default_rng([self.seed, epoch]).permutation(len(self.files))
        for number in order:
            file = self.files[number]
            count = self.batches_in(file)
            if skip >= count:
                skip -= count
                continue
            samples = self._load(file)
            rng = np.random.default_rng([self.seed, epoch, 1 + int(number)])
            shuffled = rng.permutation(file.train)
            symmetries = rng.integers(0, SYMMETRIES, file.train)
            for start in range(skip * self.batch_size, count * self.batch_size, self.batch_size):
                part = slice(start, start + self.batch_size)
                yield samples.take(shuffled[part]), symmetries[part]
            skip = 0

    def test_batches(self) -> Iterator[tuple[Samples, np.ndarray]]:
        """Yield all test samples in order, as they are (symmetry 0)."""
        for file in self.files:
            if file.train == file.total:
                continue
            samples = self._load(file)
            for start in range(file.train, file.total, self.batch_size):
                part = samples.take(slice(start, min(start + self.batch_size, file.total)))
                yield part, np.zeros(len(part.value), dtype=np.int64)

    def _load(self, file: SampleFile) -> Samples:
        """Return a file's samples, from memory where they are still there."""
        if file.path not in self._cache:
            samples = load_samples(file.path, self.board_size, self.needs_ownership)
            if len(samples.value) != file.total:
                raise DataError(f"{file.path} changed during training: start again with --restart true")
            held = sum(array.nbytes for kept in self._cache.values() for array in kept)
            if held + sum(array.nbytes for array in samples) > CACHE_BYTES:
                self._cache.clear()
            self._cache[file.path] = samples
        return self._cache[file.path]


def load_batch(samples: Samples, symmetries: np.ndarray) -> LoadedBatch:
    """Return samples, and the symmetry (0 to 7) of each, as tensors of the same memory."""
    return LoadedBatch(*(torch.from_numpy(array) for array in (*samples, symmetries)))


def turn_batch(loaded: LoadedBatch, table: torch.Tensor) -> TrainingBatch:
    """Turn each sample's planes, policy and ownership by its symmetry.

    Args:
        loaded: N samples.
        table: make_symmetry_index() of the board size, as a tensor on the same device.
    """
    planes, policy, value, win_rate, ownership, lead, move, symmetries = loaded
    count, channels, size, _ = planes.shape
    source = table[symmetries]
    points = source[:, None, :-1].expand(count, channels, size * size)
    planes = planes.flatten(start_dim=2).gather(2, points).view(count, channels, size, size)
    planes = planes.to(torch.float32, memory_format=torch.channels_last)
    policy = policy.gather(1, source).to(torch.float32)
    turned = (source == move[:, None]).int().argmax(dim=1)
    return TrainingBatch(planes, policy, value, win_rate, ownership.gather(1, source[:, :-1]), lead,
                         torch.where(move < 0, -1, turned))
