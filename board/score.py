"""Counting: area, pass-alive strings (Benson), random playouts and the dead stones they find.

`owner` is int8 [C]: BLACK or WHITE for points that are theirs, EMPTY for neutral ones. `queue` is int16 work
space with room for C entries.
"""

import numpy as np

from board.benson import find_pass_alive
from board.constant import PASS
from board.random_state import new_random_state, next_random
from board.rules import is_complete_eye, is_legal, play, self_atari_size
from board.state import (
    BLACK,
    EMPTIES,
    EMPTY,
    OUT_OF_BOARD,
    PASSES,
    SIZE,
    TO_MOVE,
    WHITE,
    WIDTH,
    State,
    copy_state,
    new_state,
)
from common.kernel import kernel

# When the dead stones are sought, a player does not put this many stones or more into atari by its own move (that
# would break sekis); NO_LIMIT for plain random games.
SELF_ATARI_LIMIT = 7
NO_LIMIT = 0
# A playout is cut off after this many moves per point (long sequences of captures, triple ko).
PLAYOUT_MOVES_PER_POINT = 3
# Playouts for the question which stones are dead, and the share of them that must agree.
DEAD_STONE_PLAYOUTS = 400
DEAD_STONE_SHARE = 0.7


@kernel
def fill_region(state, start, owner, queue):
    """Give the empty region around `start` to the only color that touches it; return its size, negative for White.

    Modifies owner (0 for a region that both or nobody touch) and queue. Points of the region must be marked
    with OUT_OF_BOARD in owner before.
    """
    width = state.info[WIDTH]
    queue[0] = start
    owner[start] = EMPTY
    head, tail, black, white = 0, 1, False, False
    while head < tail:
        pos = queue[head]
        head += 1
        for neighbor in (pos - width, pos - 1, pos + 1, pos + width):
            stone = state.stones[neighbor]
            if stone == BLACK:
                black = True
            elif stone == WHITE:
                white = True
            elif stone == EMPTY and owner[neighbor] == OUT_OF_BOARD:
                owner[neighbor] = EMPTY
                queue[tail] = neighbor
                tail += 1
    if black == white:
        return 0
    color = BLACK if black else WHITE
    for i in range(tail):
        owner[queue[i]] = color
    return tail if black else -tail


@kernel
def area_score(state, owner, queue):
    """Return Black's minus White's area, all stones alive, without komi. Modifies owner and queue."""
    size, width = state.info[SIZE], state.info[WIDTH]
    score = 0
    for i in range(len(state.stones)):
        stone = state.stones[i]
        owner[i] = OUT_OF_BOARD if stone == EMPTY else (EMPTY if stone == OUT_OF_BOARD else stone)
        if stone == BLACK:
            score += 1
        elif stone == WHITE:
            score -= 1
    for y in range(1, size + 1):
        for pos in range(y * width + 1, y * width + size + 1):
            if owner[pos] == OUT_OF_BOARD:
                score += fill_region(state, pos, owner, queue)
    return score


@kernel
def random_move(state, color, self_atari_limit, random_state):
    """Return a random legal move that fills no own complete eye, PASS if there is none.

    Moves that put `self_atari_limit` own stones or more into atari are left out, unless the limit is NO_LIMIT.
    Reorders state.empties (uniform choice without replacement); nothing else is modified.
    """
    remaining = state.info[EMPTIES]
    while remaining > 0:
        index = int(next_random(random_state) * remaining)
        pos = state.empties[index]
        if (is_legal(state, pos, color) and not is_complete_eye(state, pos, color)
                and (self_atari_limit == NO_LIMIT or self_atari_size(state, pos, color) < self_atari_limit)):
            return int(pos)
        remaining -= 1
        other = state.empties[remaining]
        state.empties[index] = other
        state.empty_index[other] = index
        state.empties[remaining] = pos
        state.empty_index[pos] = remaining
    return PASS


@kernel
def playout(state, self_atari_limit, random_state):
    """Play random moves to the end of the game and return the number of moves. Modifies state."""
    info = state.info
    limit = PLAYOUT_MOVES_PER_POINT * info[SIZE] * info[SIZE]
    moves = 0
    info[PASSES] = 0
    while moves < limit and info[PASSES] < 2:
        color = info[TO_MOVE]
        play(state, random_move(state, color, self_atari_limit, random_state), color)
        moves += 1
    return moves


@kernel
def run_playouts(start, count, self_atari_limit, random_state, state, owner, queue, black_count, white_count):
    """Play `count` random games from `start`, both colors moving first in turn; return the moves played.

    Adds to black_count and white_count [C] how often each point ended as theirs. Modifies the work space state,
    owner and queue too.
    """
    moves = 0
    for game in range(count):
        copy_state(state, start)
        state.info[TO_MOVE] = BLACK + game % 2
        moves += playout(state, self_atari_limit, random_state)
        area_score(state, owner, queue)
        for pos in range(len(owner)):
            if owner[pos] == BLACK:
                black_count[pos] += 1
            elif owner[pos] == WHITE:
                white_count[pos] += 1
    return moves


def get_area(state: State) -> tuple[int, np.ndarray]:
    """Return Black's minus White's area and the owner of each cell, int8 [C]; all stones count as alive."""
    owner, queue = np.empty(len(state.stones), dtype=np.int8), np.empty(len(state.stones), dtype=np.int16)
    score = area_score(state, owner, queue)
    return int(score), owner


def playout_ownership(state: State, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return how the points end in random games, float64 [C] from -1 (White's) to +1 (Black's)."""
    cells = len(state.stones)
    black, white = np.zeros(cells, dtype=np.int32), np.zeros(cells, dtype=np.int32)
    work = new_state(int(state.info[SIZE]))
    owner, queue = np.empty(cells, dtype=np.int8), np.empty(cells, dtype=np.int16)
    run_playouts(state, count, SELF_ATARI_LIMIT, new_random_state(rng), work, owner, queue, black, white)
    return (black - white) / count


def find_dead_stones(state: State, seed: int = 0, playouts: int = DEAD_STONE_PLAYOUTS) -> list[int]:
    """Return the stones that random games do not save, ascending.

    A string is dead when its points end as the opponent's in DEAD_STONE_SHARE of the games on average. Strings
    that are alive by Benson's theorem never are.
    """
    ownership = playout_ownership(state, playouts, np.random.Generator(np.random.PCG64(seed)))
    alive = find_pass_alive(state, BLACK)[0] | find_pass_alive(state, WHITE)[0]
    dead: list[int] = []
    for string_id in np.unique(state.string_id[state.string_id > 0]):
        stones = np.flatnonzero(state.string_id == string_id)
        sign = 1 if state.stones[string_id] == BLACK else -1
        if not alive[string_id] and sign * ownership[stones].mean() < 1 - 2 * DEAD_STONE_SHARE:
            dead.extend(int(pos) for pos in stones)
    return sorted(dead)


def area_without(state: State, dead: list[int]) -> tuple[int, np.ndarray]:
    """Return area and owners as get_area does, with the dead stones taken off first."""
    cleared = new_state(int(state.info[SIZE]))
    copy_state(cleared, state)
    cleared.stones[dead] = EMPTY
    return get_area(cleared)
