"""Commands that show the board and what the program knows about it."""

from board.constant import NO_MOVE
from board.stone import Stone
from common.patience import say_if_slow
from gtp.commands.command_group import COLOR_NAMES, CommandGroup
from gtp.protocol import Command, GtpError


class InfoCommands(CommandGroup):
    """Commands that show the board and what the program knows about it."""

    def cmd_showboard(self, _: Command) -> str:
        """Answer a diagram of the board."""
        return self.game.board.get_board_string()

    def cmd_showstring(self, _: Command) -> str:
        """Answer all strings with their stones and liberties."""
        return "\n".join(self.game.board.strings.get_display_lines())

    def cmd_showpattern(self, command: Command) -> str:
        """Answer the 3x3 pattern around a point."""
        return self.game.board.pattern.get_pattern_string(self._get_point(command))

    def cmd_eye(self, command: Command) -> str:
        """Answer whose eye shape a point is: black, white or none."""
        return COLOR_NAMES[self.game.board.pattern.get_eye_color(self._get_point(command))]

    def cmd_self__atari(self, _: Command) -> str:
        """Answer, for each color and point, how many stones a move there would put into atari."""
        return "\n".join(self._self_atari_table(color) for color in (Stone.BLACK, Stone.WHITE))

    def cmd_hash_record(self, _: Command) -> str:
        """Answer the hash values of all positions of the game, the first one first."""
        hashes = self.game.board.record.get_hash_history()
        return "\n".join(f"{index}: {value:016x}" for index, value in enumerate(hashes))

    def cmd_hiyoko__solve(self, command: Command) -> str:
        """Answer whether the string at a point can be captured, with either color to begin, and how."""
        from mcts.tactics.capture import VERDICTS, solve
        board, target = self.engine.board, self._get_point(command)  # once the search is compiled
        if board.board[target] == Stone.EMPTY:
            raise GtpError("no string there")
        lines = []
        for color in (Stone.BLACK, Stone.WHITE):
            with say_if_slow():
                verdict = solve(board, target, color)
            moves = f", {self.format_points(list(verdict.line))}" if verdict.line else ""
            lines.append(f"{COLOR_NAMES[color]} first: {VERDICTS[verdict.result]}{moves}")
        return "\n".join(lines)

    def cmd_hiyoko__ending(self, _: Command) -> str:
        """Answer who has won for certain, with either color to begin, and the move that wins where there is one."""
        from mcts.tactics.ending import solve_ending
        board, lines = self.engine.board, []  # once the search is compiled
        for color in (Stone.BLACK, Stone.WHITE):
            with say_if_slow():
                winner, move = solve_ending(board, color)
            verdict = "not settled" if winner == Stone.EMPTY else f"{COLOR_NAMES[winner]} wins"
            moves = "" if move == NO_MOVE else f", {self.format_move(move)}"
            lines.append(f"{COLOR_NAMES[color]} first: {verdict}{moves}")
        return "\n".join(lines)

    def cmd_tamago__dump_tree(self, _: Command) -> str:
        """Answer the search tree as one line of JSON."""
        try:
            return self.engine.dump_tree()
        except ValueError as error:
            raise GtpError(str(error)) from None

    def _get_point(self, command: Command) -> int:
        """Return the point that the first argument names; raises GtpError."""
        pos = self.get_pos(command, 0)
        if pos <= 0:
            raise GtpError("invalid coordinate")
        return pos

    def _self_atari_table(self, color: Stone) -> str:
        """Return the table of one color, rows from the top."""
        rows = self.game.board.get_self_atari_table(color)
        return "\n".join([COLOR_NAMES[color], *(" ".join(f"{value:3d}" for value in row) for row in rows)])
