"""The input planes of KataGo's networks (its "version 7 features"), each group by a kernel of its own.

Every kernel writes all points of its planes `out[plane, y, x]`, of any dtype that can hold the values. Rules: area
scoring, positional superko, no suicide. The order of the planes is that of KataGo's files; what KataGo gives its
networks as a vector follows as constant planes, entries that are always 0 (and the two for the ko rule) left out.
"""

from typing import NamedTuple

import numpy as np

from board.benson import AreaWork, find_owners, new_area_work
from board.constant import NO_MOVE, PASS
from board.geometry import get_geometry
from board.ladder import LadderWork, find_ladders, new_ladder_work
from board.state import EMPTY, PASSES, SIZE, TO_MOVE, WHITE, WIDTH, State, copy_words, new_state
from common.kernel import kernel
from nn.feature import Positions

# KataGo's planes: 0 the board, 1 and 2 own and opponent's stones, 3 to 5 strings of 1, 2, 3 liberties, 6 points
# forbidden by ko or superko, 9 to 13 the last five moves, 14 to 16 strings caught in a ladder (now, before the last
# move, and before that), 17 moves that catch an opponent's string, 18 and 19 own and opponent's area. The planes 7, 8,
# 20 and 21 belong to other rules.
STONES, LIBERTIES, REPEATS, RECENT, CAUGHT, CATCHING, AREA = 1, 3, 6, 9, 14, 17, 18
UNUSED = (7, 8, 20, 21)
# The vector as planes: 22 to 26 passes among the last five moves, 27 komi for the mover / 20, 28 whether a pass ends
# the game, 29 the parity wave.
PASSED, KOMI, GAME_END, PARITY = 22, 27, 28, 29
KATAGO_PLANES = 30
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
def mark_equal(state: State, values: np.ndarray, wanted: int, out: np.ndarray, plane: int) -> None:
    """Write 1 where `values` [C] is `wanted`, else 0. Modifies out."""
    size, width = state.info[SIZE], state.info[WIDTH]
    for y in range(size):
        for x in range(size):
            out[plane, y, x] = 1 if values[(y + 1) * width + x + 1] == wanted else 0


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
    mark_equal(state, ladder.caught, 1, out, plane)


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


@kernel
def mark_constants(color: int, points: int, game_end: bool, komi: float, out: np.ndarray) -> None:
    """Write the planes that are the same everywhere, but the passes. Modifies out. `komi` is White's."""
    own_komi = komi if color == WHITE else -komi
    own_komi = min(max(own_komi, -points - KOMI_UNIT), points + KOMI_UNIT)
    wave = parity_wave(points, own_komi)
    for y in range(out.shape[1]):
        for x in range(out.shape[2]):
            out[0, y, x] = 1
            for plane in UNUSED:
                out[plane, y, x] = 0
            out[KOMI, y, x] = own_komi / KOMI_UNIT
            out[GAME_END, y, x] = 1 if game_end else 0
            out[PARITY, y, x] = wave


class KataGoWork(NamedTuple):
    """Work space of `encode_katago`."""

    now: State
    before: State
    earlier: State
    feature: FeatureWork


def new_katago_work(board_size: int) -> KataGoWork:
    """Return work space for one board size."""
    return KataGoWork(new_state(board_size), new_state(board_size), new_state(board_size), new_feature_work(board_size))


@kernel
def encode_katago(positions: Positions, count: int, komi: np.ndarray, work: KataGoWork, out: np.ndarray) -> None:
    """Write the planes of the first `count` positions to `out` [N, 30, S, S]. Modifies work and out.

    positions.past has the positions one and two moves ago, or the same again where there is none.
    """
    now, ladder = work.now, work.feature.ladder
    for n in range(count):
        copy_words(now.buffer, positions.now[n])
        copy_words(work.before.buffer, positions.past[n, 0])
        copy_words(work.earlier.buffer, positions.past[n, 1])
        recent, planes, color = positions.recent[n], out[n], now.info[TO_MOVE]
        mark_stones(now, color, planes, STONES)
        mark_liberties(now, planes, LIBERTIES)
        mark_equal(now, positions.repeats[n], 1, planes, REPEATS)
        score = mark_area(now, color, work.feature, planes, AREA) + (komi[n] if color == WHITE else -komi[n])
        shown = count_shown_moves(now, recent, score)
        mark_recent(now, recent, shown, planes, RECENT)
        mark_passes(recent, shown, planes, PASSED)
        mark_constants(color, now.info[SIZE] * now.info[SIZE], now.info[PASSES] > 0 and score > 0, komi[n], planes)
        for age in (2, 1, 0):
            state = now
            if shown >= 2 and age == 2:
                state = work.earlier
            elif shown >= 1 and age >= 1:
                state = work.before
            find_ladders(state, ladder)
            mark_caught(now, ladder, planes, CAUGHT + age)
        mark_catching(now, color, ladder, planes, CATCHING)
