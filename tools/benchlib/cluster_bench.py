"""The limits of self-play on many machines: playing without a network, and gathering games at one place."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from board.ruleset import Rules
from nn.feature import BASIC
from nn.model_file import RANDOM_MODEL
from selfplay.archive import BatchSettings, open_batch
from selfplay.batch import SelfPlay
from selfplay.game import GameRecord, draw_game
from selfplay.games import new_terms
from selfplay.progress import GameSummary, summarize
from selfplay.supervisor import Supervisor
from selfplay.task import GAME, READY, WorkerTask
from selfplay.worker_pool import WRITERS
from sgf.archive import read_selfplay_games
from sgf.selfplay_record import write_game
from tools.benchlib.evaluators import FreeEvaluator
from tools.benchlib.measure import BenchSettings, Figure
from tools.benchlib.selfplay_bench import finish_first_games

POSITIONS = 1024  # a free call costs the same for any number
FEW_POSITIONS = 128  # for games that are all played to their end
KOMI, NO_RESIGNATION = 7.0, 0.0
# Games that a worker of the gathering test may hold: far more than one answer brings.
SLOTS = 1024


class FreeBatchEvaluator:
    """The free evaluator, answering at once."""

    def __init__(self, board_size: int, positions: int = POSITIONS) -> None:
        """Make two buffers of so many positions."""
        self.planes = [BASIC.new_planes(board_size, positions) for _ in range(2)]
        self._evaluator = FreeEvaluator(board_size, positions)
        self._counts = [0, 0]

    def start(self, buffer: int, count: int) -> None:
        """Remember how many positions were asked."""
        self._counts[buffer] = count

    def finish(self, buffer: int) -> tuple[np.ndarray, np.ndarray]:
        """Return policy logits and values."""
        return self._evaluator(self.planes[buffer][: self._counts[buffer]])


def measure_play(settings: BenchSettings) -> tuple[list[Figure], list[GameRecord]]:
    """Return the speed of one core when the network costs nothing, and some games, short and long ones."""
    terms = new_terms(settings.board_size, settings.selfplay_visits, Rules.of(KOMI, True), NO_RESIGNATION)

    def begin_games(positions: int) -> SelfPlay:
        numbers = count(1)
        evaluator = FreeBatchEvaluator(settings.board_size, positions)
        return SelfPlay(evaluator, terms, lambda: draw_game(next(numbers), (0,), 1.0))

    records, play = finish_first_games(begin_games(FEW_POSITIONS)), begin_games(POSITIONS)  # compiles, too
    play.step()
    before, begin, cpu = play.positions, time.perf_counter(), time.thread_time()
    # At least one step, also where another process had the core for the whole time.
    while time.perf_counter() - begin < settings.seconds * settings.runs or play.positions == before:
        play.step()
    seconds, cpu, positions = time.perf_counter() - begin, time.thread_time() - cpu, play.positions - before
    return [
        Figure("play without network", "positions/s", (positions / seconds,), positions / cpu),
        Figure("length of these games", "moves", (float(np.mean([len(record.moves) for record in records])),)),
    ], records


def measure_rate_of(work: Callable[[], object], games: int, name: str) -> Figure:
    """Return the games a second of something that is done once, and per CPU second of this process."""
    begin, cpu = time.perf_counter(), time.process_time()
    work()
    return Figure(name, "games/s", (games / (time.perf_counter() - begin),),
                  games / max(time.process_time() - cpu, 1e-9))


def measure_files(settings: BenchSettings, records: list[GameRecord], folder: Path) -> Iterator[Figure]:
    """Yield what encoding, writing and reading games costs."""
    chosen = [records[i % len(records)] for i in range(settings.games)]
    contents = [record.get_sgf() for record in records]
    size = sum(map(len, contents)) / len(contents)
    length = sum(len(record.moves) for record in records) / len(records)
    yield Figure("bytes of a game", "bytes", (size,))
    yield Figure("bytes of a move", "bytes", (size / length,))
    yield measure_rate_of(lambda: [record.get_sgf() for record in chosen], len(chosen), "games to SGF, one core")
    jobs = [(folder, number, contents[number % len(contents)]) for number in range(1, settings.games + 1)]
    yield measure_rate_of(lambda: [write_game(*job) for job in jobs], len(jobs), "games written one by one")
    with ThreadPoolExecutor(WRITERS) as pool:
        yield measure_rate_of(lambda: list(pool.map(lambda job: write_game(*job), jobs)), len(jobs),
                              f"games written, {WRITERS} at a time")
    paths = [str(folder / f"{job[1]}.sgf") for job in jobs]
    yield measure_rate_of(lambda: read_selfplay_games(paths, settings.board_size), len(paths),
                          "games read by training, one core")


def play_instantly(summary: GameSummary, content: bytes, connection: Connection, task: WorkerTask) -> None:
    """Be a worker whose games are all the same and cost nothing (selfplay/task.py)."""
    connection.send((READY, "no network", False, SLOTS))
    while (numbers := connection.recv()) is not None:
        for number in numbers:
            connection.send((GAME, replace(summary, number=number), content))


def measure_gathering(
    settings: BenchSettings, address: str, record: GameRecord, folder: Path
) -> Iterator[Figure | str]:
    """Yield how many games a second one head takes from actors that do nothing but send; raises SelfPlayError."""
    from selfplay import cluster

    cluster.connect(address, (*cluster.SOURCES, "tools"))
    wanted = BatchSettings(settings.games, settings.board_size, settings.selfplay_visits, KOMI, True, NO_RESIGNATION,
                           1.0, 0)
    batch = open_batch(folder, wanted, True)
    task = WorkerTask(batch.folder, batch.number, wanted, RANDOM_MODEL, False, 1, None)
    pool = cluster.RayPool(task, 1, partial(play_instantly, summarize(record), record.get_sgf()))
    supervisor = Supervisor(batch, pool)
    cpu = time.process_time()
    supervisor.run()
    progress = supervisor.progress
    yield pool.description
    yield Figure("games gathered and written by the head", "games/s", (progress.games / progress.seconds,),
                 progress.games / (time.process_time() - cpu))


def measure_cluster(settings: BenchSettings) -> Iterator[Figure | str]:
    """Yield all of it; raises SelfPlayError."""
    yield (f"limits of a cluster: {settings.board_size}x{settings.board_size}, {settings.selfplay_visits} visits, "
           f"{settings.games} games")
    figures, records = measure_play(settings)
    yield from figures
    with TemporaryDirectory(prefix="hiyoko-bench-") as folder:
        yield from measure_files(settings, records, Path(folder))
    if settings.ray_address is not None:
        typical = sorted(records, key=lambda record: len(record.moves))[len(records) // 2]
        with TemporaryDirectory(prefix="hiyoko-bench-") as folder:
            yield from measure_gathering(settings, settings.ray_address, typical, Path(folder))
