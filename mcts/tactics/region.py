"""The region around a string that its opponent closes in: small ones are searched in full."""

import numpy as np

from board.state import EMPTY, WIDTH, State
from common.kernel import kernel


@kernel
def clear_region(region: np.ndarray) -> None:
    """Mark no point. Modifies region."""
    for pos in range(len(region)):
        region[pos] = 0


@kernel
def has_liberty_outside(state: State, string_id: int, region: np.ndarray) -> bool:
    """Return whether a string has a liberty that is not marked."""
    width, stone = state.info[WIDTH], string_id
    while True:
        for side in (stone - width, stone - 1, stone + 1, stone + width):
            if state.stones[side] == EMPTY and region[side] == 0:
                return True
        stone = state.string_next[stone]
        if stone == string_id:
            return False


@kernel
def mark_string(state: State, string_id: int, region: np.ndarray) -> None:
    """Mark the stones of a string. Modifies region."""
    stone = string_id
    while True:
        region[stone] = 1
        stone = state.string_next[stone]
        if stone == string_id:
            break


@kernel
def mark_region(state: State, target: int, most_points: int, region: np.ndarray, queue: np.ndarray) -> bool:
    """Mark the points around the string at a point that its opponent's stones close in; return whether there are any.

    There are none where more than `most_points` of them are empty. Opponent's strings that have no liberty outside
    belong to it. Modifies region and queue, [C] each.
    """
    defender, width, empty, count = state.stones[target], state.info[WIDTH], 0, 1
    clear_region(region)
    region[target] = 1
    queue[0] = target
    done = 0
    while done < count and empty <= most_points:
        pos = queue[done]
        done += 1
        for side in (pos - width, pos - 1, pos + 1, pos + width):
            if region[side] == 0 and (state.stones[side] == EMPTY or state.stones[side] == defender):
                region[side] = 1
                queue[count] = side
                count += 1
                empty += state.stones[side] == EMPTY
    if empty > most_points:
        clear_region(region)
        return False
    for i in range(count):
        for side in (queue[i] - width, queue[i] - 1, queue[i] + 1, queue[i] + width):
            if (region[side] == 0 and state.stones[side] == 3 - defender
                    and not has_liberty_outside(state, state.string_id[side], region)):
                mark_string(state, state.string_id[side], region)
    return True
