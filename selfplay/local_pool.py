"""Workers that are processes on this machine."""

import multiprocessing
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from typing import Any

from common.cores import count_usable_cores
from common.interrupt import block_interrupts
from common.print_console import print_err
from selfplay.task import ENDED, WorkerTask
from selfplay.worker_pool import WorkerHandle, be_worker


def run_process(connection: Connection, task: WorkerTask) -> None:
    """Be a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group: the parent decides
    be_worker(connection, task)


def start_worker(context: Any, task: WorkerTask) -> tuple[Any, Connection]:
    """Start a worker process and return it with our end of the pipe."""
    ours, theirs = context.Pipe()
    process = context.Process(target=run_process, args=(theirs, task), name="selfplay-worker", daemon=True)
    with block_interrupts():
        process.start()
    theirs.close()
    return process, ours


def divide_cores(processes: int, cores: int) -> tuple[int, int]:
    """Return how many of the workers asked for can each have a core of their own, and the cores of each."""
    workers = min(processes, cores)
    return workers, cores // workers


class LocalHandle(WorkerHandle):
    """A process and our end of the pipe to it."""

    def __init__(self, process: Any, connection: Connection) -> None:
        """Keep both."""
        super().__init__()
        self.process, self.connection = process, connection

    def send(self, numbers: list[int] | None) -> None:
        """Write into the pipe."""
        with suppress(OSError):
            self.connection.send(numbers)

    def kill(self) -> None:
        """Kill the process and wait for its end."""
        self.process.kill()
        self.process.join()
        self.connection.close()

    def receive(self) -> tuple:
        """Return the next message, waiting for it."""
        try:
            return self.connection.recv()
        except (EOFError, OSError):
            self.process.join()
            self.connection.close()
            return ENDED, f"a worker ended with status {self.process.exitcode}"


class LocalPool:
    """Worker processes: the first one shows which device there is and compiles for all, then the others start."""

    description = ""

    def __init__(self, task: WorkerTask, processes: int, games: int) -> None:
        """Prepare for `games` games; nothing is started yet."""
        self._task, self._processes, self._games = task, processes, games
        self._context = multiprocessing.get_context("spawn")  # torch's threads do not survive a fork
        self._size: int | None = None

    def size(self) -> int:
        """Return the number of processes; one as long as the device is unknown."""
        return 1 if self._size is None else self._size

    def start(self) -> LocalHandle:
        """Start a process."""
        return LocalHandle(*start_worker(self._context, self._task))

    def welcome(self, worker: WorkerHandle, description: str, on_gpu: bool) -> str:
        """Have the first worker decide how many there will be."""
        if self._size is not None:
            return ""
        cores = count_usable_cores()
        workers, threads = (self._processes, 1) if on_gpu else divide_cores(self._processes, cores)
        self._size = workers = max(1, min(workers, -(-self._games // max(1, worker.slots // 4))))
        self._task = replace(self._task, use_gpu=on_gpu)  # "no GPU" is said once
        if not on_gpu and workers < self._processes:
            print_err(f"{workers} of {self._processes} processes started, for cores: {cores}, games: {self._games}")
        return f"{description}; {workers} processes, {worker.slots} games at a time in each, {threads} threads each"

    def receive(self, workers: list[WorkerHandle], seconds: float) -> Iterator[tuple[WorkerHandle, tuple]]:
        """Yield one message of each process that has something to say."""
        by_connection = {worker.connection: worker for worker in workers if isinstance(worker, LocalHandle)}
        for connection in wait(list(by_connection), seconds):
            worker = by_connection[connection]  # type: ignore[index]
            yield worker, worker.receive()
