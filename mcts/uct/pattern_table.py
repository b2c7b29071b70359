"""The weights of moves that tools/learn_patterns.py has learnt, read from a table that a person can read.

patterns.txt has one line per number: a part (`playout`: what playouts draw by; `prior`: what the tree begins with), a
feature, a value of the feature and its gamma. A move's strength is the product of the gammas of its features (R.
Coulom, "Computing Elo ratings of move patterns in the game of Go", 2007). A pattern is drawn as three rows, `X` the
mover's stones, `O` the other's, `+` empty, `#` off the board, `*` the move; it stands for its eight symmetries.
"""

from functools import cache
from pathlib import Path

import numpy as np

from board.pattern import DIAGONAL, ORTHOGONAL
from board.state import BLACK, OUT_OF_BOARD, WHITE
from common.exit_status import ProgramError
from mcts.uct.playout_board import CODES, UNIT

PATTERN_FILE = Path(__file__).with_name("patterns.txt")
PLAYOUT, PRIOR = "playout", "prior"
PARTS = (PLAYOUT, PRIOR)
PATTERN = "pattern"
CELLS = "+XO#"

# The cells of a code under the eight symmetries: which cell each one reads.
QUARTER_TURN = (5, 3, 0, 6, 1, 7, 4, 2)
MIRROR = (2, 1, 0, 4, 3, 7, 6, 5)
# A weight stays far below 2^31, also times the factors of a move, and so does the sum of a board's.
MOST_GAMMA = 1000.0

Gammas = dict[str, dict[str, float]]  # by feature and value


class PatternFileError(ProgramError):
    """The table cannot be used; the text is one line for the user."""


def cells_of_codes() -> np.ndarray:
    """Return the eight cells of every code, int32 [65536, 8]."""
    return (np.arange(CODES, dtype=np.int32)[:, np.newaxis] >> (2 * np.arange(8, dtype=np.int32))) & 3


def join_cells(cells: np.ndarray) -> np.ndarray:
    """Return the codes of cells [..., 8]."""
    return (cells << (2 * np.arange(8, dtype=np.int32))).sum(axis=-1).astype(np.int32)


def swap_colors(codes: np.ndarray) -> np.ndarray:
    """Return the codes with black and white stones exchanged."""
    cells = cells_of_codes()[codes]
    is_stone = (cells == BLACK) | (cells == WHITE)
    return join_cells(np.where(is_stone, 3 - cells, cells))


@cache
def canonical_codes() -> np.ndarray:
    """Return for each code the least of its eight symmetries, int32 [65536]."""
    cells = cells_of_codes()
    least = np.arange(CODES, dtype=np.int32)
    for _ in range(2):
        for _ in range(4):
            cells = cells[:, QUARTER_TURN]
            least = np.minimum(least, join_cells(cells))
        cells = cells[:, MIRROR]
    return least


def eyes_of_black() -> np.ndarray:
    """Return which codes are an eye of Black's, bool [65536], as board.pattern.eye_color_of_code says."""
    cells = cells_of_codes()
    beside, diagonal = cells[:, ORTHOGONAL], cells[:, DIAGONAL]
    enclosed = ((beside == BLACK) | (beside == OUT_OF_BOARD)).all(axis=1) & (beside == BLACK).any(axis=1)
    allowed = np.where((diagonal == OUT_OF_BOARD).any(axis=1), 0, 1)
    return enclosed & ((diagonal == WHITE).sum(axis=1) <= allowed)


def draw_code(code: int) -> str:
    """Return a code, seen by Black, as a table shows it: XO+/+*+/###."""
    cells = "".join(CELLS[int(code) >> (2 * i) & 3] for i in range(8))
    return f"{cells[:3]}/{cells[3]}*{cells[4]}/{cells[5:]}"


def read_code(drawing: str) -> int:
    """Return the code that a drawing shows; raises ValueError."""
    cells = drawing.replace("/", "").replace("*", "")
    if len(drawing) != 11 or len(cells) != 8:
        raise ValueError(f"{drawing} is no drawing of a pattern")
    return sum(CELLS.index(cell) << (2 * i) for i, cell in enumerate(cells))


def read_gammas(path: Path = PATTERN_FILE) -> dict[str, Gammas]:
    """Return the table by part, feature and value; raises PatternFileError."""
    gammas: dict[str, Gammas] = {part: {} for part in PARTS}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise PatternFileError(f"{path}: {error.strerror}") from None
    for number, line in enumerate(lines, 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        try:
            part, feature, value, gamma = words
            if not 0.0 <= float(gamma) < np.inf or part not in PARTS:
                raise ValueError
            if feature == PATTERN:
                read_code(value)
            gammas[part].setdefault(feature, {})[value] = float(gamma)
        except ValueError:
            raise PatternFileError(f"{path}, line {number}: not `playout|prior FEATURE VALUE GAMMA`: "
                                   f"{line.strip()[:60]}") from None
    return gammas


def spread_patterns(gammas: dict[str, float]) -> np.ndarray:
    """Return the gamma of every code for Black and for White, float64 [65536, 2]; 1 where the table has none."""
    by_code = np.ones(CODES)
    for drawing, gamma in gammas.items():
        by_code[read_code(drawing)] = gamma
    canonical, codes = canonical_codes(), np.arange(CODES)
    return np.stack([by_code[canonical], by_code[canonical[swap_colors(codes)]]], axis=1)


def make_weights(gammas: dict[str, float]) -> np.ndarray:
    """Return what playouts draw by, int32 [65536, 2]: nothing for a color's own eyes, else 1 or more."""
    weights = np.clip(np.rint(spread_patterns(gammas) * UNIT), 1, MOST_GAMMA * UNIT).astype(np.int32)
    eyes = eyes_of_black()
    weights[eyes, 0] = 0
    weights[eyes[swap_colors(np.arange(CODES))], 1] = 0
    return weights
