"""3x3 neighborhoods: their 16-bit code and the eyes one can see in them.

Two bits per cell (00 empty, 01 black, 10 white, 11 off the board) in the order NW, N, NE, W, E, SW, S, SE, the
first one lowest. The code is computed when asked for: keeping it up to date would cost each move eight writes,
and the search asks only for eyes, which four cells nearly always decide.
"""

from board.constant import PASS
from board.state import BLACK, EMPTY, OUT_OF_BOARD, SIZE, WHITE, WIDTH, State
from board.stone import Stone
from common.kernel import kernel


@kernel
def pattern_code(state: State, pos: int) -> int:
    """Return the 16-bit code of the eight cells around a point."""
    width = state.info[WIDTH]
    code = 0
    shift = 0
    for cell in (pos - width - 1, pos - width, pos - width + 1, pos - 1, pos + 1,
                 pos + width - 1, pos + width, pos + width + 1):
        code |= int(state.stones[cell]) << shift
        shift += 2
    return code


# Places of the orthogonal and the diagonal neighbors in the code.
ORTHOGONAL = (1, 3, 4, 6)
DIAGONAL = (0, 2, 5, 7)


def split_code(code: int) -> list[int]:
    """Return the eight cells of a code in its order."""
    return [code >> (2 * i) & 3 for i in range(8)]


def eye_color_of_code(code: int) -> int:
    """Return BLACK or WHITE when the code is an eye of that color, else EMPTY.

    An eye has only one color and the edge beside it, and at most one opponent's stone on the diagonals,
    none at the edge.
    """
    cells = split_code(code)
    beside = {cells[i] for i in ORTHOGONAL} - {OUT_OF_BOARD}
    if len(beside) != 1 or EMPTY in beside:
        return EMPTY
    color = beside.pop()
    diagonal = [cells[i] for i in DIAGONAL]
    allowed = 0 if OUT_OF_BOARD in diagonal else 1
    return color if diagonal.count(3 - color) <= allowed else EMPTY


class Pattern:
    """3x3 neighborhoods of a position."""

    def __init__(self, state: State) -> None:
        """Look at the position `state`."""
        self._state = state

    def get_code(self, pos: int) -> int:
        """Return the 16-bit code around a point."""
        return int(pattern_code(self._state, pos))

    @property
    def pat3(self) -> list[int]:
        """The code of every cell, 0 off the board."""
        size, width = int(self._state.info[SIZE]), int(self._state.info[WIDTH])
        codes = [0] * (width * width)
        for y in range(1, size + 1):
            for x in range(1, size + 1):
                codes[x + y * width] = self.get_code(x + y * width)
        return codes

    def get_n_neighbors_empty(self, pos: int) -> int:
        """Return how many of the four cells beside a point are empty."""
        cells = split_code(self.get_code(pos))
        return sum(cells[i] == EMPTY for i in ORTHOGONAL)

    def get_eye_color(self, pos: int) -> Stone:
        """Return whose eye the empty point is, EMPTY when it is nobody's or holds a stone."""
        if pos == PASS or self._state.stones[pos] != EMPTY:
            return Stone.EMPTY
        return Stone(eye_color_of_code(self.get_code(pos)))

    def get_pattern_string(self, pos: int) -> str:
        """Return the 3x3 neighborhood as three lines of `+@O#`, with `*` in the middle."""
        chars = ["+@O#"[cell] for cell in split_code(self.get_code(pos))]
        return "\n".join(("".join(chars[:3]), f"{chars[3]}*{chars[4]}", "".join(chars[5:])))


assert (EMPTY, BLACK, WHITE, OUT_OF_BOARD) == (0, 1, 2, 3)  # the code stores these numbers in two bits
