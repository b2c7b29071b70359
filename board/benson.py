"""Pass-alive strings: those that no sequence of opponent's moves can capture even if their owner always passes.

D. B. Benson, "Life in the game of Go", Information Sciences 10 (1976): strings with at least two vital regions,
a region being vital to a string when all its empty points are liberties of that string.
"""

import numpy as np

from board.state import EMPTY, OUT_OF_BOARD, WIDTH, State


def get_regions(state: State, color: int) -> list[list[int]]:
    """Return the connected regions of points without a stone of `color`."""
    width = int(state.info[WIDTH])
    seen = (state.stones == color) | (state.stones == OUT_OF_BOARD)
    regions = []
    for start in range(len(seen)):
        if seen[start]:
            continue
        seen[start] = True
        region = [start]
        for pos in region:
            for neighbor in (pos - width, pos - 1, pos + 1, pos + width):
                if not seen[neighbor]:
                    seen[neighbor] = True
                    region.append(neighbor)
        regions.append(region)
    return regions


def find_pass_alive(state: State, color: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two masks, bool [C]: the pass-alive stones of `color` and the regions they enclose as territory.

    A region is territory when it is vital to a pass-alive string and borders no other string of the color.
    """
    width = int(state.info[WIDTH])
    alive = {int(i) for i in state.string_id[state.stones == color]}
    regions = []
    for region in get_regions(state, color):
        beside = [{int(state.string_id[pos + step]) for step in (-width, -1, 1, width)
                   if state.stones[pos + step] == color} for pos in region]
        vital = None
        for pos, ids in zip(region, beside, strict=True):
            if state.stones[pos] == EMPTY:
                vital = ids if vital is None else vital & ids
        regions.append((region, set().union(*beside), vital or set()))
    while True:
        healthy = [(region, border, vital) for region, border, vital in regions if border <= alive]
        remaining = {i for i in alive if sum(i in vital for _, _, vital in healthy) >= 2}
        if remaining == alive:
            break
        alive = remaining
    stones, territory = np.isin(state.string_id, list(alive)), np.zeros(len(state.stones), dtype=bool)
    stones &= state.stones == color
    for region, _, vital in healthy:
        if vital & alive:
            territory[region] = True
    return stones, territory
