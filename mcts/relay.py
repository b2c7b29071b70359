"""Threads that take turns at a search: while one has the tree, the others are in the network, each on its own core.

dlshogi lets two threads take turns (T. Yamaoka, "dlshogi"). Here the order of the turns is that of a clock which counts
how long each call of the network should take, not how long it took: a search stays the same each time, and a thread
with a short call need not wait for one with a long call.
"""

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
        # When each should have its turn again; who has waited longest stands first.
        self._due = dict.fromkeys(range(threads), 0.0)
        self._idle: set[int] = set()  # those that had nothing to do
        self._batons = [Semaphore(0) for _ in range(threads)]

    @property
    def _next(self) -> int:
        """The thread whose turn it is."""
        return min(self._due, key=self._due.__getitem__)

    def hand_over(self) -> None:
        """Give the baton to the thread whose turn it is."""
        if self._due:
            self._batons[self._next].release()

    def wait_for_turn(self, thread: int) -> None:
        """Wait for the baton."""
        self._batons[thread].acquire()

    def end_turn(self, length: float | None) -> None:
        """Let the next thread have its turn; the one whose turn it was comes again after `length`, never if None.

        With a length of 0 it has nothing to do before another thread has had its turn: one that has something to do,
        as two that have nothing would wait for each other, turn after turn, while the others never had theirs.
        """
        if self._has_no_order:
            return
        now = self._due.pop(thread := self._next)
        self._idle.discard(thread)
        if length:
            self._due[thread] = now + length
        elif length is not None:
            self._due[thread] = min((due for other, due in self._due.items() if other not in self._idle), default=now)
            self._idle.add(thread)
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

    def __init__(self, threads: int, length_of: Callable[[Task], float] = lambda _: 1.0) -> None:
        """Begin threads when they are needed; a single one is the caller's.

        `length_of` tells how long what comes between two turns should take, in any unit; 0: there is nothing to do.
        """
        self.threads, self._length_of = threads, length_of
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

    def _take_turns(self, ring: Ring, thread: int, turn: Callable[[Task | None], Task | None],
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
                ring.end_turn(None if task is None else self._length_of(task))
            if task is None:
                return
            try:
                between(task)
            except BaseException as error:  # raised when the thread has its turn again: until then others count on it
                failure = error
