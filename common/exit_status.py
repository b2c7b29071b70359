"""How programs end: their exit statuses, the same in all of them."""

import errno
from pathlib import Path

EXIT_OK = 0
EXIT_FAILED = 1  # what was begun could not be done: a full disk, a process that died
EXIT_REFUSED = 2  # an option, a file or a model that cannot be used; click ends so, too
EXIT_INTERRUPTED = 130  # by Ctrl-C

DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def status_of(error: OSError) -> int:
    """Return how a program ends that cannot write: as failed where the disk is full, else refused for the path."""
    return EXIT_FAILED if error.errno in DISK_ERRORS else EXIT_REFUSED


def reason_of(error: OSError, place: str | Path) -> str:
    """Return what failed, and where: at the file that the system names, else at `place`; our own words stay alone."""
    return f"{error.strerror}: {error.filename or place}" if error.strerror else str(error)
