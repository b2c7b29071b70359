"""Commands that prepare a game: size, komi, handicap."""

from collections.abc import Callable

from board.handicap import get_fixed_handicap, get_free_handicap
from gtp.arguments import get_float, get_integer
from gtp.commands.command_group import CommandGroup
from gtp.protocol import Command, GtpError
from nn.model_file import ANY_SIZE, describe_sizes

MOST_KOMI = 1e6  # far above it a sum of leads is infinite, and komi in an SGF record no number


class SetupCommands(CommandGroup):
    """Commands that prepare a game."""

    def cmd_boardsize(self, command: Command) -> str:
        """Change the size of the board and clear it; komi and clocks stay."""
        size = get_integer(command, 0, "boardsize not an integer")
        if command.args[1:2] not in ((), command.args[:1]):
            raise GtpError("unacceptable size: only square boards can be played")
        self._set_size(size)
        return ""

    def cmd_rectangular_boardsize(self, command: Command) -> str:
        """Do what boardsize does; width and height must be the same."""
        get_integer(command, 1, "boardsize not two integers")
        return self.cmd_boardsize(command)

    def _set_size(self, size: int) -> None:
        """Change the size of the board; raises GtpError, naming the sizes that there are, for another one."""
        if not self.game.can_play(size):
            raise GtpError(f"unacceptable size (sizes that can be played: {describe_sizes(ANY_SIZE)})")
        self.game.set_board_size(size)

    def cmd_clear_board(self, _: Command) -> str:
        """Start a new game; komi and time settings stay."""
        self.game.clear()
        return ""

    def cmd_komi(self, command: Command) -> str:
        """Set komi, to a ridiculous number, too, as GTP asks, as long as leads can be told with it."""
        komi = get_float(command, 0, "komi not a float")
        if abs(komi) > MOST_KOMI:
            raise GtpError("unacceptable komi")
        self.game.board.set_komi(komi)
        return ""

    def cmd_get_komi(self, _: Command) -> str:
        """Answer komi."""
        return str(self.game.board.get_komi())

    def cmd_fixed_handicap(self, command: Command) -> str:
        """Put handicap stones on the customary points and answer them."""
        return self._place_handicap(command, get_fixed_handicap)

    def cmd_place_free_handicap(self, command: Command) -> str:
        """Put handicap stones where the engine likes and answer them."""
        return self._place_handicap(command, get_free_handicap)

    def _place_handicap(self, command: Command, choose: Callable[[int, int], list[int]]) -> str:
        """Put as many stones as asked for on the points that `choose` gives for the board's size."""
        number = get_integer(command, 0, "handicap not an integer")
        self._require_empty_board()
        try:
            points = choose(self.game.board.board_size, number)
        except ValueError:
            raise GtpError("invalid number of stones") from None
        self.game.put_handicap(points)
        return self.format_points(points)

    def cmd_set_free_handicap(self, command: Command) -> str:
        """Put handicap stones on the given points, at least two of them."""
        points = self.get_points(command)
        self._require_empty_board()
        if not 2 <= len(points) < self.game.board.board_size ** 2:
            raise GtpError("invalid number of stones")
        self.game.put_handicap(points)
        return ""

    def _require_empty_board(self) -> None:
        """Raise GtpError when something stands on the board or was played."""
        if not self.game.is_untouched():
            raise GtpError("board not empty")
