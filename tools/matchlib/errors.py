"""What can go wrong in a match, by whose fault it is."""

from board.stone import Stone
from common.exit_status import ProgramError


class MatchError(ProgramError):
    """The match cannot be started or continued; the text is one line for the user."""


class IllegalPlayError(ValueError):
    """The referee does not accept a move."""


class GameFault(Exception):
    """The side `color` loses the game at once.

    Attributes:
        color: The side at fault.
        reason: One of record.REASONS.
        detail: One line for the game record.
    """

    def __init__(self, color: Stone, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.color = color
        self.reason = reason
        self.detail = detail
