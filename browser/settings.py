"""What a tab sets: who plays, how strong, and whether there is an analysis."""

from dataclasses import dataclass

from board.stone import Stone
from engine.levels import FULL_LEVEL

# The most that a tab may set.
MAX_VISITS = 50_000
MAX_SECONDS = 600.0
SIDES = {"black": (Stone.BLACK,), "white": (Stone.WHITE,), "both": (Stone.BLACK, Stone.WHITE), "none": ()}


@dataclass(frozen=True)
class PlaySettings:
    """How the engine plays and whether it analyzes, how far.

    `side` is one of SIDES, `seconds` beats `visits` unless 0, and `level` is one of engine/levels.py.
    """

    side: str = "white"
    visits: int = 200
    seconds: float = 0.0
    level: int = FULL_LEVEL
    analyze: bool = False
    analysis_visits: int = 2000
