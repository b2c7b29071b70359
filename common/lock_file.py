"""Locks between programs: a file that one program at a time can hold."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


def take_lock(path: Path) -> IO[str] | None:
    """Return an open file that holds the lock until it is closed or its program ends; None where another one holds it.

    Creates the file and its folder; raises OSError where that fails. The file stays behind, as removing it would let
    two programs hold the lock. On Windows nobody is kept out.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("w", encoding="ascii")
    try:
        import fcntl
    except ImportError:
        return file
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file


@contextmanager
def hold_lock(path: Path, refusal: Exception) -> Iterator[IO[str]]:
    """Hold the lock in this block, by this file; raises `refusal` while another one holds it, and OSError."""
    lock = take_lock(path)
    if lock is None:
        raise refusal
    with lock:
        yield lock
