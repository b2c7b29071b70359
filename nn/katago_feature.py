"""The input planes of KataGo's networks (its "version 7 features").

Rules: area scoring, positional superko, no suicide. The order of the planes is that of KataGo's files; what KataGo
gives its networks as a vector follows as constant planes, entries that are always 0 (and the two for the ko rule) left
out.
"""

from typing import NamedTuple

import numpy as np

from board.ladder import find_ladders
from board.state import PASSES, SIZE, TO_MOVE, WHITE, State, copy_words, new_state
from common.kernel import kernel
from nn.feature import PlaneSet, Positions
from nn.plane_kernels import (
    KOMI_UNIT,
    FeatureWork,
    bound_komi,
    count_shown_moves,
    mark_area,
    mark_catching,
    mark_caught,
    mark_liberties,
    mark_ones,
    mark_passes,
    mark_recent,
    mark_stones,
    new_feature_work,
    parity_wave,
)

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


@kernel
def mark_constants(points: int, game_end: bool, own_komi: float, out: np.ndarray) -> None:
    """Write the planes that are the same everywhere, but the passes. Modifies out."""
    own_komi = bound_komi(own_komi, points)
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
        mark_ones(now, positions.repeats[n], planes, REPEATS)
        own_komi = komi[n] if color == WHITE else -komi[n]
        score = mark_area(now, color, work.feature, planes, AREA) + own_komi
        shown = count_shown_moves(now, recent, score)
        mark_recent(now, recent, shown, planes, RECENT)
        mark_passes(recent, shown, planes, PASSED)
        mark_constants(now.info[SIZE] * now.info[SIZE], now.info[PASSES] > 0 and score > 0, own_komi, planes)
        for age in (2, 1, 0):
            state = now
            if shown >= 2 and age == 2:
                state = work.earlier
            elif shown >= 1 and age >= 1:
                state = work.before
            find_ladders(state, ladder)
            mark_caught(now, ladder, planes, CAUGHT + age)
        mark_catching(now, color, ladder, planes, CATCHING)


KATAGO = PlaneSet("katago", KATAGO_PLANES, looks_back=2, knows_ko=True, encode=encode_katago,
                  new_work=new_katago_work)
