"""The opening book: what to play in positions that were searched beforehand, in a file that a person can read.

After a head `# book size 9 komi 7` each line is a position and the move to play in it: the moves that lead there from
the empty board, `=`, the move, the win rate that the search gave it and its visits:

    E5 C4 = G4 0.534 1600

Positions are known by their stones, whichever way the board lies and however they came about: eight symmetries and all
transpositions are one. tools/book.py makes such files.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from board.constant import PASS
from board.geometry import check_board_size, get_geometry
from board.go_board import GoBoard
from board.ruleset import format_komi
from board.state import BLACK, EMPTY, KO_POS, TO_MOVE
from board.stone import Stone
from board.zobrist_hash import HASH_TABLE
from common.atomic_file import write_atomically
from common.exit_status import ProgramError

HEAD = re.compile(r"# book size (\d+) komi (-?\d+(?:\.\d+)?)")


class BookError(ProgramError):
    """A book that cannot be used; the text is one line for the user."""


class BookMove(NamedTuple):
    """The move of a position."""

    line: tuple[str, ...]  # moves that lead to the position, by their names
    move: str
    winrate: float
    visits: int


class BookKey(NamedTuple):
    """A position as the book knows it."""

    hash: int
    symmetry: int  # through which the position is seen there


def find_key(board: GoBoard, color: Stone) -> BookKey:
    """Return how the book knows a position with `color` to move."""
    geometry, state = get_geometry(board.board_size), board.state
    seen = geometry.symmetry[:, geometry.points]
    stones = state.stones[seen]
    hashes = np.where(stones != EMPTY, HASH_TABLE[stones, geometry.points], np.uint64(0))
    keys = np.bitwise_xor.reduce(hashes, axis=1)
    if state.info[KO_POS] != 0 and state.info[TO_MOVE] == color:
        keys ^= np.where(seen == state.info[KO_POS], HASH_TABLE[EMPTY, geometry.points], np.uint64(0)).max(axis=1)
    if color != BLACK:
        keys ^= HASH_TABLE[EMPTY, 0]
    best = int(np.argmin(keys))
    return BookKey(int(keys[best]), best)


def turn_move(board_size: int, pos: int, symmetry: int) -> int:
    """Return the point that shows a move of the board when it is seen through a symmetry; PASS stays."""
    geometry = get_geometry(board_size)
    if pos == PASS:
        return PASS
    return int(geometry.points[np.flatnonzero(geometry.symmetry[symmetry, geometry.points] == pos)[0]])


def turn_back(board_size: int, pos: int, symmetry: int) -> int:
    """Return the move of the board that is seen at a point through a symmetry; PASS stays."""
    return PASS if pos == PASS else int(get_geometry(board_size).symmetry[symmetry, pos])


class Book:
    """The moves of a book for one board size and komi."""

    def __init__(self, board_size: int, komi: float) -> None:
        """Make an empty book."""
        self.board_size, self.komi = board_size, komi
        self._entries: dict[int, tuple[int, BookMove]] = {}  # by key: the move as the book sees it, and its line

    def __len__(self) -> int:
        """Return the number of positions."""
        return len(self._entries)

    @classmethod
    def read(cls, path: str | Path) -> "Book":
        """Return the book of a file; raises BookError."""
        try:
            lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is no text"
            raise BookError(f"cannot use book {path}: {reason}") from None
        head = HEAD.fullmatch(lines[0]) if lines else None
        if head is None:
            raise BookError(f"cannot use book {path}: it does not begin with `# book size 9 komi 7`")
        try:
            check_board_size(int(head[1]))
        except ValueError as error:
            raise BookError(f"cannot use book {path}: {error}") from None
        book = cls(int(head[1]), float(head[2]))
        for number, line in enumerate(lines[1:], 2):
            if line.strip() and not line.startswith("#"):
                try:
                    book._read_line(line)
                except ValueError:
                    raise BookError(f"cannot use book {path}: line {number} is no `MOVES = MOVE WINRATE VISITS` with "
                                    f"legal moves: {line.strip()[:60]}") from None
        return book

    def _read_line(self, line: str) -> None:
        """Take a line of a file; raises ValueError."""
        before, found = line.split("=")
        move, winrate, visits = found.split()
        entry = BookMove(tuple(before.split()), move, float(winrate), int(visits))
        if not 0.0 <= entry.winrate <= 1.0 or entry.visits < 0:
            raise ValueError(line)
        board = self.play(entry.line)
        pos = board.coordinate.convert_from_gtp_format(move)
        if not board.is_legal(pos, board.get_to_move()):
            raise ValueError(line)
        self.add(board, pos, entry.winrate, entry.visits)

    def play(self, line: Iterable[str]) -> GoBoard:
        """Return the board after moves from the empty one; raises ValueError for those that cannot be played."""
        board = GoBoard(self.board_size, self.komi)
        for name in line:
            board.put_stone(board.coordinate.convert_from_gtp_format(name), board.get_to_move())
        return board

    def add(self, board: GoBoard, pos: int, winrate: float, visits: int) -> None:
        """Take a move of a position that moves in turn lead to from the empty board; the newest one counts."""
        key, to_gtp = find_key(board, board.get_to_move()), board.coordinate.convert_to_gtp_format
        line = tuple(to_gtp(move) for _, move in board.get_move_history())
        entry = BookMove(line, to_gtp(pos), winrate, visits)
        self._entries[key.hash] = turn_move(self.board_size, pos, key.symmetry), entry

    def is_for(self, board: GoBoard) -> bool:
        """Return whether a game has the book's board size and komi."""
        return board.board_size == self.board_size and board.get_komi() == self.komi

    def find(self, board: GoBoard, color: Stone) -> tuple[int, BookMove] | None:
        """Return the move for a position and what the book says of it; None if it is not in the book."""
        if not self.is_for(board):
            return None
        key = find_key(board, color)
        known = self._entries.get(key.hash)
        if known is None:
            return None
        pos = turn_back(self.board_size, known[0], key.symmetry)
        return (pos, known[1]) if board.is_legal(pos, color) and not board.is_superko(pos, color) else None

    def write(self, path: Path) -> None:
        """Write the book, all or nothing; raises OSError."""
        lines = [f"# book size {self.board_size} komi {format_komi(self.komi)}"]
        for _, entry in sorted(self._entries.values(), key=lambda known: (len(known[1].line), known[1].line)):
            lines.append(f"{' '.join(entry.line)} = {entry.move} {entry.winrate:.3f} {entry.visits}".strip())
        write_atomically(path, "\n".join([*lines, ""]).encode())
