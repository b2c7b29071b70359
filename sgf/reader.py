"""One game of an SGF file: `SGFReader`."""

import math
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from sgfmill import sgf_grammar
from sgfmill.sgf_properties import Presenter, serialise_go_point

from board.constant import DEFAULT_KOMI, MAX_BOARD_SIZE, MAX_KOMI, MIN_BOARD_SIZE, PASS
from board.coordinate import Coordinate
from board.stone import Stone
from common.print_console import print_err
from sgf.grammar import MALFORMED, SET_UP, WRONG_SIZE, Node, SGFError, read_main_line, show, to_utf8
from sgf.match_result import NOT_COUNTED, MatchResult, read_margin
from sgf.win_rate import SEARCH_VALUE, decode_search_comment, decode_search_value

if TYPE_CHECKING:  # processes that only read need no compiler
    from board.go_board import GoBoard

# The size that SGF means when SZ is missing.
SGF_DEFAULT_SIZE = 19
SET_UP_PROPERTIES = (("AB", Stone.BLACK), ("AW", Stone.WHITE), ("AE", Stone.EMPTY))
SET_UP_NAMES = frozenset(name for name, _ in SET_UP_PROPERTIES)


class SGFReader:
    """The main line of one game, with its set-up stones; colors are those written in the file.

    Members: size, komi, tells_komi (whether that is the record's), note (what is odd about the record, empty if
    nothing is), result, margin (by which Black won, NaN if not counted, or more than a board can have), handicap,
    event, black_player_name, white_player_name, application, copyright, black_stones and white_stones (pos of the
    stones set up before the first move), to_move (side to move first), moves, colors (pos and color of each move).
    """

    def __init__(self, source: str | Path | bytes, board_size: int | None = None, literal: bool = False) -> None:
        """Read the first game of a file, of its contents (bytes), or of SGF text if `literal`.

        `board_size` is the size the game must have (and is assumed to have where SZ is missing); None takes any.
        Raises SGFError for a game that cannot be used and OSError for a file that cannot be read.
        """
        if isinstance(source, bytes):
            data = to_utf8(source)
        elif literal:
            data = to_utf8(str(source))
        else:
            data = to_utf8(Path(source).read_bytes())
        self._read_nodes(read_main_line(data), board_size)

    @classmethod
    def from_nodes(cls, nodes: Sequence[Node], board_size: int | None = None) -> "SGFReader":
        """Return the reader of a main line that is parsed already; raises SGFError as the constructor does."""
        reader = cls.__new__(cls)
        reader._read_nodes(nodes, board_size)
        return reader

    def _read_nodes(self, nodes: Sequence[Node], board_size: int | None) -> None:
        """Set all members from the property maps."""
        self._read_root(nodes[0], board_size)
        self.black_stones: list[int] = []
        self.white_stones: list[int] = []
        self.moves: list[int] = []
        self.colors: list[int] = []
        self._move_nodes: list[Node] = []
        points = _point_table(self.size)
        for node in nodes:
            if not SET_UP_NAMES.isdisjoint(node):
                self._set_up(node)
            black, white = node.get("B"), node.get("W")
            values = black or white
            if values is None:
                continue
            pos = points.get(values[0])
            if pos is None:
                pos = points.get(values[0].strip())
            if pos is None or len(values) != 1 or (black and white):
                shown = show(b"][".join((black or []) + (white or [])))
                raise SGFError(MALFORMED, f"move {len(self.moves) + 1}: [{shown}] is not one point")
            self.moves.append(pos)
            self.colors.append(1 if black else 2)
            self._move_nodes.append(node)
        self._check_handicap()
        self.to_move = self._first_to_move(nodes)

    def _read_root(self, root: Node, board_size: int | None) -> None:
        """Set the members that describe the whole game; raises SGFError for other games than Go and other sizes."""
        check_game(root)
        size = simple_text(root, "SZ").strip()
        columns, _, rows = size.partition(":")
        if not size:
            self.size = board_size or SGF_DEFAULT_SIZE
        elif columns.isdecimal() and rows in ("", columns):
            self.size = int(columns[:4])
        else:
            raise SGFError(WRONG_SIZE, f"SZ[{size[:20]}] is not a size of a square board")
        if board_size is not None and self.size != board_size:
            raise SGFError(WRONG_SIZE, f"board size {self.size}, wanted {board_size}")
        if not MIN_BOARD_SIZE <= self.size <= MAX_BOARD_SIZE:
            raise SGFError(WRONG_SIZE, f"board size {self.size} is not between {MIN_BOARD_SIZE} and {MAX_BOARD_SIZE}")
        self._read_komi(simple_text(root, "KM").strip())
        self.handicap = int(parse_number(simple_text(root, "HA")) or 0)
        result = simple_text(root, "RE")
        self.result, self.margin = MatchResult.from_text(result), read_margin(result)
        if not is_possible_lead(self.margin, self.size):
            self.margin = NOT_COUNTED
        self.event = simple_text(root, "EV")
        self.black_player_name = simple_text(root, "PB")
        self.white_player_name = simple_text(root, "PW")
        self.application = simple_text(root, "AP")
        self.copyright = simple_text(root, "CP")

    def _read_komi(self, text: str) -> None:
        """Set komi, and the note where the text is no komi: some servers write 375 for 3.75."""
        komi = parse_number(text)
        if komi is not None and abs(komi) <= MAX_KOMI:
            self.komi, self.tells_komi, self.note = komi, True, ""
        else:
            self.komi, self.tells_komi = DEFAULT_KOMI, False
            self.note = f"KM[{text[:20]}] is no komi: it counts as unknown" if text else ""

    def _set_up(self, node: Node) -> None:
        """Add and remove the stones of one node; raises SGFError once a move has been played."""
        if self.moves:
            raise SGFError(SET_UP, f"stones are set up after move {len(self.moves)}")
        stones = dict.fromkeys(self.black_stones, Stone.BLACK) | dict.fromkeys(self.white_stones, Stone.WHITE)
        seen: set[int] = set()
        for name, color in SET_UP_PROPERTIES:
            if name not in node:
                continue
            try:
                points = Presenter(self.size, "UTF-8").interpret(name, node[name])
            except ValueError:
                shown = show(b"][".join(node[name]))
                raise SGFError(MALFORMED, f"{name}[{shown}] is not a list of points") from None
            positions = {to_pos(row, column, self.size) for row, column in points}
            if positions & seen:
                raise SGFError(SET_UP, f"{name} names a point that the same node sets up otherwise")
            seen |= positions
            stones.update(dict.fromkeys(positions, color))
        self.black_stones = sorted(pos for pos, color in stones.items() if color == Stone.BLACK)
        self.white_stones = sorted(pos for pos, color in stones.items() if color == Stone.WHITE)

    def _check_handicap(self) -> None:
        """Raise SGFError for handicap stones that are announced but neither set up nor played."""
        stones_missing = self.handicap >= 2 and not self.black_stones
        if stones_missing and self.colors and self.colors[0] == Stone.WHITE:
            raise SGFError(SET_UP, f"HA[{self.handicap}] without the handicap stones")

    def _first_to_move(self, nodes: Sequence[Node]) -> Stone:
        """Return who moves first: the first mover, else PL's side, else White after black stones only."""
        if self.colors:
            return Stone(self.colors[0])
        for node in reversed(nodes):
            side = simple_text(node, "PL").strip().upper()[:1]
            if side in ("B", "W"):
                return Stone.BLACK if side == "B" else Stone.WHITE
        return Stone.WHITE if self.black_stones and not self.white_stones else Stone.BLACK

    def get_moves(self) -> Iterator[int]:
        """Yield the pos of each move, PASS for a pass."""
        yield from self.moves

    def get_n_moves(self) -> int:
        """Return the number of moves, passes included."""
        return len(self.moves)

    def get_move_data(self, index: int) -> int:
        """Return the pos of move `index` (from 0)."""
        return self.moves[index]

    def get_color(self, index: int) -> Stone:
        """Return the color of move `index` (from 0)."""
        return Stone(self.colors[index])

    def play_on(self, board: "GoBoard", count: int | None = None) -> None:
        """Set an empty board up and play the first `count` moves (None: all) on it; raises ValueError for illegal ones.

        Modifies board.
        """
        if self.black_stones or self.white_stones or self.to_move != board.get_to_move():
            board.set_up(self.black_stones, self.white_stones, self.to_move)
        for pos, color in zip(self.moves[:count], self.colors, strict=False):
            board.put_stone(pos, Stone(color))

    def get_value_label(self) -> int:
        """Return Black's value class: 2 win, 1 draw, 0 loss, -1 unknown."""
        return self.result.to_value_label()

    def get_comment(self, index: int) -> str:
        """Return the comment of move `index` (from 0), "" if it has none."""
        raw = self._move_nodes[index].get("C")
        return "" if raw is None else full_text(raw)

    def get_win_rate(self, index: int) -> float | None:
        """Return the win rate [0, 1] that a search gave the mover before move `index` (from 0), None if unrecorded."""
        if SEARCH_VALUE in self._move_nodes[index]:
            return decode_search_value(simple_text(self._move_nodes[index], SEARCH_VALUE))
        comment = self.get_comment(index)
        search = decode_search_comment(comment) if comment else None
        return None if search is None else search.get_win_rate(self.colors[index])

    def display(self) -> None:
        """Print the game's data and moves to stderr."""
        print_err(f"Size : {self.size}, komi : {self.komi}, result : {self.result.name}, handicap : {self.handicap}")
        print_err(f"Black : {self.black_player_name}, White : {self.white_player_name}, event : {self.event}")
        to_gtp = Coordinate(self.size).convert_to_gtp_format
        for stones, name in ((self.black_stones, "black"), (self.white_stones, "white")):
            if stones:
                print_err(f"Set up {name} : {' '.join(map(to_gtp, stones))}")
        for index, pos in enumerate(self.moves):
            print_err(f"{index + 1} {self.get_color(index).name.lower()} {to_gtp(pos)}")


def check_game(root: Node) -> None:
    """Raise SGFError for another game than Go."""
    game = simple_text(root, "GM") or "1"
    if game.strip() != "1":
        raise SGFError(MALFORMED, f"not a game of Go: GM[{game[:20]}]")


def begin_of_line(nodes: Sequence[Node], moves: int) -> Sequence[Node]:
    """Return a main line up to so many moves, one at least, which tells who begins."""
    left = max(moves, 1)
    for number, node in enumerate(nodes):
        left -= "B" in node or "W" in node
        if left == 0:
            return nodes[:number + 1]
    return nodes


def to_pos(row: int, column: int, size: int) -> int:
    """Return the padded index of sgfmill's coordinates (from 0, bottom left)."""
    return column + 1 + (size - row) * (size + 2)


@cache
def _point_table(size: int) -> dict[bytes, int]:
    """Return the pos of every raw value that a move may have on a board of at most 19x19; "tt" is a pass there."""
    table = {serialise_go_point((row, column), size): to_pos(row, column, size)
             for row in range(size) for column in range(size)}
    return table | {b"": PASS, b"tt": PASS}


def full_text(raw: list[bytes]) -> str:
    """Return what raw Text values say, escapes and line ends resolved."""
    value = raw[0] if len(raw) == 1 else b"\n".join(raw)
    text = value.decode(errors="replace")
    if text.isprintable() and "\\" not in text:
        return text
    return sgf_grammar.text_value(value).decode(errors="replace")


def simple_text(node: Node, name: str) -> str:
    """Return the first value of a one-line property, "" if the node has none."""
    raw = node.get(name)
    return sgf_grammar.simpletext_value(raw[0]).decode(errors="replace") if raw else ""


def is_possible_lead(points: float, board_size: int) -> bool:
    """Return whether somebody may lead by so many points on a board, komi included."""
    return abs(points) <= board_size**2 + MAX_KOMI


def parse_number(text: str) -> float | None:
    """Return the number that the text is (a decimal comma is understood), or None."""
    if "_" in text:  # which only Python takes
        return None
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        return None
    return value if math.isfinite(value) else None
