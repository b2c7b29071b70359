"""How long before its end a game's winner is proven (mcts/tactics/ending.py), by the positions that are looked at."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from board.go_board import GoBoard
from board.stone import Stone
from mcts.tactics.ending import solve_ending
from sgf.reader import SGFReader
from tools.benchlib.measure import BenchSettings, Figure
from tools.benchlib.positions import after_moves, sample_games

NODES = (1, 100, 2000)
# Moves before the end: the first row has the last three positions in which a move was played.
ROWS = ((1, 3), (4, 6), (7, 12), (13, 24))
MICROSECONDS = 1e6


class LastPosition(NamedTuple):
    """A position of a game that was played to its end."""

    left: int  # moves until the end
    board: GoBoard
    to_move: Stone


def take_endings(path: Path, board_size: int) -> list[LastPosition]:
    """Return the last positions of a game; raises ValueError and OSError."""
    game = SGFReader(path, board_size)
    moves = len(game.moves)
    return [LastPosition(left, after_moves(game, moves - left), game.get_color(moves - left))
            for left in range(1, min(ROWS[-1][1], moves) + 1)]


def describe(first: int, last: int, endings: list[LastPosition]) -> Iterator[str]:
    """Yield the lines of one row of the table, one for each number of positions."""
    chosen = [ending for ending in endings if first <= ending.left <= last]
    for nodes in NODES if chosen else ():
        begin, proven = time.perf_counter(), 0
        for ending in chosen:
            proven += solve_ending(ending.board, ending.to_move, nodes).winner != Stone.EMPTY
        seconds = (time.perf_counter() - begin) / len(chosen)
        yield (f"{f'{first} to {last}':>20}  {len(chosen):9,}  {nodes:9,}  {proven / len(chosen):6.1%}  "
               f"{MICROSECONDS * seconds:11,.0f}")


def measure_endings(settings: BenchSettings) -> Iterator[Figure | str]:
    """Yield a table; raises NoGamesError."""
    assert settings.kifu_dir is not None
    wanted = settings.games * ROWS[-1][1]
    endings = sample_games(settings.kifu_dir, wanted, lambda path, _: take_endings(path, settings.board_size), "game")
    yield "moves before the end  positions  looked at  proven  us each"
    solve_ending(endings[0].board, endings[0].to_move, 2)  # compiles
    for first, last in ROWS:
        yield from describe(first, last, endings)
