"""Positions to measure on, the same in every run and on every machine."""

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from board.constant import PASS
from board.go_board import GoBoard
from sgf.reader import SGFReader
from tools.benchlib.measure import NoGamesError

Item = TypeVar("Item")

SHUFFLE_SEED = 11

# The opening and the first fights of a 9x9 game between strong players; Black is to move after it.
MIDGAME_9X9 = "E5 E3 G4 D7 C4 F7 D3 D2 F3 C3 D4 F2 E4 E2 C2 H3 G3 G2 H4 H2 C7 C8 B8 D8"
# A game against GNU Go till its last fight; more than half of the points are filled, and Black is to move.
LATE_9X9 = ("C6 E5 D4 E4 D3 E3 G7 D7 D6 E6 G4 C7 D5 D2 B7 B8 C2 F2 B6 G6 H6 H7 F6 F7 G8 F5 G5 F6 J7 H5 H8 H4 D1 E2 A8 "
            "C8 C1 F8 J5 H3 J4 J3 J6 G9 H9 F9")


def make_board(moves: str) -> GoBoard:
    """Return a 9x9 game after moves such as MIDGAME_9X9."""
    board = GoBoard(9)
    for move in moves.split():
        board.put_stone(board.coordinate.convert_from_gtp_format(move), board.get_to_move())
    return board


def make_random_board(board_size: int, moves: int, seed: int, komi: float = 7.0) -> GoBoard:
    """Return a game of random legal moves that fill no own eye (PASS where there is none)."""
    rng = random.Random(seed)  # its random() gives the same numbers in every version of Python
    board = GoBoard(board_size, komi)
    for _ in range(moves):
        color = board.get_to_move()
        legal = board.get_all_legal_pos(color, fill_eyes=False)
        board.put_stone(legal[int(rng.random() * len(legal))] if legal else PASS, color)
    return board


def after_moves(game: SGFReader, count: int | None = None) -> GoBoard:
    """Return a game's position after so many moves (None: all), set-up stones included; raises ValueError."""
    board = GoBoard(game.size, game.komi)
    game.play_on(board, count)
    return board


def sample_games(
    folder: Path, wanted: int, take: Callable[[Path, random.Random], list[Item]], kind: str
) -> list[Item]:
    """Return what `take` takes from the folder's games, in random order, until so many samples are there.

    Games that cannot be read or played are left out. Raises NoGamesError, with `kind` of game that is missing.
    """
    rng = random.Random(SHUFFLE_SEED)
    paths = sorted(folder.rglob("*.sgf"))
    rng.shuffle(paths)
    samples: list[Item] = []
    for path in paths:
        if len(samples) >= wanted:
            break
        try:
            samples += take(path, rng)
        except (ValueError, OSError):
            continue
    if not samples:
        raise NoGamesError(f"{folder}: no {kind}")
    return samples


def copy_games(folder: Path, wanted: int, target: Path) -> list[Path]:
    """Copy up to so many of a folder's games, in random order, and return the copies; raises NoGamesError and OSError.

    They get names of their own: two sub-folders may each have a 1.sgf.
    """
    paths = sample_games(folder, wanted, lambda path, _: [path], "game")
    return [shutil.copyfile(path, target / f"{number}.sgf") for number, path in enumerate(paths)]
