"""A model file before torch is there: its name, its bytes, and what is said where it cannot be used."""

import io
import math
import operator
import os
import pickle
import pickletools
import zipfile
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from board.constant import BOARD_SIZE, MAX_BOARD_SIZE, MIN_BOARD_SIZE
from common.exit_status import ProgramError

# Stands for a network with random (seeded) weights wherever a model file may be named.
RANDOM_MODEL = "none"
# Stands between the files of an ensemble.
BETWEEN_MODELS = ","
# The bundled classifier of bad moves (nn/classifier.py), and the boards on which the file for the largest one is used.
CLASSIFIER_FILE, LARGE_BOARD = "model/bad-moves.npz", 12
# The tensor of a DualNet whose first side is the number of moves, the pass included.
POLICY_WEIGHTS = "policy_head.fc_layer.weight"
# How KataGo's files begin, and the sizes that its networks are trained on.
GZIP_MAGIC = b"\x1f\x8b"
KATAGO_SIZES = range(7, MAX_BOARD_SIZE + 1)
# How torch's files from before 2020 begin, which are no archives.
PICKLE_MAGIC = b"\x80"
ANY_SIZE = range(MIN_BOARD_SIZE, MAX_BOARD_SIZE + 1)
# Bytes of a table of contents, and the objects in one of its tuples, each as often as it is met: where tuples are
# hashed, 150,000 inside of each other end a process, and 60 that hold the one before twice take it for ever.
MOST_PICKLED, MOST_IN_A_TUPLE = 4 * 2**20, 100_000
TUPLES, PUTS = ("TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"), ("PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE")
GETS = ("GET", "BINGET", "LONG_BINGET")
UNUSED = ("POP", "POP_MARK", "DUP")  # torch reads none of them either; POP may take a mark
DAMAGED = "it is damaged or no model file"
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


def may_be_network(content: bytes) -> bool:
    """Tell whether bytes can be a network's, of any kind; torch, which knows for certain, takes seconds to import."""
    return content.startswith((GZIP_MAGIC, PICKLE_MAGIC)) or zipfile.is_zipfile(io.BytesIO(content))


class ModelFileError(ProgramError):
    """A model file that cannot be used; one line with path, reason and what to do."""

    def __init__(self, path: str | Path | ModelFile, reason: str, advice: str = SUGGESTION) -> None:
        """Keep the three parts; str() joins them."""
        super().__init__(f"cannot use model {path}: {reason}; {advice}")
        self.path = str(path)
        self.reason = reason
        self.advice = advice


class _ShapeReader(pickle._Unpickler):  # the one in C makes room for as many parts as the last one's number says
    """Reads a state_dict's names and shapes: what torch would make a tensor of becomes the tensor's shape."""

    def find_class(self, module: str, name: str) -> Any:
        """Return what stands for a class of the file; raises UnpicklingError for all but those of tensors."""
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return lambda storage, offset, shape, *_: tuple(map(operator.index, shape))
        if module == "torch" and name.endswith("Storage"):
            return name
        raise pickle.UnpicklingError(f"{module}.{name}")

    def persistent_load(self, _: Any) -> None:
        """Leave the numbers where they are."""


def split_models(model: str | Path) -> list[str]:
    """Return the files that one option names, with commas between them; a file that has one in its name stays whole."""
    return [str(model)] if os.path.isfile(model) else str(model).split(BETWEEN_MODELS)


def find_specialist(model: str | Path, board_size: int | None) -> str:
    """Return the file that plays, or judges, in a file's place on boards of a size, None for the usual one.

    That is NAME-9x9.bin beside NAME.bin for 9x9, and NAME-19x19.bin for large boards that have none of their own, if it
    plays these; else the file itself.
    """
    size, path = board_size or BOARD_SIZE, Path(model)
    own, large = (path.with_name(f"{path.stem}-{width}x{width}{path.suffix}") for width in (size, MAX_BOARD_SIZE))
    if not os.path.isfile(path):
        return str(model)
    if os.path.isfile(own):
        return str(own)
    is_large = size >= LARGE_BOARD and os.path.isfile(large)
    return str(large if is_large and size in (_find_sizes(str(large)) or ANY_SIZE) else model)


def read_pickle(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return pickled data of an archive; raises ValueError for such as would take all memory, or end the process."""
    if archive.getinfo(name).file_size > MOST_PICKLED:
        raise ValueError("its table of contents is too large")
    content = archive.read(name)
    _check_tuples(content)
    return content


def _check_tuples(content: bytes) -> None:
    """Raise ValueError for pickled data with more than MOST_IN_A_TUPLE objects in a tuple, or with a damaged one."""
    sizes: list[int] = []  # of the objects on the stack
    marks: list[int] = []
    kept: dict[object, int] = {}
    try:
        for code, argument, _ in pickletools.genops(content):
            if code.name == "MARK":
                marks.append(len(sizes))
            elif code.name in PUTS:
                kept[len(kept) if argument is None else argument] = sizes[-1]
            elif code.name in GETS:
                sizes.append(kept[argument])
            elif code.name in UNUSED:
                raise IndexError
            else:
                has_mark = pickletools.markobject in code.stack_before
                below = code.stack_before.index(pickletools.markobject) if has_mark else len(code.stack_before)
                start = (marks.pop() if has_mark else len(sizes)) - below
                if start < 0:
                    raise IndexError
                size = min(1 + sum(sizes[start:]), MOST_IN_A_TUPLE + 1)  # lists double it without end
                if code.name in TUPLES and size > MOST_IN_A_TUPLE:
                    raise ValueError("its table of contents is nested too deeply")
                sizes[start:] = [size] * len(code.stack_after)
    except (IndexError, KeyError, TypeError):
        raise ValueError("its table of contents is damaged") from None


def _find_sizes(path: str) -> range | None:
    """Return the board sizes that the network of a file can play, without torch; None where it does not tell."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return _read_sizes(path, (status.st_ino, status.st_mtime_ns, status.st_size))


@cache
def _read_sizes(path: str, _: tuple[int, ...]) -> range | None:
    """Do so for a file of which numbers tell whether it is the same as before: each start asks several times."""
    try:
        with open(path, "rb") as file:
            if file.read(len(GZIP_MAGIC)) == GZIP_MAGIC:
                return KATAGO_SIZES
        with zipfile.ZipFile(path) as archive:
            name = next(name for name in archive.namelist() if name.endswith("/data.pkl"))
            content = _ShapeReader(io.BytesIO(read_pickle(archive, name))).load()
        if "kind" in content:
            return ANY_SIZE
        moves = content[POLICY_WEIGHTS][0]
        size = math.isqrt(moves - 1)
    except Exception:  # whatever is wrong with the file is told when it is loaded
        return None
    return range(size, size + 1) if size * size + 1 == moves and size in ANY_SIZE else None


def find_common_sizes(models: Sequence[str]) -> range | None:
    """Return the board sizes that all of several files can play, None where one does not tell.

    Raises ModelFileError where there are none.
    """
    common = ANY_SIZE
    for path in models:
        sizes = _find_sizes(path)
        if sizes is None:
            return None
        both = range(max(common[0], sizes[0]), min(common[-1], sizes[-1]) + 1)
        if not both:
            reason = f"it plays {describe_sizes(sizes)}, what stands before it {describe_sizes(common)}"
            raise ModelFileError(path, reason, "an ensemble needs networks of one board size")
        common = both
    return common


def find_sizes(*models: str | Path) -> range | None:
    """Return the board sizes that all networks of files and of ensembles can play (find_common_sizes)."""
    return find_common_sizes([path for model in models for path in split_models(model)])


def tells_lead(model: str | Path) -> bool:
    """Return whether a file's network, or all of several, tell leads: all kinds do but the lecture's of one size."""
    return str(model) != RANDOM_MODEL and all(
        _find_sizes(path) in (KATAGO_SIZES, ANY_SIZE) for path in split_models(model))


def choose_size(sizes: range) -> int:
    """Return the board size to begin with."""
    return BOARD_SIZE if BOARD_SIZE in sizes else sizes[0]


def describe_sizes(sizes: range) -> str:
    """Return board sizes as text: "9" or "7 to 19"."""
    return str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
