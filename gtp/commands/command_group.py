"""What the groups of commands have in common."""

from typing import TYPE_CHECKING

from board.stone import Stone
from engine.options import EngineOptions
from gtp.arguments import get_argument
from gtp.protocol import Command, GtpError
from gtp.reader import InputLine

if TYPE_CHECKING:
    from engine.engine import Engine


class CommandGroup:
    """Base of the groups; GtpClient brings the members to life.

    Attributes:
        options: options of the command line.
        line: the line of input that is being carried out.
    """

    options: EngineOptions
    line: InputLine

    @property
    def engine(self) -> "Engine":
        """The engine; the first use waits until it is loaded."""
        raise NotImplementedError

    def is_interrupted(self) -> bool:
        """Tell whether the running command was interrupted."""
        raise NotImplementedError

    def should_stop(self) -> bool:
        """Tell whether the running command is to come to an end, interrupted or not."""
        raise NotImplementedError

    def is_next_line_here(self) -> bool:
        """Tell whether a line came in after the one that is being carried out, or no further one can come."""
        raise NotImplementedError

    def wait_for_next_line(self) -> None:
        """Return as soon as is_next_line_here()."""
        raise NotImplementedError

    def open_reply(self) -> None:
        """Write the beginning of a successful reply now; what the command returns ends it."""
        raise NotImplementedError

    def write_line(self, text: str) -> None:
        """Write a line of the reply that was opened, at once."""
        raise NotImplementedError

    def answer_on_sigint(self) -> None:
        """From now on take an interrupt signal (Ctrl-C) as the wish that a running command answers."""
        raise NotImplementedError

    def think_and_play(self, color: Stone, cleanup: bool) -> int:
        """Return the move that the engine played; GoGui sees the search if it wants to (--live-gfx)."""
        from engine.choosing import Watch
        from gtp.commands.gogui_graphics import LIVE_SECONDS, clear_live, show_live
        engine = self.engine
        if not engine.options.live_gfx:
            return engine.genmove(color, self.line.arrived, Watch(self.should_stop, cleanup=cleanup))
        coordinate = engine.board.coordinate
        watch = Watch(self.should_stop, lambda result: show_live(result, color, coordinate), LIVE_SECONDS,
                      cleanup=cleanup)
        pos = engine.genmove(color, self.line.arrived, watch)
        clear_live()
        return pos

    def format_move(self, pos: int) -> str:
        """Return a point, `pass` or `resign` as text."""
        return self.engine.board.coordinate.convert_to_gtp_format(pos)

    def get_pos(self, command: Command, index: int, message: str = "invalid coordinate") -> int:
        """Return the pos that an argument names (also PASS and RESIGN); raises GtpError."""
        text = get_argument(command, index, message)
        try:
            return self.engine.board.coordinate.convert_from_gtp_format(text)
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
        return " ".join(self.engine.board.coordinate.convert_to_gtp_format(pos) for pos in points)


COLOR_NAMES = {Stone.EMPTY: "none", Stone.BLACK: "black", Stone.WHITE: "white", Stone.OUT_OF_BOARD: "none"}
