"""The doctor's measurements: how fast the network and the search are here."""

import io
import time
from collections.abc import Iterator
from contextlib import redirect_stderr
from dataclasses import replace
from typing import TYPE_CHECKING

from common.exit_status import ProgramError
from engine.finding import FAIL, OK, Finding, Patient
from engine.options import EngineOptions
from nn.model_file import find_specialist

if TYPE_CHECKING:
    from nn.inference.board_evaluator import BoardEvaluator

BATCH_SIZES = (1, 8, 64)
# Length of each measurement.
SECONDS = 0.5


def leave_out_missing(options: EngineOptions) -> EngineOptions:
    """Return the options without GPUs that are missing, which was reported before."""
    from nn.device import describe_machine, find_missing

    there = describe_machine().gpus
    return replace(options, gpus=() if find_missing(options.gpus, there) else options.gpus,
                   use_gpu=options.use_gpu and there > 0)


def find_evaluator(options: EngineOptions) -> "BoardEvaluator":
    """Return the network that plays the first game; raises ModelFileError."""
    from nn.inference.loading import load_evaluator

    options = leave_out_missing(options)
    return load_evaluator(find_specialist(options.model, options.size), options.size, options.use_gpu,
                          threads=options.threads, gpus=options.gpus)


def check_network_speed(patient: Patient) -> Iterator[Finding]:
    """Tell how many positions a second the network evaluates."""
    import numpy as np

    from board.go_board import GoBoard
    from nn.feature import encode_board

    evaluator = find_evaluator(patient.options)
    board = GoBoard(evaluator.board_size)
    rates = []
    for batch_size in BATCH_SIZES:
        planes = np.stack([encode_board(board, board.get_to_move(), evaluator.plane_set)] * batch_size)
        evaluator(planes)
        begin, calls = time.perf_counter(), 0
        while calls == 0 or time.perf_counter() - begin < SECONDS:
            evaluator(planes)
            calls += 1
        rates.append(f"{calls * batch_size / (time.perf_counter() - begin):,.0f}")
    yield Finding(OK, "network speed", f"{' / '.join(rates)} positions/s in batches of "
                                       f"{' / '.join(map(str, BATCH_SIZES))}")


def check_search_speed(patient: Patient) -> Iterator[Finding]:
    """Tell how many visits a second a search makes, that of the options."""
    from engine.loader import make_engine
    from mcts.params import SearchLimit
    from mcts.time_manager import UNLIMITED_VISITS

    try:
        engine = make_engine(leave_out_missing(patient.options))
        with redirect_stderr(io.StringIO()):  # who plays was told with the model
            board, tree, params = engine.board, engine.tree, engine.tree.params
    except ProgramError as error:  # what is asked for beside the model: a value network, a book
        yield Finding(FAIL, "search", str(error))
        return
    tree.search(board, board.get_to_move(), SearchLimit(2 * params.batch_size, strict=True))  # compiles
    tree.clear()
    result = tree.search(board, board.get_to_move(), SearchLimit(UNLIMITED_VISITS, 2 * SECONDS, strict=True))
    yield Finding(OK, "search speed", f"{result.visits / result.seconds:,.0f} visits/s in batches of up to "
                                      f"{params.batch_size}")
