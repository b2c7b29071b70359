"""Where handicap stones stand."""

import math

from board.constant import GTP_X_COORDINATE
from board.coordinate import Coordinate

# Smallest board on which nine stones have points of their own, smallest with fixed handicap, and the one from which its
# stones stand on the fourth line.
MIN_SPREAD_SIZE = 5
MIN_HANDICAP_SIZE = 7
FOURTH_LINE_SIZE = 13
MAX_FIXED_HANDICAP = 9

# Points by number of stones: T top, B bottom, L left, R right, C center.
PLACES = {
    2: "TR BL", 3: "TL TR BL", 4: "TL TR BL BR", 5: "TL TR C BL BR", 6: "TL TR L R BL BR",
    7: "TL TR L C R BL BR", 8: "TL T TR L R BL B BR", 9: "TL T TR L C R BL B BR",
}


def max_fixed_handicap(board_size: int) -> int:
    """Return the largest number of fixed handicap stones (GTP 2, section 4.1.1), 0 if there is none."""
    if board_size < MIN_HANDICAP_SIZE:
        return 0
    if board_size % 2 == 0 or board_size == MIN_HANDICAP_SIZE:
        return 4
    return MAX_FIXED_HANDICAP


def get_fixed_handicap(board_size: int, stones: int) -> list[int]:
    """Return the pos of the fixed handicap stones; raises ValueError for a number the board has no points for."""
    if not 2 <= stones <= max_fixed_handicap(board_size):
        raise ValueError(f"size {board_size}, handicap {stones} is not supported")
    return _customary_points(board_size, stones)


def get_free_handicap(board_size: int, stones: int) -> list[int]:
    """Return `stones` points for free handicap: the customary ones, then points spread out from them.

    Raises ValueError unless 2 <= stones < S*S.
    """
    if not 2 <= stones < board_size * board_size:
        raise ValueError(f"{stones} handicap stones do not fit a {board_size}x{board_size} board")
    customary = []
    if board_size >= MIN_SPREAD_SIZE:  # where fixed handicap has four stones at most, more have their usual places, too
        customary = _customary_points(board_size, min(stones, MAX_FIXED_HANDICAP))
    width, inside = board_size + 2, range(1, board_size + 1)
    # Large boards have room enough to leave the two lines at the edge for last.
    margin = 3 if board_size >= FOURTH_LINE_SIZE else 1
    room = dict.fromkeys(((x, y) for y in inside for x in inside), math.inf)  # of free points: steps to a stone
    lines = {point: _line(point, board_size) for point in room}
    result: list[int] = []
    while len(result) < stones:
        if len(result) < len(customary):
            y, x = divmod(customary[len(result)], width)
        else:
            x, y = max(room, key=lambda point: (min(lines[point], margin), room[point], lines[point]))
        result.append(x + y * width)
        del room[x, y]
        for point, steps in room.items():
            room[point] = min(steps, abs(point[0] - x) + abs(point[1] - y))
    return result


def _customary_points(board_size: int, stones: int) -> list[int]:
    """Return the pos of 2 to 9 handicap stones, on a board of MIN_SPREAD_SIZE at least."""
    near = 2 if board_size < MIN_HANDICAP_SIZE else 3 if board_size < FOURTH_LINE_SIZE else 4
    middle, far = (board_size + 1) // 2, board_size + 1 - near
    coordinate = Coordinate(board_size)
    result = []
    for place in PLACES[stones].split():
        column = near if "L" in place else far if "R" in place else middle
        row = far if "T" in place else near if "B" in place else middle
        result.append(coordinate.convert_from_gtp_format(f"{GTP_X_COORDINATE[column]}{row}"))
    return result


def _line(point: tuple[int, int], board_size: int) -> int:
    """Return how far a point is from the edge, at most 3."""
    return min(point[0], point[1], board_size + 1 - point[0], board_size + 1 - point[1], 3)
