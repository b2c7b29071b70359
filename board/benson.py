"""Pass-alive strings: those that no sequence of opponent's moves can capture even if their owner always passes.

D. B. Benson, "Life in the game of Go", Information Sciences 10 (1976): strings with at least two vital regions,
a region being vital to a string when all its empty points are liberties of that string.
"""

from typing import NamedTuple

import numpy as np

from board.geometry import get_geometry
from board.state import BLACK, EMPTY, OUT_OF_BOARD, SIZE, WHITE, WIDTH, State
from common.kernel import kernel

# AreaWork.region outside of regions: of points without a stone of the color, not reached yet; of all others.
UNSEEN, NOWHERE = -1, -2


class AreaWork(NamedTuple):
    """Work space of one thread; what it holds is of the color that was looked at last."""

    queue: np.ndarray  # int16 [C]
    region: np.ndarray  # int16 [C]: number of the region of each point, below 0 where there is none
    vital: np.ndarray  # int16 [C, 4], by region: ids of the strings it is vital to
    vitals: np.ndarray  # int16 [C], by region: how many these are
    empty: np.ndarray  # bool [C], by region: no stone in it
    narrow: np.ndarray  # bool [C], by region: at most one of its points is not beside a stone of the color
    enclosed: np.ndarray  # bool [C], by region: beside pass-alive strings only
    eyes: np.ndarray  # int16 [C], by string id: enclosed regions vital to it
    alive: np.ndarray  # bool [C], by string id: pass-alive


def new_area_work(board_size: int) -> AreaWork:
    """Return work space for one board size."""
    cells = get_geometry(board_size).cells
    numbers = [np.zeros(cells, dtype=np.int16) for _ in range(4)]
    flags = [np.zeros(cells, dtype=np.bool_) for _ in range(4)]
    queue, region, vitals, eyes = numbers
    empty, narrow, enclosed, alive = flags
    return AreaWork(queue, region, np.zeros((cells, 4), dtype=np.int16), vitals, empty, narrow, enclosed, eyes, alive)


@kernel
def keep_neighbors(state: State, pos: int, color: int, area: AreaWork, number: int, first: int) -> None:
    """Strike from the region's vital strings those without a stone beside the empty point `pos`.

    With `first`, list the strings beside it instead. Modifies area.vital and vitals.
    """
    ids, stones, width, vital = state.string_id, state.stones, state.info[WIDTH], area.vital[number]
    kept = 0
    if first:
        for neighbor in (pos - width, pos - 1, pos + 1, pos + width):
            known = stones[neighbor] != color
            for i in range(kept):
                known = known or vital[i] == ids[neighbor]
            if not known:
                vital[kept] = ids[neighbor]
                kept += 1
    else:
        for i in range(area.vitals[number]):
            name = vital[i]
            if name in (ids[pos - width], ids[pos - 1], ids[pos + 1], ids[pos + width]):
                vital[kept] = name
                kept += 1
    area.vitals[number] = kept


@kernel
def flood_region(state: State, start: int, color: int, area: AreaWork, number: int) -> None:
    """Collect the region without stones of `color` around the empty point `start`. Modifies area."""
    stones, width = state.stones, state.info[WIDTH]
    region, queue = area.region, area.queue
    queue[0] = start
    region[start] = number
    head, tail, hidden, empty = 0, 1, 0, True
    while head < tail:
        pos = queue[head]
        head += 1
        if stones[pos] != EMPTY:
            empty = False
        elif head == 1 or area.vitals[number] > 0:
            keep_neighbors(state, pos, color, area, number, head == 1)
        beside = False
        for neighbor in (pos - width, pos - 1, pos + 1, pos + width):
            beside = beside or stones[neighbor] == color
            if region[neighbor] == UNSEEN:
                region[neighbor] = number
                queue[tail] = neighbor
                tail += 1
        if not beside:
            hidden += 1
    area.empty[number] = empty
    area.narrow[number] = hidden <= 1
    area.enclosed[number] = True
    for i in range(area.vitals[number]):
        area.eyes[area.vital[number, i]] += 1


@kernel
def find_regions(state: State, color: int, area: AreaWork) -> None:
    """Number the regions without stones of `color`, none where there is no such stone. Modifies area."""
    size, width = state.info[SIZE], state.info[WIDTH]
    any_stone = False
    for pos in range(len(state.stones)):
        own, outside = state.stones[pos] == color, state.stones[pos] == OUT_OF_BOARD
        area.region[pos] = NOWHERE if own or outside else UNSEEN
        area.eyes[pos] = 0
        area.alive[pos] = own
        any_stone = any_stone or own
    number = 0
    if any_stone:
        for y in range(1, size + 1):
            for pos in range(y * width + 1, y * width + size + 1):
                if area.region[pos] == UNSEEN and state.stones[pos] == EMPTY:
                    flood_region(state, pos, color, area, number)
                    number += 1


@kernel
def give_up_string(state: State, string_id: int, area: AreaWork) -> None:
    """Mark a string as not pass-alive, and the regions beside it as not enclosed. Modifies area."""
    width = state.info[WIDTH]
    area.alive[string_id] = False
    stone = string_id
    while True:
        for neighbor in (stone - width, stone - 1, stone + 1, stone + width):
            number = area.region[neighbor]
            if number >= 0 and area.enclosed[number]:
                area.enclosed[number] = False
                for i in range(area.vitals[number]):
                    area.eyes[area.vital[number, i]] -= 1
        stone = state.string_next[stone]
        if stone == string_id:
            break


@kernel
def find_alive(state: State, color: int, area: AreaWork) -> None:
    """Find the pass-alive strings of `color` and the regions that they alone enclose. Modifies area."""
    find_regions(state, color, area)
    most_eyes = 0
    for pos in range(len(area.eyes)):
        most_eyes = max(most_eyes, area.eyes[pos])
    if most_eyes < 2:  # nothing is alive, as in most positions of a search
        area.alive[:] = False
        area.enclosed[:] = False
        return
    changed = True
    while changed:
        changed = False
        for pos in range(len(state.stones)):
            if state.string_id[pos] == pos and state.stones[pos] == color and area.alive[pos] and area.eyes[pos] < 2:
                give_up_string(state, pos, area)
                changed = True


@kernel
def is_safe_region(area: AreaWork, number: int) -> bool:
    """Return whether an enclosed region is its owner's for good: the opponent cannot live inside."""
    return area.enclosed[number] and (area.empty[number] or area.narrow[number])


@kernel
def find_owners(state: State, area: AreaWork, owner: np.ndarray) -> None:
    """Give every point to the color it belongs to if both pass from now on, dead stones in safe regions taken off.

    That is: pass-alive strings with their safe regions, all other stones, and empty regions that one color alone
    surrounds. Modifies area and owner (int8 [C]: BLACK, WHITE, EMPTY for neutral points).
    """
    for pos in range(len(owner)):
        owner[pos] = EMPTY if state.stones[pos] == OUT_OF_BOARD else state.stones[pos]
    for color in (BLACK, WHITE):
        find_alive(state, color, area)
        for pos in range(len(owner)):
            number = area.region[pos]
            if number < 0:
                continue
            if is_safe_region(area, number) or (area.empty[number] and owner[pos] == EMPTY):
                owner[pos] = color


def find_safe_points(area: AreaWork) -> np.ndarray:
    """Return the points of the regions that are their owner's for good (is_safe_region), bool [C]."""
    return (area.region >= 0) & (area.enclosed & (area.empty | area.narrow))[area.region]


def find_pass_alive(state: State, color: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two masks, bool [C]: the pass-alive stones of `color` and the regions they enclose as territory.

    A region is territory when it borders no other string of the color and the opponent cannot live inside: it is
    empty, or at most one of its points is not beside a stone of the color.
    """
    area = new_area_work(int(state.info[SIZE]))
    find_alive(state, color, area)
    stones = (state.stones == color) & area.alive[state.string_id]
    return stones, find_safe_points(area)
