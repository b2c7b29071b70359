"""Labels: what a teacher, a stronger network, says of every position of some games.

A file of labels (`.npz`, also packed as `.npz.xz`) has, for M positions of G games, each before a move and seen by its
mover:

names [G], offset int32 [G + 1]: the games' file names, and the number of each one's first position.
policy_count uint8 or uint16 [M], policy_index uint8 or uint16 [sum], policy_value uint16 [sum]: for each position so
    many pairs of a point (row from the top * S + column, S*S is the pass) and its probability * 65535; the rest has
    none. Instead of the three, `policy` float16 [M, S*S + 1] holds the probabilities themselves.
win_rate, lead float16 [M]: the mover's; the lead in points, komi included.
ownership uint8 [M, S*S]: 0 the opponent's .. 15 own.
"""

import io
import lzma
import math
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from common.npz import DAMAGES
from nn.data.data_file import DataError

PROBABILITY_UNIT = 65535
OWNERSHIP_STEPS = 15
# Probabilities below this are left out.
LEAST_PROBABILITY = 0.0004


class Labels(NamedTuple):
    """The labels of M positions in a row."""

    policy_count: np.ndarray  # uint16 [M]
    policy_index: np.ndarray  # uint16 [sum of policy_count]
    policy_value: np.ndarray  # uint16 [sum of policy_count]
    win_rate: np.ndarray  # float16 [M]
    lead: np.ndarray  # float16 [M]
    ownership: np.ndarray  # uint8 [M, S*S]

    @property
    def policy_start(self) -> np.ndarray:
        """Return the first pair of each position and the end of the last one, int64 [M + 1]."""
        return np.concatenate(([0], np.cumsum(self.policy_count, dtype=np.int64)))

    def part(self, first: int, count: int, start: np.ndarray) -> "Labels":
        """Return the labels of positions `first` to `first` + `count` - 1; `start` is policy_start."""
        own, pairs = slice(first, first + count), slice(int(start[first]), int(start[first + count]))
        return Labels(self.policy_count[own], self.policy_index[pairs], self.policy_value[pairs], self.win_rate[own],
                      self.lead[own], self.ownership[own])


class LabelFile(NamedTuple):
    """A file of labels: which positions belong to which game."""

    board_size: int
    labels: Labels
    place: dict[str, tuple[int, int]]  # by file name: first position and number of positions
    policy_start: np.ndarray

    def of_game(self, name: str, moves: int) -> Labels | None:
        """Return the labels of a game of so many moves; None where there are none, or for another number of moves."""
        first, count = self.place.get(Path(name).name, (0, -1))
        return self.labels.part(first, count, self.policy_start) if count == moves else None


class AllLabels:
    """Files of labels, asked for games by their names: there may be hundreds of them."""

    def __init__(self, files: Sequence[LabelFile]) -> None:
        """Take them in the order in which they are asked."""
        self._files: dict[str, list[LabelFile]] = {}
        for file in files:
            for name in file.place:
                self._files.setdefault(name, []).append(file)

    def of_game(self, name: str, board_size: int, moves: int) -> Labels | None:
        """Return the labels of a game of so many moves from the first file that has them; None where none has."""
        for file in self._files.get(Path(name).name, ()):
            labels = file.of_game(name, moves) if file.board_size == board_size else None
            if labels is not None:
                return labels
        return None


def describe_bare(names: Sequence[str], fate: str) -> str:
    """Return the line about games without labels, of which `fate` says what becomes."""
    return (f"games without labels, {fate}: {len(names)}, the first {names[0]}; labels find a game by the name of its "
            "file, its line there and its number of moves")


def pack_policies(policy: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return policy_count, policy_index and policy_value of probabilities [M, A]."""
    kept = policy >= LEAST_PROBABILITY
    values = np.minimum(np.round(policy[kept].astype(np.float64) * PROBABILITY_UNIT), PROBABILITY_UNIT)
    return kept.sum(axis=1).astype(np.uint16), np.nonzero(kept)[1].astype(np.uint16), values.astype(np.uint16)


def pack_ownership(ownership: np.ndarray) -> np.ndarray:
    """Return ownership from -1 to 1 as steps, uint8 of the same shape."""
    return np.clip(np.round((ownership + 1.0) / 2.0 * OWNERSHIP_STEPS), 0, OWNERSHIP_STEPS).astype(np.uint8)


def unpack_policies(labels: Labels, start: np.ndarray, rows: np.ndarray, actions: int) -> np.ndarray:
    """Return the policies of some rows, float32 [len(rows), A], normalized; `start` is policy_start."""
    counts = labels.policy_count[rows].astype(np.int64)
    target = np.repeat(np.arange(len(rows)), counts)
    ends = np.cumsum(counts)
    source = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - counts, counts) + np.repeat(start[rows], counts)
    policy = np.zeros((len(rows), actions), dtype=np.float32)
    policy[target, labels.policy_index[source]] = labels.policy_value[source]
    return policy / np.maximum(policy.sum(axis=1, keepdims=True), 1.0)


def list_label_files(paths: Sequence[str | Path]) -> list[Path]:
    """Return files of labels, for a folder all that it has; raises DataError for one that has none."""
    files: list[Path] = []
    for path in map(Path, paths):
        found = sorted(path.glob("*.npz")) if path.is_dir() else [path]
        if not found:
            raise DataError(f"{path} has no file of labels (*.npz)")
        files += found
    return files


def read_labels(path: str | Path, board_size: int | None = None) -> LabelFile:
    """Read a file of labels; raises DataError when it is unreadable, incomplete or not of the board size wanted."""
    try:
        stored = Path(path).read_bytes()
        content = lzma.decompress(stored) if Path(path).suffix == ".xz" else stored
        if not zipfile.is_zipfile(io.BytesIO(content)):
            raise ValueError("it is no npz file, or is cut off")
        with np.load(io.BytesIO(content), allow_pickle=False) as data:
            arrays = {name: data[name] for name in data.files}
    except (*DAMAGES, lzma.LZMAError) as error:
        raise DataError(f"cannot read the labels {path} ({error}): make them anew") from error
    if "policy" in arrays:
        packed = pack_policies(arrays["policy"])
        arrays |= dict(zip(("policy_count", "policy_index", "policy_value"), packed, strict=True))
    missing = [name for name in ("names", "offset", *Labels._fields) if name not in arrays]
    if missing:
        raise DataError(f"{path} has no array {missing[0]!r}, so it is no file of labels")
    labels, offset = Labels(*(arrays[name] for name in Labels._fields)), arrays["offset"].astype(np.int64)
    positions = len(labels.win_rate)
    size = board_size or math.isqrt(labels.ownership.size // max(positions, 1))
    if labels.ownership.shape != (positions, size**2):
        raise DataError(f"{path} is not for board size {size} (ownership {labels.ownership.shape})")
    if len(offset) != len(arrays["names"]) + 1 or (np.diff(offset, prepend=0) < 0).any() or not (
            offset[-1] == positions == len(labels.policy_count) == len(labels.lead)) or not (
            labels.policy_count.sum() == len(labels.policy_index) == len(labels.policy_value)):
        raise DataError(f"{path} does not fit together: its arrays are of different lengths, or its games out "
                        "of order: make it anew")
    if len(labels.policy_index) and labels.policy_index.max() > size**2:
        raise DataError(f"{path} names a point beyond a board of size {size}")
    known = labels.win_rate[~np.isnan(labels.win_rate)]
    if np.isinf(labels.lead).any() or len(known) and not (known.min() >= 0.0 and known.max() <= 1.0):
        raise DataError(f"{path} has win rates that are not from 0 to 1, or infinite leads: make it anew")
    place = {Path(str(name)).name: (int(first), int(end - first))
             for name, first, end in zip(arrays["names"], offset[:-1], offset[1:], strict=True)}
    return LabelFile(size, labels, place, labels.policy_start)


def read_all_labels(paths: Sequence[str | Path]) -> AllLabels:
    """Read all files of labels among the paths, for a folder all that it has; raises DataError as read_labels does."""
    return AllLabels([read_labels(path) for path in list_label_files(paths)])
