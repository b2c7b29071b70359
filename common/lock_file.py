"""Locks between programs: a file that one program at a time can hold."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

# What file systems say that know no locks: some of networks and clusters.
NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP)


def take_lock(path: Path) -> IO[str] | None:
    """Return an open file that holds the lock until it is closed or its program ends; None where another one holds it.

    Creates the file and its folder; raises OSError where that fails. The file stays behind, as removing it would let
    two programs hold the lock. On Windows, and where the file system knows no locks, nobody is kept out.
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
    except OSError as error:
        if error.errno not in NO_LOCKS:
            file.close()
            raise
    return file


@contextmanager
def hold_lock(path: Path, refusal: Exception) -> Iterator[IO[str]]:
    """Hold the lock in this block, by this file; raises `refusal` while another one holds it, and OSError."""
    lock = take_lock(path)
    if lock is None:
        raise refusal
    with lock:
        yield lock
