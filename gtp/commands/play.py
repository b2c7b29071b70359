"""Commands that make moves and take them back."""

from typing import TYPE_CHECKING

from board.constant import RESIGN
from gtp.arguments import get_color, get_integer
from gtp.commands.command_group import BAD_PAIR, CommandGroup
from gtp.protocol import Command, GtpError

if TYPE_CHECKING:
    from board.stone import Stone
    from gtp.session import GtpSession


class PlayCommands(CommandGroup):
    """Commands that make moves and take them back."""

    def cmd_play(self, command: Command) -> str:
        """Play a move of either color; `resign` leaves everything as it is."""
        color = get_color(command, 0, BAD_PAIR)
        pos = self.get_pos(command, 1, BAD_PAIR)
        if pos == RESIGN:
            return ""
        if not self.game.is_playable(color, pos):
            raise GtpError("illegal move")
        self.game.play(color, pos)
        return ""

    def cmd_genmove(self, command: Command) -> str:
        """Think, play and answer a move (or `resign`, which leaves the board as it is)."""
        return self.format_move(think_and_play(self.session, get_color(command), cleanup=False))

    def cmd_reg_genmove(self, command: Command) -> str:
        """Answer the move that would be played, always the same one, and change nothing."""
        return self.format_move(self.engine.suggest(get_color(command), self.session.is_interrupted))

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
        if not 0 <= number < self.game.board.moves:
            raise GtpError("cannot undo")
        self.game.undo(number)


def think_and_play(session: "GtpSession", color: "Stone", cleanup: bool) -> int:
    """Return the move that the engine played; GoGui sees the search if it wants to (--live-gfx)."""
    engine = session.engine
    from engine.choosing import Watch
    from gtp.commands.gogui_graphics import LIVE_SECONDS, clear_live, show_live
    if not engine.options.live_gfx:
        return engine.genmove(color, session.line.arrived, Watch(session.should_stop, cleanup=cleanup))
    coordinate = engine.board.coordinate
    watch = Watch(session.should_stop, lambda result: show_live(result, color, coordinate), LIVE_SECONDS,
                  cleanup=cleanup)
    pos = engine.genmove(color, session.line.arrived, watch)
    clear_live()
    return pos
