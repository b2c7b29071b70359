"""What a tab sets: who plays, how strong, and whether there is an analysis."""

from dataclasses import dataclass

from board.stone import Stone

SIDES = {"black": (Stone.BLACK,), "white": (Stone.WHITE,), "both": (Stone.BLACK, Stone.WHITE), "none": ()}


@dataclass(frozen=True)
class PlaySettings:
    """How the engine plays (a side of SIDES; `seconds` beats `visits` unless 0) and whether it analyzes, how far."""

    side: str = "white"
    visits: int = 200
    seconds: float = 0.0
    analyze: bool = False
    analysis_visits: int = 2000
