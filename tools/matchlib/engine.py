"""An engine for a whole match: started when needed, prepared for each game, started again after a failure."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from board.ruleset import format_komi
from gtp.engine_process import EngineError, GtpProcess, Reply
from tools.matchlib.errors import MatchError

REQUIRED_COMMANDS = ("boardsize", "clear_board", "play", "genmove")
# What an engine without list_commands may know; to refuse one of the others costs it nothing.
USUAL_COMMANDS = frozenset((*REQUIRED_COMMANDS, "komi", "time_settings", "time_left"))
# One second a move for the move that only makes an engine load what it needs.
WARM_UP_TIME_SETTINGS = "time_settings 0 1 1"


class MatchEngine:
    """One side's engine in one worker; the process lives through many games."""

    def __init__(self, command: Sequence[str], log_path: Path, hang_limit: float) -> None:
        """Remember how to start the engine; nothing is started yet.

        Args:
            command: Program and arguments.
            log_path: File for the engine's stderr.
            hang_limit: Seconds after which an unanswered command counts as a hang.
        """
        self.command = list(command)
        self.log_path = log_path
        self.hang_limit = hang_limit
        self._process: GtpProcess | None = None
        self._known = USUAL_COMMANDS

    def start(self, size: int, has_clock: bool) -> None:
        """Start the process when there is none and check that it can play at all.

        Args:
            size: Board size of the match.
            has_clock: Whether to let the engine make one move off the clock, for which it loads what it needs.

        Raises:
            MatchError: The engine does not start, cannot play on this board, or lacks a command no game can do without.
        """
        if self._process is not None:
            return
        try:
            self._process = GtpProcess(self.command, self.log_path)
            listing = self.ask("list_commands")
            self._known = frozenset(listing.text.split()) if listing.is_success else USUAL_COMMANDS
            missing = [name for name in REQUIRED_COMMANDS if not self.knows(name)]
            if missing:
                raise MatchError(f"{self.command[0]} lacks the GTP command {missing[0]}")
            reply = self.ask(f"boardsize {size}")
            if not reply.is_success:
                raise MatchError(f"{self.command[0]} does not play on size {size}: {reply.text}")
            if has_clock:
                self._warm_up()
        except EngineError as error:
            self.kill()
            raise MatchError(self.tell(error)) from error
        except MatchError:
            self.kill()
            raise

    def tell(self, error: EngineError) -> str:
        """Return what the engine has failed with, in one line that names its command and the file of its messages."""
        return f"{' '.join(self.command)}: {error} (its messages: {self.log_path})"

    def get_name(self) -> str:
        """Return the engine's own name and version; empty when it tells none."""
        texts = []
        for command in ("name", "version"):
            with suppress(EngineError):
                reply = self.ask(command)
                if reply.is_success:
                    texts.append(" ".join(reply.text.split()))
        return " ".join(text for text in texts if text)

    def knows(self, name: str) -> bool:
        """Return whether the engine lists the command; one that lists nothing knows the usual ones."""
        return name in self._known

    def prepare(self, size: int, komi: float, time_seconds: int | None, greeting: Sequence[str] = ()) -> None:
        """Set a new game up, in the order of CGOS; commands that the engine lacks are left out.

        Args:
            size: Board size.
            komi: Komi.
            time_seconds: Seconds for the game, None without clocks.
            greeting: Further commands to send before the board is cleared.

        Raises:
            EngineError: The engine fails, or refuses the size, the greeting or the cleared board.
        """
        self.demand(f"boardsize {size}")
        if self.knows("komi"):
            self.ask(f"komi {format_komi(komi)}")
        if time_seconds is not None and self.knows("time_settings"):
            self.ask(f"time_settings {time_seconds} 0 0")
        for command in greeting:
            self.demand(command)
        self.demand("clear_board")

    def demand(self, command: str) -> str:
        """Send a command that must succeed and return the reply's text; raises EngineError otherwise."""
        reply = self.ask(command)
        if not reply.is_success:
            raise EngineError(f"{command!r} was answered '? {reply.text}'")
        return reply.text

    def ask(self, command: str, timeout: float | None = None) -> Reply:
        """Send a command and return the reply; the process is gone after an EngineError from here.

        Args:
            command: A GTP command line.
            timeout: Seconds to wait, never more than the hang limit.

        Raises:
            EngineCrashError: The engine ended.
            EngineTimeoutError: The engine did not answer in time.
        """
        if self._process is None:
            raise EngineError("the engine is not running")
        limit = self.hang_limit if timeout is None else min(timeout, self.hang_limit)
        try:
            return self._process.ask(command, limit)
        except EngineError:
            self.kill()
            raise

    def close(self) -> None:
        """Let the engine quit."""
        process, self._process = self._process, None
        if process is not None:
            process.close()

    def kill(self) -> None:
        """End the engine's process group at once."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()

    def _warm_up(self) -> None:
        if self.knows("time_settings"):
            self.ask(WARM_UP_TIME_SETTINGS)
        self.ask("genmove b")
