"""What a run of self-play needs from the place where its workers are: processes here, or actors on a cluster."""

import time
from collections.abc import Iterable
from multiprocessing.connection import Connection
from typing import Protocol

from common.exit_status import EXIT_FAILED, ProgramError
from selfplay.task import WorkerTask

# Games from elsewhere that are written at a time: a disk that is told to sync several files does them together.
WRITERS = 8


class SelfPlayError(ProgramError):
    """A run that cannot go on; the text is one line for the user."""

    def __init__(self, text: str, status: int = EXIT_FAILED) -> None:
        """Keep the exit status."""
        super().__init__(text, status)


def be_worker(connection: Connection, task: WorkerTask) -> None:
    """Play until the parent says stop; the parent does without the kernels that are imported for it."""
    from selfplay.worker import run_worker

    run_worker(connection, task)


class WorkerHandle:
    """A worker seen from the supervisor.

    Attributes:
        slots: games it plays at a time; 0 until it is ready.
        numbers: games it was told to play and has not reported.
        started: time.monotonic() of its start.
    """

    def __init__(self) -> None:
        """Note the time."""
        self.slots = 0
        self.numbers: set[int] = set()
        self.started = time.monotonic()

    def send(self, numbers: list[int] | None) -> None:
        """Tell it to play more games, or (None) to end; if it is gone, its end will be received."""
        raise NotImplementedError

    def kill(self) -> None:
        """End it by force."""
        raise NotImplementedError


class WorkerPool(Protocol):
    """Starts workers and brings their messages."""

    description: str  # of the place, for the user; empty where there is nothing to say

    def size(self) -> int:
        """Return how many workers there should be at present."""

    def start(self) -> WorkerHandle:
        """Start one more."""

    def welcome(self, worker: WorkerHandle, description: str, on_gpu: bool) -> str:
        """Learn what a worker that has become ready computes with; return the line for the log, "" for none."""

    def receive(self, workers: list[WorkerHandle], seconds: float) -> Iterable[tuple[WorkerHandle, tuple]]:
        """Yield what the workers have to say (selfplay/task.py), waiting at most so long for the first message.

        The game of a GAME message is on the disk. After ENDED nothing more comes from a worker. Raises SelfPlayError.
        """
