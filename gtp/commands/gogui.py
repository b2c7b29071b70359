"""GoGui's additions: interruption, and what the network and the search know as graphics."""

import os
from typing import TYPE_CHECKING

from board.stone import Stone
from gtp.arguments import get_color
from gtp.commands.command_group import COLOR_NAMES, CommandGroup
from gtp.protocol import Command

if TYPE_CHECKING:
    import numpy as np

ANALYZE_COMMANDS = (
    "cboard/Display policy distribution (Black)/display_policy_black_color",
    "cboard/Display policy distribution (White)/display_policy_white_color",
    "sboard/Display policy in percent (Black)/display_policy_black",
    "sboard/Display policy in percent (White)/display_policy_white",
    "string/Win rate by the network/display_value %m",
    "dboard/Ownership/display_ownership",
    "gfx/Best moves with visits/display_best_moves %m",
    "var/Principal variation/display_pv %m",
    "gfx/Moves that --prune keeps/display_kept_moves %m",
    "hstring/Can the string be captured?/hiyoko-solve %p",
    "hstring/Who has won for certain?/hiyoko-ending",
    "plist/Dead stones/display_dead_stones",
    "string/Last move explained/gomill-explain_last_move",
    "param/Search parameters/search_params",
)
EMPTY_CELL = '""'
# Pairs of playouts behind the ownership that is displayed.
OWNERSHIP_PAIRS = 64
# Smallest probability of which a logarithm is taken.
MIN_PROBABILITY = 1e-30


def format_board(cells: list[str], board_size: int) -> str:
    """Return cells row by row from the top."""
    return "\n".join(" ".join(cells[start:start + board_size]) for start in range(0, len(cells), board_size))


def format_percent(probability: float) -> str:
    """Return a probability in percent with three characters at most, so that it can be read on a point of the board."""
    percent = 100 * probability
    if percent >= 9.95:
        return f"{percent:.0f}"
    return f"{percent:.1f}" if percent >= 0.95 else f"{percent:.1f}".removeprefix("0").replace(".0", "0")


def color_cells(policy: "np.ndarray", legal: list[bool]) -> list[str]:
    """Return a color from blue to red for each legal point, by the logarithm of its probability."""
    import numpy as np
    logs = np.log(np.maximum(policy, MIN_PROBABILITY))
    lowest = min((value for value, is_legal in zip(logs, legal, strict=True) if is_legal), default=0.0)
    cells = []
    for value, is_legal in zip(logs, legal, strict=True):
        red = int((value - lowest) / -lowest * 255) if lowest < 0 else 255
        cells.append(f'"#{red:02X}00{255 - red:02X}"' if is_legal else EMPTY_CELL)
    return cells


class GoguiCommands(CommandGroup):
    """GoGui's additions."""

    def cmd_gogui__interrupt(self, _: Command) -> str:
        """Announce that the line `# interrupt` makes a running command answer at once."""
        return ""

    def cmd_gogui__sigint(self, _: Command) -> str:
        """Answer the number of this process: an interrupt signal makes a running command answer at once."""
        self.session.answer_on_sigint()
        return str(os.getpid())

    def cmd_gogui__version(self, _: Command) -> str:
        """Answer; every version of GoGui is as welcome as the other."""
        return ""

    def cmd_gogui__analyze_commands(self, _: Command) -> str:
        """Answer the commands that GoGui offers in its menu."""
        return "\n".join(ANALYZE_COMMANDS)

    def cmd_display_policy_black_color(self, _: Command) -> str:
        """Answer Black's policy as colors."""
        return self._display_colors(Stone.BLACK)

    def cmd_display_policy_white_color(self, _: Command) -> str:
        """Answer White's policy as colors."""
        return self._display_colors(Stone.WHITE)

    def cmd_display_policy_black(self, _: Command) -> str:
        """Answer Black's policy as numbers."""
        return self._display_numbers(Stone.BLACK)

    def cmd_display_policy_white(self, _: Command) -> str:
        """Answer White's policy as numbers."""
        return self._display_numbers(Stone.WHITE)

    def cmd_display_value(self, command: Command) -> str:
        """Answer the win rate of a color (the side to move if none is named) by the network, without search."""
        color = self._get_color_or_to_move(command)
        return f"{COLOR_NAMES[color]} wins with {self.engine.evaluate(color).winrate:.1%}"

    def cmd_display_ownership(self, _: Command) -> str:
        """Answer whose each point will be, by network or playouts, from -1 (White's) to 1 (Black's), as a dboard."""
        board = self.engine.board
        ownership = self.engine.estimate_position(Stone.BLACK, board.get_to_move(), 0, OWNERSHIP_PAIRS).ownership
        return format_board([f"{value:.3f}" for value in ownership], board.board_size)

    def cmd_display_best_moves(self, command: Command) -> str:
        """Answer the moves of a search with their visits as GoGui's gfx."""
        from gtp.commands.gogui_graphics import format_best_moves
        found = self.engine.look(self._get_color_or_to_move(command), self.session.should_stop)
        return format_best_moves(found, self.game.board.coordinate)

    def cmd_display_pv(self, command: Command) -> str:
        """Answer the principal variation of a search as GoGui's var."""
        from gtp.commands.gogui_graphics import format_variation
        color = self._get_color_or_to_move(command)
        found = self.engine.look(color, self.session.should_stop)
        return format_variation(found.candidates[0].pv, color, self.game.board.coordinate)

    def cmd_display_kept_moves(self, command: Command) -> str:
        """Answer the points that --prune leaves in the tree as GoGui's gfx."""
        from gtp.commands.gogui_graphics import format_points_in_color
        kept = self.engine.find_kept_moves(self._get_color_or_to_move(command))
        return format_points_in_color(kept, self.game.board.coordinate)

    def cmd_display_dead_stones(self, _: Command) -> str:
        """Answer the stones that count as dead."""
        return self.format_points(self.engine.get_dead_stones())

    def _get_color_or_to_move(self, command: Command) -> Stone:
        """Return the color that the first argument names, the side to move if there is none."""
        return get_color(command) if command.args else self.game.board.get_to_move()

    def _display_colors(self, color: Stone) -> str:
        """Return the policy of one color as GoGui's cboard."""
        policy, legal = self._get_policy(color)
        return format_board(color_cells(policy, legal), self.game.board.board_size)

    def _display_numbers(self, color: Stone) -> str:
        """Return the policy of one color in percent as GoGui's sboard."""
        policy, legal = self._get_policy(color)
        cells = [f'"{format_percent(value)}"' if is_legal else EMPTY_CELL
                 for value, is_legal in zip(policy, legal, strict=True)]
        return format_board(cells, self.game.board.board_size)

    def _get_policy(self, color: Stone) -> "tuple[np.ndarray, list[bool]]":
        """Return the network's probability of each point, float [S*S], and whether the point is legal."""
        board = self.game.board
        policy = self.engine.get_policy(color)[:-1]
        return policy, [board.is_legal(pos, color) for pos in board.onboard_pos]
