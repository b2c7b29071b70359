"""What is remarkable about a move: the features whose gammas make the priors of the search without a network.

They follow R. Coulom, "Computing Elo ratings of move patterns in the game of Go" (2007, table 1): the pattern, capture,
extension, self-atari, atari, distance to the last two moves and to the edge. FEATURES lists their values by name.
"""

from typing import NamedTuple

import numpy as np

from board.constant import PASS
from board.ladder import LadderWork
from board.pattern import pattern_code
from board.rules import self_atari_size
from board.state import EMPTY, LAST_MOVE, OUT_OF_BOARD, SIZE, WIDTH, State
from common.kernel import kernel
from mcts.uct.pattern_table import PATTERN, Gammas, spread_patterns

MOST_DISTANCE = 12
NONE = "none"
DISTANCES = (NONE, *(str(d) for d in range(2, MOST_DISTANCE)), "far")
# The features beside the pattern, and what each says in the order of its values.
FEATURES: dict[str, tuple[str, ...]] = {
    "last": DISTANCES,
    "previous": DISTANCES,
    "capture": (NONE, "saves", "last", "free", "caught"),
    "escape": (NONE, "works", "fails"),
    "self_atari": (NONE, "one", "more"),
    "atari": (NONE, "ladder", "plain"),
    "line": ("1", "2", "3", "4", "5"),
}
LAST, PREVIOUS, CAPTURES, ESCAPE, SELF_ATARI, ATARI, LINE = range(len(FEATURES))
CAPTURE_SAVES, CAPTURE_LAST, CAPTURE_FREE, CAPTURE_CAUGHT = 1, 2, 3, 4
ESCAPE_WORKS, ESCAPE_FAILS = 1, 2
SELF_ATARI_ONE, SELF_ATARI_MORE = 1, 2
ATARI_LADDER, ATARI_PLAIN = 1, 2
MOST_VALUES = max(len(values) for values in FEATURES.values())


class PriorTable(NamedTuple):
    """The gammas of the features."""

    patterns: np.ndarray  # float64 [65536, 2]: of each code for Black and for White
    levels: np.ndarray  # float64 [F, V]: of each value of each feature


def make_prior_table(gammas: Gammas) -> PriorTable:
    """Return the table for the kernels; 1 for what was not learnt."""
    levels = np.ones((len(FEATURES), MOST_VALUES))
    for i, (feature, values) in enumerate(FEATURES.items()):
        for k, value in enumerate(values):
            levels[i, k] = gammas.get(feature, {}).get(value, 1.0)
    return PriorTable(spread_patterns(gammas.get(PATTERN, {})), levels)


@kernel
def distance_level(pos: int, other: int, width: int) -> int:
    """Return the value of a distance dx + dy + max(dx, dy) between a point and a recent move; 0 if that was none.

    The point of a recent move that was taken off again is next to it.
    """
    if other <= PASS:
        return 0
    dx, dy = abs(pos % width - other % width), abs(pos // width - other // width)
    return min(max(dx + dy + max(dx, dy), 2), MOST_DISTANCE) - 1


@kernel
def line_level(pos: int, size: int, width: int) -> int:
    """Return the value of a point's line, 0 for the first one."""
    x, y = pos % width, pos // width
    return min(min(x, size + 1 - x), min(y, size + 1 - y), 5) - 1


@kernel
def capture_level(state: State, ladders: LadderWork, string_id: int) -> int:
    """Return what it means to capture a string in atari: whom it saves, or whether it runs anyway."""
    width, color = state.info[WIDTH], state.stones[string_id]
    last, level = state.info[LAST_MOVE], CAPTURE_CAUGHT if ladders.caught[string_id] else CAPTURE_FREE
    stone = string_id
    while True:
        if stone == last and level > CAPTURE_LAST:
            level = CAPTURE_LAST
        for side in (stone - width, stone - 1, stone + 1, stone + width):
            if state.stones[side] == 3 - color and state.liberties[state.string_id[side]] == 1:
                return CAPTURE_SAVES
        stone = state.string_next[stone]
        if stone == string_id:
            return level


@kernel
def find_features(
    state: State, previous: int, ladders: LadderWork, pos: int, color: int, out: np.ndarray,
) -> None:
    """Write the values of the features of a legal move, in the order of FEATURES, to out [F]. Modifies out.

    `previous` is the move before the last one; `ladders` are those of the position (board.ladder.find_ladders).
    """
    size, width = state.info[SIZE], state.info[WIDTH]
    out[LAST] = distance_level(pos, state.info[LAST_MOVE], width)
    out[PREVIOUS] = distance_level(pos, previous, width)
    out[LINE] = line_level(pos, size, width)
    out[CAPTURES] = out[ESCAPE] = out[ATARI] = out[SELF_ATARI] = 0
    danger = self_atari_size(state, pos, color)
    if danger > 0:
        out[SELF_ATARI] = SELF_ATARI_ONE if danger == 1 else SELF_ATARI_MORE
    for side in (pos - width, pos - 1, pos + 1, pos + width):
        stone = state.stones[side]
        if stone == EMPTY or stone == OUT_OF_BOARD:
            continue
        string_id = state.string_id[side]
        liberties = state.liberties[string_id]
        if stone == color:
            if liberties == 1 and danger == 0 and out[ESCAPE] != ESCAPE_WORKS:
                out[ESCAPE] = ESCAPE_FAILS if ladders.caught[string_id] else ESCAPE_WORKS
        elif liberties == 1:
            level = capture_level(state, ladders, string_id)
            out[CAPTURES] = level if out[CAPTURES] == 0 else min(level, out[CAPTURES])
        elif liberties == 2 and out[ATARI] != ATARI_LADDER:
            out[ATARI] = ATARI_LADDER if ladders.catching[pos] & stone else ATARI_PLAIN


@kernel
def move_gamma(state: State, table: PriorTable, pos: int, color: int, features: np.ndarray) -> float:
    """Return the strength of a move: the product of the gammas of its pattern and of its features [F]."""
    gamma = float(table.patterns[pattern_code(state, pos), color - 1])
    for i in range(len(features)):
        gamma *= table.levels[i, features[i]]
    return gamma
