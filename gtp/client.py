"""The GTP client: takes commands from the reader one by one and answers them.

A command is a method `cmd_<name>` of GtpClient or of one of the groups it inherits from ("__" stands for "-"); there
is no other list of commands. Methods `unlisted_<name>` are carried out as well, but list_commands keeps them secret.
"""

import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from common.print_console import print_err
from engine.loader import EngineLoader, LoadError, load_engine
from engine.options import EngineOptions
from gtp.commands.analyze import AnalyzeCommands
from gtp.commands.clock import ClockCommands
from gtp.commands.dialect import DialectCommands
from gtp.commands.gogui import GoguiCommands
from gtp.commands.info import InfoCommands
from gtp.commands.parameter import ParameterCommands
from gtp.commands.play import PlayCommands
from gtp.commands.position import PositionCommands
from gtp.commands.rules import RulesCommands
from gtp.commands.score import ScoreCommands
from gtp.commands.setup import SetupCommands
from gtp.commands.sgf import SgfCommands
from gtp.protocol import (
    Command,
    GtpError,
    format_beginning,
    format_end,
    format_failure,
    format_success,
    parse_line,
)
from gtp.reader import InputLine, LineReader
from program import PROGRAM_NAME, PROTOCOL_VERSION, VERSION

if TYPE_CHECKING:
    from engine.engine import Engine

# Loading begins when no command has come for this long (seconds): the questions at the start are answered first.
IDLE_BEFORE_FIRST_LINE = 0.3
IDLE_AFTER_LINE = 0.1
# How often a failed load is looked for (seconds), so that it ends the program also when no command comes.
LOADING_POLL = 0.1
# After the end of the input a search goes on for this long if no command follows (seconds).
SEARCH_AFTER_END = 5.0

# How often a command that waits for the next line looks for it (seconds).
LINE_POLL = 0.005

METHOD_PREFIX = "cmd_"
UNLISTED_PREFIX = "unlisted_"
EXIT_OK = 0
EXIT_BAD_MODEL = 2

CommandMethod = Callable[[Command], str]


def write_stdout(text: str) -> None:
    """Write a reply at once."""
    sys.stdout.write(text)
    sys.stdout.flush()


class GtpClient(
    SetupCommands, PositionCommands, PlayCommands, ClockCommands, RulesCommands, ScoreCommands, AnalyzeCommands,
    SgfCommands, ParameterCommands, DialectCommands, InfoCommands, GoguiCommands,
):
    """Answers GTP commands; the engine behind it is loaded when it is first needed or when nothing else is to do."""

    def __init__(
        self,
        options: EngineOptions,
        load: Callable[[EngineOptions], "Engine"] = load_engine,
        write: Callable[[str], None] = write_stdout,
    ) -> None:
        """Prepare to play with `options`; `load` makes the engine, `write` takes the replies."""
        self.options = options
        self.line = InputLine("")
        self.reader: LineReader | None = None
        self.quitting = False
        self._loader = EngineLoader(lambda: load(options))
        self._write = write
        self._methods = self._collect_methods(METHOD_PREFIX)
        self._unlisted = self._collect_methods(UNLISTED_PREFIX)
        self._command = Command("", "")
        self._reply_is_open = False

    @property
    def engine(self) -> "Engine":
        """The engine, loaded now if it is not yet."""
        return self._loader.get()

    def _collect_methods(self, prefix: str) -> dict[str, CommandMethod]:
        """Return all commands whose methods have this prefix in order of definition, those of this class first."""
        return {
            name.removeprefix(prefix).replace("__", "-"): getattr(self, name)
            for cls in type(self).__mro__ for name in vars(cls) if name.startswith(prefix)
        }

    def _find_method(self, name: str) -> CommandMethod | None:
        """Return what carries out a command, None if there is no such command."""
        for word in (name, name.lower()):
            method = self._methods.get(word) or self._unlisted.get(word)
            if method is not None:
                return method
        return None

    def cmd_protocol_version(self, _: Command) -> str:
        """Answer the version of the protocol."""
        return PROTOCOL_VERSION

    def cmd_name(self, _: Command) -> str:
        """Answer the name of the program."""
        return PROGRAM_NAME

    def cmd_version(self, _: Command) -> str:
        """Answer the version of the program, or what --override-version says."""
        return self.options.override_version or VERSION

    def cmd_known_command(self, command: Command) -> str:
        """Answer whether a command exists."""
        return "true" if command.args and command.args[0] in self._methods else "false"

    def cmd_list_commands(self, _: Command) -> str:
        """Answer the names of all commands."""
        return "\n".join(self._methods)

    def cmd_quit(self, _: Command) -> str:
        """End the program after the reply."""
        self.quitting = True
        return ""

    def cmd_cputime(self, _: Command) -> str:
        """Answer the processor time used so far, seconds."""
        return f"{time.process_time():.3f}"

    def is_interrupted(self) -> bool:
        """Tell whether an interruption was asked for after the running command."""
        return self.reader is not None and self.reader.interrupted_at > self.line.number

    def should_stop(self) -> bool:
        """Tell whether the running search is to answer now: interrupted, or nobody is left to read the answer."""
        if self.reader is None or self.is_interrupted():
            return self.reader is not None
        ended_at = self.reader.ended_at
        return (ended_at is not None and not self.reader.has_more()
                and time.monotonic() - max(ended_at, self.line.arrived) > SEARCH_AFTER_END)

    def is_next_line_here(self) -> bool:
        """Tell whether a line came in after the one that is being carried out, or no further one can come."""
        return self.reader is None or self.reader.ended_at is not None or self.reader.has_more()

    def wait_for_next_line(self) -> None:
        """Return as soon as is_next_line_here()."""
        while not self.is_next_line_here():
            time.sleep(LINE_POLL)

    def answer_on_sigint(self) -> None:
        """From now on take an interrupt signal (Ctrl-C) as the wish that a running command answers."""
        reader = self.reader
        if reader is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, lambda *_: reader.interrupt())

    def open_reply(self) -> None:
        """Write the beginning of a successful reply now; what the command returns ends it."""
        self._reply_is_open = True
        self._write(format_beginning(self._command.id))

    def write_line(self, text: str) -> None:
        """Write a line of the reply that was opened, at once."""
        self._write(f"{text}\n")

    def execute(self, line: InputLine) -> str | None:
        """Carry out a line and return the reply, None for a line without a command; raises LoadError."""
        command = parse_line(line.text)
        if command is None:
            return None
        self.line = line
        if line.overlong:
            return format_failure(command.id, "line too long")
        method = self._find_method(command.name)
        if method is None:
            return format_failure(command.id, "unknown command")
        self._command, self._reply_is_open = command, False
        try:
            text = method(command)
            return format_end(text) if self._reply_is_open else format_success(command.id, text)
        except GtpError as error:
            return format_failure(command.id, str(error))
        except LoadError:
            raise
        except Exception as error:
            text = f"internal error: {type(error).__name__}: {error}"
            print_err(f"Error in {command.name}:", " ".join(text.split()))
            if self._reply_is_open:
                return format_end("")
            return format_failure(command.id, text)

    def run(self, reader: LineReader) -> int:
        """Answer commands until `quit`, the end of the input or Ctrl-C, and return the exit status."""
        self.reader = reader
        reader.start()
        try:
            return self._serve(reader)
        except LoadError as error:
            print_err(error)
            return EXIT_BAD_MODEL
        except KeyboardInterrupt:
            return EXIT_OK
        except OSError:
            # Nobody reads the replies any more.
            return EXIT_OK

    def _serve(self, reader: LineReader) -> int:
        """Answer line after line; between them look after the loading."""
        patience = IDLE_BEFORE_FIRST_LINE
        while not self.quitting:
            self._ponder()
            try:
                line = reader.get(patience)
            except queue.Empty:
                self._loader.start()
                patience = 1.0 if self._loader.done else LOADING_POLL
                if self._loader.error:
                    raise LoadError(self._loader.error) from None
                continue
            if line is None:
                break
            reply = self.execute(line)
            if reply is not None:
                self._write(reply)
            if not self._loader.started:
                patience = IDLE_AFTER_LINE
        return EXIT_OK

    def _ponder(self) -> None:
        """Think on the opponent's time until a line comes in, if that is wanted."""
        if self._loader.done and not self._loader.error and self.engine.wants_to_ponder():
            self.engine.ponder(self.is_next_line_here)


def prepare_stdout() -> None:
    """Make stdout write UTF-8 and plain newlines on every system."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def run_gtp(options: EngineOptions) -> int:
    """Speak GTP on stdin and stdout and return the exit status."""
    prepare_stdout()
    return GtpClient(options).run(LineReader())


def leave(status: int) -> None:
    """End the process at once: threads that read stdin or import torch cannot be stopped politely."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue
    os._exit(status)
