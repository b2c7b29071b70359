"""Points as the page numbers them: row by row from the top, from 0; PASS_POINT stands for a pass."""

from board.constant import PASS
from board.geometry import get_geometry

PASS_POINT = -1


def to_point(board_size: int, pos: int) -> int:
    """Return the number of a pos of the board or of PASS."""
    return PASS_POINT if pos == PASS else int(get_geometry(board_size).policy_index[pos])


def to_pos(board_size: int, point: int) -> int:
    """Return the pos of a number that belongs to the board."""
    return PASS if point == PASS_POINT else int(get_geometry(board_size).policy_pos[point])
