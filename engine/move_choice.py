"""Decisions that are not the search's: when to resign, when a pass wins, and the drawing of moves."""

import math
import random
from dataclasses import dataclass
from functools import cached_property

from board.constant import PASS
from board.go_board import GoBoard
from board.stone import Stone
from mcts.analysis import SearchResult

# Nobody resigns before so many moves for each point of the board, without and with a handicap.
RESIGN_SHARE, HANDICAP_RESIGN_SHARE = 0.25, 0.5


@dataclass(frozen=True)
class Choice:
    """A move with the win rate that the side to move had before it, the visits that it cost and the line expected.

    `time_limit` is when the search had to end, seconds after it began, `slowest_batch` how long one batch took at most.
    """

    pos: int
    winrate: float
    visits: int = 0
    pv: tuple[int, ...] = ()
    time_limit: float = math.inf
    slowest_batch: float = 0.0


class ResignPolicy:
    """Resigns when the win rate stays below a threshold for several own moves in a row."""

    def __init__(self, threshold: float, streak: int, min_move: int | None) -> None:
        """Set the limits; a threshold of 0 or less never resigns, `min_move` None means a share of the points."""
        self.threshold = threshold
        self.streak = streak
        self.min_move = min_move
        self._bad_moves: dict[Stone, int] = {}

    def reset(self) -> None:
        """Forget earlier moves (another game, or another position of it)."""
        self._bad_moves.clear()

    def decide(self, board: GoBoard, color: Stone, winrate: float) -> bool:
        """Take in the win rate that `color` sees before its move; tell whether it resigns."""
        resigns = self.would_resign(board, color, winrate)
        self._bad_moves[color] = self._bad_moves.get(color, 0) + 1 if winrate < self.threshold else 0
        return resigns

    def would_resign(self, board: GoBoard, color: Stone, winrate: float) -> bool:
        """Tell whether `color` resigns if this is the win rate before its next move; remember nothing."""
        # Who gave a handicap is behind at first, and plays on to see what happens.
        share = HANDICAP_RESIGN_SHARE if has_handicap(board) else RESIGN_SHARE
        min_move = int(share * board.board_size ** 2) if self.min_move is None else self.min_move
        bad_moves = self._bad_moves.get(color, 0) + 1
        return winrate < self.threshold and bad_moves >= self.streak and board.moves >= min_move


def has_handicap(board: GoBoard) -> bool:
    """Tell whether Black has handicap stones: set up, or played one after the other, as gtp2ogs and records do it."""
    played = [color for color, pos in board.get_move_history() if pos != PASS]
    return bool(board.get_handicap_history()) or played[:2] == [Stone.BLACK, Stone.BLACK]


def draw_by_visits(found: SearchResult, temperature: float, rng: random.Random) -> int:
    """Return one of the visited moves, drawn with weight visits ** (1 / temperature); at 0 the move to play."""
    visited = [move for move in found.candidates if move.visits > 0]
    if temperature <= 0 or not visited:
        return found.pos
    # Beside the most visited move no weight exceeds 1, however low the temperature.
    most = max(move.visits for move in visited)
    weights = [(move.visits / most) ** (1.0 / temperature) for move in visited]
    return rng.choices([move.pos for move in visited], weights)[0]


def follows_pass(board: GoBoard) -> bool:
    """Tell whether the last move was a pass, so that another one ends the game."""
    return board.moves > 1 and board.record.get_last_pos() == PASS


def lead_at_end(board: GoBoard, color: Stone, all_alive: bool) -> float:
    """Return by how much `color` leads if the game ends here, komi included.

    Unless all stones count as alive, dead ones (found by playouts) are taken off first.
    """
    score = board.final_score([] if all_alive else board.get_dead_stones())
    return score if color == Stone.BLACK else -score


class PassRule:
    """When to pass in one position.

    Who judges the game may take dead stones off or count all as alive. Capturing them costs nothing by area, so a pass
    must be right by both counts; with `all_alive` only the second one is asked.
    """

    def __init__(self, board: GoBoard, color: Stone, all_alive: bool, may_pass: bool = True, cleanup: bool = False,
                 ) -> None:
        """Judge passing by `color`; in `cleanup` all stones count, and dead ones must be captured before a pass."""
        self._board, self._color = board, color
        self._all_alive = all_alive or cleanup
        self._may_pass, self._cleanup = may_pass, cleanup

    @cached_property
    def lead(self) -> float:
        """By how much the side to move leads if the game ends here, by the count that is worse for it."""
        lead = lead_at_end(self._board, self._color, all_alive=True)
        return lead if self._all_alive else min(lead, lead_at_end(self._board, self._color, all_alive=False))

    @cached_property
    def _must_capture(self) -> bool:
        """Whether dead stones of the opponent are still to be captured."""
        return self._cleanup and any(self._board.board[pos] != self._color for pos in self._board.get_dead_stones())

    @property
    def wins_now(self) -> bool:
        """Whether a pass ends the game with a win."""
        return self._may_pass and follows_pass(self._board) and self.lead > 0 and not self._must_capture

    @property
    def is_bad(self) -> bool:
        """Whether another move is better than a pass, if there is a useful one."""
        return self.lead < 0 or self._must_capture


def first_playable(board: GoBoard, color: Stone, moves: list[int]) -> int | None:
    """Return the first point of `moves` that is legal, new as a position and no own eye; None if there is none."""
    for pos in moves:
        if pos > 0 and board.is_legal_not_eye(pos, color) and not board.is_superko(pos, color):
            return pos
    return None
