"""Threads that take turns at a search: while one has the tree, the others are in the network, each on its own core.

dlshogi lets two threads take turns (T. Yamaoka, "dlshogi"). Here the turns have a fixed order, so that a search stays
the same each time, however long each call of the network takes.
"""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Semaphore
from typing import Generic, TypeVar

Task = TypeVar("Task")


class Ring:
    """Who is in the relay, whose turn it is, and whether it is called off."""

    def __init__(self, threads: int) -> None:
        """Let the first of so many threads begin as soon as it has the baton."""
        self.called_off = self._has_no_order = False
        self._order = deque(range(threads))
        self._batons = [Semaphore(0) for _ in range(threads)]

    def hand_over(self) -> None:
        """Give the baton to the thread whose turn it is."""
        if self._order:
            self._batons[self._order[0]].release()

    def wait_for_turn(self, thread: int) -> None:
        """Wait for the baton."""
        self._batons[thread].acquire()

    def end_turn(self, leaves: bool) -> None:
        """Let the next thread have its turn; the one whose turn it was comes again unless it leaves."""
        if self._has_no_order:
            return
        if leaves:
            self._order.popleft()
        else:
            self._order.rotate(-1)
        self.hand_over()

    def call_off(self) -> None:
        """Have all threads end that have begun, or will: each gets the baton, and takes no turn with it."""
        self.called_off = self._has_no_order = True
        for baton in self._batons:
            baton.release()


class Relay(Generic[Task]):
    """So many threads that take turns, as often as wanted.

    Attributes:
        threads: how many.
    """

    def __init__(self, threads: int) -> None:
        """Begin threads when they are needed; a single one is the caller's."""
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads, "search") if threads > 1 else None

    def run(self, turn: Callable[[Task | None], Task | None], between: Callable[[Task], None]) -> None:
        """Have every thread take turns until one of its turns returns None.

        `turn` gets what the thread's last turn returned, None at first, and never runs beside another. Before it,
        `between` is called with the same, beside whatever the other threads do. What either raises ends the relay and
        is raised here.
        """
        if self._pool is None:
            task = turn(None)
            while task is not None:
                between(task)
                task = turn(task)
            return
        ring = Ring(self.threads)
        runs: list[Future[None]] = []
        try:
            for thread in range(self.threads):
                runs.append(self._pool.submit(self._take_turns, ring, thread, turn, between))
            ring.hand_over()
            wait(runs)
        except BaseException:  # an interruption, at any place: nobody goes on behind the caller's back, nor waits
            ring.call_off()
            wait(runs)
            raise
        for run in runs:
            run.result()

    @staticmethod
    def _take_turns(ring: Ring, thread: int, turn: Callable[[Task | None], Task | None],
                    between: Callable[[Task], None]) -> None:
        """Be one of the threads."""
        task: Task | None = None
        failure: BaseException | None = None
        while True:
            ring.wait_for_turn(thread)
            last, task = task, None
            try:
                if failure is not None:
                    raise failure
                if not ring.called_off:
                    task = turn(last)
            except BaseException:
                ring.called_off = True
                raise
            finally:
                ring.end_turn(leaves=task is None)
            if task is None:
                return
            try:
                between(task)
            except BaseException as error:  # raised when the thread has its turn again: until then others count on it
                failure = error
