"""Positions to measure on, the same in every run and on every machine."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from board.constant import PASS
from board.go_board import GoBoard, IllegalMoveError
from sgf.grammar import SGFError
from tools.benchlib.measure import NoGamesError

Sample = TypeVar("Sample")

SHUFFLE_SEED = 11

# The opening and the first fights of a 9x9 game between strong players; Black is to move after it.
MIDGAME_9X9 = "E5 E3 G4 D7 C4 F7 D3 D2 F3 C3 D4 F2 E4 E2 C2 H3 G3 G2 H4 H2 C7 C8 B8 D8"


def make_midgame_board() -> GoBoard:
    """Return a 9x9 game after 24 moves."""
    board = GoBoard(9)
    for move in MIDGAME_9X9.split():
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


def sample_games(
    folder: Path, wanted: int, take: Callable[[Path, random.Random], list[Sample]], kind: str
) -> list[Sample]:
    """Return what `take` takes from the folder's games, in random order, until so many samples are there.

    Games that cannot be read or played are left out. Raises NoGamesError, with `kind` of game that is missing.
    """
    rng = random.Random(SHUFFLE_SEED)
    paths = sorted(folder.rglob("*.sgf"))
    rng.shuffle(paths)
    samples: list[Sample] = []
    for path in paths:
        if len(samples) >= wanted:
            break
        try:
            samples += take(path, rng)
        except (SGFError, IllegalMoveError, OSError):
            continue
    if not samples:
        raise NoGamesError(f"{folder}: no {kind}")
    return samples
