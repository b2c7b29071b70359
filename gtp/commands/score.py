"""Commands about the end of the game."""

from gtp.arguments import get_argument
from gtp.commands.command_group import CommandGroup
from gtp.protocol import Command, GtpError

STATUSES = ("alive", "seki", "dead")
SCORE_DECIMALS = 6


def format_score(score: float) -> str:
    """Return Black's lead as "B+3.5", "W+2" or "0"."""
    text = f"{abs(score):.{SCORE_DECIMALS}f}".rstrip("0").rstrip(".")
    if text == "0":
        return "0"
    return f"{'B' if score > 0 else 'W'}+{text}"


class ScoreCommands(CommandGroup):
    """Commands about the end of the game.

    Area is counted, with komi. Dead stones, found by playouts, are taken off first; with --cgos-mode true every stone
    on the board is alive.
    """

    def cmd_final_score(self, _: Command) -> str:
        """Answer who wins by how much."""
        return format_score(self.engine.final_score())

    def cmd_final_status_list(self, command: Command) -> str:
        """Answer the strings that are alive or dead, one per line; a seki is not told from life."""
        status = get_argument(command, 0, "missing status").lower()
        if status not in STATUSES:
            raise GtpError("invalid status")
        if status == "seki":
            return ""
        dead = set(self.engine.get_dead_stones())
        strings = [stones for stones in self.engine.get_string_stones() if (stones[0] in dead) == (status == "dead")]
        return "\n".join(self.format_points(stones) for stones in strings)
