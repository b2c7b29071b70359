"""What single programs send: KGS, CGOS, Gomill and test suites."""

from gtp.arguments import get_color
from gtp.commands.command_group import CommandGroup
from gtp.commands.play import think_and_play
from gtp.protocol import Command
from program import PROGRAM_NAME, VERSION


class DialectCommands(CommandGroup):
    """What single programs send: KGS, CGOS, Gomill and test suites."""

    def cmd_kgs__genmove_cleanup(self, command: Command) -> str:
        """Think and play as genmove does, but do not pass while dead stones of the opponent are on the board."""
        return self.format_move(think_and_play(self.session, get_color(command), cleanup=True))

    def cmd_kgs__game_over(self, _: Command) -> str:
        """Answer: nothing is left to do after a game."""
        return ""

    def unlisted_kgs__chat(self, _: Command) -> str:
        """Answer whoever talks to the engine with its name; the text is shown to them."""
        return f"I am {PROGRAM_NAME} {VERSION}, a program, and do not understand you."

    def cmd_echo(self, command: Command) -> str:
        """Answer the arguments, as GNU Go does: a mark in the log of a test suite."""
        return command.text

    def cmd_cgos__opponent_name(self, _: Command) -> str:
        """Answer; the engine plays alike against everybody."""
        return ""

    def cmd_cgos__opponent_rating(self, _: Command) -> str:
        """Answer; the engine plays alike against everybody."""
        return ""

    def cmd_cgos__gameover(self, _: Command) -> str:
        """Answer: nothing is left to do after a game."""
        return ""

    def cmd_gomill__cpu_time(self, _: Command) -> str:
        """Answer the processor time spent in genmove, seconds."""
        return f"{self.game.cpu_time:.3f}"

    def cmd_gomill__explain_last_move(self, _: Command) -> str:
        """Answer what was thought about the last move of the engine, nothing where that was taken back."""
        return self.game.explanation if self.game.is_explained else ""

    def cmd_gomill__describe_engine(self, _: Command) -> str:
        """Answer the program, its network and how long it thinks."""
        limit, game = self.game.time.start.limit(), self.game
        seconds = f", {limit.seconds:g} s" if limit.seconds < float("inf") else ""
        return f"{PROGRAM_NAME} {VERSION}\nmodel {game.options.model}\n{limit.visits} visits{seconds} per move"
