"""Kernels that draw planes, for sets of planes to choose from.

Every kernel writes all points of its planes `out[plane, y, x]`, of any dtype that can hold the values.
"""

from typing import NamedTuple

import numpy as np

from board.benson import AreaWork, find_owners, new_area_work
from board.constant import NO_MOVE, PASS
from board.geometry import get_geometry
from board.ladder import LadderWork, new_ladder_work
from board.state import EMPTY, PASSES, SIZE, WIDTH, State
from common.kernel import kernel

# Komi on a plane is in units of so many points.
KOMI_UNIT = 20.0


class FeatureWork(NamedTuple):
    """Work space of one thread."""

    ladder: LadderWork
    area: AreaWork
    owner: np.ndarray  # int8 [C]: who owns each point (see find_owners)


def new_feature_work(board_size: int) -> FeatureWork:
    """Return work space for one board size."""
    owner = np.zeros(get_geometry(board_size).cells, dtype=np.int8)
    return FeatureWork(new_ladder_work(board_size), new_area_work(board_size), owner)


@kernel
def fill_plane(out: np.ndarray, plane: int, value: float) -> None:
    """Write `value` to all points of a plane. Modifies out."""
    for y in range(out.shape[1]):
        for x in range(out.shape[2]):
            out[plane, y, x] = value


@kernel
def mark_ones(state: State, values: np.ndarray, out: np.ndarray, plane: int) -> None:
    """Write 1 where `values` [C] is 1, else 0. Modifies out."""
    size, width = state.info[SIZE], state.info[WIDTH]
    for y in range(size):
        for x in range(size):
            out[plane, y, x] = 1 if values[(y + 1) * width + x + 1] == 1 else 0


@kernel
def mark_colors(state: State, colors: np.ndarray, color: int, out: np.ndarray, first_plane: int) -> None:
    """Write where `colors` [C] is `color`, and where it is the opponent's, to two planes. Modifies out."""
    size, width = state.info[SIZE], state.info[WIDTH]
    for y in range(size):
        for x in range(size):
            found = colors[(y + 1) * width + x + 1]
            out[first_plane, y, x] = 1 if found == color else 0
            out[first_plane + 1, y, x] = 1 if found == 3 - color else 0


@kernel
def mark_stones(state: State, color: int, out: np.ndarray, first_plane: int) -> None:
    """Write the stones of `color` and those of the opponent to two planes. Modifies out."""
    mark_colors(state, state.stones, color, out, first_plane)


@kernel
def mark_liberties(state: State, out: np.ndarray, first_plane: int) -> None:
    """Write the stones of strings with one, two and three liberties to three planes. Modifies out."""
    size, width = state.info[SIZE], state.info[WIDTH]
    for y in range(size):
        for x in range(size):
            pos = (y + 1) * width + x + 1
            liberties = 0 if state.stones[pos] == EMPTY else state.liberties[state.string_id[pos]]
            for plane in range(3):
                out[first_plane + plane, y, x] = 1 if liberties == plane + 1 else 0


@kernel
def mark_recent(state: State, recent: np.ndarray, moves: int, out: np.ndarray, first_plane: int) -> None:
    """Write the newest `moves` of `recent` (pos, PASS or NO_MOVE) to one plane each. Modifies out."""
    width = state.info[WIDTH]
    for k in range(len(recent)):
        fill_plane(out, first_plane + k, 0)
        pos = recent[k]
        if k < moves and pos != PASS and pos != NO_MOVE:
            out[first_plane + k, pos // width - 1, pos % width - 1] = 1


@kernel
def mark_passes(recent: np.ndarray, moves: int, out: np.ndarray, first_plane: int) -> None:
    """Write constant planes: 1 for each of the newest `moves` of `recent` that is a pass. Modifies out."""
    for k in range(len(recent)):
        fill_plane(out, first_plane + k, 1 if k < moves and recent[k] == PASS else 0)


@kernel
def mark_caught(state: State, ladder: LadderWork, out: np.ndarray, plane: int) -> None:
    """Write the stones that a ladder catches, as `find_ladders` has just found them, to a plane. Modifies out."""
    mark_ones(state, ladder.caught, out, plane)


@kernel
def mark_catching(state: State, color: int, ladder: LadderWork, out: np.ndarray, plane: int) -> None:
    """Write the moves by which `color` catches a string of two liberties in a ladder to a plane. Modifies out."""
    size, width = state.info[SIZE], state.info[WIDTH]
    for y in range(size):
        for x in range(size):
            out[plane, y, x] = 1 if ladder.catching[(y + 1) * width + x + 1] & (3 - color) != 0 else 0


@kernel
def mark_area(state: State, color: int, work: FeatureWork, out: np.ndarray, first_plane: int) -> int:
    """Write the points that `color` and the opponent own to two planes; return the difference of their numbers.

    Modifies out and work.
    """
    find_owners(state, work.area, work.owner)
    mark_colors(state, work.owner, color, out, first_plane)
    difference = 0
    for owner in work.owner:
        if owner == color:
            difference += 1
        elif owner == 3 - color:
            difference -= 1
    return difference


@kernel
def bound_komi(own_komi: float, points: int) -> float:
    """Return the mover's komi as planes show it: not far beyond what the whole board is worth."""
    return min(max(own_komi, -points - KOMI_UNIT), points + KOMI_UNIT)


@kernel
def parity_wave(points: int, komi: float) -> float:
    """Return whom a half point of the mover's komi helps: a triangle wave of period 2 from -0.5 to 0.5.

    With an even number of points the area difference is even if nothing is neutral, with an odd one odd.
    """
    parity = points % 2
    phase = (komi - parity) - np.floor((komi - parity) / 2.0) * 2.0
    if phase < 0.5:
        return phase
    return 1.0 - phase if phase < 1.5 else phase - 2.0


@kernel
def count_shown_moves(state: State, recent: np.ndarray, score: float) -> int:
    """Return how many of the last moves a network may see, as KataGo has it.

    None after a pass if a second pass would not win: else it would believe that the game may end here, which the
    player can avoid. None from before two passes in a row either, which ended a game.
    """
    if state.info[PASSES] > 0 and score <= 0:
        return 0
    for k in range(len(recent)):
        if recent[k] == NO_MOVE or (k > 0 and recent[k] == PASS and recent[k - 1] == PASS):
            return k
    return len(recent)
