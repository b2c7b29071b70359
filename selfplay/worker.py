"""A worker: plays the games it is told to, has them written, and reports each one."""

import traceback
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path

from common.exit_status import EXIT_FAILED, EXIT_REFUSED, ProgramError
from nn.feature import plane_set_of
from selfplay.archive import BatchSettings
from selfplay.batch import SelfPlay, compile_steps, slots_per_half
from selfplay.game import GameRecord, NewGame, draw_game
from selfplay.games import Terms, new_terms
from selfplay.progress import summarize
from selfplay.task import ENDED as ENDED  # one of four, all of which callers find here
from selfplay.task import FAILED, GAME, READY, WorkerTask, describe_failure
from sgf.selfplay_record import write_game

# Finished games that may wait to be written before playing waits for the disk.
WRITING_LIMIT = 64


class Stop(Exception):
    """The parent wants no more games, or is gone."""


class Writer:
    """Writes games in a thread of its own and reports them; a failure comes up in the thread that plays."""

    def __init__(self, connection: Connection, folder: Path | None) -> None:
        """Write to `folder`, or send the games where there is none; report to the parent."""
        self._connection, self._folder = connection, folder
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="writer")
        self._waiting: deque[Future] = deque()

    def add(self, record: GameRecord) -> None:
        """Have a game written; raises OSError when an earlier one could not be."""
        self._waiting.append(self._pool.submit(self._write, record))
        while self._waiting and (len(self._waiting) > WRITING_LIMIT or self._waiting[0].done()):
            self._waiting.popleft().result()

    def close(self) -> None:
        """Wait for all games; raises OSError when one could not be written."""
        self._pool.shutdown()
        for future in self._waiting:
            future.result()

    def _write(self, record: GameRecord) -> None:
        """Write one game, then say that it is there; or send it."""
        content = record.get_sgf()
        if self._folder is not None:
            write_game(self._folder, record.number, content)
        self._connection.send((GAME, summarize(record), content if self._folder is None else None))


class Orders:
    """The games that the parent wants from this worker."""

    def __init__(self, connection: Connection, task: WorkerTask) -> None:
        """Listen to the parent."""
        self._connection, self._settings = connection, task.settings
        self._seed = (task.settings.seed, task.batch_number)
        self._numbers: deque[int] = deque()

    def receive(self, wait: bool) -> None:
        """Take in what the parent has sent, waiting for it if there is nothing else to do; raises Stop."""
        while wait or self._connection.poll():
            try:
                numbers = self._connection.recv()
            except (EOFError, OSError):
                raise Stop from None
            if numbers is None:
                raise Stop
            self._numbers.extend(numbers)
            wait = False

    def next_game(self) -> NewGame | None:
        """Return the next game to begin, None if there is none."""
        if not self._numbers:
            return None
        settings = self._settings
        return draw_game(self._numbers.popleft(), self._seed, settings.no_resign_rate, settings.komi_spread)


def run_worker(connection: Connection, task: WorkerTask) -> None:
    """Play until the parent says stop."""
    try:
        _work(connection, task)
    except Stop:
        pass
    except ProgramError as error:  # a model file that cannot be used, a full GPU
        _report_failure(connection, str(error), error.status)
    except OSError as error:
        _report_failure(connection, describe_failure(error, task.folder), EXIT_FAILED)
    except Exception:
        traceback.print_exc()
        raise


def _report_failure(connection: Connection, text: str, status: int) -> None:
    """Tell the parent why this worker ends, if there still is one."""
    try:
        connection.send((FAILED, text, status))
    except OSError:
        return


def terms_of(settings: BatchSettings) -> Terms:
    """Return what the games of a batch are played by."""
    return new_terms(
        settings.size, settings.visits, settings.rules, settings.resign_threshold, target_scale=settings.target_scale,
        opening_moves=settings.opening_moves, opening_temperature=settings.opening_temperature,
        policy_temperature=settings.policy_temperature, search=settings.search, target=settings.target,
        full_share=settings.full_share, fast_visits=settings.fast_visits, soft_resign=settings.soft_resign,
        root_noise=settings.root_noise)


def _work(connection: Connection, task: WorkerTask) -> None:
    """Load the network and play; raises Stop."""
    from nn.inference.batch_evaluator import load_batch_evaluator

    settings, orders = task.settings, Orders(connection, task)
    try:
        evaluator, description = load_batch_evaluator(
            task.model, settings.size, task.use_gpu, task.threads, task.positions, task.cache_mb << 20)
        terms = terms_of(settings)
        compile_steps(plane_set_of(evaluator))
        play = SelfPlay(evaluator, terms, orders.next_game)
    except MemoryError:
        _report_failure(connection, f"no memory for --cache-mb {task.cache_mb} in each worker, or for --batch-size or "
                                    "--visits: say less", EXIT_REFUSED)
        return
    connection.send((READY, description, evaluator.on_gpu, 2 * slots_per_half(evaluator, terms)))
    writer = Writer(connection, task.folder)
    try:
        while True:
            orders.receive(wait=play.running == 0)
            for record in play.step():
                writer.add(record)
    finally:
        writer.close()
