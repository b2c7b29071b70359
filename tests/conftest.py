"""What several test folders share."""
from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numba
import pytest

from engine.loader import LOADER_THREAD
from nn.inference.runtime import RUNTIME_VARIABLE, Runtime

ROOT = Path(__file__).resolve().parent.parent
LOADING_SECONDS = 60.0


def pytest_configure(config: pytest.Config) -> None:
    """Undo what a shell does to commands in the background: they, and all that they start, would ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.disable()  # while torch is imported and four thousand tests are collected, none of which is garbage
    # What is installed beside changes no test but its own; a hundred programs start, for three seconds more with torch.
    interpreted = getattr(numba.config, "DISABLE_JIT", 0)
    os.environ[RUNTIME_VARIABLE] = (Runtime.TORCH if interpreted else Runtime.KERNELS).value
    # Each program would compile all its modules again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    if getattr(config.option, "numprocesses", None) and not hasattr(config, "workerinput"):
        compile_once()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest, so that in the end no worker waits for another."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def pytest_collection_finish() -> None:
    """Look for garbage again, but no more at what stays until the end."""
    gc.freeze()
    gc.enable()


def compile_once() -> None:
    """Compile in two processes what each worker of xdist would otherwise compile for itself, at the same time."""
    from board.go_board import GoBoard
    from board.stone import Stone
    from engine.precompile import SIZE, VISITS, compile_estimates, compile_planes, compiling
    from mcts.params import SearchLimit, Tactics
    from mcts.uct.params import PlayoutParams
    from mcts.uct.tree import PlayoutTree
    from nn.feature import BASIC
    from nn.inference.evaluation_cache import CachedEvaluator
    from nn.inference.loading import load_evaluator
    from nn.model_file import RANDOM_MODEL
    from selfplay.batch import compile_steps
    from tests.compiling import compile_plane_sets
    beside = (compile_steps, compile_estimates, compile_plane_sets)
    with compiling(*beside):
        evaluator = load_evaluator(RANDOM_MODEL, SIZE)
        for network in (evaluator, CachedEvaluator(evaluator)):
            network(compile_planes(BASIC))
        for threads in (1, 2):
            tree = PlayoutTree(SIZE, PlayoutParams(threads=threads, tactics=Tactics(leaf=1)))
            tree.search(GoBoard(SIZE), Stone.BLACK, SearchLimit(VISITS, strict=True))
    for work in beside:
        work()


@pytest.fixture(scope="session")
def gnugo() -> str:
    """Return the path of GNU Go's binary, or skip the test where it is not installed."""
    path = shutil.which("gnugo", path=f"{os.environ.get('PATH', '')}{os.pathsep}/usr/games")
    if path is None:
        pytest.skip("gnugo is not installed")
    return path


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the folder of the program."""
    return ROOT


@pytest.fixture(autouse=True)
def loaders_end() -> Iterator[None]:
    """Wait for engines that a test's client has left loading: their last line would stand in the next test's output."""
    yield
    deadline = time.monotonic() + LOADING_SECONDS
    while any(thread.name == LOADER_THREAD for thread in threading.enumerate()) and time.monotonic() < deadline:
        time.sleep(0.005)  # not join: it refuses a thread that another one is just about to start


@pytest.fixture(autouse=True)
def interrupts_raise_again() -> Iterator[None]:
    """Take back what a test's client made of Ctrl-C: the next test's programs are stopped by it."""
    yield
    signal.signal(signal.SIGINT, signal.default_int_handler)
