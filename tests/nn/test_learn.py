"""Training: it learns, it resumes exactly, it writes its files, it fails in one line."""

import csv
import io
import math
import os
import signal
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tqdm import tqdm

import nn.training.trainer
from nn.data.data_file import DataError
from nn.data.dataset import DataSet, load_batch, load_samples, turn_batch
from nn.network.dual_net import DualNet
from nn.network.weights import load_network
from nn.training.learn import SUPERVISED, TrainConfig, TrainError, train
from nn.training.precision import FullPrecision
from nn.training.recipe import Recipe
from nn.training.trainer import Trainer
from tests.files import write_files
from tests.nn.samples import make_arrays, write_data
from tests.reference.katago_model import TinyNetwork
from tests.tools.in_process import ProgramRunner
from train import main


@pytest.fixture
def config(tmp_path: Path) -> TrainConfig:
    """A tiny run on two small files."""
    return TrainConfig(board_sizes=(5,), filters=4, blocks=1, batch_size=8, epochs=3, ema=0.9, value_blend=0.5,
                       use_gpu=False, data_dir=write_data(tmp_path / "data", [60, 40]),
                       output=tmp_path / "model" / "sl-model.bin")


def tensors(path: Path) -> Any:
    return torch.load(path, weights_only=True)


def same(first: object, second: object) -> bool:
    """Compare nested dicts and lists of tensors exactly."""
    if isinstance(first, torch.Tensor):
        return isinstance(second, torch.Tensor) and torch.equal(first, second)
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(same(first[key], second[key]) for key in first)
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(same, first, second))
    return first == second


def train_until(config: TrainConfig, step: int, monkeypatch: pytest.MonkeyPatch, recipe: Recipe = SUPERVISED) -> None:
    """Train and stop after so many steps of the run."""
    original = Trainer.step

    def step_and_signal(self, *batches):
        loss = original(self, *batches)
        if self.progress.step == step:
            os.kill(os.getpid(), signal.SIGTERM)
        return loss

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "step", step_and_signal)
        assert train(config, recipe) == "SIGTERM"


def test_it_learns_32_samples_by_heart(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    np.savez(folder / "sl_data_0.npz", **make_arrays(32, 5))
    config = TrainConfig(board_sizes=(5,), filters=16, blocks=2, batch_size=32, epochs=1, learning_rate=0.05,
                         value_weight=1.0, test_share=0.0, use_gpu=False, data_dir=folder,
                         output=tmp_path / "sl-model.bin")
    trainer = Trainer(config, SUPERVISED)
    samples = load_samples(folder / "sl_data_0.npz", 5)
    for _ in range(150):
        trainer.step(samples, np.zeros(32, dtype=np.int64))
        last = trainer.sums.scores()
        trainer.sums.sums.zero_()
    assert last.policy_loss < 0.05 and last.value_loss < 0.05
    assert last.policy_top1 == 1.0 and last.value_top1 == 1.0


@pytest.mark.parametrize(("stop_at", "settings"), [
    (3, {}), (10, {}), (16, {}), (30, {}), (10, {"optimizer": "muon"}),
    (10, {"optimizer": "nadam", "warm_up": 5, "clip": 1.0, "label_smoothing": 0.1}), (10, {"optimizer": "sam"}),
    (10, {"ownership_weight": 1.0}), (10, {"batch_growth": 4.0}), (10, {"batch_growth": 3.0, "optimizer": "sam"}),
])
def test_a_resumed_run_equals_the_uninterrupted_one(
    config: TrainConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop_at: int, settings: dict[str, Any]
) -> None:
    config = replace(config, **settings)
    assert train(config) == ""
    other = replace(config, output=tmp_path / "other" / "sl-model.bin")
    train_until(other, stop_at, monkeypatch)
    assert train(other) == ""
    assert same(tensors(config.output), tensors(other.output))
    whole, parts = (tensors(path.with_name("sl-state.ckpt")) for path in (config.output, other.output))
    for name in ("network", "ownership_head", "average", "optimizer"):
        assert same(whole[name], parts[name]), name
    tables = [read_table(path.with_name("sl-metrics.csv")) for path in (config.output, other.output)]
    assert tables[0] == tables[1] and len(tables[0]) == 3


def read_table(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV, the time left out."""
    with open(path) as file:
        return [{**row, "seconds": ""} for row in csv.DictReader(file)]


def test_without_tests_the_newest_network_is_kept(config: TrainConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nn.training.trainer, "ROW_STEPS", 1)  # the last row is closed, no step is left to tell a loss
    monkeypatch.setattr(Trainer, "share", lambda self: float(self.progress.step >= 2))
    assert train(replace(config, test_share=0.0)) == ""
    assert same(tensors(config.output), tensors(config.output.with_name("sl-state.ckpt"))["average"])


@pytest.mark.slow
def test_files_of_a_run(config: TrainConfig, curves: None) -> None:
    train(config)
    names = {path.name for path in config.output.parent.iterdir()}
    picture = {"sl-metrics.png"} if find_spec("matplotlib") else set()
    assert names == {"sl-model.bin", "sl-state.ckpt", "sl-metrics.csv", ".sl.lock"} | picture
    with open(config.output.with_name("sl-metrics.csv")) as file:
        rows = list(csv.DictReader(file))
    assert [int(row["epoch"]) for row in rows] == [1, 2, 3]
    assert all(0.0 <= float(row["test_policy_top1"]) <= 1.0 for row in rows)
    best = min(float(row["test_loss"]) for row in rows)
    model = load_network(config.output, 5)
    assert isinstance(model, DualNet)
    trainer = Trainer(replace(config, ema=0.0), SUPERVISED)
    trainer.network = model
    assert trainer.evaluate().loss == pytest.approx(best, abs=1e-5)


def test_other_settings_do_not_resume(config: TrainConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = Trainer(config, SUPERVISED)
    trainer.save_state()
    with pytest.raises(TrainError, match="filters 4 -> 6.*--restart true"):
        train(replace(config, filters=6))
    assert train(replace(config, filters=6, restart=True, epochs=1)) == ""
    with pytest.raises(TrainError, match="a finished run.*filters 6 -> 4.*--output.*--restart true"):
        train(replace(config, epochs=1))
    assert load_network(config.output).shape["filters"] == 6


def test_a_run_starts_from_the_weights_of_a_model(config: TrainConfig, tmp_path: Path) -> None:
    train(config)
    again = replace(config, start=str(config.output), output=tmp_path / "again" / "sl-model.bin")
    trainer = Trainer(again, SUPERVISED)
    assert same(trainer.network.state_dict(), tensors(config.output))
    assert trainer.average is not None and same(trainer.average.network.state_dict(), tensors(config.output))
    assert train(again) == ""


def test_a_start_that_does_not_fit_is_said(config: TrainConfig, tmp_path: Path) -> None:
    train(config)
    with pytest.raises(TrainError, match="has other filters than the options say: say .*--filters 4 --blocks 1"):
        Trainer(replace(config, start=str(config.output), filters=8), SUPERVISED)
    broken = tmp_path / "broken.bin"
    broken.write_bytes(config.output.read_bytes()[:300])
    with pytest.raises(TrainError, match="cannot start from .*broken.bin: it is damaged .*--start"):
        Trainer(replace(config, start=str(broken)), SUPERVISED)
    katago = tmp_path / "tiny.bin.gz"
    katago.write_bytes(TinyNetwork(8).content(True))
    with pytest.raises(TrainError, match="cannot start from .*tiny.bin.gz: KataGo's networks play here but do not"):
        Trainer(replace(config, start=str(katago), board_sizes=(9,)), SUPERVISED)


def test_a_damaged_checkpoint_is_said(config: TrainConfig) -> None:
    Trainer(config, SUPERVISED).save_state()
    path = config.output.with_name("sl-state.ckpt")
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(TrainError, match="damaged.*--restart true"):
        train(config)


def test_the_budget_of_minutes_spans_all_parts(config: TrainConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(nn.training.trainer.time, "monotonic", lambda: clock[0])
    original = Trainer.step
    rates = []

    def slow_step(self, samples, symmetries):
        clock[0] += 6.0
        loss = original(self, samples, symmetries)
        rates.append(self.optimizer.param_groups[0]["lr"])
        if len(rates) == 7:
            os.kill(os.getpid(), signal.SIGTERM)
        return loss

    monkeypatch.setattr(Trainer, "step", slow_step)
    timed = replace(config, epochs=None, minutes=2.0, schedule="cosine", ema=0.0)
    assert train(timed) == "SIGTERM"
    clock[0] += 1000.0
    assert train(timed) == ""
    assert len(rates) == 20
    assert rates[9] == pytest.approx(0.01 * 10 / 200 * 0.5 * (1 + math.cos(math.pi * 9 * 6 / 120)))
    assert 0.0 < rates[-1] < 1e-5


def test_a_step_over_several_batches_is_one_over_all_their_positions(
    config: TrainConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No rounding that depends on the length of a batch, also where bfloat16 is fast, and no statistics of one.
    monkeypatch.setattr("nn.training.trainer.choose_precision", lambda _: FullPrecision())
    trainers = [Trainer(replace(config, norm="none", ema=0.0), SUPERVISED) for _ in range(2)]
    for trainer in trainers:
        trainer.network.eval()
    samples, symmetries = next(trainers[0].data.training_batches(0))
    half = len(symmetries) // 2
    parts = [(samples.take(part), symmetries[part]) for part in (slice(0, half), slice(half, 2 * half))]
    trainers[0].step(samples.take(slice(0, 2 * half)), symmetries[:2 * half])
    trainers[1].step(*parts[0], parts[1])
    weights = [trainer.network.state_dict() for trainer in trainers]
    assert all(torch.allclose(one, weights[1][name], atol=1e-6) for name, one in weights[0].items())
    assert [trainer.progress.batch for trainer in trainers] == [1, 2]
    assert trainers[0].sums.count() == trainers[1].sums.count() == 2 * half


def test_a_warm_up_rises_in_even_steps(config: TrainConfig) -> None:
    trainer = Trainer(replace(config, warm_up=2, schedule="constant", learning_rate=0.03, ema=0.0), SUPERVISED)
    batches = trainer.data.training_batches(0)
    rates = [(trainer.step(*next(batches)), trainer.rate)[1] for _ in range(4)]
    assert rates == pytest.approx([0.01, 0.02, 0.03, 0.03])


def test_steps_grow_by_the_same_factor_in_equal_parts(config: TrainConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    original = Trainer.step

    def step(self, *batches):
        seen.append(len(batches) - 1)
        return original(self, *batches)

    monkeypatch.setattr(Trainer, "step", step)
    train(replace(config, batch_growth=4.0))
    batches = 3 * Trainer(config, SUPERVISED).data.batches_per_epoch
    done = 0
    for number in seen:
        wanted = round(4.0 ** (done / batches))
        assert number == min(wanted, batches // 3 - done % (batches // 3))  # a step ends with its pass
        done += number
    assert done == batches and seen[0] == 1 and max(seen) >= 3


def test_a_budget_of_no_time_still_takes_one_step(config: TrainConfig) -> None:
    assert train(replace(config, epochs=None, minutes=1e-9)) == ""
    assert tensors(config.output.with_name("sl-state.ckpt"))["progress"]["step"] == 1
    assert load_network(config.output).board_size == 5


def test_without_matplotlib_one_line_says_so(
    config: TrainConfig, curves: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    train(replace(config, epochs=1))
    assert capsys.readouterr().err.count("matplotlib") == 2
    assert not config.output.with_name("sl-metrics.png").exists()


def test_a_runaway_loss_ends_the_run_before_it_is_saved(config: TrainConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DataSet, "test_count", 0)
    with pytest.raises(TrainError, match="lower --learning-rate"):
        train(replace(config, learning_rate=1e30, schedule="lecture", ema=0.0))
    assert not config.output.exists()


def test_ownership_reaches_the_body_and_not_the_model_file(config: TrainConfig, tmp_path: Path) -> None:
    models = []
    for weight in (0.0, 1.0):
        output = tmp_path / str(weight) / "sl-model.bin"
        train(replace(config, ownership_weight=weight, output=output))
        models.append(tensors(output))
    assert models[0].keys() == models[1].keys()
    assert not torch.equal(models[0]["conv_layer.weight"], models[1]["conv_layer.weight"])


@pytest.mark.slow
def test_ownership_is_learnt_where_it_can_be_seen(config: TrainConfig) -> None:
    trainer = Trainer(replace(config, ownership_weight=1.0, learning_rate=0.05, filters=16, blocks=2), SUPERVISED)
    assert trainer.triple is not None
    samples = load_samples(config.data_dir / "sl_data_0.npz", 5, needs_ownership=True)
    for _ in range(100):
        trainer.step(samples, np.zeros(60, dtype=np.int64))
    batch = turn_batch(load_batch(samples, np.zeros(60, dtype=np.int64)), trainer.loss.symmetry_tables[5])
    guess = trainer.triple.eval()(batch.planes)[3].sign()
    known = batch.ownership != 0
    assert (guess == batch.ownership)[known].float().mean() > 0.95


def test_ownership_needs_data_that_have_it(config: TrainConfig) -> None:
    for path in config.data_dir.glob("*.npz"):
        arrays = dict(np.load(path))
        del arrays["ownership"]
        np.savez(path, **arrays)
    assert train(config) == ""
    with pytest.raises(DataError, match="no array 'ownership'.*--kifu-dir"):
        train(replace(config, ownership_weight=1.0, restart=True))


def test_the_bar_shows_the_whole_run(config: TrainConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()

    def on_terminal(**options: Any) -> tqdm:
        return tqdm(**{**options, "disable": False, "file": shown, "mininterval": 0.0, "ncols": 120})

    monkeypatch.setattr(nn.training.trainer, "tqdm", on_terminal)
    train(config)
    last = [line.split("\r")[-1] for line in shown.getvalue().split("\n")]
    assert [text.split("%")[0] for text in last if text] == [
        "epoch 1:  33.3 ", "epoch 2:  66.7 ", "epoch 3: 100.0 "]
    assert all("left" in text for text in last if text)


def test_unknown_schedule(config: TrainConfig) -> None:
    with pytest.raises(TrainError, match="lecture, cosine or constant"):
        train(replace(config, schedule="steps"))


def run_script(*options: str) -> tuple[int, str]:
    result = ProgramRunner().invoke(main, list(options))
    return result.exit_code, result.stderr


def test_script_trains_and_reports(config: TrainConfig) -> None:
    status, _ = run_script("--size", "5", "--data-dir", str(config.data_dir), "--output", str(config.output),
                           "--use-gpu", "false", "--epochs", "1", "--filters", "4", "--blocks", "1",
                           "--batch-size", "8")
    assert status == 0 and load_network(config.output).board_size == 5


@pytest.mark.parametrize(("options", "status", "text"), [
    (("--rl", "true", "--minutes", "5"), 2, "--epochs"),
    (("--rl", "true", "--ownership-weight", "1"), 2, "--ownership-weight is for supervised learning"),
    (("--rl", "true", "--data-dir", "/nonexistent"), 2, "--kifu-dir"),
    (("--data-dir", "/nonexistent"), 2, "--kifu-dir"),
    (("--kifu-dir", "/nonexistent"), 2, "does not exist"),
    (("--size", "20"), 2, "--size"),
    (("--task", "bad-moves", "--kifu-dir", ".", "--kifu-dir", ".."), 2, "--task bad-moves learns from one folder"),
    (("--value-blend", "1.5"), 2, "--value-blend"),
    (("--test-share", "1"), 2, "--test-share"),
])
def test_script_refuses_in_words(options: tuple[str, ...], status: int, text: str) -> None:
    got, error = run_script(*options)
    assert got == status and text in error and "Traceback" not in error


def test_games_of_several_folders_are_learnt_from(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("first", "second")]
    for folder, points in zip(folders, ("aa", "bb"), strict=True):
        write_files(folder, {"a.sgf": f"(;SZ[5]KM[0.5]RE[B+24.5];B[{points}])"})
        (folder / "sub").mkdir()
    options = [word for folder in folders for word in ("--kifu-dir", str(folder))]
    status, said = run_script("--size", "5", "--data-dir", str(tmp_path / "data"), *options, "--dry-run", "true",
                              "--use-gpu", "false", "--batch-size", "2")
    assert status == 0 and "2 games, 2 positions" in said
    assert all(f"{folder}: not read: 1 sub-folders (sub)" in said for folder in folders)


def test_a_full_disk_is_one_line(config: TrainConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    config.output.parent.mkdir(parents=True)
    config.output.write_bytes(b"old model")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    status, error = run_script("--size", "5", "--data-dir", str(config.data_dir), "--output", str(config.output),
                               "--use-gpu", "false", "--epochs", "1", "--filters", "4", "--blocks", "1",
                               "--restart", "true")
    assert status == 1 and "No space left on device" in error and len(error.splitlines()) == 1
    assert config.output.read_bytes() == b"old model"
