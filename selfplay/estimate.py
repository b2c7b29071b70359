"""What a batch of self-play would take, from some seconds of play that reach no file."""

import time
from collections.abc import Iterator
from itertools import count

from common.cores import count_usable_cores
from nn.feature import plane_set_of
from nn.inference.runtime import find_gpu
from nn.model_file import ModelFile
from selfplay.archive import BatchSettings
from selfplay.batch import SelfPlay, compile_steps
from selfplay.game import draw_game
from selfplay.games import visits_per_move
from selfplay.local_pool import divide_cores
from selfplay.progress import HOUR
from selfplay.worker import terms_of

SECONDS = 10.0
# Moves of a game for each point of the board, about: from 0.9 (random weights) to 0.7 (networks that play well).
USUAL_MOVES_PER_POINT = 0.8


def measure_play(settings: BatchSettings, model: str | ModelFile, use_gpu: bool, threads: int,
                 positions: int | None) -> float:
    """Return how many positions a second one process gives to the network in play; raises ModelFileError."""
    from nn.inference.batch_evaluator import load_batch_evaluator

    evaluator, _ = load_batch_evaluator(model, settings.size, use_gpu, threads, positions)
    compile_steps(plane_set_of(evaluator))
    numbers = count(1)
    play = SelfPlay(evaluator, terms_of(settings), lambda: draw_game(next(numbers), (settings.seed,), 0.0))
    for _ in range(2):  # one step of each half, which begins all games
        play.step()
    begin, before = time.perf_counter(), play.positions
    while time.perf_counter() - begin < SECONDS:
        play.step()
    return (play.positions - before) / (time.perf_counter() - begin)


def estimate_batch(settings: BatchSettings, model: str | ModelFile, use_gpu: bool, processes: int,
                   positions: int | None) -> Iterator[str]:
    """Yield lines that say what a batch on this machine would take; raises ModelFileError."""
    use_gpu = use_gpu and find_gpu()
    workers, threads = (processes, 1) if use_gpu else divide_cores(processes, count_usable_cores())
    moves = round(USUAL_MOVES_PER_POINT * settings.size**2)
    played = settings.games * moves
    asked = round(played * visits_per_move(terms_of(settings)))
    yield (f"Dry run, nothing is written. {settings.games} games of about {moves} moves (a guess): "
           f"{round(played * settings.full_share)} positions, for which the network is asked {asked} times.")
    speed = measure_play(settings, model, use_gpu, threads, positions)
    seconds = asked / (speed * workers)
    yield (f"{speed:.0f} positions/s here and now in one process of {workers}: {settings.games / seconds * HOUR:.0f} "
           f"games/hour, {seconds / HOUR:.2f} hours.")
