"""Finished games: from SGF to the position that is to be judged, here and in an engine."""

from collections.abc import Iterator
from pathlib import Path

from board.constant import PASS
from board.go_board import GoBoard
from board.stone import Stone
from sgf.grammar import SGFError
from sgf.reader import SGFReader

SUFFIX = ".sgf"


class NotFinishedError(ValueError):
    """A file does not hold a game that two passes ended; the text says why."""


def find_games(folder: Path) -> list[Path]:
    """Return the SGF files of a folder and the folders in it, sorted."""
    return sorted(path for path in folder.rglob("*") if path.suffix.lower() == SUFFIX)


def read_finished_game(path: Path) -> GoBoard:
    """Return the board after a game that ended with two passes.

    Raises:
        NotFinishedError: the file is no such game.
        OSError: the file cannot be read.
    """
    try:
        game = SGFReader(path)
    except SGFError as error:
        raise NotFinishedError(str(error)) from error
    if game.moves[-2:] != [PASS, PASS]:
        raise NotFinishedError("does not end with two passes")
    board = GoBoard(game.size, game.komi)
    try:
        game.play_on(board)
    except ValueError as error:
        raise NotFinishedError(str(error)) from error
    return board


def list_plays(board: GoBoard) -> Iterator[str]:
    """Yield the GTP commands that bring an engine from an empty board to this game's end."""
    start = board.copy()
    start.truncate(0)
    colors = (Stone.BLACK, Stone.WHITE)
    set_up = [(color, pos) for color in colors for pos in board.onboard_pos if start.board[pos] == color]
    for color, pos in [*set_up, *board.get_move_history()]:
        yield f"play {color.name.lower()} {board.coordinate.convert_to_gtp_format(pos)}"
