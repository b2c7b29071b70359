"""Worker processes: deaf to the Ctrl-C of their group, and gone when the program that started them is."""
from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from common import parallel
from common.exit_status import EXIT_FAILED, ProgramError
from common.interrupt import raise_on_sigterm
from common.parallel import map_in_order

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")


def ask_worker(task: int) -> tuple[int, bool]:
    """Return the process and whether it is deaf to Ctrl-C; task 1 takes very long."""
    if task == 1:
        time.sleep(600)
    return os.getpid(), signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def main() -> None:
    """Start two workers and say of the first what it answers."""
    for _, (number, deaf) in map_in_order(ask_worker, [0, 1], 2):
        print(number, deaf, flush=True)


def is_running(number: int) -> bool:
    """Tell whether a process is there and no zombie."""
    try:
        return ") Z" not in Path(f"/proc/{number}/stat").read_text()
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM"])
def test_workers_end_with_their_parent(root: Path, name: str) -> None:
    if not Path("/proc/self/stat").exists():
        pytest.skip("needs /proc")
    with subprocess.Popen([sys.executable, "-m", "tests.common.test_parallel"], cwd=root, stdout=subprocess.PIPE,
                          text=True, start_new_session=True) as parent:
        assert parent.stdout is not None
        worker, deaf = parent.stdout.readline().split()
        assert deaf == "True" and is_running(int(worker))
        parent.send_signal(getattr(signal, name))
    deadline = time.monotonic() + 30
    while is_running(int(worker)):
        assert time.monotonic() < deadline, "a worker outlived its parent"
        time.sleep(0.02)


def test_windows_has_no_more_workers_than_it_can_wait_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(workers: int, *_: object) -> None:
        if workers > 61:
            raise ValueError("max_workers must be <= 61")
        raise OSError("begun")

    monkeypatch.setattr(parallel, "ProcessPoolExecutor", refuse)
    monkeypatch.setattr(parallel, "MOST_WORKERS", 61, raising=False)
    with pytest.raises(OSError, match="begun"):
        list(map_in_order(abs, [1], 96))


def test_a_killed_worker_is_one_line_and_ends_the_others() -> None:
    with pytest.raises(ProgramError, match="a worker process ended before its work was done") as caught:
        for _, (number, _) in map_in_order(ask_worker, [0, 1], 2):
            os.kill(number, signal.SIGKILL)
    assert caught.value.status == EXIT_FAILED and not multiprocessing.active_children()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_caller_waits_for_no_worker(number: signal.Signals) -> None:
    """One is ten minutes from its end."""
    work = map_in_order(ask_worker, [0, 1], 2)
    next(work)
    begin = time.monotonic()
    with raise_on_sigterm(), pytest.raises(KeyboardInterrupt):
        threading.Timer(0.2, os.kill, (os.getpid(), number)).start()
        next(work)
    assert time.monotonic() - begin < 60
    assert not [child for child in multiprocessing.active_children() if child.is_alive()]


def leave_half_a_result(task: int) -> bytes:
    """Interrupt the parent in the middle of writing the result of task 1."""
    def write_half(connection: Connection, data: bytes, **_: object) -> None:
        os.write(connection.fileno(), data[:50])
        os.kill(os.getppid(), signal.SIGTERM)
        time.sleep(600)

    if task == 1:
        Connection._send = write_half  # type: ignore[attr-defined]
    return bytes(100_000)


def test_a_result_that_was_cut_short_is_not_waited_for() -> None:
    begin = time.monotonic()
    with raise_on_sigterm(), pytest.raises(KeyboardInterrupt):
        list(map_in_order(leave_half_a_result, [0, 1], 2))
    assert time.monotonic() - begin < 60


if __name__ == "__main__":
    main()
