"""Commands that set up a whole position, or play many moves at once; all of it or nothing."""

from board.stone import Stone
from gtp.arguments import get_color
from gtp.commands.command_group import BAD_PAIR, CommandGroup
from gtp.protocol import Command, GtpError


class PositionCommands(CommandGroup):
    """Commands that set up a whole position, or play many moves at once."""

    def cmd_set_position(self, command: Command) -> str:
        """Start a game from the stones given as color and point, Black to move; without arguments an empty one."""
        self._set_up(self._get_pairs(command), Stone.BLACK)
        return ""

    def cmd_gogui__setup(self, command: Command) -> str:
        """Put the stones given as color and point on the empty board."""
        stones = self._get_pairs(command)
        if not self.game.is_untouched():
            raise GtpError("board not empty")
        self._set_up(stones, None)
        return ""

    def cmd_gogui__setup_player(self, command: Command) -> str:
        """Set the side to move in a position that was set up."""
        color = get_color(command)
        board = self.game.board
        if board.moves > 1:
            raise GtpError("moves were played")
        self._set_up([(Stone(int(board.board[pos])), pos) for pos in board.onboard_pos if board.board[pos]], color)
        return ""

    def cmd_gogui__play_sequence(self, command: Command) -> str:
        """Play the moves given as color and point."""
        try:
            self.game.play_sequence(self._get_pairs(command, may_pass=True))
        except ValueError:
            raise GtpError("illegal move") from None
        return ""

    unlisted_play_sequence = cmd_gogui__play_sequence

    def _get_pairs(self, command: Command, may_pass: bool = False) -> list[tuple[Stone, int]]:
        """Return the arguments as pairs of color and pos; raises GtpError."""
        pairs = []
        for index in range(0, len(command.args), 2):
            color, pos = get_color(command, index, BAD_PAIR), self.get_pos(command, index + 1, BAD_PAIR)
            if pos < 0 or (pos == 0 and not may_pass):
                raise GtpError(BAD_PAIR)
            pairs.append((color, pos))
        return pairs

    def _set_up(self, stones: list[tuple[Stone, int]], to_move: Stone | None) -> None:
        """Start a game from a position; raises GtpError when it cannot exist."""
        black, white = ([pos for color, pos in stones if color == side] for side in (Stone.BLACK, Stone.WHITE))
        try:
            self.game.set_position(black, white, to_move)
        except ValueError as error:
            raise GtpError(str(error)) from None
