"""Speed of self-play on all cores, and what the network alone would give in the same processes."""

import multiprocessing
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from board.ruleset import Rules
from common.cores import count_usable_cores
from nn.inference.batch_evaluator import load_batch_evaluator
from selfplay.batch import BatchEvaluator, SelfPlay
from selfplay.game import GameRecord, draw_game
from selfplay.games import new_terms
from selfplay.local_pool import divide_cores
from tools.benchlib.measure import BenchSettings, Figure

# TamaGo 0.10.0, 16 visits, random 64x6 network, 9x9, two cores.
TAMAGO_GAMES_PER_HOUR = 267.0
SPEED_TARGET = 25 * TAMAGO_GAMES_PER_HOUR
SHARE_TARGET = 75.0

KOMI, RESIGN_THRESHOLD, NO_RESIGN_RATE = 7.0, 0.05, 0.1
# Play and network take turns of so many seconds, so that whatever else the machine does slows both alike.
SLICE_SECONDS = 5.0
HOUR = 3600.0


@dataclass
class Counts:
    """What one process has done."""

    description: str
    games: int = 0
    moves: int = 0
    positions: int = 0
    play_seconds: float = 0.0
    play_cpu: float = 0.0  # seconds of all threads
    network_positions: int = 0
    network_seconds: float = 0.0
    network_cpu: float = 0.0


def count_process(settings: BenchSettings, number: int, threads: int) -> Counts:
    """Play and evaluate in turn for the wanted time; every row has finished a game before anything is counted."""
    evaluator, description = load_batch_evaluator(
        settings.model, settings.board_size, settings.use_gpu, threads, settings.positions)
    terms = new_terms(settings.board_size, settings.selfplay_visits, Rules.of(KOMI, True), RESIGN_THRESHOLD)
    numbers = count(1)
    play = SelfPlay(evaluator, terms, lambda: draw_game(next(numbers), (number,), NO_RESIGN_RATE))
    finish_first_games(play)
    counts = Counts(description)
    while counts.play_seconds < settings.seconds:
        _play(play, evaluator, counts, min(SLICE_SECONDS, settings.seconds))
        _evaluate(evaluator, counts, min(SLICE_SECONDS, settings.seconds))
    return counts


def finish_first_games(play: SelfPlay) -> list[GameRecord]:
    """Play till the first game of every row is over (they are numbered from 1); return all: short ones end early."""
    play.step()
    play.step()
    records, running = dict[int, GameRecord](), range(1, play.running + 1)
    while not records.keys() >= set(running):
        records |= {record.number: record for record in play.step()}
    return [records[number] for number in running]


def _play(play: SelfPlay, evaluator: BatchEvaluator, counts: Counts, seconds: float) -> None:
    """Play for some seconds, and until the network is idle."""
    positions, moves = play.positions, play.moves
    begin, cpu_begin = time.perf_counter(), time.process_time()
    while time.perf_counter() - begin < seconds:
        counts.games += len(play.step())
    for buffer in range(len(evaluator.planes)):
        evaluator.finish(buffer)  # may be asked again
    counts.play_seconds += time.perf_counter() - begin
    counts.play_cpu += time.process_time() - cpu_begin
    counts.positions += play.positions - positions
    counts.moves += play.moves - moves


def _evaluate(evaluator: BatchEvaluator, counts: Counts, seconds: float) -> None:
    """Give the network full buffers, one always waiting, for some seconds; answers that play waits for are kept."""
    kept = [planes.copy() for planes in evaluator.planes]
    begin, cpu_begin, size = time.perf_counter(), time.process_time(), len(kept[0])
    evaluator.start(0, size)
    while time.perf_counter() - begin < seconds:
        for buffer in (1, 0):
            evaluator.start(buffer, size)
            evaluator.finish(1 - buffer)
            counts.network_positions += size
    evaluator.finish(0)
    counts.network_positions += size
    counts.network_seconds += time.perf_counter() - begin
    counts.network_cpu += time.process_time() - cpu_begin
    for buffer, planes in enumerate(kept):
        evaluator.planes[buffer][:] = planes
        evaluator.start(buffer, size)
        evaluator.finish(buffer)


def measure_selfplay(settings: BenchSettings) -> Iterator[Figure | str]:
    """Yield games an hour and what share of the network's speed self-play has, all processes together."""
    cores = count_usable_cores()
    wanted = settings.processes or cores
    workers, threads = (wanted, 1) if settings.use_gpu else divide_cores(wanted, cores)
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        parts = pool.starmap(count_process, [(settings, number, threads) for number in range(workers)])
    yield (f"self-play: {settings.selfplay_visits} visits, {workers} processes with {threads} threads each; "
           f"{parts[0].description} ({settings.model})")
    games, moves = sum(part.games for part in parts), sum(part.moves for part in parts)
    positions, play_cpu = sum(part.positions for part in parts), sum(part.play_cpu for part in parts)
    speed = sum(part.positions / part.play_seconds for part in parts)
    network = sum(part.network_positions / part.network_seconds for part in parts)
    network_per_cpu = sum(part.network_positions for part in parts) / sum(part.network_cpu for part in parts)
    yield Figure("self-play games", "games/hour", (HOUR * sum(part.games / part.play_seconds for part in parts),),
                 HOUR * games / play_cpu, SPEED_TARGET, (TAMAGO_GAMES_PER_HOUR, TAMAGO_GAMES_PER_HOUR))
    yield Figure("moves", "moves/s", (sum(part.moves / part.play_seconds for part in parts),), moves / play_cpu)
    yield Figure("length of a game", "moves", (moves / max(1, games),))
    yield Figure("network calls of self-play", "positions/s", (speed,), positions / play_cpu)
    yield Figure("network alone", "positions/s", (network,), network_per_cpu)
    yield Figure("self-play / network alone", "%", (100 * speed / network,),
                 100 * positions / play_cpu / network_per_cpu, SHARE_TARGET)
    yield Figure("positions evaluated per move", "positions", (positions / max(1, moves),))
