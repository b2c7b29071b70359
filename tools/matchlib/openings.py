"""Openings, so that engines without randomness do not play one game a hundred times.

Two games in a row share an opening, with the colors exchanged. Generated openings are distinct by symmetry: none is a
rotation or reflection of another one.
"""

import random
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path

from board.constant import GTP_X_COORDINATE
from board.stone import Stone
from tools.matchlib.config import BUILT_IN_OPENINGS, MatchConfig
from tools.matchlib.errors import IllegalPlayError, MatchError
from tools.matchlib.referee import Referee

# Column and row, each from 0.
Point = tuple[int, int]
Opening = list[str]

# So many known openings drawn in a row mean that there are no others.
EXHAUSTED_AFTER = 2000
# Rows left out at each edge by the central openings, for boards of at least the given size.
CENTER_MARGINS = ((7, 2), (4, 1), (0, 0))


def get_openings(config: MatchConfig) -> list[Opening]:
    """Return the openings of a match, one for each pair of games, fewer when there are no more; never none.

    The first openings do not depend on the number of games. Where there are fewer of a length than are wanted, those
    of one ply more come next: engines without randomness would play the same games again.

    Raises:
        MatchError: The file of openings cannot be read or has an illegal move.
    """
    count = (config.games + 1) // 2
    if config.openings not in BUILT_IN_OPENINGS:
        return read_openings(Path(config.openings), config.size)
    if config.openings == "none" or config.opening_plies == 0:
        return [[]]
    points = get_center_points(config.size) if config.openings == "center" else get_points(config.size, 0)
    lengths = range(min(config.opening_plies, len(points)), len(points) + 1)
    openings = chain.from_iterable(generate_openings(config.size, points, plies, config.seed) for plies in lengths)
    return list(islice(openings, count)) or [[]]


def get_points(size: int, margin: int) -> list[Point]:
    """Return the points at least `margin` rows away from the edge."""
    return [(x, y) for y in range(margin, size - margin) for x in range(margin, size - margin)]


def get_center_points(size: int) -> list[Point]:
    """Return the central points: the third line and above on 7x7 and larger boards, 5x5 points on 9x9."""
    return get_points(size, next(margin for least, margin in CENTER_MARGINS if size >= least))


def generate_openings(size: int, points: list[Point], plies: int, seed: int) -> Iterator[Opening]:
    """Draw legal openings of different points, distinct by symmetry, until no new one turns up."""
    generator = random.Random(seed)
    seen: set[tuple[Point, ...]] = set()
    misses = 0
    while misses < EXHAUSTED_AFTER:
        moves = generator.sample(points, plies)
        key = get_canonical_form(moves, size)
        opening = [format_point(point) for point in moves]
        if key in seen or not _is_legal(opening, size):
            misses += 1
            continue
        seen.add(key)
        misses = 0
        yield opening


def get_canonical_form(moves: Iterable[Point], size: int) -> tuple[Point, ...]:
    """Return the smallest of the eight rotations and reflections of a sequence of points."""
    last = size - 1
    quarters = [tuple(moves)]
    for _ in range(3):
        quarters.append(tuple((last - y, x) for x, y in quarters[-1]))
    return min(quarters + [tuple((last - x, y) for x, y in turned) for turned in quarters])


def format_point(point: Point) -> str:
    """Return the GTP vertex of a point."""
    return f"{GTP_X_COORDINATE[point[0] + 1]}{point[1] + 1}"


def read_openings(path: Path, size: int) -> list[Opening]:
    """Read a file with one opening a line, GTP vertices, Black first; `#` begins a comment.

    Raises:
        MatchError: The file cannot be read, has no opening or an illegal move.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise MatchError(f"cannot read the openings {path}: {reason}") from error
    openings = []
    for number, line in enumerate(lines, 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        try:
            openings.append(_play(words, size))
        except IllegalPlayError as error:
            raise MatchError(f"{path}:{number}: {error}") from error
    if not openings:
        raise MatchError(f"{path} has no openings")
    return openings


def _play(words: Iterable[str], size: int) -> Opening:
    """Return the moves in standard form; raises IllegalPlayError."""
    referee = Referee(size, 0.0)
    opening: Opening = []
    for word in words:
        if referee.is_over:
            raise IllegalPlayError(f"{word} follows the end of the game")
        opening.append(referee.play(Stone.WHITE if len(opening) % 2 else Stone.BLACK, word))
    if referee.is_over:
        raise IllegalPlayError("the opening ends the game")
    return opening


def _is_legal(opening: Opening, size: int) -> bool:
    try:
        _play(opening, size)
    except IllegalPlayError:
        return False
    return True
