"""Counting area.

`owner` is int8 [C]: BLACK or WHITE for points that are theirs, EMPTY for neutral ones. `queue` is int16 work
space with room for C entries.
"""

import numpy as np

from board.state import BLACK, EMPTY, OUT_OF_BOARD, SIZE, WHITE, WIDTH, State, copy_state, new_state
from common.kernel import kernel


@kernel
def fill_region(state: State, start: int, owner: np.ndarray, queue: np.ndarray) -> int:
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
def area_score(state: State, owner: np.ndarray, queue: np.ndarray) -> int:
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


def get_area(state: State) -> tuple[int, np.ndarray]:
    """Return Black's minus White's area and the owner of each cell, int8 [C]; all stones count as alive."""
    owner, queue = np.empty(len(state.stones), dtype=np.int8), np.empty(len(state.stones), dtype=np.int16)
    score = area_score(state, owner, queue)
    return int(score), owner


def area_without(state: State, dead: list[int]) -> tuple[int, np.ndarray]:
    """Return area and owners as get_area does, with the dead stones taken off first."""
    cleared = new_state(int(state.info[SIZE]))
    copy_state(cleared, state)
    cleared.stones[list(dead)] = EMPTY  # None would take all stones off
    return get_area(cleared)
