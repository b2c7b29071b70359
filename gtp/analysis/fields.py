"""Values of a JSON query: each is checked for type and range, and an error names the field as KataGo does."""

import json
import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from board.constant import RESIGN
from board.stone import Stone
from gtp.arguments import COLORS

if TYPE_CHECKING:
    from board.coordinate import Coordinate

# "(3,0)": column and row counted from 0 at the top left.
XY_POINT = re.compile(r"\(([0-9]{1,2}),([0-9]{1,2})\)", re.ASCII)
MAX_ECHO = 100  # characters of a wrong text that an error repeats
KATAGO_MAX_KOMI = 400.0  # as its analysis engine takes it; a record has board.constant.MAX_KOMI at most


class QueryError(Exception):
    """A query that cannot be carried out; `field` is the part of it that is to blame, None for all of it."""

    def __init__(self, field: str | None, message: str) -> None:
        """Keep both parts."""
        super().__init__(message)
        self.field = field


def _finite(text: str) -> float:
    """Return a number of JSON; raises ValueError for one that is too large to be answered."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:MAX_ECHO]} is not a finite number")
    return value


def parse_json(text: str) -> Any:
    """Return the value of a line of JSON; raises ValueError for anything else, NaN and infinity included."""
    try:
        return json.loads(text, parse_float=_finite, parse_constant=_finite)
    except RecursionError:
        raise ValueError("nested too deeply") from None


class QueryFields:
    """A JSON object that is read field by field.

    Attributes:
        used: names of the fields that were asked for.
    """

    def __init__(self, content: dict[str, Any], parent: str | None = None) -> None:
        """Read from `content`; errors name `parent`, if that is given, and the field in their text."""
        self._content, self._parent = content, parent
        self.used: set[str] = set()

    @property
    def unused(self) -> list[str]:
        """Names of the fields that nobody asked for."""
        return [name for name in self._content if name not in self.used]

    def error(self, name: str, message: str) -> QueryError:
        """Return the error for a field."""
        return QueryError(name, message) if self._parent is None else QueryError(self._parent, f"{name}: {message}")

    def has(self, name: str) -> bool:
        """Tell whether a field is there."""
        return name in self._content

    def get(self, name: str) -> Any:
        """Return the value of a field, None if it is not there."""
        self.used.add(name)
        return self._content.get(name)

    def integer(self, name: str, least: int, most: int, message: str) -> int | None:
        """Return a whole number of a range, None if it is not there."""
        value = self.get(name)
        if not self.has(name):
            return None
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise self.error(name, message)
        return value

    def number(self, name: str, least: float, most: float, message: str) -> float | None:
        """Return a number of a range, None if it is not there."""
        value = self.get(name)
        if not self.has(name):
            return None
        if not isinstance(value, int | float) or isinstance(value, bool) or not least <= value <= most:
            raise self.error(name, message)
        return float(value)

    def boolean(self, name: str) -> bool:
        """Return a truth value, False if it is not there."""
        value = self.get(name)
        if self.has(name) and not isinstance(value, bool):
            raise self.error(name, "Must be a boolean")
        return bool(value)

    def integers(self, name: str, message: str) -> list[int] | None:
        """Return a list of whole numbers, None if it is not there."""
        value = self.get(name)
        if not self.has(name):
            return None
        if not isinstance(value, list) or not all(type(number) is int for number in value):
            raise self.error(name, message)
        return value

    def player(self, name: str) -> Stone | None:
        """Return a color, None if it is not there."""
        value = self.get(name)
        if not self.has(name):
            return None
        color = COLORS.get(value.lower()) if isinstance(value, str) else None
        if color is None:
            raise self.error(name, 'Must be "b" or "w"')
        return color

    def point(self, name: str, text: Any, coordinate: "Coordinate") -> int:
        """Return the pos of a point or PASS."""
        try:
            if match := XY_POINT.fullmatch(text):
                x, y = int(match[1]), int(match[2])
                if max(x, y) < coordinate.board_size:
                    return x + 1 + (y + 1) * coordinate.width
            elif (pos := coordinate.convert_from_gtp_format(text)) != RESIGN:
                return pos
        except (TypeError, ValueError, AttributeError):
            pass
        raise self.error(name, f"Could not parse board location: {str(text)[:MAX_ECHO]}")

    def points(self, name: str, coordinate: "Coordinate") -> list[int]:
        """Return a list of points and passes."""
        value = self.get(name)
        if not isinstance(value, list):
            raise self.error(name, "Must be an array of GTP board vertices")
        return [self.point(name, text, coordinate) for text in value]

    def moves(self, name: str, coordinate: "Coordinate") -> Sequence[tuple[Stone, int]]:
        """Return a list of colors with points or passes."""
        message = 'Must be an array of pairs of the form: ["b" or "w", GTP board vertex]'
        value = self.get(name)
        if not isinstance(value, list):
            raise self.error(name, message)
        moves = []
        for pair in value:
            if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(text, str) for text in pair):
                raise self.error(name, message)
            color = COLORS.get(pair[0].lower())
            if color is None:
                raise self.error(name, f"Could not parse player: {pair[0][:MAX_ECHO]}")
            moves.append((color, self.point(name, pair[1], coordinate)))
        return moves
