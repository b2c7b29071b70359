"""How cost grows with work, of visits, points of the board and games; and a picture of the curves."""

import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from board.go_board import GoBoard
from board.ruleset import Rules
from common.picture import new_picture, write_picture
from mcts.params import SearchLimit, SearchParams
from mcts.tree import MCTSTree
from nn.data.replay_window import ReplayWindow
from nn.data.selfplay_data import generate_reinforcement_learning_data
from selfplay.batch import SelfPlay, leaves_per_step
from selfplay.game import draw_game
from selfplay.games import new_terms
from sgf.selfplay_record import write_game
from tools.benchlib.cluster_bench import KOMI, NO_RESIGNATION, FreeBatchEvaluator, measure_play
from tools.benchlib.data_bench import convert
from tools.benchlib.evaluators import FreeEvaluator
from tools.benchlib.measure import BenchSettings, Figure
from tools.benchlib.positions import copy_games, make_random_board

# What a search of a million visits needs on 9x9.
MEMORY_MB = 16384
LEAVES = 64
VISITS_ON_BOARDS = 5000
MOVES_BEFORE = 30
SMALLEST_BUFFER = 16
# Games of a data file, of which a window is made.
GAMES_PER_FILE = 1000
SAMPLES = 256
MEASURED_SECONDS = 1.0

# Seconds of the processor that so much work takes.
Cost = Callable[[int], float]


class GrowthCurve(NamedTuple):
    """A cost against work."""

    name: str
    works: tuple[int, ...]
    cost: Cost
    size: Callable[[int], int] = int  # what the exponent is of


def cpu_seconds() -> float:
    """Return what this process and those that it has waited for have used: other programs hardly change it."""
    return sum(os.times()[:4])


def time_search(board: GoBoard, visits: int) -> float:
    """Return the mean seconds of a search from an empty tree with an evaluator that costs nothing."""
    size = board.board_size
    tree = MCTSTree(FreeEvaluator(size), size, SearchParams(batch_size=LEAVES, max_memory_mb=MEMORY_MB))
    searches, begin = 0, cpu_seconds()
    while (used := cpu_seconds() - begin) < MEASURED_SECONDS:
        tree.clear()
        tree.search(board, board.get_to_move(), SearchLimit(visits, strict=True))
        searches += 1
    return used / searches


def time_games(games: int) -> float:
    """Return the seconds for one position of each of so many games of self-play with a network that costs nothing."""
    terms = new_terms(9, 16, Rules.of(KOMI, True), NO_RESIGNATION)
    room = max(SMALLEST_BUFFER, math.ceil(games / 2 * leaves_per_step(terms)) + 1)
    numbers = count(1)
    play = SelfPlay(FreeBatchEvaluator(9, room), terms,
                    lambda: draw_game(next(numbers), (0,), 1.0) if play.running < games else None)
    for _ in range(4):
        play.step()
    first, begin = play.positions, cpu_seconds()
    while cpu_seconds() - begin < MEASURED_SECONDS or play.positions == first:
        play.step()
    return games * (cpu_seconds() - begin) / (play.positions - first)


def link_copies(paths: list[Path], wanted: int, folder: Path) -> None:
    """Fill a folder with so many games, the same ones over and over."""
    for number in range(wanted):
        os.link(paths[number % len(paths)], folder / f"{number}.sgf")


def time_collection(paths: list[Path], games: int) -> float:
    """Return the seconds from so many SGF files to training data."""
    with TemporaryDirectory(prefix="hiyoko-bench-", dir=paths[0].parent) as folder:
        link_copies(paths, games, Path(folder))
        begin = cpu_seconds()
        convert(Path(folder), 9)
        return cpu_seconds() - begin


def time_window(file: Path, games: int) -> float:
    """Return the seconds till the first batch of a window of so many games, the files of which are all alike."""
    with TemporaryDirectory(prefix="hiyoko-bench-", dir=file.parent) as folder:
        for number in range(1, -(-games // GAMES_PER_FILE) + 1):
            os.link(file, Path(folder) / f"rl_data_{number}.npz")
        begin = cpu_seconds()
        next(ReplayWindow(Path(folder), 9, SAMPLES, 1, games, 0.0).training_batches(0))
        return cpu_seconds() - begin


@contextmanager
def making_data(settings: BenchSettings) -> Iterator[tuple[list[Path], Path]]:
    """Yield SGF files, and a file of GAMES_PER_FILE games of self-play, that are gone afterwards."""
    assert settings.kifu_dir is not None
    with TemporaryDirectory(prefix="hiyoko-bench-") as folder:
        archive, games = Path(folder) / "archive" / "1", Path(folder) / "games"
        archive.mkdir(parents=True)
        games.mkdir()
        paths = copy_games(settings.kifu_dir, GAMES_PER_FILE, games)
        contents = [record.get_sgf() for record in measure_play(settings)[1]]
        for number in range(1, GAMES_PER_FILE + 1):
            write_game(archive, number, contents[number % len(contents)])
        files = generate_reinforcement_learning_data(folder, archive.parent, 9)
        yield paths, Path(files[0])


def find_exponent(works: list[int], seconds: list[float]) -> float:
    """Return the slope of the upper half of a curve, both axes being logarithmic."""
    part = slice(min(len(works) // 2, len(works) - 2), None)
    return float(np.polyfit(np.log(works[part]), np.log(seconds[part]), 1)[0])


def make_curves(paths: list[Path], file: Path) -> list[GrowthCurve]:
    """Return what is measured, on boards of 9x9 where nothing else is said."""
    board = make_random_board(9, MOVES_BEFORE, 0)
    return [
        GrowthCurve("visits of a search", (100, 1000, 10_000, 100_000, 1_000_000), lambda n: time_search(board, n)),
        GrowthCurve(f"board size, {VISITS_ON_BOARDS:,} visits", (5, 7, 9, 11, 13, 15, 17, 19),
                    lambda n: time_search(GoBoard(n), VISITS_ON_BOARDS), lambda n: n * n),
        GrowthCurve("games of self-play at a time", (1, 4, 16, 64, 256, 1024), time_games),
        GrowthCurve("games of a window", (1000, 3000, 10_000, 30_000, 100_000, 300_000),
                    lambda n: time_window(file, n)),
        GrowthCurve("games of a collection", (100, 1000, 10_000, 100_000), lambda n: time_collection(paths, n)),
    ]


def measure_growth(settings: BenchSettings) -> Iterator[Figure | str]:
    """Yield the CPU seconds of each work and the exponent of each curve, and draw them; raises NoGamesError, OSError.

    A curve ends where its next point would take longer than settings.limit.
    """
    drawn = []
    with making_data(settings) as (paths, file):
        for curve in make_curves(paths, file):
            curve.cost(curve.works[0])  # compiles
            works: list[int] = []
            seconds: list[float] = []
            for work in curve.works:
                if works and seconds[-1] * curve.size(work) / curve.size(works[-1]) > settings.limit:
                    yield f"{curve.name}: {work:,} would take longer than {settings.limit:.0f} s"
                    break
                works.append(work)
                seconds.append(curve.cost(work))
                yield Figure(f"{curve.name}: {work:,}", "CPU s", (seconds[-1],), lower_is_better=True)
            if len(works) > 1:
                exponent = find_exponent([curve.size(work) for work in works], seconds)
                yield Figure(f"{curve.name}: exponent", "power", (exponent,), lower_is_better=True)
                drawn.append((curve.name, works, seconds, exponent))
    if settings.picture is not None:
        draw(drawn, settings.picture)


def draw(curves: list[tuple[str, list[int], list[float], float]], path: Path) -> None:
    """Draw curves beside each other, if matplotlib is there; says so in one line if it is not. Raises OSError."""
    picture = new_picture(15, 3.2)
    if picture is None:
        return
    for place, (name, works, seconds, exponent) in enumerate(curves, start=1):
        axes = picture.add_subplot(1, len(curves), place, title=f"power {exponent:.2f}", xlabel=name)
        axes.loglog(works, seconds, marker="o")
        axes.grid(alpha=0.3)
        if place == 1:
            axes.set_ylabel("CPU seconds")
    write_picture(picture, path, 80)
