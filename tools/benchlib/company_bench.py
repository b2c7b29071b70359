"""Speed of the search where other programs want the same cores."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from board.go_board import GoBoard
from common.cores import count_usable_cores
from mcts.tree import MCTSTree
from nn.evaluation import Answers, Evaluation
from nn.inference.board_evaluator import BoardEvaluator
from tools.benchlib.measure import BenchSettings, Figure, measure_rate
from tools.benchlib.search_bench import make_search_work, params_of

# Programs that never wait, for each core.
LOOPS_PER_CORE = 2
MILLISECONDS = 1e3


class TimedEvaluator:
    """Passes positions on to another evaluator and remembers the longest call, in seconds."""

    def __init__(self, evaluator: BoardEvaluator) -> None:
        """Wrap an evaluator."""
        self._evaluator = evaluator
        self.longest = 0.0

    def __getattr__(self, name: str) -> Any:
        """Return what else the evaluator has."""
        return getattr(self._evaluator, name)

    def _time(self, calculate: Callable[[], Answers]) -> Answers:
        """Return what a call calculates."""
        begin = time.perf_counter()
        answer = calculate()
        self.longest = max(self.longest, time.perf_counter() - begin)
        return answer

    def __call__(self, planes: np.ndarray) -> Answers:
        """Evaluate [N, P, S, S]."""
        return self._time(lambda: self._evaluator(planes))

    def start(self, planes: np.ndarray) -> Evaluation:
        """Prepare to evaluate."""
        prepared = self._evaluator.start(planes)
        return Evaluation(lambda: self._time(prepared.answer))


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """Keep so many processes busy."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def measure_company(evaluator: BoardEvaluator, settings: BenchSettings) -> Iterator[Figure]:
    """Yield how much of its speed the engine's search keeps beside busy loops, and its longest call of the network.

    A search and the loops that share the cores fairly leave it threads / (threads + loops).
    """
    loops = LOOPS_PER_CORE * count_usable_cores()
    timed = TimedEvaluator(evaluator)
    board = GoBoard(evaluator.board_size)
    tree = MCTSTree(timed, board.board_size, params_of(evaluator, settings))
    search = make_search_work(tree, board, settings.engine_visits)
    search()
    shares, longest = [], []
    for _ in range(settings.runs):
        alone = measure_rate(search, settings.seconds)[0]
        timed.longest = 0.0
        with busy_loops(loops):
            shares.append(100 * measure_rate(search, settings.seconds)[0] / alone)
        longest.append(MILLISECONDS * timed.longest)
    yield Figure(f"search beside {loops} busy loops / alone", "%", tuple(shares))
    yield Figure(f"longest network call beside {loops} busy loops", "ms", tuple(longest), lower_is_better=True)
