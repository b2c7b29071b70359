"""Reinforcement learning: generation after generation, exact after an interruption, settings as they are set."""
from __future__ import annotations

import csv
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from nn.data.selfplay_data import generate_reinforcement_learning_data
from nn.network.weights import load_network, save_network
from nn.training.checkpoint import Resume, describe_finished, plan_reinforcement
from nn.training.learn import REINFORCEMENT, SUPERVISED, TrainConfig, TrainError, estimate, train
from nn.training.precision import FullPrecision, MixedPrecision
from nn.training.process_group import ProcessGroup
from nn.training.run_config import RunProgress
from nn.training.run_files import RunFiles
from nn.training.run_table import SUPERVISED_LAYOUT, RunTable
from nn.training.trainer import Trainer
from tests.nn.selfplay_games import SIZE, write_games
from tests.nn.test_learn import read_table, same, tensors, train_until
from tests.tools.in_process import ProgramRunner
from train import main


@pytest.fixture
def config(tmp_path: Path) -> TrainConfig:
    """A tiny run with the games of one generation."""
    add_games(tmp_path, 1)
    return TrainConfig(board_sizes=(SIZE,), filters=4, blocks=1, batch_size=8, epochs=1, schedule="constant",
                       value_weight=1.0, test_share=0.3, ema=0.9, use_gpu=False, data_dir=tmp_path / "data",
                       output=tmp_path / "model" / "rl-model.bin")


def add_games(root: Path, generation: int, count: int = 8) -> None:
    write_games(root / "archive" / str(generation), range(1, count + 1))
    generate_reinforcement_learning_data(root, root / "archive", SIZE, 1000, 1)


def checkpoint(config: TrainConfig) -> dict[str, Any]:
    return tensors(config.output.with_name("rl-state.ckpt"))


def test_generations_go_on_from_each_other(config: TrainConfig, tmp_path: Path) -> None:
    assert train(config, REINFORCEMENT) == ""
    first = checkpoint(config)
    add_games(tmp_path, 2)
    trainer = Trainer(config, REINFORCEMENT)
    state = {**first, "progress": type(trainer.progress)(**first["progress"])}
    trainer.load_state(state)
    assert trainer.progress.generation == 2 and trainer.progress.step == first["progress"]["step"] > 3
    assert same(trainer.network.state_dict(), first["network"])
    assert same(trainer.optimizer.state_dict()["state"], first["optimizer"]["state"])
    assert trainer.average is not None and same(trainer.average.network.state_dict(), first["average"])
    assert train(config, REINFORCEMENT) == ""
    second = checkpoint(config)
    assert second["progress"]["generation"] == 2 and second["progress"]["step"] > first["progress"]["step"]
    assert same(tensors(config.output), second["average"])
    rows = list(csv.DictReader(config.output.with_name("rl-metrics.csv").open()))
    assert [row["generation"] for row in rows] == ["1", "2"] and [row["games"] for row in rows] == ["8", "16"]
    for row in rows:
        assert 4 <= float(row["game_length"]) <= 25 and 0 <= float(row["black_win_rate"]) <= 1
        assert float(row["test_policy_loss"]) > 0 and float(row["train_value_loss"]) > 0


def test_a_generation_is_learnt_once(
    config: TrainConfig, capsys: pytest.CaptureFixture[str]
) -> None:
    train(config, REINFORCEMENT)
    state, model = checkpoint(config), config.output.read_bytes()
    config.output.unlink()
    assert train(config, REINFORCEMENT) == ""
    assert "Generation 1 is learnt already" in capsys.readouterr().out
    before = checkpoint(config)["progress"]["step"]
    for change in ({"batch_size": config.batch_size + 1}, {"seed": 77}, {"test_share": 0.4}, {"learning_rate": 0.5}):
        train(replace(config, **change), REINFORCEMENT)
        assert "Generation 1 is learnt already" in capsys.readouterr().out and (
            checkpoint(config)["progress"]["step"] == before)
    assert same(checkpoint(config), state) and config.output.read_bytes() == model
    assert train(replace(config, epochs=2), REINFORCEMENT) == ""
    assert checkpoint(config)["progress"]["epoch"] == 2


@pytest.mark.parametrize("stop_at", [1, 5, 10])
def test_a_resumed_generation_equals_the_uninterrupted_one(
    config: TrainConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop_at: int
) -> None:
    other = replace(config, output=tmp_path / "other" / "rl-model.bin")
    for run in (config, other):
        train(replace(run, ema=0.0), REINFORCEMENT)
    add_games(tmp_path, 2)
    train(config, REINFORCEMENT)
    steps = [checkpoint(other)["progress"]["step"], checkpoint(config)["progress"]["step"]]
    assert steps[0] + stop_at <= steps[1]
    train_until(other, steps[0] + stop_at, monkeypatch, REINFORCEMENT)
    assert checkpoint(other)["progress"]["batch"] == stop_at
    assert train(other, REINFORCEMENT) == ""
    whole, parts = checkpoint(config), checkpoint(other)
    for name in ("network", "average", "optimizer"):
        assert same(whole[name], parts[name]), name
    tables = [read_table(run.output.with_name("rl-metrics.csv")) for run in (config, other)]
    assert tables[0] == tables[1]


def test_a_power_cut_between_model_and_checkpoint_changes_nothing(
    config: TrainConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = replace(config, output=tmp_path / "other" / "rl-model.bin")
    for run in (config, other):
        train(run, REINFORCEMENT)
    add_games(tmp_path, 2)
    train(config, REINFORCEMENT)

    def power_cut(self) -> None:
        raise SystemExit("dark")

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "save_state", power_cut)
        with pytest.raises(SystemExit):
            train(other, REINFORCEMENT)
    assert other.output.read_bytes() == config.output.read_bytes()
    assert checkpoint(other)["progress"]["generation"] == 1
    assert train(other, REINFORCEMENT) == ""
    for name in ("network", "average", "optimizer"):
        assert same(checkpoint(config)[name], checkpoint(other)[name]), name
    assert other.output.read_bytes() == config.output.read_bytes()


def test_settings_count_from_the_moment_they_are_set(
    config: TrainConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("learning_param.WEIGHT_DECAY", 0.5)
    train_until(config, 2, monkeypatch, REINFORCEMENT)
    monkeypatch.setattr("learning_param.WEIGHT_DECAY", 0.25)
    assert train(replace(config, learning_rate=0.003), REINFORCEMENT) == ""
    (group,) = checkpoint(config)["optimizer"]["param_groups"]
    assert group["lr"] == 0.003 and group["weight_decay"] == 0.25


def test_another_optimizer_starts_with_fresh_momentum(config: TrainConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    train_until(config, 2, monkeypatch, REINFORCEMENT)
    assert train(replace(config, optimizer="muon"), REINFORCEMENT) == ""
    assert checkpoint(config)["progress"]["step"] == 5
    assert len(checkpoint(config)["optimizer"]["param_groups"]) == 2


def test_a_checkpoint_moves_between_number_formats(
    config: TrainConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A GPU of the older kind scales its losses in float16, a CPU does not: either goes on from the other.
    formats = [MixedPrecision("cpu", torch.float16), FullPrecision(), MixedPrecision("cpu", torch.float16)]
    monkeypatch.setattr("nn.training.trainer.choose_precision", lambda device: formats.pop(0))
    train_until(config, 2, monkeypatch, REINFORCEMENT)
    assert "scale" in checkpoint(config)["precision"]
    train_until(config, 4, monkeypatch, REINFORCEMENT)
    assert checkpoint(config)["precision"] == {}
    assert train(config, REINFORCEMENT) == ""
    assert checkpoint(config)["progress"]["step"] == 5 and not formats


def test_other_games_restart_the_pass_but_not_the_run(
    config: TrainConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train_until(config, 2, monkeypatch, REINFORCEMENT)
    add_games(tmp_path, 1, 10)
    assert train(config, REINFORCEMENT) == ""
    trainer = Trainer(config, REINFORCEMENT)
    assert checkpoint(config)["progress"]["step"] == 2 + trainer.data.batches_per_epoch


@pytest.mark.parametrize(("name", "value"), [("head", "pooled"), ("features", "rich"), ("activation", "mish")])
def test_another_kind_of_network_is_refused(config: TrainConfig, name: str, value: str) -> None:
    """Also beside a checkpoint from before there were several kinds."""
    own = {**config.identity(), "data": []}
    old = {key: one for key, one in own.items() if key != name}
    plan_reinforcement(config.output, RunProgress(), old, RunProgress(), own)
    with pytest.raises(TrainError, match=f"another shape .{name} {own[name]} -> {value}"):
        plan_reinforcement(config.output, RunProgress(), old, RunProgress(), {**own, name: value})


def test_another_shape_and_older_data_are_refused(config: TrainConfig, tmp_path: Path) -> None:
    add_games(tmp_path, 2)
    train(config, REINFORCEMENT)
    with pytest.raises(TrainError, match="another shape .filters 4 -> 6.*--restart true"):
        train(replace(config, filters=6), REINFORCEMENT)
    (config.data_dir / "rl_data_2.npz").unlink()
    with pytest.raises(TrainError, match="learnt from generation 2, but the data end at generation 1"):
        train(config, REINFORCEMENT)
    with pytest.raises(TrainError, match="another shape .filters 4 -> 6"):
        estimate(replace(config, filters=6), REINFORCEMENT, ProcessGroup(False))
    assert train(replace(config, restart=True), REINFORCEMENT) == ""
    assert checkpoint(config)["progress"]["generation"] == 1
    assert [row["generation"] for row in read_table(config.output.with_name("rl-metrics.csv"))] == ["1"]


def test_a_lost_checkpoint_loses_no_rows(config: TrainConfig, tmp_path: Path) -> None:
    train(config, REINFORCEMENT)
    add_games(tmp_path, 2)
    config.output.with_name("rl-state.ckpt").unlink()
    train(config, REINFORCEMENT)
    assert [row["generation"] for row in read_table(config.output.with_name("rl-metrics.csv"))] == ["1", "2"]
    train(replace(config, restart=True), REINFORCEMENT)  # another run
    assert [row["generation"] for row in read_table(config.output.with_name("rl-metrics.csv"))] == ["2"]


def test_what_a_run_begins_from(config: TrainConfig, tmp_path: Path) -> None:
    other = tmp_path / "start.bin"
    save_network(load_network("none", SIZE), other)
    start = Trainer(replace(config, start=str(other), filters=None, blocks=None), REINFORCEMENT)
    assert same(start.network.state_dict(), tensors(other)) and start.config.filters == 64
    train(config, REINFORCEMENT)
    model = tensors(config.output)
    config.output.with_name("rl-state.ckpt").unlink()
    seen = []
    original = Trainer.run

    def look(self):
        seen.append({name: tensor.clone() for name, tensor in self.network.state_dict().items()})
        return original(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Trainer, "run", look)
        train(replace(config, filters=None, blocks=None), REINFORCEMENT)
        assert same(seen[0], model)
        # Once a run has a checkpoint, neither its start nor its shape need be told again.
        add_games(tmp_path, 2)
        state = checkpoint(config)
        train(replace(config, filters=None, blocks=None, start="gone.bin"), REINFORCEMENT)
        assert same(seen[1], state["network"])


def test_the_value_target_may_blend_in_the_search(config: TrainConfig, tmp_path: Path) -> None:
    values = []
    for blend in (0.0, 0.5):
        run = replace(config, value_blend=blend, output=tmp_path / str(blend) / "rl-model.bin")
        train(run, REINFORCEMENT)
        values.append(read_table(run.output.with_name("rl-metrics.csv"))[0]["test_value_loss"])
    assert values[0] != values[1]


def test_script_learns_from_an_archive(tmp_path: Path) -> None:
    write_games(tmp_path / "archive" / "1", range(1, 6))
    options = ["--rl", "true", "--kifu-dir", str(tmp_path / "archive"), "--size", str(SIZE), "--use-gpu", "false",
               "--data-dir", str(tmp_path / "data"), "--output", str(tmp_path / "rl-model.bin"), "--workers", "1"]
    result = ProgramRunner().invoke(main, [*options, "--filters", "4", "--blocks", "1", "--window-size", "3"])
    assert result.exit_code == 0, result.output
    assert load_network(tmp_path / "rl-model.bin").shape["filters"] == 4
    state = torch.load(tmp_path / "rl-state.ckpt", weights_only=True)
    assert state["identity"]["value_weight"] == 1.0 and state["identity"]["learning_rate"] == 0.01
    result = ProgramRunner().invoke(main, [*options, "--filters", "8"])
    assert result.exit_code == 2 and "another shape" in result.stderr and len(result.stderr.splitlines()) == 2
    (tmp_path / "empty").mkdir()
    result = ProgramRunner().invoke(main, [*options, "--kifu-dir", str(tmp_path / "empty")])
    assert result.exit_code == 2 and "no usable 5x5 game" in result.stderr


def test_a_pooled_network_learns_from_its_own_games(config: TrainConfig, tmp_path: Path) -> None:
    """Self-play tells the policy, who won, and where a game was played out by how much and who owns what."""
    pooled = replace(config, head="pooled", features="rich", block="gpool", blocks=2, lead_weight=0.1,
                     ownership_weight=1.0)
    generate_reinforcement_learning_data(tmp_path, tmp_path / "archive", SIZE, 1000, 1, as_games=True)
    assert train(pooled, REINFORCEMENT) == ""
    assert load_network(pooled.output).shape["head"] == "pooled" and checkpoint(pooled)["progress"]["generation"] == 1
    write_games(tmp_path / "archive" / "2", range(1, 9))
    generate_reinforcement_learning_data(tmp_path, tmp_path / "archive", SIZE, 1000, 1, as_games=True)
    assert train(pooled, REINFORCEMENT) == ""
    assert checkpoint(pooled)["progress"]["generation"] == 2


def test_all_models_that_are_kept_are_averages(supervised: TrainConfig) -> None:
    train(replace(supervised, ema=0.9, keep_every=4))
    average = tensors(supervised.output.with_name("sl-state.ckpt"))["average"]
    for name in ("sl-model.bin", "sl-model-last.bin", "sl-model-00000004.bin"):
        weights = load_network(supervised.output.with_name(name)).state_dict()
        assert all(values.equal(average[key]) for key, values in weights.items())


def test_a_model_that_is_worse_than_before_is_saved_by_reinforcement_alone(
    supervised: TrainConfig, tmp_path: Path,
) -> None:
    trainer = Trainer(supervised, SUPERVISED)
    trainer.progress.best_loss = 0.0
    trainer.run()
    assert not supervised.output.exists()
    add_games(tmp_path / "rl", 1)
    config = replace(supervised, board_sizes=(SIZE,), test_share=0.3, data_dir=tmp_path / "rl" / "data",
                     output=tmp_path / "rl" / "rl-model.bin")
    trainer = Trainer(config, REINFORCEMENT)
    trainer.progress.best_loss = 0.0
    trainer.run()
    assert config.output.exists()


def test_a_table_that_is_open_elsewhere_ends_no_training(supervised: TrainConfig, monkeypatch: pytest.MonkeyPatch,
                                                       capsys: pytest.CaptureFixture[str]) -> None:
    """As in a spreadsheet on Windows; a run that has no next row to write does end."""
    replace_file, table = os.replace, supervised.output.with_name("sl-metrics.csv")

    def refuse(source: str, target: Path) -> None:
        if Path(target) == table:
            raise PermissionError(13, "Access is denied", str(target))
        replace_file(source, target)

    monkeypatch.setattr(os, "replace", refuse)
    assert train(supervised) == "" and supervised.output.exists() and not table.exists()
    assert f"{table}; the run goes on" in capsys.readouterr().err
    rows = RunTable(table, SUPERVISED_LAYOUT)
    rows.update(1, {"epoch": "1"})
    with pytest.raises(PermissionError):
        rows.write()


def test_a_run_by_minutes_goes_on_with_more_of_them(supervised: TrainConfig) -> None:
    supervised.output.parent.mkdir()
    supervised.output.touch()
    state = {"progress": RunProgress(seconds=60.0, finished=True), "identity": supervised.identity()}
    for minutes, is_finished in ((0.5, True), (1.0, True), (2.0, False)):
        longer = replace(supervised, epochs=None, minutes=minutes)
        assert bool(describe_finished(longer, RunFiles(supervised.output), state)) == is_finished


@pytest.mark.parametrize(("name", "value"), [("seed", 1), ("batch_size", 4), ("test_share", 0.5), ("data", ["b"])])
def test_a_pass_over_other_batches_starts_over(supervised: TrainConfig, name: str, value: Any) -> None:
    own, at = supervised.identity() | {"data": ["a"]}, RunProgress(generation=2, batch=3)
    assert plan_reinforcement(supervised.output, at, own, at, own) is Resume.EXACT
    before, now = ({**own, "data": [data]} for data in ([1, 5], [1, 5, 0, 7]))  # an earlier version recorded less
    assert plan_reinforcement(supervised.output, at, before, at, now) is Resume.EXACT
    assert plan_reinforcement(supervised.output, at, own, at, own | {name: value}) is Resume.NEW_DATA
