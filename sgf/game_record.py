"""A game in progress as an SGF record."""

from collections.abc import Callable, Iterator

from board.go_board import GoBoard
from board.stone import Stone
from program import PROGRAM_NAME, VERSION

# Moves on a line; before each line the writing may be interrupted.
MOVES_PER_LINE = 12


class InterruptedWritingError(Exception):
    """The record was not written to its end."""


def format_game(board: GoBoard, should_stop: Callable[[], bool] = lambda: False) -> str:
    """Return a game with its set-up stones, komi and moves as SGF; raises InterruptedWritingError on `should_stop`."""
    to_sgf, history = board.coordinate.convert_to_sgf_format, board.get_move_history()
    lines = [f"(;FF[4]GM[1]CA[UTF-8]AP[{PROGRAM_NAME}:{VERSION}]SZ[{board.board_size}]KM[{board.get_komi()}]"
             + "".join(_setup_properties(board))]
    for begin in range(0, len(history), MOVES_PER_LINE):
        if should_stop():
            raise InterruptedWritingError
        moves = history[begin:begin + MOVES_PER_LINE]
        lines.append("".join(f";{color.name[0]}[{to_sgf(pos)}]" for color, pos in moves))
    return "\n".join([*lines, ")"])


def _setup_properties(board: GoBoard) -> Iterator[str]:
    """Yield the properties of the position before the first move, none for an empty board."""
    start = board.copy()
    start.truncate(0)
    for color in (Stone.BLACK, Stone.WHITE):
        stones = [board.coordinate.convert_to_sgf_format(pos) for pos in board.onboard_pos if start.board[pos] == color]
        if stones:
            yield f"A{color.name[0]}[{']['.join(stones)}]"
    if start.get_to_move() == Stone.WHITE or any(start.board[pos] != Stone.EMPTY for pos in board.onboard_pos):
        yield f"PL[{start.get_to_move().name[0]}]"
    if len(board.get_handicap_history()) > 1:
        yield f"HA[{len(board.get_handicap_history())}]"
