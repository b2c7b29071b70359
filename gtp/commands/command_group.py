"""What the groups of commands have in common."""

from typing import TYPE_CHECKING

from board.stone import Stone
from gtp.arguments import get_argument
from gtp.protocol import Command, GtpError
from gtp.session import GtpSession

if TYPE_CHECKING:
    from engine.engine import Engine
    from engine.game import Game

# What a color with a point that cannot be read is answered with.
BAD_PAIR = "invalid color or coordinate"
COLOR_NAMES = {Stone.EMPTY: "none", Stone.BLACK: "black", Stone.WHITE: "white", Stone.OUT_OF_BOARD: "none"}


class CommandGroup:
    """Base of the groups: a command is a method `cmd_<name>` ("__" stands for "-") that returns the reply's text.

    Methods `unlisted_<name>` are carried out as well, but list_commands keeps them secret.
    """

    def __init__(self, session: GtpSession) -> None:
        """Answer the commands of this session."""
        self.session = session

    @property
    def game(self) -> "Game":
        """The game, there at once: enough for all that needs neither network nor search."""
        return self.session.game

    @property
    def engine(self) -> "Engine":
        """The game with its player; the first use waits until the network is loaded."""
        return self.session.engine

    def format_move(self, pos: int) -> str:
        """Return a point, `pass` or `resign` as text."""
        return self.game.board.coordinate.convert_to_gtp_format(pos)

    def get_pos(self, command: Command, index: int, message: str = "invalid coordinate") -> int:
        """Return the pos that an argument names (also PASS and RESIGN); raises GtpError."""
        text = get_argument(command, index, message)
        try:
            return self.game.board.coordinate.convert_from_gtp_format(text)
        except ValueError:
            raise GtpError(message) from None

    def get_points(self, command: Command, first: int = 0) -> list[int]:
        """Return the points that the arguments from `first` on name, each at most once; raises GtpError."""
        points: list[int] = []
        for index in range(first, len(command.args)):
            pos = self.get_pos(command, index)
            if pos <= 0:
                raise GtpError("invalid coordinate")
            if pos in points:
                raise GtpError("repeated vertex")
            points.append(pos)
        return points

    def format_points(self, points: list[int]) -> str:
        """Return points as text, separated by blanks."""
        return " ".join(self.format_move(pos) for pos in points)
