"""One network for all games, which search by turns."""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar

from engine.engine import Engine, EvaluatorSource
from engine.loader import EngineLoader
from engine.options import EngineOptions
from nn.feature import Evaluator

READY_LINE = "The engine is ready."
# A search that others wait for gives way after so many seconds, and goes on when its turn comes again.
TURN_SECONDS = 0.25
# Works that may have begun at a time, more than there may be tabs.
MAX_BEGUN = 64
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


class Turn:
    """A work's place in the queue: `ready` is set when it may go on, or need not, since nobody waits for it."""

    def __init__(self) -> None:
        """Wait."""
        self.ready = threading.Event()
        self.is_gone = False


class Thinker:
    """Runs all searches, one at a time: each for a turn, in the order in which they came.

    Every work has a thread of its own, which stands still while it is another one's turn.
    """

    def __init__(self) -> None:
        """Start idle."""
        self._pool = ThreadPoolExecutor(MAX_BEGUN, "thinker")
        self._lock = threading.Lock()
        self._waiting: deque[Turn] = deque()
        self._is_busy = False
        self._turn_began = 0.0

    async def run(self, work: Callable[[], Answered]) -> Answered:
        """Return what `work` returns when its turn has come; raises what it raises."""
        turn = Turn()

        def take_turn() -> Answered:
            self._wait(turn)
            try:
                if turn.is_gone:
                    raise CancelledError
                return work()
            finally:
                with self._lock:
                    self._is_busy = False
                    self._call_next()

        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, take_turn)
        finally:
            turn.is_gone = True  # whoever has gone away before his turn waits no longer

    def _wait(self, turn: Turn) -> None:
        """Return when it is this one's turn."""
        with self._lock:
            self._waiting.append(turn)
            self._call_next()
        turn.ready.wait()

    def _call_next(self) -> None:
        """Begin the next one's turn, if there is any and no turn goes on."""
        if not self._is_busy and self._waiting:
            turn = self._waiting.popleft()
            self._is_busy, self._turn_began = True, time.monotonic()
            turn.ready.set()

    def turn_is_over(self) -> bool:
        """Tell whether the work that runs should give way to others."""
        with self._lock:
            waits = any(not turn.is_gone for turn in self._waiting)
        return waits and time.monotonic() - self._turn_began > TURN_SECONDS

    def give_way(self) -> None:
        """Let others have their turns if this one, of the work that runs and calls this, is over."""
        if self.turn_is_over():
            with self._lock:
                self._is_busy = False
            self._wait(Turn())

    def make_stop(self, is_over: Callable[[], bool]) -> Callable[[], bool]:
        """Return what a work's search is to ask: it lets others have their turns, and then tells whether to end."""
        def should_stop() -> bool:
            self.give_way()
            return is_over()

        return should_stop

    def close(self) -> None:
        """Take no more work."""
        self._pool.shutdown(wait=False, cancel_futures=True)
