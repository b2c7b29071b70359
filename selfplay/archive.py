"""The archive of self-play games: archive/{k}/{n}.sgf, batch after batch.

A batch folder also holds batch.json, what the batch was begun with, and selfplay.log. Which games are done is read
from the SGF files themselves, so that nothing can disagree with them.
"""

import json
import shutil
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from math import isfinite
from pathlib import Path
from typing import IO, Any

import learning_param
from board.ruleset import Rules
from common.atomic_file import remove_remains, write_atomically
from common.exit_status import ProgramError
from common.lock_file import take_lock
from mcts.constant import C_SCALE, ROOT_NOISE
from mcts.searches import DEFAULT_TARGET, SELF_PLAY_SEARCH
from sgf.archive import list_archive, list_games

BATCH_FILE = "batch.json"
LOG_FILE = "selfplay.log"
LOCK_FILE = ".selfplay.lock"


class ArchiveError(ProgramError):
    """The archive cannot be used; the text is one line for the user."""


@dataclass(frozen=True)
class BatchSettings:
    """What the games of a batch have in common, and how many they shall be."""

    games: int
    size: int
    visits: int
    komi: float
    superko: bool
    resign_threshold: float
    no_resign_rate: float
    seed: int
    target_scale: float = C_SCALE
    opening_moves: int = 0
    opening_temperature: float = 1.0
    policy_temperature: float = 1.0
    search: str = SELF_PLAY_SEARCH
    target: str = DEFAULT_TARGET
    full_share: float = 1.0
    fast_visits: int = learning_param.FAST_VISITS
    komi_spread: float = 0.0
    soft_resign: bool = False
    root_noise: float = ROOT_NOISE

    @property
    def rules(self) -> Rules:
        """The rules of the games."""
        return Rules.of(self.komi, self.superko)


def lock_archive(archive: Path) -> IO[str]:
    """Return an open file that keeps other self-play runs out of the archive until it is closed.

    Creates the archive. Raises ArchiveError when another run holds it.
    """
    file = take_lock(archive / LOCK_FILE)
    if file is None:
        raise ArchiveError(f"another self-play is running in {archive}: wait for it, or use another --save-dir")
    return file


@dataclass(frozen=True)
class OpenBatch:
    """A batch to work on.

    Attributes:
        missing: numbers of the games still to be played, ascending.
        note: what became of the batch before, for the user; empty if there is nothing to say.
        is_new: whether this run has created the folder.
    """

    folder: Path
    number: int
    settings: BatchSettings
    missing: list[int]
    note: str
    is_new: bool

    @property
    def done(self) -> int:
        """How many games are there already."""
        return self.settings.games - len(self.missing)

    def discard_if_empty(self) -> None:
        """Remove a folder that this run has created, and in which not one game came about."""
        if self.is_new and not list_games(self.folder):
            shutil.rmtree(self.folder, ignore_errors=True)


def open_batch(archive: Path, wanted: BatchSettings, seed_given: bool) -> OpenBatch:
    """Return the newest batch if it is unfinished and of the same settings, else a new one.

    The number of games may change; the seed goes on unless another one was given. Raises OSError.
    """
    number, note = max(list_archive(archive), default=0), ""
    if number:
        folder = archive / str(number)
        begun, present = read_settings(folder), set(list_games(folder))
        if begun is not None and len(present) < begun.games:
            different = find_difference(begun, wanted, seed_given)
            if not different:
                return _take_up(folder, number, replace(begun, games=wanted.games), present)
            note = f"{folder} keeps its {len(present)} of {begun.games} games: it was begun with {different}"
        remove_remains(folder / BATCH_FILE)
        if not any(folder.iterdir()):  # a full disk or a crash came before its settings
            number -= 1
    folder = archive / str(number + 1)
    folder.mkdir(exist_ok=True)
    write_settings(folder, wanted)
    return OpenBatch(folder, number + 1, wanted, list(range(1, wanted.games + 1)), note, is_new=True)


def _take_up(folder: Path, number: int, settings: BatchSettings, present: set[int]) -> OpenBatch:
    """Return a begun batch, cleared of what a crash has left of unfinished files."""
    for path in folder.glob(".*.sgf.*"):
        path.unlink(missing_ok=True)
    write_settings(folder, settings)
    missing = [n for n in range(1, settings.games + 1) if n not in present]
    return OpenBatch(folder, number, settings, missing, f"going on with {folder}", is_new=False)


def find_difference(begun: BatchSettings, wanted: BatchSettings, seed_given: bool) -> str:
    """Return the first setting in which a batch differs from what is wanted, as an option; empty if none does."""
    for name, value in asdict(begun).items():
        if name == "games" or (name == "seed" and not seed_given):
            continue
        if getattr(wanted, name) != value:
            return f"--{name.replace('_', '-')} {str(value).lower()}"
    return ""


def read_settings(folder: Path) -> BatchSettings | None:
    """Return the settings of a batch, None where there are none (other programs' archives) or they are damaged."""
    try:
        settings = BatchSettings(**json.loads((folder / BATCH_FILE).read_text(encoding="ascii")))
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    return settings if all(_fits(getattr(settings, field.name), field.type) for field in fields(settings)) else None


def _fits(value: Any, kind: Any) -> bool:
    """Tell whether a value that JSON brought is of a kind: whole numbers stand for real ones, too."""
    return type(value) is int or (type(value) is float and isfinite(value)) if kind is float else type(value) is kind


def write_settings(folder: Path, settings: BatchSettings) -> None:
    """Write the settings of a batch; raises OSError."""
    write_atomically(folder / BATCH_FILE, (json.dumps(asdict(settings), indent=1) + "\n").encode("ascii"))


def append_log(folder: Path, line: str) -> None:
    """Append a line to the batch's log; neither a full disk nor the odd name of a folder ends the games."""
    with suppress(OSError), open(folder / LOG_FILE, "a", encoding="utf-8", errors="backslashreplace") as file:
        file.write(line + "\n")
