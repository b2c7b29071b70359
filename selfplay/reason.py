"""How a game of self-play ended."""

from enum import IntEnum

# Games.reason (selfplay/games.py).
UNFINISHED, TWO_PASSES, RESIGNATION, MOVE_LIMIT, RECORD_END = 0, 1, 2, 3, 4


class EndReason(IntEnum):
    """How a game ended."""

    TWO_PASSES = TWO_PASSES
    RESIGNATION = RESIGNATION
    MOVE_LIMIT = MOVE_LIMIT
    RECORD_END = RECORD_END

    @property
    def text(self) -> str:
        """The reason in words."""
        return self.name.lower().replace("_", " ")
