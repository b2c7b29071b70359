"""Training on two processes (gloo, CPU) is the training of one."""
from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch.distributed import TCPStore, run

from nn.data.dataset import load_batch, load_samples
from nn.training import estimate, process_group
from nn.training.learn import SUPERVISED, TrainConfig
from nn.training.process_group import ProcessGroup
from nn.training.run_config import TrainError
from nn.training.trainer import Trainer
from tests.nn.group_worker import SAMPLES, make_trainer, take_steps
from tests.nn.samples import write_data
from tests.nn.selfplay_games import SIZE, write_games
from tests.nn.test_learn import read_table, same


def run_two(root: Path, *command: str) -> str:
    """Run a script on two processes; returns what it prints."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(root)}
    result = subprocess.run([*launcher, *command], cwd=root, env=environment, capture_output=True, text=True,
                            timeout=400)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.mark.slow
def test_gradients_equal_those_of_one_process(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This process is one of the two; it does not wait long for a partner that has failed."""
    monkeypatch.setattr(process_group, "TIMEOUT", timedelta(seconds=90))
    folder = write_data(tmp_path, [40])
    # As torchrun does: the store is there before anybody asks for its port, so nobody else can take it.
    store = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    announced = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(store.port), "TORCHELASTIC_USE_AGENT_STORE": "True",
                 "WORLD_SIZE": "2", "RANK": "0"}
    for name, value in announced.items():
        monkeypatch.setenv(name, value)
    command = [sys.executable, "tests/nn/group_worker.py", str(folder), str(tmp_path / "of the other")]
    other = subprocess.Popen(command, cwd=root, env={**os.environ, "PYTHONPATH": str(root), "RANK": "1"},
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        found = take_steps(folder)
    finally:
        said, _ = other.communicate(timeout=100)
        assert other.returncode == 0, said
    assert same(found, torch.load(tmp_path / "of the other", weights_only=True))
    samples = load_samples(folder / "sl_data_0.npz", 5).take(slice(0, SAMPLES))
    symmetries = torch.arange(SAMPLES).numpy() % 8
    monkeypatch.delenv("WORLD_SIZE")
    # Live batch normalization sees one share at a time, frozen the whole batch.
    for mode, parts in ((False, [slice(0, SAMPLES)]), (True, [slice(0, 5), slice(5, SAMPLES)])):
        trainer = make_trainer(folder)
        trainer.network.train(mode)
        for part in parts:
            loss = trainer.loss(trainer.network, load_batch(samples.take(part), symmetries[part]), trainer.sums)
            (loss * len(symmetries[part]) / SAMPLES).backward()
        for name, weight in trainer.network.named_parameters():
            torch.testing.assert_close(found[mode][name], weight.grad, rtol=1e-4, atol=1e-6, msg=f"{name}, {mode}")
        torch.testing.assert_close(found[f"sums {mode}"], trainer.sums.sums)


@pytest.mark.slow
def test_a_run_on_two_processes_writes_one_of_everything(root: Path, tmp_path: Path) -> None:
    write_games(tmp_path / "archive" / "1", range(1, 10))
    output = run_two(
        root, "train.py", "--rl", "true", "--kifu-dir", str(tmp_path / "archive"), "--size", str(SIZE), "--use-gpu",
        "false", "--data-dir", str(tmp_path / "data"), "--output", str(tmp_path / "rl-model.bin"), "--filters", "4",
        "--blocks", "1", "--batch-size", "16", "--test-share", "0.3", "--ema", "0.9", "--workers", "1")
    assert output.count("Training on") == 1 and "2 processes" in output and output.count("Finished") == 1
    state = torch.load(tmp_path / "rl-state.ckpt", weights_only=True)
    assert state["progress"]["finished"] and state["progress"]["generation"] == 1
    assert len(read_table(tmp_path / "rl-metrics.csv")) == 1
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix != ".png") == [
        ".rl.lock", "archive", "data", "rl-metrics.csv", "rl-model.bin", "rl-state.ckpt"]


def test_fewer_gpus_than_processes_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(TrainError, match="2 processes on 1 GPUs.*--use-gpu false"):
        ProcessGroup(True, {"RANK": "0", "WORLD_SIZE": "2", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "2"})


@pytest.mark.parametrize(("count", "size"), [(11, 2), (8, 3), (2, 4), (1, 1), (256, 7)])
def test_shares_cover_a_batch_and_their_weights_its_mean(count: int, size: int) -> None:
    values = torch.rand(count, dtype=torch.float64)
    group = [ProcessGroup(False, {"RANK": str(rank), "WORLD_SIZE": "1"}) for rank in range(size)]
    means = []
    for rank in group:
        rank.size = size
        part, weight = rank.share_of(count)
        means.append(values[part].mean() * weight)
    torch.testing.assert_close(torch.stack(means).mean(), values.mean())


def test_a_dry_run_takes_as_many_steps_in_each_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step waits for the others: one process whose clock is slower would wait for ever in a step of its own."""
    clock, together, told = threading.local(), threading.Barrier(2, timeout=10), [0.0, 0.0]

    class Process:
        """Stands for trainer, network, data and group of one process."""

        def __init__(self, rank: int) -> None:
            self.rank, self.steps = rank, 0
            self.network = self.data = self.group = self
            self.train = lambda: None

        def training_batches(self, _: int) -> list[tuple[None, None]]:
            return [(None, None)] * 4

        def step(self, *_: object) -> torch.Tensor:
            together.wait()
            self.steps += 1
            clock.now = getattr(clock, "now", 0.0) + (1.0 if self.rank else 0.9)
            return torch.zeros(())

        def maximum(self, number: float) -> list[float]:
            told[self.rank] = number
            together.wait()
            largest = max(told)
            together.wait()
            return [largest]

    def measure(process: Any) -> int:
        assert 0.8 < estimate.measure_step(process) < 1.1
        return process.steps

    monkeypatch.setattr(estimate, "time", SimpleNamespace(perf_counter=lambda: getattr(clock, "now", 0.0)))
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(measure, [Process(0), Process(1)])
    assert first == second < estimate.STEPS


@pytest.mark.parametrize("ema", [0.0, 0.9])
def test_all_processes_test_the_network_that_the_first_one_saves(ema: float, tmp_path: Path,
                                                                 monkeypatch: pytest.MonkeyPatch) -> None:
    """Their norms have seen other samples since they were last alike, at the beginning of a step."""
    config = TrainConfig(board_sizes=(5,), filters=4, blocks=1, batch_size=8, use_gpu=False, ema=ema,
                         data_dir=write_data(tmp_path, [80]), output=tmp_path / "sl-model.bin")
    first, second = Trainer(config, SUPERVISED), Trainer(config, SUPERVISED)
    for buffer in first.result.buffers():
        buffer.add_(1)
    expected = first.evaluate()
    saved = iter(first.result.buffers())
    monkeypatch.setattr(process_group.distributed, "broadcast", lambda tensor, _: tensor.copy_(next(saved)))
    monkeypatch.setattr(process_group.distributed, "all_reduce", lambda *_: None)
    scores = []
    for rank in (0, 1):
        second.group.rank, second.group.size = rank, 2
        saved = iter(first.result.buffers())
        scores.append(second.evaluate())
    assert expected.loss == pytest.approx((scores[0].loss + scores[1].loss) / 2.0, abs=1e-5)
    assert next(saved, None) is None


def test_the_launcher_leaves_options_of_the_training_alone(root: Path) -> None:
    """pipeline.sh starts several processes; --start is no short form of the launcher's --start-method."""
    line = re.search(r"-m torch\.distributed\.run (.*)\)$", (root / "pipeline.sh").read_text(), re.MULTILINE)
    assert line is not None
    parsed = run.parse_args([*line[1].replace('"$GPUS"', "2").split(), "train.py", "--start", "a.bin"])
    assert parsed.nproc_per_node == "2" and parsed.training_script == "train.py"
    assert parsed.training_script_args == ["--start", "a.bin"]
