"""Shapes of three to six points: whose middle decides whether they are two eyes or one (nakade).

A shape is known by the sum of the squares of its points' neighbors inside the shape: three in a row or bent 6, the
pyramid of four 12, the bulky five 22 and the cross of five 20, the rabbity six 30. No other shape of these sizes has
that number, and in each of them one point has more neighbors than any other: the vital one.
"""

import numpy as np

from board.constant import PASS
from board.pattern import DIAGONAL, ORTHOGONAL
from board.state import BLACK, EMPTY, OUT_OF_BOARD, WHITE, WIDTH, State
from common.kernel import kernel
from mcts.uct.pattern_table import cells_of_codes

LARGEST_SHAPE = 6
SQUARE_FOUR = 16


@kernel
def neighbors_inside(cells: np.ndarray, count: int, width: int, i: int) -> int:
    """Return how many of the first `count` cells stand beside cell `i` of them."""
    number = 0
    for k in range(count):
        step = abs(cells[k] - cells[i])
        if step == 1 or step == width:
            number += 1
    return number


@kernel
def shape_number(cells: np.ndarray, count: int, width: int) -> int:
    """Return the number by which a shape is known."""
    number = 0
    for i in range(count):
        number += neighbors_inside(cells, count, width, i) ** 2
    return number


@kernel
def has_vital_point(count: int, number: int) -> bool:
    """Return whether a shape of so many points and this number has a vital point."""
    return ((count == 3 and number == 6) or (count == 4 and number == 12)
            or (count == 5 and (number == 20 or number == 22)) or (count == 6 and number == 30))


@kernel
def vital_point(cells: np.ndarray, count: int, width: int) -> int:
    """Return the vital point of a shape, PASS if it has none."""
    if not has_vital_point(count, shape_number(cells, count, width)):
        return PASS
    best, most = PASS, 0
    for i in range(count):
        number = neighbors_inside(cells, count, width, i)
        if number > most:
            best, most = int(cells[i]), number
    return best


@kernel
def is_dead_shape(cells: np.ndarray, count: int, width: int) -> bool:
    """Return whether capturing stones of this shape leaves no two eyes: one and two, three, and those with a middle.

    Also the square of four, which is no two eyes even when its owner moves first.
    """
    if count <= 2:
        return True
    number = shape_number(cells, count, width)
    return has_vital_point(count, number) or (count == 4 and number == SQUARE_FOUR)


@kernel
def list_region(state: State, start: int, cells: np.ndarray, begin: int, seen: np.ndarray) -> tuple[int, int]:
    """Write the empty region around the empty point `start` to cells from `begin` on; return its size and its end.

    The size is 0 when it has more than LARGEST_SHAPE points or both colors beside it, and where it is part of a region
    that was listed before: seen marks each with the number of its beginning + 1. Modifies cells and seen.
    """
    width, head, end, owner, mark = state.info[WIDTH], begin, begin + 1, EMPTY, begin + 1
    cells[begin] = start
    seen[start] = mark
    while head < end:
        pos = cells[head]
        head += 1
        for neighbor in (pos - width, pos - 1, pos + 1, pos + width):
            stone = state.stones[neighbor]
            if stone == EMPTY:
                if seen[neighbor] == mark:
                    continue
                if seen[neighbor] != 0 or end == begin + LARGEST_SHAPE:
                    return 0, end
                seen[neighbor] = mark
                cells[end] = neighbor
                end += 1
            elif stone != OUT_OF_BOARD:
                if owner != EMPTY and owner != stone:
                    return 0, end
                owner = stone
    return end - begin, end


def find_small_regions() -> np.ndarray:
    """Return a bit for each code of the eight cells around an empty point, uint8 [8192] (may_be_small)."""
    cells = cells_of_codes()
    empty = cells == EMPTY
    north, west, east, south = ORTHOGONAL
    reached = np.ones_like(empty)  # beside the point, or beside an empty point that is
    for corner, sides in zip(DIAGONAL, ((north, west), (north, east), (south, west), (south, east)), strict=True):
        reached[:, corner] = empty[:, sides].any(axis=1)
    points = (empty & reached).sum(axis=1)
    has_both = ((cells == BLACK) & reached).any(axis=1) & ((cells == WHITE) & reached).any(axis=1)
    return np.packbits((points > 0) & (points < LARGEST_SHAPE) & ~has_both, bitorder="little")


SMALL_REGIONS = find_small_regions()


@kernel
def may_be_small(code: int) -> bool:
    """Return whether an empty point may be part of a region of two points or more that list_region lists, by its code.

    It is not where both colors stand beside what the eight cells around it show of the region, nor where they show more
    than LARGEST_SHAPE points of it: so with three quarters of the empty points beside a playout's moves.
    """
    return (SMALL_REGIONS[code >> 3] >> (code & 7)) & 1 == 1


@kernel
def find_nakade(state: State, last: int, cells: np.ndarray, seen: np.ndarray) -> int:
    """Return the vital point of a small region beside the last move, PASS if there is none.

    Modifies cells [4 * LARGEST_SHAPE] and seen [C], which is 0 before and after.
    """
    width, end, found = state.info[WIDTH], 0, PASS
    if last <= PASS:
        return PASS
    for neighbor in (last - width, last - 1, last + 1, last + width):
        if state.stones[neighbor] == EMPTY and seen[neighbor] == 0 and found == PASS:
            begin = end
            count, end = list_region(state, neighbor, cells, begin, seen)
            if count >= 3:
                found = vital_point(cells[begin:], count, width)
    for i in range(end):
        seen[cells[i]] = 0
    return found


@kernel
def breaks_nothing(state: State, pos: int, color: int, cells: np.ndarray) -> bool:
    """Return whether a self-atari on `pos` of up to LARGEST_SHAPE stones has a shape that makes no two eyes.

    Such a throw-in may kill; any other one gives stones away, or breaks a seki. Modifies cells [LARGEST_SHAPE].
    """
    width, count = state.info[WIDTH], 1
    cells[0] = pos
    for side in (pos - width, pos - 1, pos + 1, pos + width):
        if state.stones[side] != color:
            continue
        known = False
        for i in range(count):
            known = known or cells[i] == side
        stone = side
        while not known:
            if count == LARGEST_SHAPE:
                return False
            cells[count] = stone
            count += 1
            stone = state.string_next[stone]
            if stone == side:
                break
    return is_dead_shape(cells, count, width)
