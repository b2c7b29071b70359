"""The game that is played, without the player: options, board and clocks, there at once while the network loads."""

from dataclasses import replace
from typing import Any

import numpy as np

from board.go_board import GoBoard
from board.score import area_without
from board.seki import find_seki_stones
from board.stone import Stone
from common.print_console import print_err
from engine.move_choice import ResignPolicy
from engine.options import EngineOptions
from mcts.time_manager import StartOptions, TimeManager
from nn.model_file import ANY_SIZE


def goes_on(before: GoBoard, board: GoBoard) -> bool:
    """Tell whether the game on `board` is that on `before`, maybe with more moves."""
    old, new = before.record.hash_value, board.record.hash_value
    return before.board_size == board.board_size and np.array_equal(old, new[: len(old)])


class Game:
    """Board and clocks of a game, and the options that govern them."""

    def __init__(self, options: EngineOptions, board_size: int, sizes: range) -> None:
        """Set up an empty board; `sizes` are those that the player's network serves."""
        self.options = options
        self.sizes = sizes
        self.board = GoBoard.with_rules(board_size, options.rules)
        self.time = TimeManager(self._start_options(), options.lag)
        self.resign = ResignPolicy(*options.resigning, options.min_resign_move)
        # Whether the opponent is to move after an own move, and there may be something to find out meanwhile.
        self._may_ponder = False
        # What was thought about the last own move; whether that was not taken back, and how many moves there were then.
        self.explanation, self.is_explained, self._explained_moves = "", False, 0
        self.cpu_time = 0.0  # processor time spent in genmove, seconds

    @property
    def options_in_use(self) -> EngineOptions:
        """The options that the player goes by, as far as that is known: it may not find what they ask for."""
        return self.options

    def _start_options(self) -> StartOptions:
        """Return the thinking time that the options ask for."""
        options = self.options
        return StartOptions(options.visits, options.strict_visits, options.const_time, options.time)

    def configure(self, **changes: Any) -> None:
        """Change options while the program runs: visits, seconds per move, lag, resigning, pondering, rules, search."""
        self.options = replace(self.options, **changes)
        self.time.change_start(self._start_options())
        self.time.lag = self.options.lag
        self.resign.threshold, self.resign.streak = self.options.resigning
        self.board.rules = replace(self.options.rules, komi=self.board.rules.komi)

    # --- setting up ---------------------------------------------------------------------------------------------

    def can_play(self, board_size: int) -> bool:
        """Tell whether there are boards of a size; where the network serves none, playouts choose the moves."""
        return board_size in ANY_SIZE

    def set_board_size(self, board_size: int) -> None:
        """Start a game on an empty board of a size that can be played; komi and time settings stay."""
        self.set_board(GoBoard.with_rules(board_size, self.board.rules))
        self.time.new_game()

    def set_board(self, board: GoBoard) -> None:
        """Go on from the game on `board`, of a size that can be played."""
        self.board = board
        self._forget()

    def look_at(self, board: GoBoard) -> None:
        """Go to another position, maybe of the same game: what was searched is kept as far as it holds there."""
        self._may_ponder = False
        if not goes_on(self.board, board):
            self.resign.reset()
        self.board = board

    def clear(self) -> None:
        """Start a new game; komi and time settings stay."""
        self.board.clear()
        self._forget()
        self.time.new_game()

    def set_position(self, black: list[int], white: list[int], to_move: Stone | None) -> None:
        """Start a game from a position; raises ValueError, and changes nothing, when it cannot exist."""
        board = GoBoard.with_rules(self.board.board_size, self.board.rules)
        board.set_up(black, white, to_move)
        self.set_board(board)

    def clear_tree(self) -> None:
        """Forget what was searched."""
        self._may_ponder = False

    def _forget(self) -> None:
        """Forget what was thought about another game."""
        self.clear_tree()
        self.resign.reset()
        self.explanation, self.is_explained = "", False

    def explain(self, explanation: str) -> None:
        """Keep what was thought about the move that has just been played, or about resigning."""
        self.explanation, self.is_explained, self._explained_moves = explanation, True, self.board.moves

    def is_untouched(self) -> bool:
        """Tell whether the board is empty and nothing was played."""
        return self.board.moves == 1 and not any(self.board.get_board_data(0))

    def put_handicap(self, points: list[int]) -> None:
        """Put black handicap stones on an empty board."""
        for pos in points:
            self.board.put_handicap_stone(pos, Stone.BLACK)
        self.resign.reset()

    # --- moves --------------------------------------------------------------------------------------------------

    def is_playable(self, color: Stone, pos: int) -> bool:
        """Tell whether a controller's move is legal; without --superko a repetition is, and is noted on stderr."""
        if not self.board.is_legal(pos, color):
            return False
        if self.board.is_superko(pos, color):
            print_err(f"Note: {self.board.coordinate.convert_to_gtp_format(pos)} repeats an earlier position")
        return True

    def play(self, color: Stone, pos: int) -> None:
        """Play a legal move."""
        self._may_ponder = False
        self.board.put_stone(pos, color)

    def play_sequence(self, moves: list[tuple[Stone, int]]) -> None:
        """Play legal moves; raises ValueError, and plays none of them, if one is illegal."""
        board = self.board.copy()
        for color, pos in moves:
            if not board.is_legal(pos, color):
                raise ValueError("illegal move")
            board.put_stone(pos, color)
        self._may_ponder = False
        self.board = board

    def undo(self, number: int) -> None:
        """Take back moves, as many as were played at most."""
        self._may_ponder = False
        if number:
            self.board.truncate(self.board.moves - 1 - number)
            self.resign.reset()
            self.is_explained = self.is_explained and self.board.moves >= self._explained_moves

    # --- the end ------------------------------------------------------------------------------------------------

    def get_dead_stones(self) -> list[int]:
        """Return the stones that count as dead: none in cgos mode."""
        return [] if self.options.cgos_mode else self.board.get_dead_stones()

    def get_seki_stones(self, dead: list[int]) -> list[int]:
        """Return the stones in seki once the dead ones are taken off: none in cgos mode, as nothing is dead."""
        return [] if self.options.cgos_mode else find_seki_stones(self.board, dead)

    def get_empty_points(self, owner: Stone) -> list[int]:
        """Return the empty points that belong to a color, EMPTY for neutral ones, without the dead stones."""
        _, owners = area_without(self.board.state, self.get_dead_stones())
        return [pos for pos in self.board.onboard_pos if owners[pos] == owner and self.board.board[pos] == Stone.EMPTY]

    def final_score(self) -> float:
        """Return Black's lead, komi included, without the dead stones."""
        return self.board.final_score(self.get_dead_stones())
