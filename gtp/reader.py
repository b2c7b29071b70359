"""The thread that owns standard input, so that commands and interruptions are seen while the engine thinks."""

import os
import queue
import sys
import threading
import time
from codecs import BOM_UTF8
from collections.abc import Callable
from dataclasses import dataclass

from gtp.protocol import is_interrupt, parse_line

CHUNK_BYTES = 65536
# Longer lines are cut and answered with an error; thousands of moves on one line fit.
MAX_LINE_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class InputLine:
    """A line of input, numbered from 1, with the time (time.monotonic) when it arrived."""

    text: str
    number: int = 0
    arrived: float = 0.0
    overlong: bool = False


def read_stdin() -> bytes:
    """Return what stdin has, b"" at its end; past Python's buffer, whose lock would hang the exit of the program."""
    try:
        return os.read(sys.stdin.fileno(), CHUNK_BYTES)
    except (OSError, ValueError, AttributeError):  # closed, or a program without a console
        return b""


class LineReader:
    """Queue of input lines, filled by a thread of its own; works for files, pipes and consoles of any system."""

    def __init__(self, read: Callable[[], bytes] = read_stdin) -> None:
        """Prepare to take bytes from `read`, which returns b"" at the end of the input."""
        self._read = read
        self._queue: queue.Queue[InputLine | None] = queue.Queue()
        self._count = 0
        # Number of the last line that asked for an interruption.
        self.interrupted_at = 0
        # Number of the last line with a command: not blank, nor a comment.
        self.last_command = 0
        # When the input ended (time.monotonic), None while it is open.
        self.ended_at: float | None = None

    def start(self) -> None:
        """Start reading."""
        threading.Thread(target=self._run, name="stdin reader", daemon=True).start()

    def get(self, timeout: float | None = None) -> InputLine | None:
        """Return the next line, None at the end of the input; raises queue.Empty after `timeout` seconds."""
        return self._queue.get(timeout=timeout)

    def has_more(self) -> bool:
        """Tell whether a line waits to be processed."""
        return self._queue.qsize() > (1 if self.ended_at is not None else 0)

    def interrupt(self) -> None:
        """Act as if a line that asks for an interruption had come in."""
        self.interrupted_at = self._count + 1

    def _run(self) -> None:
        """Queue lines until the input ends, then None."""
        try:
            self._read_lines()
        finally:
            self.ended_at = time.monotonic()
            self._queue.put(None)

    def _read_lines(self) -> None:
        """Cut the input into lines; the last one may lack its newline."""
        rest = bytearray()
        overlong = False
        while chunk := self._read():
            first, *others = chunk.split(b"\n")
            rest += first
            for piece in others:
                self._put(rest, overlong)
                rest, overlong = bytearray(piece), False
            if len(rest) > MAX_LINE_BYTES:
                del rest[MAX_LINE_BYTES:]
                overlong = True
        if rest:
            self._put(rest, overlong)

    def _put(self, line: bytearray, overlong: bool) -> None:
        """Queue one line; bytes that are not UTF-8 are kept as surrogates (they may be a file's name).

        The byte order mark that some shells put before the first line is left out.
        """
        if not self._count:
            line = line.removeprefix(BOM_UTF8)
        self._count += 1
        overlong = overlong or len(line) > MAX_LINE_BYTES
        text = line[:MAX_LINE_BYTES].decode("utf-8", errors="surrogateescape")
        if is_interrupt(text):
            self.interrupted_at = self._count
        if overlong or parse_line(text) is not None:
            self.last_command = self._count
        self._queue.put(InputLine(text, self._count, time.monotonic(), overlong))
