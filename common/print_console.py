"""The only doors to the terminal: answers go to stdout, everything else to stderr."""

import io
import sys
from contextlib import suppress
from typing import Any, TextIO


def print_out(*values: object) -> None:
    """Print to stdout at once; for GTP answers and the results of batch programs."""
    _write_line(sys.stdout, values)


def print_err(*values: object) -> None:
    """Print to stderr at once; for diagnostics that a GTP controller must not read.

    Where they cannot be written, as on a full disk or without a stderr, they are lost, and nothing else.
    """
    with suppress(OSError):
        _write_line(sys.stderr, values)


def flush_all() -> None:
    """Have all that was printed written; what cannot be written, as to a stream that was closed, is lost."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # it was closed before the start
            with suppress(OSError, ValueError):
                stream.flush()


class Heedless:
    """stderr for progress bars: what cannot be written is lost, as with print_err, and ends no run."""

    def write(self, text: str) -> None:
        """Write a piece of text."""
        with suppress(OSError):
            sys.stderr.write(text)

    def flush(self) -> None:
        """Have it written at once."""
        with suppress(OSError):
            sys.stderr.flush()

    def __eq__(self, other: object) -> bool:
        """Be taken for stderr: so tqdm asks for the terminal's width, and which bars a line is to clear."""
        return other is sys.stderr

    __hash__ = object.__hash__

    def __getattr__(self, name: str) -> Any:
        """Be stderr in all other ways."""
        return getattr(sys.stderr, name)


def accept_any_letter() -> None:
    """Have stdout show a letter that it has no code for by its number, as stderr does: no name is to end a program."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")


def _write_line(stream: TextIO | None, values: tuple[object, ...]) -> None:
    """Write a line in one piece, since two threads may have something to say; nowhere if there was no stream."""
    if stream is not None:
        stream.write(" ".join(map(str, values)) + "\n")
        stream.flush()
