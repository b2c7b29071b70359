"""A GTP client in this process with a network that needs no file, and clients as sub-processes."""
from __future__ import annotations

import queue
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from board.constant import BOARD_SIZE
from engine.engine import Engine, EvaluatorSource
from engine.options import EngineOptions
from gtp.client import GtpClient
from gtp.reader import InputLine, LineReader
from nn.feature import Evaluator
from nn.model_file import ANY_SIZE
from tests.mcts.clocks import total_left

ROOT = Path(__file__).resolve().parent.parent.parent
# Loading torch and compiling kernels for the first time, on a busy machine (seconds).
SLOW_START = 300


class FakeEvaluator:
    """Likes points by number, the later the better, passes least; the win rate is always `winrate`."""

    def __init__(self, board_size: int = BOARD_SIZE, winrate: float = 0.5, pass_logit: float = -5.0) -> None:
        self.board_size = board_size
        self.winrate = winrate
        self.pass_logit = pass_logit
        self.calls = 0

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self.calls += 1
        count, points = len(planes), self.board_size**2
        logits = np.append(np.arange(points) / points, self.pass_logit).astype(np.float32)
        value = np.array([1 - self.winrate, 0.0, self.winrate], dtype=np.float32)
        return np.tile(logits, (count, 1)), np.tile(value, (count, 1))


class Controller:
    """Talks to a GtpClient in this process, line by line."""

    def __init__(self, any_size: bool = True, make: Callable[[int], Evaluator] = FakeEvaluator, **options) -> None:
        source = EvaluatorSource(lambda size: make(size or BOARD_SIZE), ANY_SIZE if any_size else None)
        given = {"visits": 8, "tree_size": 1000} | options
        self.client = GtpClient(EngineOptions(**given), lambda chosen: Engine(chosen, source), self._keep)
        self.replies: list[str] = []

    @property
    def engine(self) -> Engine:
        """The engine behind the client."""
        return self.client.session.engine

    def _keep(self, reply: str) -> None:
        self.replies.append(reply)

    def raw(self, line: str) -> str | None:
        """Return the reply to a line with its framing."""
        begin = len(self.replies)
        end = self.client.execute(InputLine(line, arrived=time.monotonic()))
        return None if end is None else "".join([*self.replies[begin:], end])

    def ask(self, line: str) -> str:
        """Return the text of the reply; raises AssertionError for a failure."""
        reply = self.raw(line)
        assert reply is not None and reply.startswith("="), f"{line}: {reply!r}"
        return reply.removeprefix("=").strip()

    def fail(self, line: str) -> str:
        """Return the text of the failure."""
        reply = self.raw(line)
        assert reply is not None and reply.startswith("? ") and reply.endswith("\n\n"), f"{line}: {reply!r}"
        return reply[2:-2]

    def serve(self, *chunks: bytes) -> tuple[int, str]:
        """Run the whole loop over bytes as they come from stdin; return exit status and output."""
        source: queue.Queue[bytes] = queue.Queue()
        for chunk in (*chunks, b""):
            source.put(chunk)
        status = self.client.run(LineReader(source.get))
        return status, "".join(self.replies)

    def state(self) -> tuple:
        """Return everything that a failed command must leave alone."""
        engine = self.engine
        clocks = [(total_left(clock), clock.count_left) for clock in engine.time.clocks.values()]
        return (engine.board.board_size, engine.board.get_komi(), engine.board.get_move_history(), engine.time.mode,
                engine.board.get_board_data(0), clocks, engine.board.get_handicap_history())


def start_main(*options: str, cwd: Path | None = None) -> subprocess.Popen:
    """Start main.py."""
    return subprocess.Popen(
        [sys.executable, str(ROOT / "main.py"), *options], cwd=cwd,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )


def run_main(*options: str, text: str = "", cwd: Path | None = None) -> tuple[int, str, str]:
    """Run main.py over a whole input; return exit status, stdout and stderr."""
    process = start_main(*options, cwd=cwd)
    out, err = process.communicate(text.encode(), timeout=SLOW_START)
    return process.returncode, out.decode(), err.decode()


__all__ = ["Controller", "FakeEvaluator", "run_main", "start_main"]
