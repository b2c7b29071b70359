"""GoBoard: a game in progress. A thin face over the kernels of this folder.

`pos` is the index into the padded board, x + y * (S + 2) with x and y from 1 and the origin at the top left; PASS
is 0. Colors are Stone.BLACK and Stone.WHITE.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from board import rules
from board.constant import BOARD_SIZE, DEFAULT_KOMI, GTP_X_COORDINATE, OB_SIZE, PASS
from board.coordinate import Coordinate
from board.geometry import get_geometry
from board.pattern import Pattern
from board.playout import find_dead_stones
from board.record import Record
from board.ruleset import Rules, RulesFace
from board.score import area_without, get_area
from board.state import (
    BLACK,
    EMPTIES,
    KO_MOVE,
    KO_POS,
    PASSES,
    PRISONERS,
    TO_MOVE,
    WHITE,
    History,
    clear_state,
    copy_state,
    new_state,
    start_history,
)
from board.stone import Cells, Stone
from board.string import StringData, set_up_stones
from common.print_console import print_err


class IllegalMoveError(ValueError):
    """A move that the rules forbid."""


class GoBoard(RulesFace):
    """Position, history and komi of one game, for any size from 2 to 19."""

    def __init__(self, board_size: int = BOARD_SIZE, komi: float = DEFAULT_KOMI, check_superko: bool = False) -> None:
        """Start a game on an empty board; raises ValueError for a size outside 2..19."""
        geometry = get_geometry(board_size)
        self.board_size = board_size
        self.board_size_with_ob = geometry.width
        self.board_start, self.board_end = OB_SIZE, board_size
        self.rules = Rules.of(komi, check_superko)
        self.onboard_pos: list[int] = [int(pos) for pos in geometry.points]
        self._points = frozenset(self.onboard_pos)
        self.sym_map: np.ndarray = geometry.symmetry
        self.coordinate = Coordinate(board_size)
        self.state, self._start = new_state(board_size), new_state(board_size)
        self.record = Record(self.state)
        self.strings, self.pattern = StringData(self.state), Pattern(self.state)

    @classmethod
    def with_rules(cls, board_size: int, rules: Rules) -> "GoBoard":
        """Return an empty board on which a game by these rules begins."""
        board = cls(board_size)
        board.rules = rules
        return board

    # --- the position -------------------------------------------------------------------------------------------

    @property
    def history(self) -> History:
        """The kernels' view of the record."""
        return self.record.history

    @property
    def board(self) -> Cells:
        """The stone on every cell of the padded board."""
        return Cells(self.state.stones)

    @property
    def moves(self) -> int:
        """Number of the next move, from 1."""
        return len(self.record) + 1

    @property
    def ko_pos(self) -> int:
        """The point that may not be retaken at once, 0 if there is none."""
        return int(self.state.info[KO_POS])

    @property
    def ko_move(self) -> int:
        """Number of the move that took the last ko, 0 if there was none."""
        return int(self.state.info[KO_MOVE])

    @property
    def empty_points(self) -> int:
        """Number of empty points."""
        return int(self.state.info[EMPTIES])

    @property
    def prisoner(self) -> list[int]:
        """Stones captured by Black and by White."""
        return [int(n) for n in self.state.info[PRISONERS : PRISONERS + 2]]

    @property
    def positional_hash(self) -> np.ndarray:
        """Zobrist hash of the stones, uint64 [1]."""
        return self.state.hash

    @property
    def is_over(self) -> bool:
        """Whether the last two moves were passes."""
        return int(self.state.info[PASSES]) >= 2

    def POS(self, x: int, y: int) -> int:  # noqa: N802 (the lecture's name)
        """Return the pos of column x and row y (both count the off-board ring as 0)."""
        return x + y * self.board_size_with_ob

    def get_neighbor4(self, pos: int) -> list[int]:
        """Return the cells above, left, right and below."""
        width = self.board_size_with_ob
        return [pos - width, pos - 1, pos + 1, pos + width]

    def get_cross4(self, pos: int) -> list[int]:
        """Return the four diagonal cells."""
        width = self.board_size_with_ob
        return [pos - width - 1, pos - width + 1, pos + width - 1, pos + width + 1]

    # --- playing ------------------------------------------------------------------------------------------------

    def clear(self) -> None:
        """Start again with an empty board; size, komi and rules stay."""
        clear_state(self.state, self.board_size)
        clear_state(self._start, self.board_size)
        self.record.clear(self.state)

    def put_stone(self, pos: int, color: Stone) -> None:
        """Play a point or PASS; either color may move at any time.

        Raises IllegalMoveError for an occupied point, suicide, a forbidden ko and a color that is no player's; superko
        is asked by is_legal.
        """
        if not self._is_legal_without_superko(pos, color):
            player = Stone(color).name.lower() if color in [*Stone] else f"{color!r}, which is no Stone,"
            raise IllegalMoveError(f"{player} {self.coordinate.convert_to_gtp_format(pos)} is illegal")
        self.record.reserve(1)
        rules.play_recorded(self.state, self.history, pos, int(color))

    def put_handicap_stone(self, pos: int, color: Stone) -> None:
        """Add a stone to the start position; only before the first move. Raises IllegalMoveError."""
        if len(self.record) or not self._is_legal_without_superko(pos, color) or pos == PASS:
            raise IllegalMoveError(f"no handicap stone at {self.coordinate.convert_to_gtp_format(pos)}")
        rules.place_stone(self.state, pos, int(color))
        self.record.save_handicap(pos)
        self._begin_here(Stone.get_opponent_color(color))

    def set_up(self, black: Sequence[int], white: Sequence[int], to_move: Stone | None = None) -> None:
        """Make any legal position the start of the game.

        The side to move is `to_move`; without it White after black stones alone, else Black. Raises ValueError,
        and changes nothing, for a point named twice, off the board, or a string without liberties.
        """
        positions = np.array([*black, *white], dtype=np.int32)
        if not set(positions.tolist()) <= self._points:
            raise ValueError("set-up stones need points of the board")
        colors = np.array([BLACK] * len(black) + [WHITE] * len(white), dtype=np.int32)
        position = new_state(self.board_size)
        if wrong := set_up_stones(position, positions, colors):
            point = self.coordinate.convert_to_gtp_format(wrong)
            raise ValueError(f"{point} is named twice or its string has no liberty")
        self.clear()
        copy_state(self.state, position)
        self.record.handicap_pos = [] if white else [int(pos) for pos in black]
        self._begin_here(to_move or (Stone.WHITE if black and not white else Stone.BLACK))

    def _begin_here(self, to_move: Stone) -> None:
        """Make the position on the board the start of the record."""
        self.state.info[TO_MOVE] = int(to_move)
        self.state.info[KO_POS] = 0
        copy_state(self._start, self.state)
        start_history(self.history, self.state)

    def undo(self) -> None:
        """Take back the last move, ko and superko included; raises ValueError when there is none."""
        if not len(self.record):
            raise ValueError("cannot undo")
        self.truncate(len(self.record) - 1)

    def truncate(self, moves: int) -> None:
        """Go back to the position after the first `moves` moves; raises ValueError where there are not so many."""
        if not 0 <= moves <= len(self.record):
            raise ValueError(f"cannot go back to move {moves} of {len(self.record)}")
        copy_state(self.state, self._start)
        start_history(self.history, self.state)
        rules.replay(self.state, self.history, self.history, moves)

    # --- rules --------------------------------------------------------------------------------------------------

    def _is_legal_without_superko(self, pos: int, color: Stone) -> bool:
        return (color in (BLACK, WHITE) and 0 <= pos < len(self.state.stones)
                and bool(rules.is_legal(self.state, pos, int(color))))

    def is_superko(self, pos: int, color: Stone) -> bool:
        """Return whether a legal move would repeat a position of this game (positional superko)."""
        return pos in self._points and bool(rules.is_superko(self.state, self.history, pos, int(color)))

    def is_legal(self, pos: int, color: Stone) -> bool:
        """Return whether the move is legal; superko counts when check_superko is set."""
        return self._is_legal_without_superko(pos, color) and not (self.check_superko and self.is_superko(pos, color))

    def is_complete_eye(self, pos: int, color: Stone) -> bool:
        """Return whether the point is a one-point eye of `color` that cannot be made false."""
        return pos in self._points and bool(rules.is_complete_eye(self.state, pos, int(color)))

    def is_legal_not_eye(self, pos: int, color: Stone) -> bool:
        """Return whether the move is legal and does not fill an own eye."""
        return self.is_legal(pos, color) and not self.is_complete_eye(pos, color)

    def check_self_atari_stone(self, pos: int, color: Stone) -> int:
        """Return how many stones the legal move would put into atari; 0 if it captures or leaves two liberties."""
        return int(pos in self._points and rules.self_atari_size(self.state, pos, int(color)))

    def get_all_legal_pos(self, color: Stone, fill_eyes: bool = True) -> list[int]:
        """Return the legal points in board order; without own complete eyes if `fill_eyes` is False."""
        out = np.empty(self.board_size * self.board_size, dtype=np.int32)
        count = rules.list_legal_moves(self.state, self.history, int(color), self.check_superko, fill_eyes, out)
        return [int(pos) for pos in out[:count]]

    # --- history ------------------------------------------------------------------------------------------------

    def get_to_move(self) -> Stone:
        """Return the side to move: the opponent of the last mover."""
        return Stone(int(self.state.info[TO_MOVE]))

    def get_move_history(self) -> list[tuple[Stone, int]]:
        """Return color and pos of every move."""
        return list(zip(self.record.color[1:], self.record.pos[1:], strict=True))

    def get_handicap_history(self) -> list[int]:
        """Return the pos of the handicap stones."""
        return list(self.record.handicap_pos)

    def set_history(self, move_history: Iterable[tuple[Stone, int]], handicap_history: Iterable[int]) -> None:
        """Start again with black handicap stones and play the moves; raises IllegalMoveError."""
        self.clear()
        for pos in handicap_history:
            self.put_handicap_stone(pos, Stone.BLACK)
        for color, pos in move_history:
            self.put_stone(pos, color)

    # --- counting -----------------------------------------------------------------------------------------------

    def count_score(self) -> int:
        """Return Black's minus White's area without komi, all stones alive."""
        return get_area(self.state)[0]

    def get_dead_stones(self, seed: int = 0) -> list[int]:
        """Return the stones that random games do not save."""
        return find_dead_stones(self.state, seed)

    def final_score(self, dead: list[int]) -> float:
        """Return Black's minus White's area with the dead stones taken off, komi subtracted."""
        return area_without(self.state, dead)[0] - self.komi

    # --- views --------------------------------------------------------------------------------------------------

    def get_board_size(self) -> int:
        """Return the size."""
        return self.board_size

    def get_symmetrical_coordinate(self, pos: int, sym: int) -> int:
        """Return the pos that is read for `pos` under symmetry `sym` (0 to 7)."""
        return int(self.sym_map[sym, pos])

    def get_board_data(self, sym: int = 0) -> list[int]:
        """Return the stones of all points, row by row, seen through a symmetry."""
        return [int(self.state.stones[self.sym_map[sym, pos]]) for pos in self.onboard_pos]

    def get_liberty_data(self, sym: int = 0) -> list[int]:
        """Return the liberties of the string on each point, 0 for empty ones, seen through a symmetry."""
        return [self.strings.get_num_liberties(int(self.sym_map[sym, pos])) for pos in self.onboard_pos]

    def get_board_string(self, sym: int = 0) -> str:
        """Return the position as text, seen through a symmetry: move number, prisoners, a diagram with coordinates."""
        size, stones = self.board_size, self.get_board_data(sym)
        columns = "    " + " ".join(GTP_X_COORDINATE[1 : size + 1])
        frame = "  +" + "-" * (2 * size + 1) + "+"
        lines = [f"Move : {self.moves}", f"Prisoner(Black) : {self.prisoner[0]}",
                 f"Prisoner(White) : {self.prisoner[1]}", columns, frame]
        for y in range(size):
            row = " ".join(Stone(stone).get_char() for stone in stones[y * size : (y + 1) * size])
            number = f"{size - y:2d}"
            lines.append(f"{number}| {row} |{number.strip()}")
        return "\n".join([*lines, frame, columns])

    def display(self, sym: int = 0) -> None:
        """Print the position to stderr, seen through a symmetry (0 to 7)."""
        print_err(self.get_board_string(sym))

    def get_self_atari_table(self, color: Stone) -> list[list[int]]:
        """Return check_self_atari_stone of every point, row by row, 0 for points that may not be played."""
        size = self.board_size
        values = [self.check_self_atari_stone(pos, color) if self.is_legal(pos, color) else 0
                  for pos in self.onboard_pos]
        return [values[y * size : (y + 1) * size] for y in range(size)]

    def display_self_atari(self, color: Stone) -> None:
        """Print the self-atari table to stderr."""
        for row in self.get_self_atari_table(color):
            print_err(" ".join(f"{value:2d}" for value in row))

    # --- copies -------------------------------------------------------------------------------------------------

    def copy(self) -> "GoBoard":
        """Return an independent copy."""
        board = GoBoard(self.board_size)
        copy_board(board, self)
        return board

    def __deepcopy__(self, memo: dict) -> "GoBoard":
        """Copy safely: the views of a state must stay on one buffer."""
        return self.copy()

    def __reduce__(self):
        """Pickle as start position and moves."""
        return _rebuild, (self.board_size, self.rules, self._start.buffer.copy(), self.get_handicap_history(),
                          self.get_move_history())


def _rebuild(board_size: int, rules_of_game: Rules, start: np.ndarray, handicap: list[int],
             moves: list[tuple[Stone, int]]) -> GoBoard:
    board = GoBoard.with_rules(board_size, rules_of_game)
    board.state.buffer[:] = start
    board.record.handicap_pos = handicap
    board._begin_here(board.get_to_move())
    for color, pos in moves:
        board.put_stone(pos, color)
    return board


def copy_board(dst: GoBoard, src: GoBoard) -> None:
    """Make `dst` equal to `src`, komi, rules and handicap included; raises ValueError for boards of two sizes."""
    if dst.board_size != src.board_size:
        raise ValueError(f"cannot copy a board of size {src.board_size} to one of size {dst.board_size}")
    dst.rules = src.rules
    copy_state(dst.state, src.state)
    copy_state(dst._start, src._start)
    dst.record.copy_from(src.record)
