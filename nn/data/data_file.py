"""Training data on disk: npz files, written block by block, and the table of games in those of self-play.

Letters: N samples of a file, G games of a file.
"""

import os
import shutil
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import numpy as np

from common.atomic_file import replace_file, sync_folder
from common.exit_status import ProgramError
from common.lock_file import hold_lock
from common.npz import DAMAGES
from sgf.archive import SelfPlayGame

# Planes compress 30:1 at the fastest level already; slower levels gain little.
COMPRESS_LEVEL = 1

UNFINISHED = ".new_"  # begins the names of files and folders that are being written
LOCK_FILE = ".data.lock"


class DataError(ProgramError):
    """Training data that cannot be used; the text names the file and what to do."""

    @staticmethod
    def unusable(what: str) -> "DataError":
        """Return the error for a file that has to be made again; `what` names it and says what is wrong."""
        return DataError(f"{what}: delete it, or make it anew with --kifu-dir FOLDER")


@contextmanager
def hold_data_folder(folder: Path) -> Iterator[None]:
    """Be the only one who makes data in a folder, which is created and cleared of what a killed maker left behind.

    Raises DataError where another program makes data there, and OSError.
    """
    taken = DataError(f"another program makes data in {folder}: let it end, or give another --data-dir")
    with hold_lock(folder / LOCK_FILE, taken):
        for path in folder.glob(f"{UNFINISHED}*"):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
        yield


class Blocks(NamedTuple):
    """An array in parts whose rows together make up `shape`."""

    shape: tuple[int, ...]
    dtype: type | str
    parts: Iterable[np.ndarray]


def write_arrays(path: Path, arrays: Mapping[str, Blocks]) -> None:
    """Write an npz file, complete or not at all; raises OSError."""
    temporary = path.with_name(UNFINISHED + path.name)
    try:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=COMPRESS_LEVEL) as archive:
            for name, (shape, dtype, parts) in arrays.items():
                header = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": shape}
                with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                    np.lib.format.write_array_header_1_0(file, header)
                    for part in parts:
                        file.write(np.ascontiguousarray(part, dtype=dtype).tobytes())
        with open(temporary, "rb+") as written:
            os.fsync(written.fileno())
        replace_file(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sum_arrays(arrays: Iterable[np.ndarray]) -> int:
    """Return a sum that tells arrays from others of the same shapes."""
    result = 0
    for array in arrays:
        result = crc32(np.ascontiguousarray(array).data, result)
    return result


def read_arrays(path: Path, names: tuple[str, ...], needed: tuple[str, ...] = ()) -> dict[str, np.ndarray]:
    """Return those of the named arrays that a file has; raises DataError if it cannot be read or lacks needed ones."""
    try:
        if not zipfile.is_zipfile(path):
            raise ValueError("it is no npz file, or is cut off")
        with np.load(path, allow_pickle=False) as data:
            arrays = {name: data[name] for name in names if name in data.files}
    except DAMAGES as error:
        raise DataError.unusable(f"cannot read {path} ({error})") from error
    if missing := [name for name in needed if name not in arrays]:
        raise DataError.unusable(f"{path} has no array {missing[0]!r}")
    return arrays


@dataclass(frozen=True)
class GameTable:
    """The games of a file of self-play in their order; unusable ones have no samples."""

    number: np.ndarray  # int32 [G]: of the file <number>.sgf
    stamp: np.ndarray  # int64 [G, 2]: its size in bytes and its time of change in nanoseconds
    samples: np.ndarray  # int32 [G]
    moves: np.ndarray  # int32 [G]: length of the game
    label: np.ndarray  # int8 [G]: Black's value class, 2 win, 1 draw, 0 loss, -1 unknown
    judged: np.ndarray  # int64 [2]: as `stamp`, of the file with a teacher's labels; zeros without one

    @classmethod
    def of(
        cls, stamps: Mapping[int, tuple[int, int]], new: Mapping[int, SelfPlayGame], kept: Mapping[int, slice],
        old: "GameTable | None", judged: tuple[int, int] = (0, 0),
    ) -> "GameTable":
        """Return the table of the games in `stamps`: those in `new`, those `kept` as they were, the rest unusable."""
        rows = {} if old is None else {
            int(number): row for number, *row in zip(old.number, old.samples, old.moves, old.label, strict=True)
        }
        rows = {number: rows[number] for number in kept}
        rows |= {number: [len(game.moves), len(game.kifu.pos), game.kifu.value_label] for number, game in new.items()}
        columns = np.array([rows.get(number, [0, 0, -1]) for number in stamps], dtype=np.int32).reshape(-1, 3)
        return cls(np.array(list(stamps), dtype=np.int32), np.array(list(stamps.values()), dtype=np.int64),
                   columns[:, 0], columns[:, 1], columns[:, 2].astype(np.int8), np.array(judged, dtype=np.int64))

    def rows(self) -> dict[int, tuple[tuple[int, int], slice]]:
        """Return the stamp and the samples of each game by its number."""
        ends = np.cumsum(self.samples)
        return {
            int(number): ((int(size), int(time)), slice(int(end - count), int(end)))
            for number, (size, time), count, end in zip(self.number, self.stamp, self.samples, ends, strict=True)
        }

    def total(self) -> int:
        """Return the number of samples."""
        return int(self.samples.sum())

    def usable(self) -> int:
        """Return the number of games with samples."""
        return int(np.count_nonzero(self.samples))

    def blocks(self, board_size: int) -> dict[str, Blocks]:
        """Return the table as arrays of a file."""
        arrays = {f"game_{name}": array for name, array in vars(self).items()}
        arrays["board_size"] = np.array(board_size, dtype=np.int32)
        return {name: Blocks(array.shape, array.dtype.type, [array]) for name, array in arrays.items()}


def read_game_table(path: Path, board_size: int) -> GameTable | None:
    """Return the table of a file, None where there is no file, or none of ours for this board size."""
    names = tuple(GameTable.__dataclass_fields__)
    if not path.exists():
        return None
    try:
        arrays = read_arrays(path, ("board_size", *(f"game_{name}" for name in names)))
    except DataError:
        return None
    if len(arrays) <= len(names) or arrays["board_size"] != board_size:
        return None
    return GameTable(*(arrays[f"game_{name}"] for name in names))
