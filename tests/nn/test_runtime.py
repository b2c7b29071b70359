"""What runs a network is what is fastest here, or what a user names."""
from __future__ import annotations

import sys
from enum import Enum
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from numba import config

from common import machine_facts
from nn.constant import PRECISION_VARIABLE
from nn.inference import runtime
from nn.inference.loading import load_evaluator
from nn.inference.runtime import RUNTIME_VARIABLE, Runtime, choose_runtime
from nn.model_file import ModelFileError, may_be_network
from nn.network.pooled_net import ACTIVATIONS, PooledConfig, PooledNet
from nn.network.weights import save_network

compiled = pytest.mark.skipif(bool(getattr(config, "DISABLE_JIT", 0)), reason="uncompiled kernels are never chosen")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Have nobody name a runtime, and nothing be known of the machine."""
    monkeypatch.delenv(RUNTIME_VARIABLE, raising=False)
    monkeypatch.delenv(PRECISION_VARIABLE, raising=False)
    monkeypatch.setattr(machine_facts, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(runtime, "version", lambda _: "1.0")
    return monkeypatch


def test_a_user_may_name_it(machine: pytest.MonkeyPatch) -> None:
    machine.setattr(runtime, "find_fastest", lambda: pytest.fail("nothing is to be measured"))
    machine.setattr(runtime, "has_openvino", lambda: True)
    for one in Runtime:
        machine.setenv(RUNTIME_VARIABLE, one.value)
        assert choose_runtime(use_gpu=True) is one
    machine.setenv(RUNTIME_VARIABLE, "tensorflow")
    with pytest.raises(ValueError, match="HIYOKO_RUNTIME=tensorflow: say kernels, openvino, torch"):
        choose_runtime(use_gpu=False)
    machine.setattr(runtime, "has_openvino", lambda: False)
    machine.setenv(RUNTIME_VARIABLE, "openvino")
    with pytest.raises(ValueError, match="it is not installed; pip install openvino, or say kernels"):
        choose_runtime(use_gpu=False)


def test_a_file_that_is_no_network_is_refused_without_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken.bin").write_bytes(b"not a model")
    monkeypatch.setitem(sys.modules, "nn.network.weights", None)
    monkeypatch.setitem(sys.modules, "nn.inference.evaluator", None)
    with pytest.raises(ModelFileError, match="broken.bin: it is damaged or no model file; "):
        load_evaluator(tmp_path / "broken.bin", 5)


@pytest.mark.parametrize("is_archive", [True, False])
def test_networks_of_all_versions_of_torch_may_be_ones(tmp_path: Path, is_archive: bool) -> None:
    torch.save({}, tmp_path / "a.bin", _use_new_zipfile_serialization=is_archive)
    assert may_be_network((tmp_path / "a.bin").read_bytes())


@compiled
@pytest.mark.parametrize(("features", "chosen"), [
    ({"avx2": True}, Runtime.KERNELS), ({"avx512bf16": True}, Runtime.TORCH), ({"amx-bf16": True}, Runtime.TORCH),
    ({"amx-bf16": False}, Runtime.KERNELS), ({}, Runtime.KERNELS),
])
def test_without_openvino(features: dict[str, bool], chosen: Runtime, machine: pytest.MonkeyPatch) -> None:
    machine.setattr(runtime, "has_openvino", lambda: False)
    machine.setattr(runtime, "binding", SimpleNamespace(get_host_cpu_features=lambda: features))
    assert choose_runtime(use_gpu=False) is chosen
    machine.setattr(runtime, "has_gpu_driver", lambda: True)
    machine.setattr(torch.cuda, "is_available", lambda: True)
    machine.setattr(torch.cuda, "device_count", lambda: 1)
    assert runtime.find_gpu() and choose_runtime(use_gpu=True) is Runtime.TORCH


@compiled
def test_it_is_measured_once_a_machine(machine: pytest.MonkeyPatch, tmp_path: Path) -> None:
    machine.setattr(runtime, "has_openvino", lambda: True)
    calls: list[int] = []

    def find() -> str:
        calls.append(1)
        return "kernels"

    machine.setattr(runtime, "find_fastest", find)
    assert [choose_runtime(use_gpu=False) for _ in range(3)] == [Runtime.KERNELS] * 3 and len(calls) == 1
    assert choose_runtime(False, 2 << 20) is Runtime.KERNELS and choose_runtime(False, 20 << 20) is Runtime.OPENVINO
    machine.setattr(runtime, "version", lambda _: "2.0")
    assert choose_runtime(use_gpu=False) is Runtime.KERNELS and len(calls) == 2, "another OpenVINO may be faster"
    for kept in tmp_path.iterdir():
        kept.write_text("")
    assert choose_runtime(use_gpu=False) is Runtime.KERNELS and len(calls) == 3, "an empty file tells nothing"
    machine.setattr(machine_facts, "source_key", lambda _: "of another version")
    assert choose_runtime(use_gpu=False) is Runtime.KERNELS and len(calls) == 4, "that was measured in another way"
    machine.setenv(PRECISION_VARIABLE, "float32")
    assert choose_runtime(use_gpu=False) is Runtime.OPENVINO, "who names a format of OpenVINO's wants that"


class Format(Enum):
    """Stands for OpenVINO's formats."""

    INTEGER = "int8"
    FULL = "float32"


@pytest.mark.parametrize(("format_gain", "kernel_gain", "compiles", "chosen"), [
    (2.6, 9.0, False, "openvino"), (1.6, 1.4, True, "kernels"), (1.6, 0.9, True, "openvino"),
])
def test_kernels_are_compiled_only_where_they_may_win(
    format_gain: float, kernel_gain: float, compiles: bool, chosen: str, machine: pytest.MonkeyPatch,
) -> None:
    tried: list[str] = []
    precision = SimpleNamespace(Format=Format, choose_formats=lambda _: [Format.INTEGER, Format.FULL],
                                make_way=lambda *_: None, measure=lambda *_: format_gain)
    machine.setitem(sys.modules, "openvino", SimpleNamespace(Core=lambda: None))
    machine.setitem(sys.modules, "nn.inference.openvino_precision", precision)
    machine.setattr(runtime, "make_kernel_way", lambda: tried.append("compiled"))
    machine.setattr(runtime, "measure_gain", lambda *_: kernel_gain)
    assert runtime.find_fastest() == chosen and bool(tried) == compiles


def test_the_tower_that_is_measured_calculates() -> None:
    answers, chances = runtime.make_kernel_way()()
    assert answers.shape == (8, 81) and np.isfinite(chances).all()
    assert np.isfinite(answers).all() and answers.std() > 0.0


def test_random_weights_are_the_same_on_kernels(machine: pytest.MonkeyPatch) -> None:
    planes, answers = np.random.default_rng(1).random((3, 6, 5, 5)).astype(np.float32), []
    for name in ("kernels", "torch"):
        machine.setenv(RUNTIME_VARIABLE, name)
        evaluator = load_evaluator("none", 5, threads=1)
        assert ("kernels" in evaluator.description) == (name == "kernels")
        answers.append(evaluator.evaluate_plainly(planes))
    for first, second in zip(*answers, strict=True):
        assert np.allclose(first, second, rtol=1e-2, atol=1e-2 * np.abs(second).max())


def test_a_wrong_name_is_one_line(tmp_path: Path, machine: pytest.MonkeyPatch) -> None:
    machine.setenv(RUNTIME_VARIABLE, "tensorflow")
    (tmp_path / "x.bin").write_bytes(b"anything")
    with pytest.raises(ModelFileError, match="HIYOKO_RUNTIME=tensorflow: say kernels, openvino, torch; or leave it"):
        load_evaluator(tmp_path / "x.bin", 9)


@pytest.mark.parametrize(("activation", "name"), [("relu", "kernels"), ("tanh", "float32")])
def test_what_kernels_do_not_know_another_runtime_runs(activation: str, name: str, tmp_path: Path,
                                                       machine: pytest.MonkeyPatch) -> None:
    machine.setitem(ACTIVATIONS, "tanh", torch.nn.Tanh)  # a new one, for which nobody has written a step
    save_network(PooledNet(PooledConfig(filters=16, blocks=1, activation=activation)), tmp_path / "x.bin")
    machine.setenv(RUNTIME_VARIABLE, "kernels")
    machine.setattr("nn.inference.loading.has_openvino", lambda: False)
    machine.setattr("nn.inference.evaluator.choose_half_dtype", lambda _: None)
    evaluator = load_evaluator(tmp_path / "x.bin", 5, threads=1)
    assert name in evaluator.description and ("kernels" in evaluator.description) == (activation == "relu")


@compiled
@pytest.mark.parametrize(("remembered", "name"), [(None, "kernels"), (Runtime.OPENVINO, "kernels")])
def test_a_broken_openvino_is_said_and_done_without(
    remembered: Runtime | None, name: str, tmp_path: Path, machine: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Also where it was the fastest one before it broke."""
    save_network(PooledNet(PooledConfig(filters=16, blocks=1)), tmp_path / "x.bin")
    machine.setattr(runtime, "has_openvino", lambda: True)
    machine.setattr(runtime, "binding", SimpleNamespace(get_host_cpu_features=dict, get_host_cpu_name=lambda: "a CPU"))
    for module in ("openvino", "nn.inference.openvino_cache"):
        machine.setitem(sys.modules, module, None)  # as an import of it fails
    if remembered:
        machine.setattr(runtime, "find_fastest", lambda: remembered.value)
    for _ in range(2):  # what was said once is no fact of the machine
        assert name in load_evaluator(tmp_path / "x.bin", 5, threads=1).description
        said = capsys.readouterr().err
        assert said.startswith("OpenVINO is installed, but does not work: ") and "; kernels instead" in said


def test_a_folder_that_is_left_of_openvino_is_none(machine: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> str:
        raise PackageNotFoundError(name)

    machine.setattr(runtime, "find_spec", lambda _: "a folder")
    assert runtime.has_openvino()
    machine.setattr(runtime, "version", fail)
    assert not runtime.has_openvino()


def test_a_format_that_there_is_not_is_refused(machine: pytest.MonkeyPatch) -> None:
    machine.setenv(PRECISION_VARIABLE, "int4")
    with pytest.raises(ValueError, match="HIYOKO_PRECISION=int4: say int8, bfloat16, float32"):
        choose_runtime(use_gpu=False)
