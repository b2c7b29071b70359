"""What became of the games that were read: counted, and said in a line each where something is odd."""

import sys
import time
from collections import Counter
from dataclasses import dataclass, field

from tqdm import tqdm

from common.print_console import print_err
from sgf.collection import Kifu, Skipped

# Games that are named for each kind of reason why they cannot be used; the others are only counted.
MOST_NAMED = 20


@dataclass
class GameReport:
    """What came of the games."""

    games: int = 0
    positions: int = 0
    odd: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    start: float = field(default_factory=time.perf_counter)

    def take(self, game: Kifu, positions: int) -> None:
        """Count a game that is used, and say what is odd about it."""
        self.games += 1
        self.positions += positions
        if game.note:
            self.odd += 1
            self.say(f"{game.name}: {game.note}")

    def skip(self, skipped: Skipped) -> None:
        """Count a game that cannot be used and say so in one line, unless many are like it."""
        self.skipped[skipped.kind] += 1
        if self.skipped[skipped.kind] <= MOST_NAMED:
            self.say(f"{skipped.name}: {skipped.reason} (skipped)")
        elif self.skipped[skipped.kind] == MOST_NAMED + 1:
            self.say(f"{skipped.name}: {skipped.reason} (skipped); more of this kind ({skipped.kind}) are only counted")

    def say(self, line: str) -> None:
        """Write a line beside the progress bar; nothing for an empty one."""
        if line:
            with tqdm.external_write_mode(file=sys.stderr):
                print_err(line)

    @property
    def reasons(self) -> str:
        """Return how many games cannot be used, by kind of reason."""
        return ", ".join(f"{count} {kind}" for kind, count in sorted(self.skipped.items())) or "none"

    def summary(self) -> str:
        """Return the line for the end of the run."""
        seconds = time.perf_counter() - self.start
        odd = f", komi unknown in {self.odd}" if self.odd else ""
        return (f"{self.games} games, {self.positions} positions{odd}, skipped: {self.reasons}; "
                f"{seconds:.1f} seconds, {self.games / seconds:.0f} games/s")
