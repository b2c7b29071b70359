"""The region around a string that its opponent closes in: small ones are searched in full."""

import numpy as np

from board.state import EMPTY, WIDTH, State
from common.kernel import kernel

# Marks of points: closed in, and those of the strings around that have few liberties outside.
INSIDE, BESIDE = 1, 2
# With so many liberties outside a string is taken to be safe from there.
OUTSIDE_LIBERTIES = 3


@kernel
def clear_region(region: np.ndarray) -> None:
    """Mark no point. Modifies region."""
    for pos in range(len(region)):
        region[pos] = 0


@kernel
def is_loose(state: State, string_id: int, region: np.ndarray, outside: np.ndarray) -> bool:
    """Return whether a string has OUTSIDE_LIBERTIES that are not INSIDE, or more. Modifies `outside`, work space."""
    width, stone, count = state.info[WIDTH], string_id, 0
    while True:
        for side in (stone - width, stone - 1, stone + 1, stone + width):
            if state.stones[side] == EMPTY and region[side] != INSIDE:
                is_new = True
                for i in range(count):
                    is_new = is_new and outside[i] != side
                if is_new:
                    outside[count] = side
                    count += 1
                    if count == OUTSIDE_LIBERTIES:
                        return True
        stone = state.string_next[stone]
        if stone == string_id:
            return False


@kernel
def mark_string(state: State, string_id: int, region: np.ndarray) -> None:
    """Mark the stones of a string, and its liberties that are not marked, as BESIDE. Modifies region."""
    width, stone = state.info[WIDTH], string_id
    while True:
        region[stone] = BESIDE
        for side in (stone - width, stone - 1, stone + 1, stone + width):
            if state.stones[side] == EMPTY and region[side] == 0:
                region[side] = BESIDE
        stone = state.string_next[stone]
        if stone == string_id:
            break


@kernel
def mark_region(state: State, target: int, most_points: int, region: np.ndarray, queue: np.ndarray) -> bool:
    """Mark the points around the string at a point that its opponent's stones close in; return whether there are any.

    There are none where more than `most_points` of them are empty. Opponent's strings that have few liberties outside
    belong to it with all of these, since they may be captured from there. Modifies region and queue, [C] each.
    """
    defender, width, empty, count = state.stones[target], state.info[WIDTH], 0, 1
    clear_region(region)
    region[target] = INSIDE
    queue[0] = target
    done = 0
    while done < count and empty <= most_points:
        pos = queue[done]
        done += 1
        for side in (pos - width, pos - 1, pos + 1, pos + width):
            if region[side] == 0 and (state.stones[side] == EMPTY or state.stones[side] == defender):
                region[side] = INSIDE
                queue[count] = side
                count += 1
                empty += state.stones[side] == EMPTY
    if empty > most_points:
        clear_region(region)
        return False
    for i in range(count):
        for side in (queue[i] - width, queue[i] - 1, queue[i] + 1, queue[i] + width):
            if (region[side] == 0 and state.stones[side] == 3 - defender
                    and not is_loose(state, state.string_id[side], region, queue[count:])):
                mark_string(state, state.string_id[side], region)
    return True
