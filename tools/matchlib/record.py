"""The result of one game, as it is kept on disk and counted."""

import json
from dataclasses import asdict, dataclass, field
from typing import Any

# How games end; all but the first two are the loser's doing.
REASONS = ("score", "max-moves", "resign", "time", "illegal", "crash", "timeout", "error")


@dataclass
class SideTime:
    """Thinking time of one side in one game, in seconds of wall time."""

    moves: int = 0
    seconds: float = 0.0
    max_seconds: float = 0.0

    def add(self, seconds: float) -> None:
        """Count one move."""
        self.moves += 1
        self.seconds += seconds
        self.max_seconds = max(self.max_seconds, seconds)


@dataclass
class MatchRecord:
    """One finished game.

    Attributes:
        index: Number of the game in the match, from 0.
        opening: The opening's moves as GTP vertices.
        black: "first" or "second", the engine that played Black.
        winner: "first", "second" or "draw".
        result: Result as SGF writes it, such as `B+3.5`, `W+R`, `B+T`, `W+F` or `0`.
        reason: One of REASONS.
        detail: One line about the end of the game.
        moves: Number of moves, passes and the opening included.
        times: Thinking time by side.
        area_score: Black minus White minus komi with all stones alive; None when the game was not scored.
        friendly_score: The same with dead stones removed first.
        play: Text that is the same for games of the same moves alone; empty in records of older versions.
    """

    index: int
    opening: list[str]
    black: str
    winner: str
    result: str
    reason: str
    detail: str
    moves: int
    times: dict[str, SideTime] = field(default_factory=dict)
    area_score: float | None = None
    friendly_score: float | None = None
    play: str = ""

    def to_json(self) -> str:
        """Return the record as one line of JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, line: str) -> "MatchRecord":
        """Read a line of `to_json`; raises ValueError for anything else."""
        try:
            data: dict[str, Any] = json.loads(line)
            data["times"] = {side: SideTime(**values) for side, values in data["times"].items()}
            return cls(**data)
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError(f"{type(error).__name__}: {error}") from None


def read_records(data: bytes) -> list[MatchRecord]:
    """Return the games of a file of such lines; raises ValueError, which names the line that is none.

    Behind the last end of a line there is at most a game that a crash has cut short.
    """
    records = []
    for number, line in enumerate(data.split(b"\n")[:-1], 1):
        try:
            records.append(MatchRecord.from_json(line.decode()))
        except ValueError as error:
            raise ValueError(f"{number} is not a game: {error}") from None
    return records
