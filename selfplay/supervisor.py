"""A run of self-play: worker processes that play the missing games of a batch, replaced when they fail."""

import math
import multiprocessing
import signal
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, wait
from typing import Any

from common.cores import count_usable_cores
from common.print_console import print_err, print_out
from nn.interrupt import StopRequest
from selfplay.archive import OpenBatch, append_log
from selfplay.progress import Progress
from selfplay.worker import EXIT_ERROR, FAILED, GAME, READY, WorkerTask, start_worker

REPORT_SECONDS = 60.0
POLL_SECONDS = 0.5
# How long a worker gets to write its last games.
PATIENCE_SECONDS = 20.0
# Workers that may fail one after the other without a single game between them.
MAX_FAILURES = 3


class SelfPlayError(Exception):
    """A run that cannot go on; the text is one line for the user."""

    def __init__(self, text: str, status: int = EXIT_ERROR) -> None:
        """Keep the exit status."""
        super().__init__(text)
        self.status = status


def share_cores(processes: int, cores: int) -> tuple[int, int]:
    """Return how many of the workers asked for can each have a core of their own, and the cores of each."""
    workers = min(processes, cores)
    return workers, cores // workers


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


@dataclass
class Worker:
    """A worker process seen from here."""

    process: Any
    connection: Connection
    slots: int = 0  # games it plays at a time; 0 until it is ready
    numbers: set[int] = field(default_factory=set)  # games it was told to play


class Supervisor:
    """Hands out game numbers and counts what comes back."""

    def __init__(self, batch: OpenBatch, task: WorkerTask, processes: int) -> None:
        """Prepare a run; nothing is started yet."""
        self.batch, self._task, self._processes = batch, task, processes
        self._context = multiprocessing.get_context("spawn")  # torch's threads do not survive a fork
        self._missing = deque(batch.missing)
        self._workers: list[Worker] = []
        self._wanted = 1  # the first worker shows which device there is, and compiles for all
        self._failures = 0
        self.progress = Progress(batch.settings.games, batch.done)
        self._next_report = math.inf

    def run(self) -> str:
        """Play the missing games; return the name of the signal that ended the run early, or "".

        Raises SelfPlayError.
        """
        with StopRequest() as stop:
            try:
                while self.progress.games < len(self.batch.missing) and not stop.name:
                    self._keep_workers()
                    for connection in wait([worker.connection for worker in self._workers], POLL_SECONDS):
                        self._listen(next(w for w in self._workers if w.connection is connection), stop)
                    if time.monotonic() >= self._next_report:
                        self.report(self.progress.line())
                        self._next_report += REPORT_SECONDS
            except KeyboardInterrupt:
                pass  # the second signal of `timeout` and of terminals that send it to the group and to us
            finally:
                with ignore_interrupts():
                    self._stop_workers()
        return stop.name

    def report(self, line: str) -> None:
        """Say something to the user and to the log."""
        print_out(line)
        self._log(line)

    def _log(self, line: str) -> None:
        append_log(self.batch.folder, f"{time.strftime('%Y-%m-%d %H:%M:%S')} {line}")

    def _keep_workers(self) -> None:
        """Start the workers that are not there."""
        busy = sum(worker.slots == 0 or bool(worker.numbers) for worker in self._workers)
        while len(self._workers) < self._wanted and (self._missing or not busy):
            self._workers.append(Worker(*start_worker(self._context, self._task)))
            busy += 1

    def _listen(self, worker: Worker, stop: StopRequest) -> None:
        """Take one message of a worker, or its end."""
        try:
            message = worker.connection.recv()
        except (EOFError, OSError):
            if not stop.name:
                self._replace(worker)
            return
        if message[0] == READY:
            self._welcome(worker, *message[1:])
        elif message[0] == GAME:
            worker.numbers.discard(message[1].number)
            self.progress.add(message[1])
            self._failures = 0
        elif message[0] == FAILED:
            raise SelfPlayError(message[1], message[2])
        self._hand_out([worker])

    def _welcome(self, worker: Worker, description: str, on_gpu: bool, slots: int) -> None:
        """Note what a new worker can do; the first one decides how many there will be."""
        worker.slots = slots
        if worker is not self._workers[0] or self._wanted > 1:
            return
        cores = count_usable_cores()
        workers, threads = (self._processes, 1) if on_gpu else share_cores(self._processes, cores)
        workers = max(1, min(workers, -(-len(self.batch.missing) // max(1, slots // 4))))
        self._wanted = workers
        self._task = replace(self._task, use_gpu=on_gpu)  # "no GPU" is said once
        self.progress.start = time.monotonic()
        self._next_report = self.progress.start + REPORT_SECONDS
        self._log(f"{description}; {workers} processes, {slots} games at a time in each, {threads} threads each")
        if not on_gpu and workers < self._processes:
            print_err(f"{workers} of {self._processes} processes started, for cores: {cores}, "
                      f"games: {len(self.batch.missing)}")
        self._keep_workers()

    def _hand_out(self, workers: Iterable[Worker]) -> None:
        """Give workers as many games as they can play, and a few to go on with."""
        for worker in workers:
            if worker.slots == 0:
                continue
            room = worker.slots + max(2, worker.slots // 8) - len(worker.numbers)
            numbers = [self._missing.popleft() for _ in range(min(room, len(self._missing)))]
            if not numbers:
                continue
            worker.numbers.update(numbers)
            with suppress(OSError):  # if it is gone, the end of its pipe will be met, and the numbers taken back
                worker.connection.send(numbers)

    def _replace(self, worker: Worker) -> None:
        """Take a failed worker's games back; a new one is started for it. Raises SelfPlayError."""
        worker.process.join()
        worker.connection.close()
        self._workers.remove(worker)
        self._missing.extendleft(sorted(worker.numbers, reverse=True))
        self.progress.errors += 1
        self._failures += 1
        line = f"a worker ended with status {worker.process.exitcode}; its {len(worker.numbers)} games begin again"
        print_err(line)
        self._log(line)
        if self._failures >= MAX_FAILURES:
            raise SelfPlayError(f"{MAX_FAILURES} workers failed one after the other; see the messages above")

    def _stop_workers(self) -> None:
        """End the workers: they write what is finished, and are ended by force if they do not."""
        for worker in self._workers:
            if worker.slots == 0:
                worker.process.kill()  # still compiling, or loading the network
            with suppress(OSError):
                worker.connection.send(None)
        deadline = time.monotonic() + PATIENCE_SECONDS
        for worker in self._workers:
            self._drain(worker, deadline)
            worker.process.join(max(0.0, deadline - time.monotonic()))
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
            worker.connection.close()
        self._workers = []

    def _drain(self, worker: Worker, deadline: float) -> None:
        """Count the games that a stopping worker still reports."""
        try:
            while worker.connection.poll(max(0.0, deadline - time.monotonic())):
                message = worker.connection.recv()
                if message[0] == GAME:
                    self.progress.add(message[1])
        except (EOFError, OSError):
            return
