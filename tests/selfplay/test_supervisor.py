"""The supervisor with workers that only pretend: what it says while they start, and its bar."""
from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from multiprocessing import Pipe
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import torch

import selfplay.supervisor
import selfplay.worker
from common.patience import SLOW_LINE
from nn.inference.loading import load_evaluator
from nn.inference.runtime import RUNTIME_VARIABLE
from selfplay import archive
from selfplay.archive import BATCH_FILE, LOG_FILE, BatchSettings, append_log, open_batch
from selfplay.game import EndReason
from selfplay.progress import GameSummary
from selfplay.supervisor import Supervisor
from selfplay.worker import ENDED, FAILED, GAME, READY, Orders, WorkerTask, terms_of
from selfplay.worker_pool import WorkerHandle
from sgf.match_result import MatchResult


class PretendWorker(WorkerHandle):
    """Plays at once what it is told to play."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: list[int] = []

    def send(self, numbers: list[int] | None) -> None:
        self.waiting += numbers or []

    def kill(self) -> None:
        pass


class SlowPool:
    """One worker, which becomes ready after some looks at it; each look takes ten seconds."""

    description = ""

    def __init__(self, clock: list[float], looks: int) -> None:
        self.clock, self.looks = clock, looks

    def size(self) -> int:
        return 1

    def start(self) -> PretendWorker:
        return PretendWorker()

    def welcome(self, worker: WorkerHandle, description: str, on_gpu: bool) -> str:
        return description

    def receive(self, workers: list[WorkerHandle], seconds: float) -> Iterator[tuple[WorkerHandle, tuple]]:
        self.clock[0] += 10.0
        self.looks -= 1
        for worker in workers:
            assert isinstance(worker, PretendWorker)
            if self.looks == 0:
                yield worker, (READY, "a network", False, 4)
            while worker.waiting:
                number = worker.waiting.pop(0)
                yield worker, game(number)


class FrailPool(SlowPool):
    """Workers that play at once what they are told; the first one dies behind its first game."""

    def __init__(self) -> None:
        self.workers: list[PretendWorker] = []

    def start(self) -> PretendWorker:
        self.workers.append(PretendWorker())
        return self.workers[-1]

    def receive(self, workers: list[WorkerHandle], seconds: float) -> Iterator[tuple[WorkerHandle, tuple]]:
        worker = self.workers[-1]
        if worker.slots == 0:
            yield worker, (READY, "a network", False, 4)
        elif worker.waiting:
            yield worker, game(worker.waiting.pop(0))
            if len(self.workers) == 1:
                yield worker, (ENDED, "a worker ended with status -9")


def game(number: int) -> tuple:
    """Return what a worker says of a game that it has written."""
    return GAME, GameSummary(number, 10, MatchResult.DRAW, EndReason.TWO_PASSES, None)


SETTINGS = BatchSettings(3, 9, 16, 7.0, True, 0.05, 0.1, 77)


def play(folder: Path, monkeypatch: pytest.MonkeyPatch, looks: int) -> str:
    """Play three games and return the log."""
    clock = [0.0]
    monkeypatch.setattr(selfplay.supervisor.time, "monotonic", lambda: clock[0])
    batch = open_batch(folder, SETTINGS, False)
    with monkeypatch.context() as patch:
        patch.setattr(selfplay.supervisor, "PATIENCE_SECONDS", 0.0)
        assert Supervisor(batch, SlowPool(clock, looks)).run() == ""
    return (batch.folder / LOG_FILE).read_text()


def test_a_slow_start_is_said_and_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log = play(tmp_path, monkeypatch, looks=5)
    assert log.count(SLOW_LINE) == 1 and "Ready after 50 seconds." in log
    assert SLOW_LINE in capsys.readouterr().out


def test_the_games_of_a_worker_that_dies_begin_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selfplay.supervisor, "PATIENCE_SECONDS", 0.0)
    batch, pool = open_batch(tmp_path, SETTINGS, False), FrailPool()
    supervisor = Supervisor(batch, pool)
    assert supervisor.run() == ""
    assert (supervisor.progress.games, supervisor.progress.errors, len(pool.workers)) == (3, 1, 2)
    assert "a worker ended with status -9; its 2 games begin again" in (batch.folder / LOG_FILE).read_text()


def test_a_bar_counts_the_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bars: list[dict[str, Any]] = []

    class Bar:
        def __init__(self, **options: Any) -> None:
            self.options = {**options, "games": options.get("initial", 0)}
            bars.append(self.options)

        def update(self) -> None:
            self.options["games"] += 1

        def close(self) -> None:
            self.options["closed"] = True

        external_write_mode = staticmethod(selfplay.supervisor.tqdm.external_write_mode)

    monkeypatch.setattr(selfplay.supervisor, "tqdm", Bar)
    assert SLOW_LINE not in play(tmp_path, monkeypatch, looks=1)
    assert bars[-1]["total"] == bars[-1]["games"] == 3 and bars[-1]["closed"]


def test_the_log_takes_any_name_and_a_full_disk(tmp_path: Path) -> None:
    append_log(tmp_path, "model a\udc8a.bin")
    assert (tmp_path / LOG_FILE).read_text() == "model a\\udc8a.bin\n"
    append_log(tmp_path / "nowhere", "lost")


BATCH = BatchSettings(8, 5, 4, 7.0, True, 0.05, 0.5, 3)


@pytest.mark.parametrize(("name", "value"), [
    ("size", 4), ("visits", 8), ("komi", 6.5), ("superko", False), ("resign_threshold", 0.1), ("target_scale", 0.5),
    ("opening_moves", 3), ("opening_temperature", 2.0), ("policy_temperature", 1.5), ("search", "puct"),
    ("target", "visits"), ("full_share", 0.5), ("fast_visits", 3), ("soft_resign", True), ("root_noise", 0.1),
])
def test_every_setting_of_a_batch_reaches_its_games(name: str, value: Any) -> None:
    assert pickle.dumps(terms_of(replace(BATCH, **{name: value}))) != pickle.dumps(terms_of(BATCH))


def test_games_begin_as_the_batch_says() -> None:
    def begin(batch: int, **changes: Any) -> list[tuple[np.uint64, bool, float]]:
        ours, theirs = Pipe()
        ours.send(list(range(1, 41)))
        orders = Orders(theirs, WorkerTask(None, batch, replace(BATCH, **changes), "none", False, 1, None))
        orders.receive(wait=True)
        games = [game for game in (orders.next_game() for _ in range(41)) if game is not None]
        assert len(games) == 40
        return [(game.seed, game.may_resign, game.extra_komi) for game in games]

    plain = begin(1)
    assert plain == begin(1) and len({game[0] for game in plain + begin(2) + begin(1, seed=4)}) == 120
    assert 5 < sum(game[1] for game in plain) < 35 and all(game[1] for game in begin(1, no_resign_rate=0.0))
    assert {game[2] for game in plain} == {0.0} and len({game[2] for game in begin(1, komi_spread=5.0)}) > 3


class MortalPool(FrailPool):
    """Each worker dies behind its first game; the first `stillborn` ones together, before they have any."""

    def __init__(self, count: int, stillborn: int, slots: int = 4) -> None:
        super().__init__()
        self.count, self.stillborn, self.slots = count, stillborn, slots
        self.most_waiting = 0

    def size(self) -> int:
        return self.count

    def receive(self, workers: list[WorkerHandle], seconds: float) -> Iterator[tuple[WorkerHandle, tuple]]:
        for worker in workers:
            assert isinstance(worker, PretendWorker)
            self.most_waiting = max(self.most_waiting, len(worker.waiting))
            if self.workers.index(worker) < self.stillborn:
                yield worker, (ENDED, "a worker ended")
            elif worker.slots == 0:
                yield worker, (READY, "a network", False, self.slots)
            elif worker.waiting:
                yield worker, game(worker.waiting.pop(0))
                yield worker, (ENDED, "a worker ended")


@pytest.mark.parametrize(("count", "stillborn"), [(1, 0), (1, 2), (4, 4)])
def test_failures_with_games_between_them_or_together_end_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, stillborn: int,
) -> None:
    monkeypatch.setattr(selfplay.supervisor, "PATIENCE_SECONDS", 0.0)
    supervisor = Supervisor(open_batch(tmp_path, replace(SETTINGS, games=8), False), MortalPool(count, stillborn))
    assert supervisor.run() == "" and supervisor.progress.games == 8


def test_no_worker_takes_the_share_of_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selfplay.supervisor, "PATIENCE_SECONDS", 0.0)
    pool = MortalPool(2, 0, slots=64)
    assert Supervisor(open_batch(tmp_path, replace(SETTINGS, games=8), False), pool).run() == ""
    assert pool.most_waiting == 4


def test_a_worker_without_memory_for_its_games_says_what_takes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    def take_all(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(selfplay.worker, "compile_steps", take_all)
    ours, theirs = Pipe()
    selfplay.worker.run_worker(theirs, WorkerTask(tmp_path, 1, SETTINGS, "none", False, 1, 16, cache_mb=1))
    assert ours.recv() == (FAILED, "no memory for --cache-mb 1 in each worker, or for --batch-size or --visits: say "
                                   "less", 2)


def test_a_worker_for_which_the_gpu_has_no_memory_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the others of a run whose first workers still found some: nothing is gained by starting it again."""
    def fail(*_: object) -> None:
        raise torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.")

    monkeypatch.delenv(RUNTIME_VARIABLE)
    monkeypatch.setattr("nn.inference.batch_evaluator.find_gpu", lambda: True)
    monkeypatch.setattr("nn.network.weights.load_network", fail)
    ours, theirs = Pipe()
    selfplay.worker.run_worker(theirs, WorkerTask(tmp_path, 1, SETTINGS, "none", True, 1, 16))
    kind, line, status = ours.recv()
    assert kind == FAILED and status == 1
    assert line.startswith("no memory is left on the GPU: start fewer processes (--process), say a smaller")


@pytest.mark.parametrize("calls", [0, 1], ids=["while it loads", "in a game"])
def test_a_worker_with_an_ensemble_says_so_too(calls: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whose networks ask the GPU for memory as their calls come, so that it may be full in the middle of a game."""
    single, begun = load_evaluator("none", SETTINGS.size), count()

    class Full:
        plane_set, description = single.plane_set, ""

        def __call__(self, planes: np.ndarray) -> Any:
            if next(begun) >= calls:
                raise torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.")
            return single(planes)

    monkeypatch.delenv(RUNTIME_VARIABLE)
    monkeypatch.setattr("nn.inference.batch_evaluator.find_gpu", lambda: True)
    monkeypatch.setattr("nn.inference.batch_evaluator.load_evaluator", lambda *_, **__: Full())
    ours, theirs = Pipe()
    ours.send([1, 2])
    selfplay.worker.run_worker(theirs, WorkerTask(tmp_path, 1, SETTINGS, "one.bin,two.bin", True, 1, 16))
    messages = [ours.recv() for _ in range(calls + 1)]
    assert [message[0] for message in messages] == [READY, FAILED][1 - calls:]
    assert messages[-1][1].startswith("no memory is left on the GPU: start fewer processes") and messages[-1][2] == 1


def test_a_folder_that_a_full_disk_left_without_settings_is_used_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    wanted = BatchSettings(10, 9, 16, 7.0, True, 0.05, 0.1, 77)
    with monkeypatch.context() as patch, pytest.raises(OSError, match="full"):
        patch.setattr(archive, "write_settings", Mock(side_effect=OSError("full")))
        open_batch(tmp_path, wanted, False)
    (tmp_path / "1" / f".{BATCH_FILE}.89abcdef").write_text("{")
    batch = open_batch(tmp_path, wanted, False)
    assert (batch.number, batch.is_new) == (1, True) and [path.name for path in batch.folder.iterdir()] == [BATCH_FILE]
    (tmp_path / "2").mkdir()
    (tmp_path / "2" / "notes.txt").write_text("of somebody else")
    assert open_batch(tmp_path, wanted, False).number == 3
