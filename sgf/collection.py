"""Many games: the SGF files of a folder, cut into pieces that worker processes read independently.

`*.sgf` holds one game or a collection. In `*.sgfs` (KataGo's collections) each line that starts with "(;" starts
a game, so such a file may be of any length.
"""

import io
import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from board.stone import Stone
from sgf.grammar import NO_MOVES, TOO_LONG, UNREADABLE, WRONG_SIZE, Node, SGFError, read_main_lines, to_utf8
from sgf.reader import SGFReader

# Bytes after which a .sgfs file is cut at the next game.
PIECE_BYTES = 1 << 18
LINE_COLLECTION = ".sgfs"
# Names that a line about files shows.
SHOWN_NAMES = 5
# Moves that a game may have for each point of its board: no real one comes near that.
LONGEST = 10


class Kifu(NamedTuple):
    """One game as arrays; M = moves, passes included."""

    name: str
    setup_pos: np.ndarray  # int16: stones on the board before the first move
    setup_color: np.ndarray  # int8
    pos: np.ndarray  # int16 [M]
    color: np.ndarray  # int8 [M]
    value_label: int  # Black's value class: 2 win, 1 draw, 0 loss, -1 unknown
    win_rate: np.ndarray  # float32 [M]: the recorded win rate of each mover, NaN where none
    score: float  # Black's area minus White's by the result, NaN where it was not counted
    komi: float
    size: int
    note: str = ""  # what is odd about the record, for the user
    black: str = ""  # the players' names
    white: str = ""


class Skipped(NamedTuple):
    """A game that cannot be used, and why."""

    name: str
    kind: str
    reason: str


class Piece(NamedTuple):
    """`length` bytes of a file from `start` on; they begin in its line `line` (from 1)."""

    path: str
    start: int
    length: int
    line: int = 1


def list_sgf_files(folder: str | Path) -> list[str]:
    """Return the *.sgf and *.sgfs files of a folder (not of its sub-folders) in the order of their names."""
    return sorted(str(path) for path in Path(folder).iterdir()
                  if path.suffix.lower() in (".sgf", LINE_COLLECTION) and path.is_file())


def describe_left_out(folder: str | Path, read: Iterable[str | Path]) -> str:
    """Return a line about what a folder has of games, or may have, beside those that are read; empty for nothing."""
    known = {Path(path).name for path in read}
    others = sorted(path for path in Path(folder).iterdir() if path.name not in known and path.name[0] != ".")
    kinds = {
        "sub-folders": [path.name for path in others if path.is_dir()],
        "files": [path.name for path in others
                  if not path.is_dir() and path.suffix.lower() in (".sgf", LINE_COLLECTION)],
    }
    parts = [f"{len(names)} {kind} ({', '.join(names[:SHOWN_NAMES])}{', ...' if len(names) > SHOWN_NAMES else ''})"
             for kind, names in kinds.items() if names]
    return f"{folder}: not read: {' and '.join(parts)}" if parts else ""


def is_line_collection(path: str) -> bool:
    """Tell whether a file has a game on each line."""
    return path.lower().endswith(LINE_COLLECTION)


def cut_into_pieces(path: str) -> Iterator[Piece]:
    """Yield the pieces of a file: one for *.sgf, about PIECE_BYTES each for *.sgfs."""
    if not is_line_collection(path):
        yield Piece(path, 0, os.path.getsize(path))
        return
    start = offset = 0
    first_line = 1
    with open(path, "rb") as file:
        for number, line in enumerate(file, start=1):
            if offset - start >= PIECE_BYTES and line.startswith(b"(;"):
                yield Piece(path, start, offset - start, first_line)
                start, first_line = offset, number
            offset += len(line)
    yield Piece(path, start, offset - start, first_line)


def read_pieces(pieces: Iterable[Piece], sizes: Sequence[int]) -> tuple[list[Kifu], list[Skipped]]:
    """Return the usable games of the pieces in order, and those that are not; not those of other sizes."""
    games: list[Kifu] = []
    skipped: list[Skipped] = []
    for piece in pieces:
        try:
            with open(piece.path, "rb") as file:
                file.seek(piece.start)
                data = file.read(piece.length)
        except OSError as error:
            skipped.append(Skipped(piece.path, UNREADABLE, error.strerror or str(error)))
            continue
        for name, nodes in _named_games(piece, data):
            try:
                if isinstance(nodes, SGFError):
                    raise nodes
                games.append(to_kifu(name, _read_game(nodes, sizes)))
            except SGFError as error:
                skipped.append(Skipped(name, error.kind, str(error)))
    return games, skipped


def read_folder(folder: str | Path, board_size: int, skip: Callable[[Skipped], None]) -> Iterator[Kifu]:
    """Yield the usable games of a folder on boards of one size, in order; `skip` is told of the others."""
    for path in list_sgf_files(folder):
        games, skipped = read_pieces(cut_into_pieces(path), [board_size])
        for one in skipped:
            skip(one)
        yield from games


def _read_game(nodes: list[Node], sizes: Sequence[int]) -> SGFReader:
    """Return a game on a board of one of these sizes; raises SGFError."""
    if len(sizes) == 1:
        return SGFReader.from_nodes(nodes, sizes[0])
    reader = SGFReader.from_nodes(nodes)
    if reader.size not in sizes:
        raise SGFError(WRONG_SIZE, f"board size {reader.size}, wanted {' or '.join(map(str, sizes))}")
    return reader


def to_kifu(name: str, reader: SGFReader) -> Kifu:
    """Return a game as arrays; raises SGFError if it has no moves, or far too many."""
    if not reader.moves:
        raise SGFError(NO_MOVES, "no moves")
    if len(reader.moves) > LONGEST * reader.size**2:
        raise SGFError(TOO_LONG, f"{len(reader.moves)} moves, more than {LONGEST * reader.size**2}")
    black, white = reader.black_stones, reader.white_stones
    rates = map(reader.get_win_rate, range(len(reader.moves)))
    return Kifu(
        name, np.array(black + white, dtype=np.int16),
        np.array([Stone.BLACK] * len(black) + [Stone.WHITE] * len(white), dtype=np.int8),
        np.array(reader.moves, dtype=np.int16), np.array(reader.colors, dtype=np.int8),
        reader.get_value_label(),
        np.array([np.nan if rate is None else rate for rate in rates], dtype=np.float32),
        math.nan if reader.note else reader.margin + reader.komi, reader.komi, reader.size, reader.note,
        reader.black_player_name, reader.white_player_name,
    )


def _named_games(piece: Piece, data: bytes) -> Iterator[tuple[str, list[Node] | SGFError]]:
    """Yield the name and main line of each game of a piece; a file of several games adds the line to its name."""
    if is_line_collection(piece.path):
        for line, text in _split_lines(data, piece.line):
            for nth, (_, nodes) in enumerate(read_main_lines(to_utf8(text)), 1):
                yield _name(piece.path, line, nth), nodes
        return
    data = to_utf8(data)
    line, counted, nth = 1, 0, 0
    for number, (offset, nodes) in enumerate(read_main_lines(data)):
        ends = data.count(b"\n", counted, offset)
        line, counted, nth = line + ends, offset, 1 if ends else nth + 1
        yield piece.path if number == 0 else _name(piece.path, line, nth), nodes


def _name(path: str, line: int, nth: int) -> str:
    """Return the name of the n-th game of a line, which no other game has: labels find games by it."""
    return f"{path} line {line}" + (f" game {nth}" if nth > 1 else "")


def _split_lines(data: bytes, first_line: int) -> Iterator[tuple[int, bytes]]:
    """Yield the line number and the bytes of each game of a line collection."""
    game: list[bytes] = []
    start = first_line
    for number, line in enumerate(io.BytesIO(data), start=first_line):
        if line.startswith(b"(;") and game:
            yield start, b"".join(game)
            game = []
        if not game:
            start = number
        if line.strip():
            game.append(line)
    if game:
        yield start, b"".join(game)
