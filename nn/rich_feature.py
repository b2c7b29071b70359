"""The rich plane set: what the lecture's six planes leave the network to find out for itself.

0 the board, 1 and 2 own and opponent's stones, 3 to 5 strings of one, two and three liberties, 6 points that ko or
superko forbids, 7 to 9 moves after which the string has one liberty (self-atari), two, three or more, 10 moves that
capture, 11 to 15 the last five moves, 16 strings caught in a ladder, 17 moves that catch one, 18 and 19 own and
opponent's area; then constant planes: 20 whether the last move was a pass, 21 the mover's komi / 20, 22 whether a pass
now ends the game and wins, 23 the parity wave of the komi. They are those of KataGo (nn/katago_feature.py, which has
the rules for passes, too) but for 7 to 10.
"""

from typing import NamedTuple

import numpy as np

from board.constant import PASS
from board.ladder import find_ladders
from board.rules import is_legal, place_stone
from board.state import EMPTIES, EMPTY, PASSES, SIZE, TO_MOVE, WHITE, WIDTH, State, copy_state, copy_words, new_state
from common.kernel import kernel
from nn.feature import PlaneSet, Positions
from nn.plane_kernels import (
    KOMI_UNIT,
    FeatureWork,
    bound_komi,
    count_shown_moves,
    fill_plane,
    mark_area,
    mark_catching,
    mark_caught,
    mark_liberties,
    mark_ones,
    mark_recent,
    mark_stones,
    new_feature_work,
    parity_wave,
)

STONES, LIBERTIES, REPEATS, AFTER, CAPTURES, RECENT, CAUGHT, CATCHING, AREA = 1, 3, 6, 7, 10, 11, 16, 17, 18
PASSED, KOMI, GAME_END, PARITY = 20, 21, 22, 23
RICH_PLANES = 24
MOST_LIBERTIES = 3


class RichWork(NamedTuple):
    """Work space of one thread."""

    now: State
    after: State
    feature: FeatureWork


def new_rich_work(board_size: int) -> RichWork:
    """Return work space for one board size."""
    return RichWork(new_state(board_size), new_state(board_size), new_feature_work(board_size))


@kernel
def surely_keeps_liberties(state: State, pos: int, color: int) -> bool:
    """Return whether a stone on `pos` captures nothing, and its string has MOST_LIBERTIES or more, without playing it.

    Some strings have so many although this does not say so: whose liberties are to be counted together.
    """
    width, empties, many = state.info[WIDTH], 0, False
    for neighbor in (pos - width, pos - 1, pos + 1, pos + width):
        stone = state.stones[neighbor]
        if stone == EMPTY:
            empties += 1
        elif stone == color:
            many = many or state.liberties[state.string_id[neighbor]] > MOST_LIBERTIES
        elif stone == 3 - color and state.liberties[state.string_id[neighbor]] == 1:
            return False
    return many or empties >= MOST_LIBERTIES


@kernel
def mark_after_moves(
    state: State, color: int, repeats: np.ndarray, after: State, out: np.ndarray, first_plane: int
) -> None:
    """Write to three planes the moves whose string has one, two, three or more liberties, to a fourth the captures.

    Moves that `repeats` [C] forbids are left out. Modifies out and `after`.
    """
    width = state.info[WIDTH]
    for plane in range(MOST_LIBERTIES + 1):
        fill_plane(out, first_plane + plane, 0)
    for i in range(state.info[EMPTIES]):
        pos = state.empties[i]
        if repeats[pos] != 0 or not is_legal(state, pos, color):
            continue
        y, x = pos // width - 1, pos % width - 1
        if surely_keeps_liberties(state, pos, color):
            out[first_plane + MOST_LIBERTIES - 1, y, x] = 1
            continue
        copy_state(after, state)
        if place_stone(after, pos, color) > 0:
            out[first_plane + MOST_LIBERTIES, y, x] = 1
        liberties = min(after.liberties[after.string_id[pos]], MOST_LIBERTIES)
        out[first_plane + liberties - 1, y, x] = 1


@kernel
def encode_rich(positions: Positions, count: int, komi: np.ndarray, work: RichWork, out: np.ndarray) -> None:
    """Write the planes of the first `count` positions to out [N, 24, S, S]. Modifies work and out."""
    now = work.now
    for n in range(count):
        copy_words(now.buffer, positions.now[n])
        color, points, planes = now.info[TO_MOVE], now.info[SIZE] * now.info[SIZE], out[n]
        recent, repeats = positions.recent[n], positions.repeats[n]
        fill_plane(planes, 0, 1)
        mark_stones(now, color, planes, STONES)
        mark_liberties(now, planes, LIBERTIES)
        mark_ones(now, repeats, planes, REPEATS)
        mark_after_moves(now, color, repeats, work.after, planes, AFTER)
        own_komi = komi[n] if color == WHITE else -komi[n]
        score = mark_area(now, color, work.feature, planes, AREA) + own_komi
        shown = count_shown_moves(now, recent, score)
        mark_recent(now, recent, shown, planes, RECENT)
        find_ladders(now, work.feature.ladder)
        mark_caught(now, work.feature.ladder, planes, CAUGHT)
        mark_catching(now, color, work.feature.ladder, planes, CATCHING)
        own_komi = bound_komi(own_komi, points)
        fill_plane(planes, PASSED, 1 if shown > 0 and recent[0] == PASS else 0)
        fill_plane(planes, KOMI, own_komi / KOMI_UNIT)
        fill_plane(planes, GAME_END, 1 if now.info[PASSES] > 0 and score > 0 else 0)
        fill_plane(planes, PARITY, parity_wave(points, own_komi))


RICH = PlaneSet("rich", RICH_PLANES, looks_back=0, knows_ko=True, encode=encode_rich, new_work=new_rich_work)
