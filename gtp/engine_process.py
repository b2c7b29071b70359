"""A GTP engine as a child process: one command, one reply, and an end in any case."""

import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

# Seconds that an engine gets to end by itself after `quit`, and after the end of its output.
QUIT_SECONDS = 3.0
EXIT_SECONDS = 1.0
LOG_TAIL_BYTES = 4096
# Debian keeps games, GNU Go among them, outside the default path of many accounts.
EXTRA_SEARCH_PATH = ("/usr/games", "/usr/local/games")
# Of Windows, where a session of its own is not known.
NEW_GROUP = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)


class EngineError(Exception):
    """An engine failed; `reason` is the short name under which the table counts it."""

    reason = "error"


class EngineCrashError(EngineError):
    """The engine's process ended or closed its output."""

    reason = "crash"


class EngineTimeoutError(EngineError):
    """The engine did not answer within the hang limit."""

    reason = "timeout"


def get_search_path() -> str:
    """Return the executable search path, the directories for games included."""
    return os.pathsep.join([os.environ.get("PATH", os.defpath), *EXTRA_SEARCH_PATH])


def get_engine_environment() -> dict[str, str]:
    """Return the environment of an engine: ours, with the longer search path and unbuffered Python output."""
    return {**os.environ, "PATH": get_search_path(), "PYTHONUNBUFFERED": "1"}


@dataclass(frozen=True)
class Reply:
    """A GTP reply.

    Attributes:
        is_success: True for `=`, False for `?`.
        text: The reply without its marker, id and final blank line.
        seconds: Wall time from sending the command to the reply's last line.
    """

    is_success: bool
    text: str
    seconds: float


class GtpProcess:
    """A running engine; one thread reads its output, its stderr goes to a log file."""

    def __init__(self, command: Sequence[str], log_path: Path) -> None:
        """Start the engine in a process group of its own, so that Ctrl-C at the terminal does not reach it.

        Args:
            command: Program and arguments.
            log_path: File to which the engine's stderr is appended.

        Raises:
            EngineCrashError: The log cannot be written, or the system cannot start the program.
        """
        self.log_path = log_path
        self._replies: queue.Queue[tuple[str, float] | None] = queue.Queue()
        try:
            log = log_path.open("ab")
        except OSError as error:
            raise EngineCrashError(f"cannot write {log_path}: {error.strerror or error}") from error
        try:
            with log:
                self._log_start = log.tell()
                self._process = subprocess.Popen(
                    list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                    env=get_engine_environment(), start_new_session=True, creationflags=NEW_GROUP,
                )
        except OSError as error:
            raise EngineCrashError(f"cannot start {command[0]}: {error.strerror or error}") from error
        self._reader = threading.Thread(target=self._read_replies, daemon=True, name=f"reader-{self._process.pid}")
        self._reader.start()

    def ask(self, command: str, timeout: float) -> Reply:
        """Send a command and wait for its reply, good or bad.

        Raises:
            EngineCrashError: The engine ended or closed its output.
            EngineTimeoutError: No reply within `timeout` seconds; the engine is out of step now and must be killed.
        """
        self._drop_stale_replies()
        start = time.monotonic()
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(command.encode() + b"\n")
            self._process.stdin.flush()
        except (OSError, ValueError) as error:
            raise EngineCrashError(self._describe_end(command)) from error
        try:
            answer = self._replies.get(timeout=min(timeout, threading.TIMEOUT_MAX))
        except queue.Empty as error:
            raise EngineTimeoutError(f"no reply to {command!r} within {timeout:.0f} s") from error
        if answer is None:
            self._replies.put(None)
            raise EngineCrashError(self._describe_end(command))
        text, end = answer
        body = text[1:].lstrip("0123456789")
        return Reply(text.startswith("="), body.strip(), max(0.0, end - start))

    def close(self) -> None:
        """Ask the engine to quit, and kill its process group when it does not."""
        try:
            self.ask("quit", QUIT_SECONDS)
        except EngineTimeoutError:
            self._kill_group()
        except EngineCrashError:
            pass
        self._shut_down(QUIT_SECONDS)

    def kill(self) -> None:
        """End the engine's process group now."""
        self._kill_group()
        self._shut_down(EXIT_SECONDS)

    def _shut_down(self, patience: float) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        with suppress(OSError, ValueError):
            self._process.stdin.close()
        self._reader.join(patience)
        try:
            self._process.wait(EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            self._kill_group()
            self._process.wait()
        if self._reader.is_alive():
            self._kill_group()
            self._reader.join(EXIT_SECONDS)
        if not self._reader.is_alive():
            self._process.stdout.close()

    def _kill_group(self) -> None:
        """Kill the whole group: a wrapper's children may outlive it and hold the pipes."""
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:  # Windows
                with suppress(OSError):
                    subprocess.run(["taskkill", "/F", "/T", "/PID", str(self._process.pid)], capture_output=True,
                                   check=False)
                self._process.kill()

    def _read_replies(self) -> None:
        """Collect replies until the output ends; stray lines between replies go nowhere."""
        assert self._process.stdout is not None
        lines: list[str] = []
        for raw in self._process.stdout:
            line = raw.decode("utf-8", "replace").rstrip("\r\n")
            if lines and not line.strip():
                self._replies.put(("\n".join(lines), time.monotonic()))
                lines = []
            elif lines or line.startswith(("=", "?")):
                lines.append(line)
        self._replies.put(None)

    def _drop_stale_replies(self) -> None:
        """Forget replies that nobody asked for, but never the mark of the end."""
        with suppress(queue.Empty):
            while True:
                if self._replies.get_nowait() is None:
                    self._replies.put(None)
                    return

    def _describe_end(self, command: str) -> str:
        """Say in one line how the engine ended, with the last line of its stderr."""
        try:
            status = self._process.wait(EXIT_SECONDS)
            how = f"killed by signal {-status}" if status < 0 else f"exit status {status}"
        except subprocess.TimeoutExpired:
            how = "closed its output"
        last = self._read_last_log_line()
        return f"ended at {command!r}: {how}" + (f": {last}" if last else "")

    def _read_last_log_line(self) -> str:
        with suppress(OSError), self.log_path.open("rb") as log:
            log.seek(0, os.SEEK_END)
            log.seek(max(self._log_start, log.tell() - LOG_TAIL_BYTES))
            lines = log.read().decode("utf-8", "replace").split("\n")
            return next((line.strip() for line in reversed(lines) if line.strip()), "")
        return ""
