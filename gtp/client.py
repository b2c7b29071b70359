"""The GTP client: takes commands from the reader one by one and answers them.

A command is a method of one of the GROUPS (gtp/commands/command_group.py); there is no other list of commands.
"""

import queue
import sys
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING

from common.exit_status import EXIT_OK, EXIT_REFUSED, ProgramError
from common.exit_status import leave as leave  # programs that speak GTP end by it, too
from common.interrupt import interrupt_once
from common.print_console import print_err
from engine.loader import LOADING_POLL, AbandonedError, EngineLoader, LoadError, make_engine
from engine.options import EngineOptions
from gtp.commands.admin import AdminCommands
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
from gtp.protocol import Command, GtpError, format_end, format_failure, format_success, parse_line
from gtp.reader import InputLine, LineReader
from gtp.session import GtpSession, write_stdout
from nn.model_file import ModelFileError

if TYPE_CHECKING:
    from engine.engine import Engine

# In the order of list_commands: some controllers want protocol_version first.
GROUPS = (
    AdminCommands, SetupCommands, PositionCommands, PlayCommands, ClockCommands, RulesCommands, ScoreCommands,
    AnalyzeCommands, SgfCommands, ParameterCommands, DialectCommands, InfoCommands, GoguiCommands,
)

# Loading begins when no command has come for this long (seconds): the questions at the start are answered first.
IDLE_BEFORE_FIRST_LINE = 0.3
IDLE_AFTER_LINE = 0.1

# LizGoban waits for it on stderr.
READY_LINE = "GTP ready"

METHOD_PREFIX = "cmd_"
UNLISTED_PREFIX = "unlisted_"

CommandMethod = Callable[[Command], str]


class GtpClient:
    """Answers GTP commands; the engine behind it is loaded when it is first needed or when nothing else is to do."""

    def __init__(
        self,
        options: EngineOptions,
        make: Callable[[EngineOptions], "Engine"] = make_engine,
        write: Callable[[str], None] = write_stdout,
    ) -> None:
        """Prepare to play with `options`; `make` makes the engine, `write` takes the replies."""
        self.loader = EngineLoader(lambda: make(options), READY_LINE)
        self.session = GtpSession(options, self.loader, write)
        groups = [group(self.session) for group in GROUPS]
        self._methods = collect_methods(groups, METHOD_PREFIX)
        self._unlisted = collect_methods(groups, UNLISTED_PREFIX)
        self.session.command_names = list(self._methods)

    def _find_method(self, name: str) -> CommandMethod | None:
        """Return what carries out a command, None if there is no such command."""
        for word in (name, name.lower()):
            method = self._methods.get(word) or self._unlisted.get(word)
            if method is not None:
                return method
        return None

    def execute(self, line: InputLine) -> str | None:
        """Carry out a line and return the reply, None for a line without a command.

        Raises LoadError, and AbandonedError when nobody waits for the engine any more.
        """
        command = parse_line(line.text)
        if command is None:
            return None
        if line.overlong:
            return format_failure(command.id, "line too long")
        method = self._find_method(command.name)
        if method is None:
            return format_failure(command.id, "unknown command")
        self.session.begin(line, command)
        try:
            # What numba costs at the first use is not for the questions that come first.
            is_light = isinstance(getattr(method, "__self__", None), AdminCommands)
            with nullcontext() if is_light else self.loader.at_once():
                text = method(command)
            return format_end(text) if self.session.reply_is_open else format_success(command.id, text)
        except (LoadError, AbandonedError, ConnectionError):  # the last: nobody reads any more
            raise
        except Exception as error:
            is_expected = isinstance(error, GtpError | ModelFileError)  # the latter: no network for this board size
            text = str(error) if is_expected else f"internal error: {type(error).__name__}: {error}"
            if self.session.reply_is_open or not is_expected:
                print_err(f"Error in {command.name}:", " ".join(text.split()))
            return format_end("") if self.session.reply_is_open else format_failure(command.id, text)

    def run(self, reader: LineReader) -> int:
        """Answer commands until `quit`, the end of the input or Ctrl-C, and return the exit status."""
        self.session.reader = reader
        reader.start()
        try:
            return self._serve(reader)
        except LoadError as error:
            print_err(error)
            return EXIT_REFUSED
        except KeyboardInterrupt:
            return EXIT_OK
        except OSError:
            # Nobody reads the replies any more.
            return EXIT_OK

    def _serve(self, reader: LineReader) -> int:
        """Answer line after line; between them look after the loading."""
        patience = IDLE_BEFORE_FIRST_LINE
        while not self.session.quitting:
            self._ponder()
            try:
                line = reader.get(patience)
            except queue.Empty:
                self.loader.start()
                # Where loading fails, the program ends also when no command comes.
                patience = 1.0 if self.loader.done else LOADING_POLL
                if self.loader.error:
                    raise LoadError(self.loader.error) from None
                if self.loader.is_ready:
                    self.session.engine.prepare()
                continue
            if line is None:
                break
            reply = self.execute(line)
            if reply is not None:
                self.session.write(reply)
            patience = IDLE_AFTER_LINE
        return EXIT_OK

    def _ponder(self) -> None:
        """Think on the opponent's time until a line comes in, if that is wanted."""
        if self.loader.is_ready and self.session.engine.wants_to_ponder():
            self.session.engine.ponder(self.session.is_next_line_here)


def collect_methods(groups: list, prefix: str) -> dict[str, CommandMethod]:
    """Return all commands whose methods have this prefix, in the order of the groups and of definition."""
    return {
        name.removeprefix(prefix).replace("__", "-"): getattr(group, name)
        for group in groups for name in vars(type(group)) if name.startswith(prefix)
    }


def prepare_stdout() -> None:
    """Make stdout write UTF-8 and plain newlines on every system; raises ProgramError where there is none."""
    if sys.stdout is None:
        raise ProgramError("stdout is closed, and the answers are to go there")
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def run_gtp(options: EngineOptions) -> int:
    """Speak GTP on stdin and stdout and return the exit status."""
    prepare_stdout()
    interrupt_once()
    return GtpClient(options).run(LineReader())
