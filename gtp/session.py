"""What the commands of a session share: the engine, the line that is carried out, and the way to answer."""

import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from engine.loader import EngineLoader
from engine.options import EngineOptions
from gtp.protocol import Command, format_beginning
from gtp.reader import InputLine, LineReader

if TYPE_CHECKING:
    from engine.engine import Engine
    from engine.game import Game

# After the end of the input the last command chooses its move within so many seconds.
SEARCH_AFTER_END = 5.0
# How often a command that waits for the next line looks for it (seconds).
LINE_POLL = 0.005


def write_stdout(text: str) -> None:
    """Write a reply at once."""
    sys.stdout.write(text)
    sys.stdout.flush()


def nobody_reads_stdout() -> bool:
    """Tell whether the other end of stdout is gone; never so on a system that does not tell."""
    try:
        poll = select.poll()
        poll.register(sys.stdout.fileno(), 0)
        return any(events & (select.POLLERR | select.POLLHUP) for _, events in poll.poll(0))
    except (AttributeError, OSError, ValueError):
        return False


class GtpSession:
    """One controller's session.

    Attributes:
        options: options of the command line.
        loader: loads the engine.
        command_names: the listed commands.
        line: the line of input that is being carried out.
        reader: where lines come from, None outside of the loop.
        quitting: whether the program ends after the reply.
        reply_is_open: whether the beginning of the reply was written.
    """

    def __init__(self, options: EngineOptions, loader: EngineLoader, write: Callable[[str], None]) -> None:
        """Begin with no line; `write` takes the replies."""
        self.options, self.loader, self.write = options, loader, write
        self.command_names: list[str] = []
        self.line = InputLine("")
        self.reader: LineReader | None = None
        self.quitting = False
        self.reply_is_open = False
        self._command = Command("", "")
        self._begun_at = 0.0  # when the command began, or the engine was there for which it waited

    # --- the engine ---------------------------------------------------------------------------------------------

    @property
    def game(self) -> "Game":
        """The game, there at once; raises LoadError."""
        return self.loader.game

    @property
    def engine(self) -> "Engine":
        """The game with its player; the first use waits until the network is loaded. Raises LoadError."""
        waits = not self.loader.is_ready
        engine = self.loader.get(nobody_reads_stdout)
        from common.kernel import wait_for_compiler
        wait_for_compiler()
        if waits:
            self._begun_at = time.monotonic()
        return engine

    # --- the reply ----------------------------------------------------------------------------------------------

    def begin(self, line: InputLine, command: Command) -> None:
        """Carry out this command from now on."""
        self.line, self._command, self.reply_is_open = line, command, False
        self._begun_at = time.monotonic()

    def open_reply(self) -> None:
        """Write the beginning of a successful reply now; what the command returns ends it."""
        self.reply_is_open = True
        self.write(format_beginning(self._command.id))

    def write_line(self, text: str) -> None:
        """Write a line of the reply that was opened, at once."""
        self.write(f"{text}\n")

    # --- other lines --------------------------------------------------------------------------------------------

    def is_interrupted(self) -> bool:
        """Tell whether an interruption was asked for after the running command."""
        return self.reader is not None and self.reader.interrupted_at > self.line.number

    def should_stop(self) -> bool:
        """Tell whether the running search is to answer now: interrupted, or nobody is left to read the answer."""
        if self.reader is None or self.is_interrupted():
            return self.reader is not None
        ended_at = self.reader.ended_at
        return (ended_at is not None and self.line.number >= self.reader.last_command
                and time.monotonic() - max(ended_at, self._begun_at) > SEARCH_AFTER_END)

    def is_next_line_here(self) -> bool:
        """Tell whether a line came in after the one that is being carried out, or no further one can come."""
        return self.reader is None or self.reader.ended_at is not None or self.reader.has_more()

    def should_cancel(self) -> bool:
        """Tell whether a command that goes on until the next line is to end: that is here, or an interruption."""
        return self.is_next_line_here() or self.is_interrupted()

    def wait_for_cancelling(self) -> None:
        """Return as soon as should_cancel()."""
        while not self.should_cancel():
            time.sleep(LINE_POLL)

    def answer_on_sigint(self) -> None:
        """From now on take an interrupt signal (Ctrl-C) as the wish that a running command answers."""
        reader = self.reader
        if reader is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, lambda *_: reader.interrupt())
