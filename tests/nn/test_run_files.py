"""What a finished run, another run and a stranger's model file keep: nothing is lost without being asked for."""
from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import torch

import learning_param
from common.atomic_file import write_atomically
from common.command_line import run_command
from common.exit_status import ProgramError
from nn.device import tell_gpu_failure
from nn.network.weights import load_network, save_atomically
from nn.training import bad_moves, learn
from nn.training.bad_moves import ClassifierRun
from nn.training.checkpoint import read_checkpoint
from nn.training.learn import REINFORCEMENT, SUPERVISED, TrainConfig, TrainError, estimate, train
from nn.training.process_group import ProcessGroup
from nn.training.run_files import RunFiles
from nn.training.trainer import Trainer
from tests.nn.selfplay_games import SIZE
from tests.nn.test_bad_moves import make_config, make_samples
from tests.nn.test_rl_learn import add_games
from tests.tools.in_process import ProgramRunner
from train import main


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_finished_run_is_not_done_again(supervised: TrainConfig, capsys: pytest.CaptureFixture[str]) -> None:
    train(supervised)
    before = contents(supervised.output.parent)
    capsys.readouterr()

    def make_data(folder: Path) -> None:
        raise AssertionError("data are not made for a run that is over")

    assert train(supervised, make_data=make_data) == ""
    assert contents(supervised.output.parent) == before
    said = capsys.readouterr().out
    assert all(text in said for text in ("finished", "--epochs 2", "--restart true", "--output"))
    with pytest.raises(TrainError, match="finished run with other settings .*learning_rate 0.01 -> 0.02.*--output"):
        train(replace(supervised, learning_rate=0.02))
    assert contents(supervised.output.parent) == before


def test_the_picture_of_a_finished_run_is_drawn_where_it_is_missing(supervised: TrainConfig, curves: None) -> None:
    """A full disk at the very end costs the picture; the run is then finished, and nothing else would draw it."""
    pytest.importorskip("matplotlib")
    train(supervised)
    before = contents(supervised.output.parent)
    picture = supervised.output.with_name("sl-metrics.png")
    picture.unlink()
    train(supervised)
    assert picture.exists() and contents(supervised.output.parent).keys() == before.keys()


def test_a_finished_run_goes_on_with_a_larger_budget(supervised: TrainConfig, tmp_path: Path) -> None:
    train(replace(supervised, epochs=2))
    whole = load_network(supervised.output).state_dict()
    other = replace(supervised, output=tmp_path / "other" / "sl-model.bin")
    train(other)
    train(replace(other, epochs=2))
    parts = load_network(other.output).state_dict()
    assert all(whole[name].equal(parts[name]) for name in whole)


def test_data_of_other_results_are_other_data(supervised: TrainConfig) -> None:
    trainer = Trainer(supervised, SUPERVISED)
    trainer.save_state()
    state = torch.load(trainer.files.checkpoint, weights_only=True)
    path = supervised.data_dir / "sl_data_0.npz"
    other = dict(np.load(path))
    other["value"] = 2 - other["value"]
    np.savez(path, **other)
    with pytest.raises(TrainError, match="other training data"):
        train(supervised)
    state["identity"]["data"] = [file[:2] for file in state["identity"]["data"]]  # as earlier versions wrote it
    del state["constants"]
    save_atomically(state, trainer.files.checkpoint)
    assert train(supervised) == ""


def test_a_run_that_goes_on_with_other_constants_says_so(supervised: TrainConfig, monkeypatch: pytest.MonkeyPatch,
                                                         capsys: pytest.CaptureFixture[str]) -> None:
    Trainer(supervised, SUPERVISED).save_state()
    monkeypatch.setattr(learning_param, "MOMENTUM", 0.1)
    train(supervised)
    (line,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("Resumed"))
    assert line.endswith("With other numbers in learning_param.py than before: MOMENTUM 0.9 -> 0.1.")


def test_a_finished_run_whose_model_is_gone_says_so(supervised: TrainConfig) -> None:
    train(supervised)
    supervised.output.unlink()
    with pytest.raises(TrainError, match="is gone.*--restart true"):
        train(supervised)


def test_a_strangers_model_is_not_replaced(supervised: TrainConfig) -> None:
    supervised.output.parent.mkdir()
    supervised.output.write_bytes(b"downloaded")
    with pytest.raises(TrainError, match="is there already.*--output.*--restart true"):
        train(supervised)
    assert supervised.output.read_bytes() == b"downloaded"
    assert train(replace(supervised, restart=True)) == "" and load_network(supervised.output).board_size == 5


def test_two_outputs_in_one_folder_do_not_mix(supervised: TrainConfig) -> None:
    folder = supervised.output.parent
    train(supervised)
    before = contents(folder)
    train(replace(supervised, output=folder / "second.bin", seed=1))
    assert contents(folder).items() >= before.items()
    assert {"second.bin", "second-state.ckpt", "second-metrics.csv"} <= contents(folder).keys()


def test_two_outputs_of_one_name_are_refused(tmp_path: Path) -> None:
    add_games(tmp_path, 1)
    config = TrainConfig(board_sizes=(SIZE,), filters=4, blocks=1, batch_size=8, epochs=1, test_share=0.3,
                         use_gpu=False, data_dir=tmp_path / "data", output=tmp_path / "model" / "rl-candidate.bin")
    train(config, REINFORCEMENT)
    assert config.output.with_name("rl-state.ckpt").exists()
    before = contents(config.output.parent)
    for restart in (False, True):
        with pytest.raises(TrainError, match="rl-state.ckpt is of the run that makes rl-candidate.bin.*--output"):
            train(replace(config, restart=restart, output=config.output.with_name("rl-model.bin")), REINFORCEMENT)
    assert contents(config.output.parent) == before


def test_two_runs_on_one_output_are_refused(supervised: TrainConfig) -> None:
    with RunFiles(supervised.output).hold():
        with pytest.raises(TrainError, match="another train.py is at work on .*sl-model.bin"):
            train(supervised)
        assert train(replace(supervised, output=supervised.output.with_name("b.bin"))) == ""
    assert train(supervised) == ""


def test_what_a_killed_run_was_writing_is_removed(supervised: TrainConfig) -> None:
    """A checkpoint may have a hundred megabytes: they would fill the disk, kill by kill."""
    write_atomically(supervised.output, b"model")
    folder = supervised.output.parent
    remains = [folder / f".{name}.0123abcd" for name in ("sl-model.bin", "sl-model-last.bin", "sl-state.ckpt")]
    others = [folder / name for name in (".sl-model.bin.old", ".sl-2-state.ckpt.0123abcd", "sl-state.ckpt.0123abcd")]
    for path in (*remains, *others):
        path.write_bytes(b"half")
    with RunFiles(supervised.output).hold():
        assert [path.exists() for path in (*remains, *others, supervised.output)] == 3 * [False] + 4 * [True]


def test_models_on_the_way_are_kept_by_their_steps(supervised: TrainConfig) -> None:
    train(replace(supervised, epochs=3, keep_every=5))  # 12 steps: 32 positions of 40 are learnt from, 8 a step
    names = {path.name for path in supervised.output.parent.glob("*.bin")}
    assert names == {"sl-model.bin", "sl-model-last.bin", "sl-model-00000005.bin", "sl-model-00000010.bin"}
    weights = [load_network(path).state_dict() for path in sorted(supervised.output.parent.glob("sl-model-*.bin"))]
    assert not any(one["conv_layer.weight"].equal(other["conv_layer.weight"]) for one, other in pairwise(weights))


def test_a_dry_run_tells_positions_steps_and_hours_and_writes_nothing(
    supervised: TrainConfig, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("nn.training.estimate.STEPS", 2)
    estimate(replace(supervised, epochs=6), SUPERVISED, ProcessGroup(False))
    told = capsys.readouterr().out.splitlines()
    assert not supervised.output.parent.exists() or not contents(supervised.output.parent)
    assert "32 positions to learn from" in told[0] and "4 batches of 8 a pass" in told[0] and "positions/s" in told[1]
    assert told[2].startswith("6 passes: 24 steps, 192 positions, 6.0 passes, 0.0")
    estimate(replace(supervised, epochs=None, minutes=0.001), SUPERVISED, ProcessGroup(False))
    assert capsys.readouterr().out.splitlines()[2].startswith("0.001 minutes: ")
    estimate(replace(supervised, epochs=2, batch_size=100), SUPERVISED, ProcessGroup(False))
    told = capsys.readouterr().out.splitlines()
    assert "1 batches of 32 a pass" in told[0] and told[2].startswith("2 passes: 2 steps, 64 positions, 2.0 passes")


@pytest.mark.parametrize("growth", [1.4, 2.0, 4.0])
def test_a_dry_run_tells_as_many_steps_as_a_run_takes_whose_batches_grow(
    growth: float, supervised: TrainConfig, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("nn.training.estimate.STEPS", 2)
    estimate(replace(supervised, epochs=6000, batch_size=1, batch_growth=growth), SUPERVISED, ProcessGroup(False))
    told = re.search(r"6000 passes: (\d+) steps", capsys.readouterr().out)
    batches, done, steps = 6000 * 32, 0, 0
    while done < batches:  # as Trainer does: whole batches, and a step ends with its pass
        done += min(round(growth ** (done / batches)), 32 - done % 32)
        steps += 1
    assert told is not None and int(told[1]) == pytest.approx(steps, rel=0.02)


def test_a_best_model_that_is_gone_is_replaced_by_the_best_one_since(supervised: TrainConfig) -> None:
    train(supervised)
    checkpoint = RunFiles(supervised.output).checkpoint
    state = read_checkpoint(RunFiles(supervised.output), torch.device("cpu"))
    save_atomically({**state, "progress": {**vars(state["progress"]), "best_loss": 0.0}}, checkpoint)
    supervised.output.unlink()
    train(replace(supervised, epochs=2))
    assert load_network(supervised.output).board_size == 5
    assert read_checkpoint(RunFiles(supervised.output), torch.device("cpu"))["progress"].best_loss > 0.0


def test_a_checkpoint_takes_no_memory_of_the_device(supervised: TrainConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is kept as long as the run; "meta" stands for a GPU."""
    train(supervised)
    group, found = ProcessGroup(False), set[str]()
    group.device = torch.device("meta")

    def look(_: TrainConfig, __: RunFiles, state: dict[str, Any]) -> str:
        weights = (*state["network"].values(), state["sums"], *state["optimizer"]["state"][0].values())
        found.update(tensor.device.type for tensor in weights)
        return "done"

    monkeypatch.setattr(learn, "describe_finished", look)
    train(supervised, group=group)
    assert found == {"cpu"}


@pytest.mark.parametrize("options", [[], ["--dry-run", "true"]])
def test_a_full_gpu_is_one_line(options: list[str], supervised: TrainConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.\nGPU 0 has ...")

    monkeypatch.setattr(Trainer, "step", fail)
    result = ProgramRunner().invoke(main, [
        "--size", "5", "--data-dir", str(supervised.data_dir), "--output", str(supervised.output), "--use-gpu", "false",
        "--filters", "4", "--blocks", "1", "--epochs", "1", *options])
    assert result.exit_code == 1 and "Traceback" not in result.output
    assert result.output.splitlines()[-1].startswith("train.py: no memory is left on the GPU: end what else uses it")


@pytest.mark.parametrize(("error", "told"), [
    (torch.AcceleratorError("CUDA error: device-side assert triggered\nSearch for `cudaErrorAssert'"),
     "the GPU failed (CUDA error: device-side assert triggered): try again, or say --use-gpu false"),
    (RuntimeError("CUDA error: no kernel image is available for execution on the device\nCUDA kernel errors"),
     "the GPU failed (CUDA error: no kernel image is available for execution on the device): try again"),
    (RuntimeError("cuDNN error: CUDNN_STATUS_EXECUTION_FAILED"), "the GPU failed (cuDNN error: CUDNN_STATUS_EXECU"),
    (RuntimeError("The NVIDIA driver on your system is too old (found version 11040)."),
     "the GPU failed (The NVIDIA driver on your system is too old (found version 11040).): try again"),
])
def test_a_gpu_that_fails_is_one_line(error: RuntimeError, told: str, supervised: TrainConfig,
                                      monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Trainer, "step", Mock(side_effect=error))
    result = ProgramRunner().invoke(main, [
        "--size", "5", "--data-dir", str(supervised.data_dir), "--output", str(supervised.output), "--use-gpu", "false",
        "--filters", "4", "--blocks", "1", "--epochs", "1"])
    assert result.exit_code == 1 and result.output.splitlines()[-1].startswith(f"train.py: {told}")


def test_what_fails_elsewhere_than_on_the_gpu_stays_what_it_is() -> None:
    with pytest.raises(RuntimeError, match="shapes"), tell_gpu_failure(""):
        raise RuntimeError("shapes cannot be multiplied")


def test_a_full_gpu_ends_the_learning_of_bad_moves_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise torch.cuda.OutOfMemoryError

    monkeypatch.setattr(bad_moves, "ClassifierRun", fail)
    monkeypatch.setattr(bad_moves, "read_games", lambda *_: [])
    monkeypatch.setattr(bad_moves, "collect_samples", lambda *_: make_samples())
    with pytest.raises(ProgramError, match="no memory is left on the GPU"):
        bad_moves.learn_from_games(make_config(tmp_path), False, print)


def test_a_classifier_whose_numbers_run_away_is_not_written(tmp_path: Path) -> None:
    run = ClassifierRun(make_config(tmp_path, learning_rate=1e30), make_samples())
    with pytest.raises(TrainError, match="the loss is no number any more at step .: start again with --restart true"):
        run.learn(lambda _: None)


def test_a_seed_that_torch_does_not_take_is_refused() -> None:
    result = ProgramRunner().invoke(main, ["--seed", str(2**64)])
    assert result.exit_code == 2 and "--seed" in result.output and len(result.output.splitlines()) == 1


def test_steps_that_grow_beyond_all_numbers_take_a_pass(supervised: TrainConfig) -> None:
    assert train(replace(supervised, epochs=2, batch_growth=1e60)) == ""
    assert read_checkpoint(RunFiles(supervised.output), torch.device("cpu"))["progress"].epoch == 2


@pytest.mark.parametrize("arguments, stage", [([], "nn.training.learn.train"),
                                              (["--task", "bad-moves"], "nn.training.bad_moves.learn_from_games")])
def test_ctrl_c_between_two_stages_is_told(arguments: list[str], stage: str, tmp_path: Path,
                                           monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def stop(*_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(stage, stop)
    arguments = [*arguments, "--kifu-dir", str(tmp_path), "--output", str(tmp_path / "model.bin")]
    assert run_command(main, "train.py", arguments) == 130
    assert capsys.readouterr().err.splitlines()[-1] == (
        "train.py: stopped: the files written before are intact, the same command goes on")


def test_other_positions_of_bad_moves_are_another_run_though_they_are_as_many(tmp_path: Path) -> None:
    samples = make_samples()
    run = ClassifierRun(make_config(tmp_path), samples)
    run.save()
    state = torch.load(path := tmp_path / "net-state.ckpt", weights_only=True)
    for other in (samples._replace(played=samples.played[::-1]), samples._replace(policy=samples.policy + 0.5)):
        with pytest.raises(TrainError, match="other training data"):
            ClassifierRun(make_config(tmp_path), other).go_on()
    state["identity"]["data"] = len(samples.played)  # all that earlier versions recorded
    torch.save(state, path)
    assert ClassifierRun(make_config(tmp_path), samples).go_on()
