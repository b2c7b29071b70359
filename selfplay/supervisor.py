"""A run of self-play: workers that play the missing games of a batch, replaced when they fail."""

import math
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from tqdm import tqdm

from common.interrupt import StopRequest
from common.patience import SLOW_LINE, SLOW_SECONDS
from common.print_console import print_err, print_out
from selfplay.archive import OpenBatch, append_log
from selfplay.progress import BatchProgress
from selfplay.task import ENDED, FAILED, GAME, READY
from selfplay.worker_pool import SelfPlayError, WorkerHandle, WorkerPool

REPORT_SECONDS = 60.0
POLL_SECONDS = 0.5
# How long workers get to hand over their last games.
PATIENCE_SECONDS = 20.0
# A run ends after so many failures without a finished game between them. Workers that ran side by side and fail
# together count as one.
MAX_FAILURES = 3


@contextmanager
def ignore_interrupts() -> Iterator[None]:
    """Let no Ctrl-C disturb what is inside, which takes PATIENCE_SECONDS at most."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    old = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, old)


class Supervisor:
    """Hands out game numbers and counts what comes back."""

    def __init__(self, batch: OpenBatch, pool: WorkerPool) -> None:
        """Prepare a run; nothing is started yet."""
        self.batch, self._pool = batch, pool
        self._missing = deque(batch.missing)
        self._workers: list[WorkerHandle] = []
        self._size = 0  # workers that there should be
        self._failures = 0
        self._last_failure = -math.inf
        self.progress = BatchProgress(batch.settings.games, batch.done)
        self._next_report = math.inf
        self._started = 0.0
        self._is_slow = False
        self._bar = tqdm(disable=True)

    def run(self, first_line: str = "") -> str:
        """Report `first_line`, play the missing games; return the name of the signal that ended it early, or "".

        Raises SelfPlayError.
        """
        self._started = time.monotonic()
        with StopRequest() as stop:
            if first_line:
                self.report(first_line)
            try:
                while self.progress.games < len(self.batch.missing) and not stop.name:
                    self._keep_workers()
                    for worker, message in self._pool.receive(list(self._workers), POLL_SECONDS):
                        self._listen(worker, message, stop)
                    self._hand_out()
                    self._report_from_time_to_time()
            except KeyboardInterrupt:
                pass  # the second signal of `timeout` and of terminals that send it to the group and to us
            finally:
                self._bar.close()
                with ignore_interrupts():
                    self._stop_workers()
        return stop.name

    def report(self, line: str) -> None:
        """Say something to the user and to the log."""
        with tqdm.external_write_mode():
            print_out(line)
        self._log(line)

    def _report_from_time_to_time(self) -> None:
        """Say how far the games are, or that the first worker takes long to become ready."""
        now = time.monotonic()
        if now >= self._next_report:
            self.report(self.progress.line())
            self._next_report += REPORT_SECONDS
        elif self._next_report == math.inf and not self._is_slow and now - self._started >= SLOW_SECONDS:
            self._is_slow = True
            self.report(SLOW_LINE)

    def _log(self, line: str) -> None:
        append_log(self.batch.folder, f"{time.strftime('%Y-%m-%d %H:%M:%S')} {line}")

    def _keep_workers(self) -> None:
        """Start the workers that are not there."""
        size = self._pool.size()
        if size != self._size:
            self._size = size
            self._log(f"room for {size} workers")
            if size == 0:
                print_err("no node is left to play on: waiting for one to join")
        busy = sum(worker.slots == 0 or bool(worker.numbers) for worker in self._workers)
        while len(self._workers) < min(size, len(self.batch.missing)) and (self._missing or not busy):
            self._workers.append(self._pool.start())
            busy += 1

    def _listen(self, worker: WorkerHandle, message: tuple, stop: StopRequest) -> None:
        """Act on one message of a worker."""
        if message[0] == READY:
            self._welcome(worker, *message[1:])
        elif message[0] == GAME:
            worker.numbers.discard(message[1].number)
            self.progress.add(message[1])
            self._bar.update()
            self._failures = 0
        elif message[0] == FAILED:
            raise SelfPlayError(message[1], message[2])
        elif message[0] == ENDED:
            self._workers.remove(worker)
            if not stop.name:
                self._take_back(worker, message[1])

    def _welcome(self, worker: WorkerHandle, description: str, on_gpu: bool, slots: int) -> None:
        """Note what a new worker can do; the clock starts with the first one."""
        worker.slots = slots
        line = self._pool.welcome(worker, description, on_gpu)
        if line:
            self._log(line)
        if self._next_report == math.inf:
            self.progress.start = time.monotonic()
            self._next_report = self.progress.start + REPORT_SECONDS
            if self._is_slow:
                self.report(f"Ready after {self.progress.start - self._started:.0f} seconds.")
            self._bar = tqdm(total=self.batch.settings.games, initial=self.batch.done, unit="game", desc="self-play",
                             file=sys.stderr, disable=None, dynamic_ncols=True)

    def _hand_out(self) -> None:
        """Give workers as many games as they can play and a few to go on with, but no more than their share."""
        if not self._missing:
            return
        unfinished = len(self._missing) + sum(len(worker.numbers) for worker in self._workers)
        share = -(-unfinished // max(1, self._pool.size()))
        for worker in self._workers:
            if worker.slots == 0:
                continue
            room = min(worker.slots + max(2, worker.slots // 8), share) - len(worker.numbers)
            numbers = [self._missing.popleft() for _ in range(min(room, len(self._missing)))]
            if numbers:
                worker.numbers.update(numbers)
                worker.send(numbers)

    def _take_back(self, worker: WorkerHandle, end: str) -> None:
        """Have a lost worker's games begin again elsewhere. Raises SelfPlayError."""
        self._missing.extendleft(sorted(worker.numbers, reverse=True))
        self.progress.errors += 1
        line = f"{end}; its {len(worker.numbers)} games begin again"
        print_err(line)
        self._log(line)
        if worker.started < self._last_failure:
            return
        self._failures += 1
        self._last_failure = time.monotonic()
        if self._failures >= MAX_FAILURES:
            raise SelfPlayError(f"{MAX_FAILURES} workers failed one after the other; see the messages above")

    def _stop_workers(self) -> None:
        """End the workers: they hand over what is finished, and are ended by force if they do not."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        for worker in [worker for worker in self._workers if worker.slots == 0]:
            worker.kill()  # still compiling, or loading the network
            self._workers.remove(worker)
        for worker in self._workers:
            worker.send(None)
        while self._workers and time.monotonic() < deadline:
            for worker, message in self._pool.receive(list(self._workers), POLL_SECONDS):
                if message[0] == GAME:
                    self.progress.add(message[1])
                elif message[0] == ENDED:
                    self._workers.remove(worker)
        for worker in self._workers:
            worker.kill()
        self._workers = []
