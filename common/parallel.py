"""Work for several processes, with the results in the order of the tasks."""

import multiprocessing
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from typing import TypeVar

from common.exit_status import EXIT_FAILED, ProgramError
from common.interrupt import block_interrupts

Task = TypeVar("Task")
Result = TypeVar("Result")

# Windows lets a program wait for no more processes at a time; a machine may have more cores.
MOST_WORKERS = 61 if os.name == "nt" else sys.maxsize
# How many tasks wait per worker.
TASKS_PER_WORKER = 8
WORKER_ENDED = ("a worker process ended before its work was done: what it said stands above; if it said nothing, the "
                "system may have killed it for want of memory, and fewer processes need less")


def map_in_order(
    function: Callable[[Task], Result], tasks: Iterable[Task], workers: int
) -> Iterator[tuple[Task, Result]]:
    """Yield each task with its result, in order; `workers` processes share the tasks if they are more than one.

    When the caller is interrupted or wants no more, what the processes are at is given up. Raises ProgramError where
    one of them ended too early.
    """
    if workers == 1:
        for task in tasks:
            yield task, function(task)
        return
    workers = min(workers, MOST_WORKERS)
    # spawn: the caller may have threads (torch), which do not survive a fork.
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), end_with_parent)
    others = set(multiprocessing.active_children())
    waiting: deque[tuple[Task, Future[Result]]] = deque()
    try:
        for task in tasks:
            with block_interrupts():
                waiting.append((task, pool.submit(function, task)))
            if len(waiting) >= workers * TASKS_PER_WORKER:
                done, future = waiting.popleft()
                yield done, future.result()
        while waiting:
            done, future = waiting.popleft()
            yield done, future.result()
    except BaseException as error:
        # The pool itself would wait for them (its own terminate_workers comes with Python 3.14).
        for worker in set(multiprocessing.active_children()) - others:
            worker.terminate()
        # Who was ended while he wrote a result leaves half of it: the pool's thread must not wait for the rest.
        with suppress(AttributeError):
            pool._result_queue._writer.close()  # type: ignore[attr-defined]
        if isinstance(error, BrokenProcessPool):
            raise ProgramError(WORKER_ENDED, EXIT_FAILED) from error
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def end_with_parent() -> None:
    """Have this worker process end when the one that started it is gone, however that one ended."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def wait_and_end() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait_and_end, daemon=True).start()
