"""Trainings and pipelines that are watched: what their files tell, read anew whenever somebody looks.

Nothing is kept between two looks, so that either side may be started again at any time. A watched folder holds the
files of runs (`*-metrics.csv`) itself or in `model/`, and the games of self-play in `archive/`.
"""

import csv
import math
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nn.training.run_table import REINFORCEMENT_LAYOUT, SUPERVISED_LAYOUT, RunTable
from selfplay.archive import BATCH_FILE, read_settings
from sgf.archive import list_archive, list_games

METRICS = "-metrics.csv"
# Rows of a table that are sent: of a longer one every second, third, ... and the last.
MAX_ROWS = 400
MAX_TABLE_BYTES = 20_000_000
MAX_GAME_BYTES = 1_000_000
# Games of the newest generation that can be replayed.
SHOWN_GAMES = 24
# The games of so many seconds give the rate, and after so many without one nothing runs.
RATE_SECONDS = 3600.0
SILENCE_SECONDS = 600.0
HOUR = 3600.0


class Watcher:
    """Reads the watched folders."""

    def __init__(self, folders: list[Path]) -> None:
        """Watch these folders and no others."""
        self._folders = folders

    def read(self) -> list[dict[str, Any]]:
        """Return what each folder tells now; one that cannot be read tells nothing."""
        return [{"folder": folder.resolve().name or str(folder), "tables": read_tables(folder),
                 "archive": read_archive(folder / "archive")} for folder in self._folders]

    def read_game(self, folder: int, generation: int, number: int) -> str | None:
        """Return the record of a game, None where there is none."""
        if not 0 <= folder < len(self._folders):
            return None
        path = self._folders[folder] / "archive" / str(generation) / f"{number}.sgf"
        try:
            if not path.is_file() or path.stat().st_size > MAX_GAME_BYTES:  # a pipe would be waited for
                return None
            return path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return None


def read_tables(folder: Path) -> list[dict[str, Any]]:
    """Return the tables of all runs of a folder."""
    tables = []
    for place in (folder, folder / "model"):
        try:
            paths = sorted(path for path in place.iterdir() if path.name.endswith(METRICS) and path.is_file())
        except OSError:
            continue
        for path in paths:
            table = read_table(path)
            if table is not None:
                tables.append(table)
    return tables


def read_table(path: Path) -> dict[str, Any] | None:
    """Return one table as columns of numbers (None where there is none), None if it cannot be read."""
    try:
        status = path.stat()
        if status.st_size > MAX_TABLE_BYTES:
            return None
        with open(path, encoding="utf-8-sig", newline="") as file:
            names = next(csv.reader(file), [])
    except (OSError, UnicodeDecodeError, csv.Error):
        return None
    layout = REINFORCEMENT_LAYOUT if REINFORCEMENT_LAYOUT.key in names else SUPERVISED_LAYOUT
    if layout.key not in names:  # no table of a run, or not yet
        return None
    rows = RunTable(path, layout).rows
    numbers = sorted(rows)
    step = max(1, math.ceil(len(numbers) / MAX_ROWS))
    chosen = numbers[::-1][::step][::-1]
    columns = {name: [to_number(rows[number].get(name, "")) for number in chosen] for name in names}
    return {"name": path.name.removesuffix(METRICS), "key": layout.key, "columns": columns,
            "age": round(max(0.0, time.time() - status.st_mtime))}


def to_number(text: str) -> float | None:
    """Return the number that a text is, None for anything else."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def read_archive(archive: Path) -> dict[str, Any] | None:
    """Return how far self-play is, None where there is none."""
    try:
        folders = list_archive(archive)
        if not folders:
            return None
        generation = max(folders)
        games = list_games(folders[generation])
        # A generation that has only begun has no games to show.
        begun = not games and generation - 1 in folders
        shown, played = (generation - 1, list_games(folders[generation - 1])) if begun else (generation, games)
        times = sorted(path.stat().st_mtime for path in games.values())
        begin = [path.stat().st_mtime for path in folders[generation].glob(BATCH_FILE)]
        times = [moment for moment in begin if times and moment < times[0]] + times
    except OSError:
        return None
    settings = read_settings(folders[generation])
    wanted = settings.games if settings else None
    left = wanted - len(games) if wanted is not None else None
    # Of a complete one only results are written anew.
    rate = games_per_hour(times, time.time()) if left is None or left > 0 else None
    return {
        "generation": generation, "games": len(games), "wanted": wanted,
        "perHour": None if rate is None else round(rate),
        "secondsLeft": round(left / rate * HOUR) if rate and left is not None and left > 0 else None,
        "settings": asdict(settings) if settings else {}, "newest": sorted(played)[-SHOWN_GAMES:],
        "newestFrom": shown,
    }


def games_per_hour(times: list[float], now: float) -> float | None:
    """Return the rate of games that ended at these times, None where nothing runs.

    `times` ascend, in seconds; the first of them may be when the games began, since these may end all together.
    """
    recent = [moment for moment in times if moment > now - RATE_SECONDS]
    if len(recent) < 2 or now - recent[-1] > SILENCE_SECONDS or recent[-1] <= recent[0]:
        return None
    return (len(recent) - 1) / (recent[-1] - recent[0]) * HOUR
