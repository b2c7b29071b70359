"""What the classifier of bad moves sees of a position: up to fifteen marks on each point, as the bits of one number.

They are the mover's view: strings by their liberties, the last two moves, and what a move there would do at once.
"""

import numpy as np

from board.ladder import LadderWork
from board.rules import captures, is_complete_eye, is_legal, self_atari_size
from board.state import EMPTY, LAST_MOVE, SIZE, WIDTH, State
from common.kernel import kernel

# Stones: own strings of one, two, three or more liberties, and the opponent's.
OWN, OTHER = 0, 3
MOST_LIBERTIES = 3
# Points of the last move and of the one before it.
LAST, PREVIOUS = 6, 7
# Empty points: where the mover may not play, where either side would put a string of its own into atari, where the
# mover captures, and where the opponent does.
ILLEGAL, SELF_ATARI, OTHER_SELF_ATARI, CAPTURES, OTHER_CAPTURES = 8, 9, 10, 11, 12
# Stones that a ladder catches, and the mover's moves that catch some.
CAUGHT, CATCHING = 13, 14
MARKS = 15
# Not for the classifier to see: the points that it is asked about, legal and no complete eye of the mover's.
CANDIDATE = 15


@kernel
def point_at(pos: int, size: int) -> int:
    """Return the number of a point on a board of this size: row from the top * S + column."""
    width = size + 2
    return (pos // width - 1) * size + pos % width - 1


@kernel
def mark_stone(state: State, ladders: LadderWork, pos: int, color: int) -> int:
    """Return the marks of a stone."""
    liberties = min(state.liberties[state.string_id[pos]], MOST_LIBERTIES)
    marks = 1 << ((OWN if state.stones[pos] == color else OTHER) + liberties - 1)
    if ladders.caught[pos] != 0:
        marks |= 1 << CAUGHT
    return marks


@kernel
def mark_empty_point(state: State, ladders: LadderWork, pos: int, color: int) -> int:
    """Return the marks of an empty point."""
    marks, opponent = 0, 3 - color
    if not is_legal(state, pos, color):
        marks |= 1 << ILLEGAL
    else:
        if not is_complete_eye(state, pos, color):
            marks |= 1 << CANDIDATE
        if captures(state, pos, color):
            marks |= 1 << CAPTURES
        elif self_atari_size(state, pos, color) > 0:
            marks |= 1 << SELF_ATARI
    if is_legal(state, pos, opponent):
        if captures(state, pos, opponent):
            marks |= 1 << OTHER_CAPTURES
        elif self_atari_size(state, pos, opponent) > 0:
            marks |= 1 << OTHER_SELF_ATARI
    if ladders.catching[pos] & opponent != 0:
        marks |= 1 << CATCHING
    return marks


@kernel
def mark_points(state: State, previous: int, ladders: LadderWork, color: int, out: np.ndarray) -> None:
    """Write the marks of each point, seen by `color`, which is to move, to out [S*S] (uint16). Modifies out.

    `previous` is the move before the last one; `ladders` are those of the position (board.ladder.find_ladders).
    """
    size, width, last, point = state.info[SIZE], state.info[WIDTH], state.info[LAST_MOVE], 0
    for y in range(1, size + 1):
        for pos in range(y * width + 1, y * width + size + 1):
            if state.stones[pos] == EMPTY:
                marks = mark_empty_point(state, ladders, pos, color)
            else:
                marks = mark_stone(state, ladders, pos, color)
            if pos == last:
                marks |= 1 << LAST
            if pos == previous:
                marks |= 1 << PREVIOUS
            out[point] = marks
            point += 1
