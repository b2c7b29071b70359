"""Short matches between fake engines."""

import shlex
import sys
from pathlib import Path
from typing import Any

from tools.matchlib.config import MatchConfig
from tools.matchlib.record import MatchRecord
from tools.matchlib.runner import run_match
from tools.matchlib.store import GAMES_FILE

FAKE_ENGINE = Path(__file__).with_name("fake_engine.py")


def fake(options: str = "") -> str:
    """Return the command line of a fake engine; -S leaves out what it does not need and starts it faster."""
    return f"{shlex.quote(sys.executable)} -S {shlex.quote(str(FAKE_ENGINE))} {options}"


def read_records(directory: Path) -> list[MatchRecord]:
    """Return the games of a match directory in the order of their lines."""
    path = directory / GAMES_FILE
    return [MatchRecord.from_json(line) for line in path.read_text().splitlines()] if path.exists() else []


def make_config(directory: Path, first: str = "", second: str = "", **options: Any) -> MatchConfig:
    """Return a match of two fake engines with these options, two games on 5x5 unless said otherwise."""
    settings: dict[str, Any] = {"games": 2, "size": 5, "komi": 0.5, "hang_limit": 20.0, **options}
    return MatchConfig(
        first=fake(f"--name A --seed 1 {first}"), second=fake(f"--name B --seed 2 {second}"), directory=directory,
        **settings,
    )


def play_match(directory: Path, first: str = "", second: str = "", **options: Any) -> list[MatchRecord]:
    """Play such a match and return its games in order."""
    run_match(make_config(directory, first, second, **options))
    return sorted(read_records(directory), key=lambda record: record.index)
