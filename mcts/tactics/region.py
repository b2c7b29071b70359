"""The region around a string that its opponent closes in: small ones are searched in full."""

import numpy as np

from board.state import EMPTY, WIDTH, State
from common.kernel import kernel

# Marks of points: closed in, those of the strings around that have few liberties outside, and the stones elsewhere,
# where both may play once they are taken.
INSIDE, BESIDE, STANDING = 1, 2, 3
# With so many liberties outside a string is no part of the region: it takes as many moves elsewhere to capture it.
OUTSIDE_LIBERTIES = 3
# With so many it is safe from there.
MOST_OUTSIDE = 9


@kernel
def clear_region(region: np.ndarray) -> None:
    """Mark no point. Modifies region."""
    for pos in range(len(region)):
        region[pos] = 0


@kernel
def count_outside(state: State, string_id: int, region: np.ndarray, with_beside: bool, outside: np.ndarray) -> int:
    """Return how many liberties of a string are in no region; with `with_beside` also those that are BESIDE it.

    Modifies `outside`, work space.
    """
    width, stone, count = state.info[WIDTH], string_id, 0
    while True:
        for side in (stone - width, stone - 1, stone + 1, stone + width):
            if state.stones[side] == EMPTY and (region[side] == 0 or (with_beside and region[side] == BESIDE)):
                is_new = True
                for i in range(count):
                    is_new = is_new and outside[i] != side
                outside[count] = side  # which the next one replaces unless it is new
                count += is_new
        stone = state.string_next[stone]
        if stone == string_id:
            return count


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
                    and count_outside(state, state.string_id[side], region, True, queue[count:]) < OUTSIDE_LIBERTIES):
                mark_string(state, state.string_id[side], region)
    return True


@kernel
def mark_standing(state: State, region: np.ndarray) -> None:
    """Mark the stones that a region leaves out: moves in it may take some, and then go on there. Modifies region."""
    for pos in range(len(region)):
        if region[pos] == 0 and state.string_id[pos] != 0:
            region[pos] = STANDING


@kernel
def most_outside(state: State, target: int, region: np.ndarray, outside: np.ndarray) -> int:
    """Return the most liberties outside of a string that closes a region in, those left aside with MOST_OUTSIDE.

    They say how many moves of the defender elsewhere may matter. Modifies `outside`, work space.
    """
    most, width = 0, state.info[WIDTH]
    for pos in range(len(region)):
        if region[pos] != INSIDE:
            continue
        for side in (pos - width, pos - 1, pos + 1, pos + width):
            if region[side] == 0 and state.stones[side] == 3 - state.stones[target]:
                count = count_outside(state, state.string_id[side], region, False, outside)
                most = max(most, count) if count < MOST_OUTSIDE else most
    return most


@kernel
def is_taken_from_outside(state: State, attacker: int, region: np.ndarray, moves: int, outside: np.ndarray) -> bool:
    """Return whether so many moves elsewhere have taken all that a string which closes a region in had left.

    Modifies `outside`, work space.
    """
    width = state.info[WIDTH]
    for pos in range(len(region)):
        if region[pos] != INSIDE:
            continue
        for side in (pos - width, pos - 1, pos + 1, pos + width):
            if (region[side] == 0 or region[side] == STANDING) and state.stones[side] == attacker:
                liberties = state.liberties[state.string_id[side]]
                if liberties <= moves and liberties == count_outside(
                        state, state.string_id[side], region, False, outside):
                    return True
    return False
