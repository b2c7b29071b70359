"""A model file before torch is there: its name, its bytes, and what is said where it cannot be used."""

import math
import pickle
import zipfile
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from board.constant import BOARD_SIZE, MAX_BOARD_SIZE, MIN_BOARD_SIZE

# Stands for a network with random (seeded) weights wherever a model file may be named.
RANDOM_MODEL = "none"
# The bundled classifier of bad moves (nn/classifier.py).
CLASSIFIER_FILE = "model/bad-moves.npz"
# The tensor of a DualNet whose first side is the number of moves, the pass included.
POLICY_WEIGHTS = "policy_head.fc_layer.weight"
# How KataGo's files begin, and the sizes that its networks are trained on.
GZIP_MAGIC = b"\x1f\x8b"
KATAGO_SIZES = range(7, MAX_BOARD_SIZE + 1)
ANY_SIZE = range(MIN_BOARD_SIZE, MAX_BOARD_SIZE + 1)
SUGGESTION = "give another file with --model, or `--model none` for a network that knows nothing"


@dataclass(frozen=True)
class ModelFile:
    """The bytes of a model file, and its path for messages."""

    path: str
    content: bytes = field(repr=False)

    def __str__(self) -> str:
        """Return the path."""
        return self.path


def read_model_file(path: str | Path) -> ModelFile:
    """Return a model file's bytes, whatever they are; raises OSError."""
    return ModelFile(str(path), Path(path).read_bytes())


class ModelFileError(Exception):
    """A model file that cannot be used; one line with path, reason and what to do."""

    def __init__(self, path: str | Path | ModelFile, reason: str, advice: str = SUGGESTION) -> None:
        """Keep the three parts; str() joins them."""
        super().__init__(f"cannot use model {path}: {reason}; {advice}")
        self.path = str(path)
        self.reason = reason
        self.advice = advice


class _ShapeReader(pickle.Unpickler):
    """Reads a state_dict's names and shapes: what torch would make a tensor of becomes the tensor's shape."""

    def find_class(self, module: str, name: str) -> Any:
        """Return what stands for a class of the file; raises UnpicklingError for all but those of tensors."""
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return lambda storage, offset, shape, *_: tuple(shape)
        if module == "torch" and name.endswith("Storage"):
            return name
        raise pickle.UnpicklingError(f"{module}.{name}")

    def persistent_load(self, _: Any) -> None:
        """Leave the numbers where they are."""


def find_sizes(path: str | Path) -> range | None:
    """Return the board sizes that a file's network can play, without torch; None where the file does not tell."""
    try:
        with open(path, "rb") as file:
            if file.read(len(GZIP_MAGIC)) == GZIP_MAGIC:
                return KATAGO_SIZES
        with zipfile.ZipFile(path) as archive:
            name = next(name for name in archive.namelist() if name.endswith("/data.pkl"))
            content = _ShapeReader(archive.open(name)).load()
        if "kind" in content:
            return ANY_SIZE
        moves = content[POLICY_WEIGHTS][0]
        size = math.isqrt(moves - 1)
    except Exception:  # whatever is wrong with the file is told when it is loaded
        return None
    return range(size, size + 1) if size * size + 1 == moves and size in ANY_SIZE else None


def tells_lead(path: str | Path) -> bool:
    """Return whether a file's network tells lead and ownership, without torch: all do but the lecture's of one size."""
    return str(path) != RANDOM_MODEL and find_sizes(path) in (KATAGO_SIZES, ANY_SIZE)


def choose_size(sizes: range) -> int:
    """Return the board size to begin with."""
    return BOARD_SIZE if BOARD_SIZE in sizes else sizes[0]


def describe_sizes(sizes: range) -> str:
    """Return board sizes as text: "9" or "7 to 19"."""
    return str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
