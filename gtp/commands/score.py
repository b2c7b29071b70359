"""Commands about the end of the game."""

from board.stone import Stone
from gtp.arguments import get_argument
from gtp.commands.command_group import CommandGroup
from gtp.protocol import Command, GtpError
from sgf.match_result import format_score

STATUSES = ("alive", "seki", "dead")
TERRITORIES = {"black_territory": Stone.BLACK, "white_territory": Stone.WHITE, "dame": Stone.EMPTY}


class ScoreCommands(CommandGroup):
    """Commands about the end of the game.

    Area is counted, with komi. Dead stones, found by playouts, are taken off first; with --cgos-mode true every stone
    on the board is alive. Playouts want compiled code, so these commands wait for the engine.
    """

    def cmd_final_score(self, _: Command) -> str:
        """Answer who wins by how much: at least one decimal, as GNU Go, for gogui-twogtp compares answers as texts."""
        return format_score(self.engine.final_score())

    def cmd_final_status_list(self, command: Command) -> str:
        """Answer the strings that are alive, dead or in seki, one per line; or GNU Go's black_territory and so on."""
        status = get_argument(command, 0, "missing status").lower()
        if status in TERRITORIES:
            return self.format_points(self.engine.get_empty_points(TERRITORIES[status]))
        if status not in STATUSES:
            raise GtpError("invalid status")
        dead = self.engine.get_dead_stones()
        found = {"dead": dead, "seki": self.engine.get_seki_stones(dead)}
        status_of = {pos: name for name, stones in found.items() for pos in stones}
        strings = (string.get_stones() for string in self.game.board.strings.string.values())
        return "\n".join(self.format_points(stones) for stones in strings
                         if status_of.get(stones[0], "alive") == status)
