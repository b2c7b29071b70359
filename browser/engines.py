"""One network for all games, and one thread in which they search by turns."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar

from engine.engine import Engine, EvaluatorSource
from engine.loader import EngineLoader
from engine.options import EngineOptions
from nn.feature import Evaluator

READY_LINE = "The engine is ready."
# A search that others wait for gives way after so many seconds, and goes on when its turn comes again.
TURN_SECONDS = 0.25
# Nodes of a game's tree to begin with; it grows, and there may be many games.
TREE_SIZE = 4096

Answered = TypeVar("Answered")


class Engines:
    """Makes engines that share their networks; the first one is loaded in the background."""

    def __init__(self, options: EngineOptions, source: EvaluatorSource) -> None:
        """Prepare to make engines with these options and a network from `source`."""
        self.options = replace(options.for_model(), tree_size=options.tree_size or TREE_SIZE)
        self._load = source.load
        self._source = replace(source, load=self._find_evaluator)
        self._evaluators: dict[int | None, Evaluator] = {}
        self.loader = EngineLoader(lambda: Engine(self.options, self._source), READY_LINE)

    def _find_evaluator(self, size: int | None) -> Evaluator:
        """Return the network for a board size, None for its own size; only one thread at a time asks."""
        if size not in self._evaluators:
            evaluator = self._load(size)
            self._evaluators[size] = self._evaluators[getattr(evaluator, "board_size", size)] = evaluator
        return self._evaluators[size]

    @property
    def sizes(self) -> range:
        """The board sizes that the network plays; raises LoadError."""
        return self.loader.game.sizes

    @property
    def first_size(self) -> int:
        """The board size to begin with; raises LoadError."""
        return self.loader.game.board.board_size

    def make(self) -> Engine:
        """Return an engine for a game, waiting till the network is there; raises LoadError."""
        self.loader.get()
        return Engine(self.options, replace(self._source, warm_up=False))


class Thinker:
    """The thread in which all searches run, one at a time, in the order in which they came."""

    def __init__(self) -> None:
        """Start idle."""
        self._pool = ThreadPoolExecutor(1, "thinker")
        self._waiting: set[object] = set()  # what stands for each work whose turn has not come
        self._turn_began = 0.0

    async def run(self, work: Callable[[], Answered]) -> Answered:
        """Return what `work` returns when its turn has come; raises what it raises."""
        turn = object()
        self._waiting.add(turn)

        def take_turn() -> Answered:
            self._waiting.discard(turn)
            self._turn_began = time.monotonic()
            return work()

        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, take_turn)
        finally:  # whoever has gone away waits no longer
            self._waiting.discard(turn)

    def turn_is_over(self) -> bool:
        """Tell whether the work that runs should give way to others."""
        return bool(self._waiting) and time.monotonic() - self._turn_began > TURN_SECONDS

    def close(self) -> None:
        """Take no more work."""
        self._pool.shutdown(wait=False, cancel_futures=True)
