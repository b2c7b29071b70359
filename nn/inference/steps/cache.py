"""Where the tables of steps of model files are kept: beside the compiled kernels, converted once."""

import contextlib
import hashlib
import os
from functools import partial
from pathlib import Path

import numpy as np

from common.atomic_file import write_atomically
from common.kernel_cache import cache_folder, keep_latest, source_key
from nn.inference.board_evaluator import BoardEvaluator
from nn.inference.shared import share_threads
from nn.inference.steps.evaluator import KernelEvaluator
from nn.inference.steps.table import StepTable, StepTableError
from nn.model_file import ModelFile

# Tables that are kept, 5 MB each for the bundled network.
KEPT_TABLES = 20
# What they come from, beside the model file, with all that it imports.
MAKER = Path(__file__).with_name("networks.py")
# What stands in a file in the place of a table where a network has something that has no step.
UNKNOWN = b"unknown"


def find_table_file(model: ModelFile, board_size: int | None) -> Path | None:
    """Return the file for the table of a model file, None where no folder can be written."""
    base = cache_folder()
    if base is None:
        return None
    digest = hashlib.sha256(f"{np.__version__} {board_size} {source_key(MAKER)} ".encode() + model.content)
    return base / f"steps-{digest.hexdigest()[:20]}.npz"


def make_table(model: ModelFile, board_size: int | None) -> StepTable | None:
    """Return the table of a model file, None where it has no steps for something; raises ModelFileError."""
    from nn.inference.steps.networks import make_steps
    from nn.inference.steps.writer import UnknownPart
    from nn.network.weights import load_network
    try:
        return make_steps(load_network(model, board_size), board_size)
    except UnknownPart:
        return None


def keep_table(table: StepTable | None, path: Path) -> None:
    """Write a table; of the others those that were used last are kept."""
    keep_latest(path.parent, "steps-*.npz", KEPT_TABLES - 1)
    with contextlib.suppress(OSError):
        write_atomically(path, UNKNOWN if table is None else table.to_bytes())


def find_table(model: ModelFile, board_size: int | None) -> StepTable | None:
    """Return the table of a model file, made at the first call; None where it has no steps for something.

    Raises ModelFileError where the file is no network, or not one for the board size.
    """
    path = find_table_file(model, board_size)
    if path is not None:
        with contextlib.suppress(OSError, StepTableError):
            content = path.read_bytes()
            os.utime(path)
            return None if content == UNKNOWN else StepTable.parse(content)
    table = make_table(model, board_size)
    if path is not None:
        keep_table(table, path)
    return table


def load_kernels(model: ModelFile, board_size: int | None, symmetries: int, threads: int) -> BoardEvaluator | None:
    """Return the evaluator of a model file by kernels, None where these cannot run it; raises ModelFileError."""
    table = find_table(model, board_size)
    return table and share_threads(partial(KernelEvaluator, table), symmetries, threads)
