"""What a teacher has said so far, in parts beside the file that they will become."""

import json
import shutil
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np

from common.atomic_file import write_atomically
from common.lock_file import hold_lock
from nn.data.data_file import Blocks, write_arrays
from nn.data.labels import LabelFile, Labels, read_labels
from tools.labellib.teacher import LabelError


def hold_labels(out: Path) -> AbstractContextManager[object]:
    """Keep other runs from the labels of a file in a block, which raises LabelError while one has them, and OSError."""
    taken = LabelError(f"another run makes {out}: let it end, or give another --out")
    return hold_lock(out.with_name(f".{out.name}.lock"), taken)


class LabelStore:
    """The parts of a file of labels; what is written stays when everything else dies."""

    def __init__(self, out: Path, board_size: int, settings: dict[str, object]) -> None:
        """Open the parts of an unfinished run, or begin; raises LabelError for another run's and OSError."""
        self._out, self._board_size = out, board_size
        self._folder = out.with_name(f"{out.name}.parts")
        if out.exists():
            raise LabelError(f"{out} is there already: give another --out, or remove it")
        self._folder.mkdir(parents=True, exist_ok=True)
        about, wanted = self._folder / "settings.json", json.dumps(settings).encode()
        before_0_22 = json.dumps({name: value for name, value in settings.items() if name != "games"}).encode()
        self._parts = sorted(self._folder.glob("part-*.npz"))
        if self._parts and about.exists() and about.read_bytes() not in (wanted, before_0_22):
            raise LabelError(f"{self._folder} holds labels made with other settings: repeat them, or remove it")
        write_atomically(about, wanted)
        self.done = {name for path in self._parts for name in read_labels(path, board_size).place}

    def add(self, labels: dict[str, Labels]) -> None:
        """Write the labels of some games as one part."""
        path = self._folder / f"part-{len(self._parts):06d}.npz"
        write_labels(path, labels)
        self._parts.append(path)
        self.done |= labels.keys()

    def finish(self, order: list[str]) -> None:
        """Make one file of the games in this order, which the parts have, and remove the parts."""
        found: dict[str, Labels] = {}
        for path in self._parts:
            part = read_labels(path, self._board_size)
            found |= {name: _labels_of(part, name) for name in part.place}
        write_labels(self._out, {name: found[name] for name in order})
        shutil.rmtree(self._folder)


def _labels_of(part: LabelFile, name: str) -> Labels:
    """Return the labels of a game that a file has."""
    first, count = part.place[name]
    return part.labels.part(first, count, part.policy_start)


def write_labels(path: Path, labels: dict[str, Labels]) -> None:
    """Write a file of labels (nn/data/labels.py), complete or not at all; raises OSError."""
    counts = [len(one.win_rate) for one in labels.values()]
    arrays = {name: np.concatenate([getattr(one, name) for one in labels.values()]) for name in Labels._fields}
    arrays |= {"names": np.array(list(labels)), "offset": np.cumsum([0, *counts], dtype=np.int32)}
    write_arrays(path, {name: Blocks(array.shape, array.dtype.str, [array]) for name, array in arrays.items()})
