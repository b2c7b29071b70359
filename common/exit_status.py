"""How programs end: their exit statuses, the same in all of them, and the line that says why."""

import errno
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from common.interrupt import Terminated
from common.print_console import flush_all

EXIT_OK = 0
EXIT_FAILED = 1  # what was begun could not be done: a full disk, a process that died
EXIT_REFUSED = 2  # an option, a file or a model that cannot be used; click ends so, too
SIGNAL_STATUS = 128  # of a program that a signal has ended: this and its number
EXIT_INTERRUPTED = SIGNAL_STATUS + signal.SIGINT  # 130: Ctrl-C
EXIT_TERMINATED = SIGNAL_STATUS + signal.SIGTERM  # 143

DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
READER_IS_GONE = "nobody reads what is printed any more (Broken pipe)"  # `train.py ... | head -1`


class ProgramError(Exception):
    """An error that ends the program unless it is caught: the text is one line for the user (run_command prints it).

    Attributes:
        status: How the program is to end.
    """

    def __init__(self, text: str, status: int = EXIT_REFUSED) -> None:
        """Keep the exit status."""
        super().__init__(text)
        self.status = status

    def __reduce__(self) -> tuple[Any, ...]:
        """Go to another process as text and attributes: what the constructor of a subclass takes does not matter."""
        return bring_back, (type(self), self.args, self.__dict__)


def bring_back(kind: type[ProgramError], texts: tuple[str, ...], attributes: dict[str, Any]) -> ProgramError:
    """Return an error that comes from another process."""
    error = kind.__new__(kind, *texts)
    error.__dict__.update(attributes)
    return error


def status_of(error: OSError) -> int:
    """Return how a program ends that cannot write: as failed where disk or reader fail, else refused for the path."""
    return EXIT_FAILED if error.errno in (*DISK_ERRORS, errno.EPIPE) else EXIT_REFUSED


def status_of_stop(stop: BaseException | None) -> int:
    """Return how a program ends that was stopped."""
    return EXIT_TERMINATED if isinstance(stop, Terminated) else EXIT_INTERRUPTED


def status_of_signal(name: str) -> int:
    """Return how a program ends that a signal has stopped, such as SIGINT."""
    return SIGNAL_STATUS + signal.Signals[name]


def reason_of(error: OSError, place: str | Path = "") -> str:
    """Return what failed, and where: at the file that the system names, else at `place`; our own words stay alone.

    A pipe whose reader has ended is that of the output, wherever the program is at work.
    """
    if error.errno == errno.EPIPE and not error.filename:
        return READER_IS_GONE
    if not error.strerror:
        return str(error)
    return f"{error.strerror}: {error.filename or place}" if error.filename or place else error.strerror


@contextmanager
def tell_failures(place: str | Path, kept: str = "", stopped: str = "") -> Iterator[None]:
    """Turn an OSError of the block into a ProgramError about `place`; `kept` says what is not lost.

    If `stopped` is given, Ctrl-C and SIGTERM become a ProgramError with that text, too.
    """
    try:
        yield
    except OSError as error:
        text = reason_of(error, place)
        raise ProgramError(f"{text}; {kept}" if kept else text, status_of(error)) from error
    except KeyboardInterrupt as stop:
        if not stopped:
            raise
        raise ProgramError(stopped, status_of_stop(stop)) from None


def leave(status: int) -> None:
    """End the process at once: threads that read stdin or import torch cannot be stopped politely.

    An interruption that comes now has nothing left to end.
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    flush_all()
    os._exit(status)
