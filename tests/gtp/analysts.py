"""Clients of the JSON protocol: one in this process, and one that does what KaTrain does."""
from __future__ import annotations

import json
import queue
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from board.constant import BOARD_SIZE
from engine.engine import Engine, EvaluatorSource
from engine.options import EngineOptions
from gtp.analysis.server import AnalysisClient
from gtp.reader import LineReader
from nn.model_file import ANY_SIZE
from tests.gtp.players import ROOT, SLOW_START, FakeEvaluator

Answer = dict[str, Any]
BARE = {"id": "q", "rules": "chinese", "boardXSize": 5, "boardYSize": 5, "moves": [], "maxVisits": 8}


def make_query(**fields: Any) -> Answer:
    """Return a small query with these fields on top."""
    return BARE | fields


class WholeReader(LineReader):
    """Has read everything before the first line is taken, so that the order of answers does not depend on threads."""

    def start(self) -> None:
        self._run()


class Analyst:
    """Runs an AnalysisClient over whole inputs."""

    def __init__(self, any_size: bool = False, evaluator: FakeEvaluator | None = None, **options: Any) -> None:
        self.evaluator = evaluator or FakeEvaluator(5)
        source = EvaluatorSource(
            lambda size: self.evaluator if size in (None, 5) else FakeEvaluator(size or BOARD_SIZE),
            ANY_SIZE if any_size else None)
        chosen = EngineOptions(**({"tree_size": 1000} | options))
        self.engine = Engine(chosen, source)
        self.answers: list[Answer] = []
        self.client = AnalysisClient(chosen, lambda _: self.engine, self._keep)
        self.status: int | None = None

    def _keep(self, text: str) -> None:
        assert text.endswith("\n") and text.count("\n") == 1
        self.answers.append(json.loads(text, parse_constant=self._refuse))

    def _refuse(self, text: str) -> None:
        raise AssertionError(f"{text} is no JSON")

    def serve(self, *chunks: bytes | Callable[[], bytes]) -> list[Answer]:
        """Return the answers to an input that comes in pieces; functions are called when a piece is wanted."""
        rest = list(chunks)

        def read() -> bytes:
            if not rest:
                return b""
            chunk = rest.pop(0)
            return chunk() if callable(chunk) else chunk

        waits = any(callable(chunk) for chunk in chunks)
        self.status = self.client.run(LineReader(read) if waits else WholeReader(read))
        return self.answers

    def when(self, calls: int, line: bytes) -> Callable[[], bytes]:
        """Return a piece of input that comes when the network has been called so often."""
        def piece() -> bytes:
            while self.evaluator.calls < calls:
                time.sleep(0.001)
            return line

        return piece

    def ask(self, *queries: Answer) -> list[Answer]:
        """Return the answers to queries that come in all at once."""
        return self.serve(to_lines(*queries))

    def find(self, **fields: Any) -> list[Answer]:
        """Return the answers with these fields."""
        return [answer for answer in self.answers if answer.items() >= fields.items()]


def to_lines(*queries: Answer) -> bytes:
    """Return queries as input."""
    return b"".join(json.dumps(query).encode() + b"\n" for query in queries)


class KaTrain:
    """Starts an engine and talks to it as KaTrain does (katrain/core/engine.py): through a shell, ids of its own."""

    def __init__(self, *options: str) -> None:
        command = shlex.join([sys.executable, str(ROOT / "main.py"), "--analysis-json", "true", *options])
        self.process = subprocess.Popen(
            command, shell=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self._counter = 0
        self._answers: queue.Queue[Answer | None] = queue.Queue()
        self.errors: list[bytes] = []
        for target in (self._read_answers, self._read_errors):
            threading.Thread(target=target, daemon=True).start()

    def _read_answers(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._answers.put(json.loads(line))
        self._answers.put(None)

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        self.errors.extend(self.process.stderr)

    def send(self, query: Answer) -> str:
        """Send a query, give it an id if it has none, and return the id."""
        self._counter += 1
        query = {"id": f"QUERY:{self._counter}"} | query
        assert self.process.stdin is not None
        self.process.stdin.write((json.dumps(query) + "\n").encode())
        self.process.stdin.flush()
        return query["id"]

    def request(self, moves: Sequence[tuple[str, str]], visits: int = 25, priority: int = 0, **fields: Any) -> str:
        """Ask for the analysis of a 9x9 position with the fields that KaTrain sends."""
        return self.send({
            "rules": "japanese", "priority": priority, "analyzeTurns": [len(moves)], "maxVisits": visits, "komi": 6.5,
            "boardXSize": 9, "boardYSize": 9, "includeOwnership": True, "includeMovesOwnership": True,
            "includePolicy": True, "initialStones": [], "initialPlayer": "B", "moves": [list(move) for move in moves],
            "overrideSettings": {"reportAnalysisWinratesAs": "BLACK", "maxTime": 600.0, "wideRootNoise": 0.04},
        } | fields)

    def wait(self) -> Answer:
        """Return the next answer that is no warning."""
        while True:
            answer = self._answers.get(timeout=SLOW_START)
            assert answer is not None, self.errors
            if "warning" not in answer:
                return answer

    def close(self) -> int:
        """End the input and return the exit status."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(timeout=SLOW_START)
