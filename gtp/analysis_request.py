"""The arguments of the analysis commands: [color] [interval] and keys with values, in any order."""

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from board.constant import RESIGN
from board.stone import Stone
from gtp.arguments import COLORS, get_color, get_float, get_integer
from gtp.protocol import Command, GtpError

if TYPE_CHECKING:
    from board.coordinate import Coordinate
    from mcts.restriction import Restriction

CENTISECONDS = 100.0
KATA_FLAGS = frozenset((
    "rootInfo", "ownership", "ownershipStdev", "movesOwnership", "movesOwnershipStdev", "pvVisits", "pvEdgeVisits",
    "noResultValue",
))
BOOLEANS = {"true": True, "false": False}
NUMBER = re.compile(r"[0-9]+(\.[0-9]*)?|\.[0-9]+")


@dataclass
class AnalysisRequest:
    """What an analysis command asks for.

    Attributes:
        color: the side to move in the position that is looked at.
        interval: seconds between two reports, 0 for none while the search runs.
        min_moves, max_moves: how many moves a report has at least (also unvisited ones) and at most.
        flags: the keys with the value true, by KataGo's names.
        restriction: moves to leave out, None if none.
    """

    color: Stone
    interval: float = 0.0
    min_moves: int = 0
    max_moves: int | None = None
    flags: set[str] = field(default_factory=set)
    restriction: "Restriction | None" = None


class RequestParser:
    """Reads the arguments of one command from left to right."""

    def __init__(self, command: Command, coordinate: "Coordinate", to_move: Stone, known_flags: frozenset[str]) -> None:
        """Read for a board with these coordinates; `to_move` is the color if none is named."""
        self._command, self._coordinate, self._flags = command, coordinate, known_flags
        self._usage = f"{command.name} [color] [interval] [key value]..."
        self._request = AnalysisRequest(to_move)
        # For each color the kind of restriction so far.
        self._kinds: dict[Stone, str] = {}
        self._index = 0

    def parse(self) -> AnalysisRequest:
        """Return the request; raises GtpError for anything unknown or malformed."""
        seen: set[str] = set()
        while self._index < len(self._command.args):
            word = self._command.args[self._index]
            kind = "color" if word.lower() in COLORS else "interval" if NUMBER.fullmatch(word) else word
            if kind in seen and kind not in ("avoid", "allow"):
                raise GtpError(f"{kind} given twice")
            seen.add(kind)
            if kind == word:
                self._index += 1
            self._take(kind)
        return self._request

    def _take(self, kind: str) -> None:
        """Take over what `kind` says, from the argument that is next."""
        if kind == "color":
            self._request.color = get_color(self._command, self._next())
        elif kind == "interval":
            centiseconds = get_float(self._command, self._next(), "interval not a number")
            if centiseconds < 0:
                raise GtpError("interval not a number")
            self._request.interval = centiseconds / CENTISECONDS
        elif kind == "minmoves":
            self._request.min_moves = self._count(kind, 0)
        elif kind == "maxmoves":
            self._request.max_moves = self._count(kind, 1)
        elif kind in ("avoid", "allow"):
            self._restrict(kind)
        elif kind in self._flags:
            index = self._next()
            value = BOOLEANS.get(self._command.args[index]) if index < len(self._command.args) else None
            if value is None:
                raise GtpError(f"{kind} needs true or false")
            if value:
                self._request.flags.add(kind)
        else:
            raise GtpError(f"unknown argument {kind}, usage: {self._usage}")

    def _next(self) -> int:
        """Return the index of the next argument and move on."""
        self._index += 1
        return self._index - 1

    def _count(self, kind: str, least: int) -> int:
        """Return a whole number of at least `least`."""
        value = get_integer(self._command, self._next(), f"{kind} not an integer")
        if value < least:
            raise GtpError(f"{kind} must be at least {least}")
        return value

    def _restrict(self, kind: str) -> None:
        """Take in `avoid` or `allow` COLOR MOVES DEPTH."""
        from mcts.restriction import Restriction

        usage = f"{kind} needs color, moves and depth"
        if len(self._command.args) < self._index + 3:
            raise GtpError(usage)
        color = get_color(self._command, self._next(), usage)
        words = self._command.args[self._next()].split(",")
        moves = [pos for word in words if word for pos in self._expand(word)]
        depth = self._count("depth", 1)
        if not moves:
            raise GtpError(usage)
        if self._kinds.get(color, kind) != kind or (kind == "allow" and color in self._kinds):
            raise GtpError("allow may be given once for a color, and not together with avoid")
        self._kinds[color] = kind
        restriction = self._request.restriction or Restriction(self._coordinate.board_size)
        restrict = restriction.avoid if kind == "avoid" else restriction.allow
        restrict(color, [pos for pos in moves if pos != RESIGN], depth)
        self._request.restriction = restriction

    def _expand(self, word: str) -> list[int]:
        """Return the moves that a vertex, `pass`, `resign` or a rectangle such as A1:C3 stands for."""
        try:
            corners = [self._coordinate.convert_from_gtp_format(corner) for corner in word.split(":")]
        except ValueError:
            raise GtpError(f"invalid coordinate {word}") from None
        if len(corners) == 1:
            return corners
        if len(corners) > 2 or min(corners) <= 0:
            raise GtpError(f"invalid coordinate {word}")
        width = self._coordinate.width
        (y, x), (last_y, last_x) = (divmod(pos, width) for pos in corners)
        return [column + row * width for row in range(min(y, last_y), max(y, last_y) + 1)
                for column in range(min(x, last_x), max(x, last_x) + 1)]
