"""Commands that make moves and take them back."""

from board.constant import RESIGN
from gtp.arguments import get_color, get_integer
from gtp.commands.command_group import CommandGroup
from gtp.protocol import Command, GtpError

BAD_MOVE = "invalid color or coordinate"


class PlayCommands(CommandGroup):
    """Commands that make moves and take them back."""

    def cmd_play(self, command: Command) -> str:
        """Play a move of either color; `resign` leaves everything as it is."""
        color = get_color(command, 0, BAD_MOVE)
        pos = self.get_pos(command, 1, BAD_MOVE)
        if pos == RESIGN:
            return ""
        if not self.engine.is_playable(color, pos):
            raise GtpError("illegal move")
        self.engine.play(color, pos)
        return ""

    def cmd_genmove(self, command: Command) -> str:
        """Think, play and answer a move (or `resign`, which leaves the board as it is)."""
        return self.format_move(self.think_and_play(get_color(command), cleanup=False))

    def cmd_reg_genmove(self, command: Command) -> str:
        """Answer the move that would be played, always the same one, and change nothing."""
        return self.format_move(self.engine.suggest(get_color(command), self.is_interrupted))

    def cmd_undo(self, _: Command) -> str:
        """Take back the last move; handicap stones stay."""
        self._undo(1)
        return ""

    def cmd_gg__undo(self, command: Command) -> str:
        """Take back several moves (1 if no number is given), all or none."""
        self._undo(get_integer(command, 0, "invalid argument") if command.args else 1)
        return ""

    def _undo(self, number: int) -> None:
        """Take back `number` moves; raises GtpError when there are not so many."""
        if not 0 <= number < self.engine.board.moves:
            raise GtpError("cannot undo")
        self.engine.undo(number)
