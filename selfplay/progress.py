"""What a run of self-play tells about itself."""

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from selfplay.reason import EndReason
from sgf.match_result import MatchResult

if TYPE_CHECKING:
    from selfplay.game import GameRecord

HOUR = 3600.0


@dataclass(frozen=True)
class GameSummary:
    """What is left of a game once it is written."""

    number: int
    moves: int
    result: MatchResult
    reason: EndReason
    would_have_lost: bool | None


def summarize(record: "GameRecord") -> GameSummary:
    """Return the summary of a game."""
    return GameSummary(record.number, len(record.moves), record.result, record.reason, record.would_have_lost)


@dataclass
class BatchProgress:
    """Counts of one run; `total` games are wanted, `before` were there when it began."""

    total: int
    before: int = 0
    games: int = 0
    moves: int = 0
    errors: int = 0
    results: Counter[MatchResult] = field(default_factory=Counter)
    reasons: Counter[EndReason] = field(default_factory=Counter)
    resignations_checked: Counter[bool] = field(default_factory=Counter)
    start: float = field(default_factory=time.monotonic)

    def add(self, game: GameSummary) -> None:
        """Count a game."""
        self.games += 1
        self.moves += game.moves
        self.results[game.result] += 1
        self.reasons[game.reason] += 1
        if game.would_have_lost is not None:
            self.resignations_checked[game.would_have_lost] += 1

    @property
    def seconds(self) -> float:
        """Time since the games began."""
        return max(time.monotonic() - self.start, 1e-9)

    @property
    def games_per_hour(self) -> float:
        """Speed of this run."""
        return self.games / self.seconds * HOUR

    def line(self) -> str:
        """Return the state of the run in one line."""
        done = self.before + self.games
        head = f"Generating {done:5d}/{self.total:5d} games ({self.games_per_hour:.4f} games/hour)"
        if not self.games:
            return f"{head}, errors {self.errors}."
        black = self.results[MatchResult.BLACK_WIN] + 0.5 * self.results[MatchResult.DRAW]
        parts = [
            head, f"{self.moves / self.seconds:.1f} moves/s", f"{self.moves / self.games:.1f} moves a game",
            f"Black wins {100 * black / self.games:.1f} %",
            *(f"{reason.text} {self.reasons[reason]}" for reason in EndReason if reason != EndReason.RECORD_END),
            f"errors {self.errors}", f"time left {format_duration((self.total - done) / self.games * self.seconds)}",
        ]
        if checked := sum(self.resignations_checked.values()):
            parts.insert(-2, f"wrong to resign {self.resignations_checked[False]} of {checked} played on")
        return ", ".join(parts) + "."

    def summary(self) -> str:
        """Return the last line of a run, in TamaGo's words."""
        return f"{self.seconds:3f} seconds, {self.games_per_hour:3f} games/hour"


def format_duration(seconds: float) -> str:
    """Return a time as h:mm:ss."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"
