"""What a match is: the frozen options."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from board.constant import DEFAULT_KOMI
from tools.matchlib.errors import MatchError

SIDES = ("first", "second")
# A game with more moves than this many times the points of the board does not end by itself.
MAX_MOVES_FACTOR = 4
# What users name where the name becomes that of a folder, or a part of it.
FOLDER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,39}")
BUILT_IN_OPENINGS = ("center", "random", "none")


@dataclass(frozen=True)
class MatchConfig:
    """All options of a match.

    Attributes:
        first: Command line of the first engine, which is Black in the even games.
        second: Command line of the second engine.
        games: Number of games.
        size: Board size.
        komi: Komi.
        parallel: Games played at the same time.
        directory: Where the games, the logs and the state are kept.
        time_seconds: Seconds per side and game, None without clocks.
        sends_time_left: Whether `time_left` goes before each move.
        client: "gtp", or "cgos" to talk to the engines as the CGOS client does.
        openings: "center", "random", "none" or the name of a file.
        opening_plies: Length of a generated opening.
        max_moves: Moves, those of the opening included, after which a game is scored as it stands.
        scoring: "area" (all stones alive) or "friendly" (dead stones removed first).
        seed: Seed of the openings.
        hang_limit: Seconds after which an unanswered command counts as a hang.
        names: Names for the report, None to ask the engines.
    """

    first: str
    second: str
    directory: Path
    games: int = 100
    size: int = 9
    komi: float = DEFAULT_KOMI
    parallel: int = 1
    time_seconds: int | None = None
    sends_time_left: bool = True
    client: str = "gtp"
    openings: str = "center"
    opening_plies: int = 2
    max_moves: int = 0
    scoring: str = "area"
    seed: int = 0
    hang_limit: float = 300.0
    names: tuple[str, str] | None = None

    def get_move_limit(self) -> int:
        """Return the largest number of moves in a game."""
        return self.max_moves or MAX_MOVES_FACTOR * self.size * self.size

    def get_fingerprint(self) -> dict[str, Any]:
        """Return the options that two runs in one directory must share, by their names on the command line.

        The number of games may grow, and how many are played at once changes no game.

        Raises:
            MatchError: The file of openings cannot be read.
        """
        return {
            "first": self.first, "second": self.second, "size": self.size, "komi": self.komi,
            "time": self.time_seconds, "no-time-left": not self.sends_time_left, "client": self.client,
            "openings": self._describe_openings(),
            "opening-plies": self.opening_plies, "max-moves": self.get_move_limit(), "scoring": self.scoring,
            "seed": self.seed, "hang-limit": self.hang_limit,
        }

    def _describe_openings(self) -> str:
        """Return the kind of openings; a file is known by its contents."""
        if self.openings in BUILT_IN_OPENINGS:
            return self.openings
        try:
            return "file " + hashlib.sha256(Path(self.openings).read_bytes()).hexdigest()[:16]
        except OSError as error:
            raise MatchError(f"cannot read the openings {self.openings}: {error.strerror or error}") from error
