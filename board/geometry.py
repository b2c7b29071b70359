"""Tables that depend on nothing but the size of the board.

Letters: S board size, C = (S + 2)^2 cells of the padded board, A = S*S + 1 policy entries (points row by row from
the top left, then pass).
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from board.constant import MAX_BOARD_SIZE, MIN_BOARD_SIZE, OB_SIZE, PASS

SYMMETRIES = 8  # of a square: the first is the identity


class Geometry(NamedTuple):
    """Index tables of one board size (read-only)."""

    board_size: int
    width: int
    cells: int
    points: np.ndarray  # int32 [S*S]: pos of each point, row by row from the top left
    policy_pos: np.ndarray  # int32 [A]: pos of each policy entry, PASS last
    policy_index: np.ndarray  # int32 [C]: policy entry of each pos (PASS -> S*S), -1 for other off-board cells
    symmetry: np.ndarray  # int32 [8, C]: the pos that is read for a pos under each symmetry


def check_board_size(board_size: int) -> None:
    """Raise ValueError unless boards of this size can be played on."""
    if not MIN_BOARD_SIZE <= board_size <= MAX_BOARD_SIZE:
        raise ValueError(f"board size {board_size} is not between {MIN_BOARD_SIZE} and {MAX_BOARD_SIZE}")


def symmetric_xy(x: int, y: int, board_size: int, sym: int) -> tuple[int, int]:
    """Return the coordinates (from 1) read for (x, y) under symmetry `sym`.

    0 identity, 1 left-right, 2 top-bottom, 3 half turn, 4 transposition, 5 and 6 quarter turns, 7 anti-diagonal.
    """
    mirror_x, mirror_y = board_size + 1 - x, board_size + 1 - y
    return (
        (x, y), (mirror_x, y), (x, mirror_y), (mirror_x, mirror_y),
        (y, x), (y, mirror_x), (mirror_y, x), (mirror_y, mirror_x),
    )[sym]


@cache
def get_geometry(board_size: int) -> Geometry:
    """Return the tables of a board size; raises ValueError outside 2..19."""
    check_board_size(board_size)
    width = board_size + 2 * OB_SIZE
    cells = width * width
    inside = range(1, board_size + 1)
    points = np.array([x + y * width for y in inside for x in inside], dtype=np.int32)
    policy_pos = np.append(points, np.int32(PASS)).astype(np.int32)
    policy_index = np.full(cells, -1, dtype=np.int32)
    policy_index[policy_pos] = np.arange(len(policy_pos), dtype=np.int32)
    symmetry = np.tile(np.arange(cells, dtype=np.int32), (8, 1))
    for sym in range(SYMMETRIES):
        for y in inside:
            for x in inside:
                read_x, read_y = symmetric_xy(x, y, board_size, sym)
                symmetry[sym, x + y * width] = read_x + read_y * width
    for table in (points, policy_pos, policy_index, symmetry):
        table.setflags(write=False)
    return Geometry(board_size, width, cells, points, policy_pos, policy_index, symmetry)


def make_symmetry_index(board_size: int) -> np.ndarray:
    """Return int64 [8, A]: the policy entry that is read for each entry under each symmetry (the pass stays)."""
    geometry = get_geometry(board_size)
    return geometry.policy_index[geometry.symmetry[:, geometry.policy_pos]].astype(np.int64)
