"""The directory of a match: what is played is never lost, and never played twice."""

import json
import os
import threading
from typing import Any, BinaryIO

from common.atomic_file import write_atomically
from common.exit_status import status_of
from common.lock_file import take_lock
from common.print_console import print_err
from tools.matchlib.config import MatchConfig
from tools.matchlib.errors import MatchError
from tools.matchlib.record import MatchRecord, read_records

CONFIG_FILE = "match.json"
GAMES_FILE = "games.jsonl"
LOCK_FILE = "lock"
TAIL_BYTES = 65536


def game_file_name(index: int) -> str:
    """Return the name of a game's SGF file."""
    return f"game{index + 1:05d}.sgf"


def find_end_of_lines(file: BinaryIO) -> int:
    """Return where the last whole line of a file ends, looking from its end: a match grows for weeks."""
    end = file.seek(0, os.SEEK_END)
    while end:
        begin = max(0, end - TAIL_BYTES)
        file.seek(begin)
        if found := file.read(end - begin).rfind(b"\n") + 1:
            return begin + found
        end = begin
    return 0


class MatchStore:
    """Games on disk: one JSON line a game, appended and synced, beside the SGF files.

    A game counts once its line is complete; its SGF file is written before.
    """

    def __init__(self, config: MatchConfig) -> None:
        """Open or create the directory and read the games already played.

        Raises:
            MatchError: The directory belongs to another match, is in use, or cannot be read or written.
        """
        self.directory = config.directory
        self.sgf_directory = self.directory / "sgf"
        self.log_directory = self.directory / "logs"
        self.records: dict[int, MatchRecord] = {}
        self._are_named = config.names is not None
        self._lock = threading.Lock()
        try:
            self.sgf_directory.mkdir(parents=True, exist_ok=True)
            self.log_directory.mkdir(exist_ok=True)
            self._take_directory()
            self.names = self._open_config(config)
            self._load_games()
        except OSError as error:
            raise MatchError(f"cannot use the directory {self.directory}: {error.strerror or error}",
                             status_of(error)) from error

    def forget_options(self) -> None:
        """Let a match with other options begin here: no game is kept, and an engine's command can be mended."""
        for name in (GAMES_FILE, CONFIG_FILE):  # of games there is a part of the first one at most
            (self.directory / name).unlink(missing_ok=True)

    def close(self) -> None:
        """Let another match use the directory."""
        self._lock_file.close()

    def save_names(self, names: tuple[str, str]) -> None:
        """Keep the engines' names for later runs that need not start them; say so where others have played here.

        An engine's own name has its version, which may have become another one between two runs.
        """
        if self.records and self.names and self.names != names and not self._are_named:
            print_err(f"{len(self.records)} games in {self.directory} are of {' and '.join(self.names)}, those that "
                      f"follow of {' and '.join(names)}, who will be named in the table: use another --dir to tell "
                      "them apart")
        self.names = names
        self._write_config({**self._config, "names": list(names)})

    def add(self, record: MatchRecord, sgf: bytes) -> None:
        """Keep a finished game; safe to call from several threads. Raises OSError when the disk fails.

        What a crash or a full disk has left of another game is removed first.
        """
        with self._lock:
            write_atomically(self.sgf_directory / game_file_name(record.index), sgf)
            with (self.directory / GAMES_FILE).open("ab+") as file:
                file.truncate(find_end_of_lines(file))
                file.write(record.to_json().encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
            self.records[record.index] = record

    def _take_directory(self) -> None:
        lock = take_lock(self.directory / LOCK_FILE)
        if lock is None:
            raise MatchError(f"another match is running in {self.directory}")
        self._lock_file = lock

    def _open_config(self, config: MatchConfig) -> tuple[str, str] | None:
        """Compare the options with those of the directory, or keep them there; return the names known there."""
        path = self.directory / CONFIG_FILE
        fingerprint = config.get_fingerprint()
        if not path.exists():
            if (self.directory / GAMES_FILE).exists():
                raise MatchError(f"{self.directory} has games but no {CONFIG_FILE}: use another --dir")
            self._write_config(fingerprint)
            return None
        try:
            self._config = dict(json.loads(path.read_text(encoding="utf-8")))
        except (TypeError, ValueError) as error:
            raise MatchError(f"{path} cannot be read: {error}") from error
        for name, value in fingerprint.items():
            if self._config.get(name) != value:
                raise MatchError(
                    f"{self.directory} holds a match with --{name} {self._config.get(name)!r}, not {value!r}: "
                    "use the same options or another --dir"
                )
        names = self._config.get("names")
        return (str(names[0]), str(names[1])) if names else None

    def _write_config(self, data: dict[str, Any]) -> None:
        self._config = data
        text = json.dumps(data, indent=2)
        write_atomically(self.directory / CONFIG_FILE, text.encode() + b"\n")

    def _load_games(self) -> None:
        """Read the games; a last line cut short by a crash does not count."""
        path = self.directory / GAMES_FILE
        if not path.exists():
            return
        try:
            self.records = {record.index: record for record in read_records(path.read_bytes())}
        except ValueError as error:
            raise MatchError(f"{path}:{error}") from None
