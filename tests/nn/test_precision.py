"""A number format is chosen where it is faster, not wherever a processor knows it."""
from __future__ import annotations

from enum import Enum
from pathlib import Path
from types import ModuleType

import pytest
import torch

from common import machine_facts
from nn import device


@pytest.mark.parametrize(("knows", "is_faster", "chosen"), [
    (False, True, None), (True, False, None), (True, True, torch.bfloat16),
])
def test_torch_takes_the_faster_format(knows: bool, is_faster: bool, chosen: torch.dtype | None,
                                       monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "has_native_bf16", lambda: knows)
    monkeypatch.setattr(device, "is_half_faster", lambda: is_faster)
    assert device.choose_half_dtype(torch.device("cpu")) == chosen


class Core:
    """Says what a processor can do."""

    def __init__(self, *capabilities: str) -> None:
        """Take the formats that it knows."""
        self._answers = {"OPTIMIZATION_CAPABILITIES": [*capabilities, "FP32"], "FULL_DEVICE_NAME": "a processor"}

    def get_property(self, _: str, name: str) -> object:
        """Return what it says of itself."""
        return self._answers[name]


@pytest.fixture
def precision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the module that chooses OpenVINO's format, with a folder of its own to remember; skip without OpenVINO."""
    pytest.importorskip("openvino", reason="OpenVINO is not installed (pip install '.[fast]')")
    from nn.inference import openvino_precision
    monkeypatch.setattr(machine_facts, "cache_folder", lambda: tmp_path)
    monkeypatch.delenv(openvino_precision.PRECISION_VARIABLE, raising=False)
    return openvino_precision


@pytest.mark.parametrize(("half", "integer", "chosen"), [
    (0.6, 1.2, ["float32"]), (1.05, 2.0, ["int8", "float32"]),
    (2.0, 1.2, ["bfloat16"]), (2.0, 1.9, ["int8", "bfloat16"]),
])
def test_openvino_measures_once_a_machine(half: float, integer: float, chosen: list[str], precision: ModuleType,
                                          tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[str, str]] = []

    def measure(_: Core, new: Enum, old: Enum) -> float:
        """Count the measurements."""
        calls.append((new.value, old.value))
        return integer if new.value == "int8" else half

    def choose(*capabilities: str) -> list[str]:
        return [one.value for one in precision.choose_formats(Core(*capabilities))]

    monkeypatch.setattr(precision, "measure", measure)
    assert [choose("BF16", "INT8") for _ in range(2)] == [chosen] * 2
    assert calls == [("bfloat16", "float32"), ("int8", "bfloat16" if half > 1.1 else "float32")]
    (kept,) = tmp_path.iterdir()
    assert kept.read_text().split() == chosen
    kept.write_text("nonsense")
    assert choose("BF16", "INT8") == chosen and len(calls) == 4
    monkeypatch.setattr(machine_facts, "cache_folder", lambda: None)
    assert choose("BF16", "INT8") == chosen and len(calls) == 6
    assert choose() == ["float32"] and len(calls) == 6


def test_a_format_that_fails_is_not_faster(precision: ModuleType) -> None:
    class Failing(Core):
        """Compiles nothing."""

        def compile_model(self, *_: object) -> None:
            """Fail as OpenVINO does."""
            raise RuntimeError("no such kernel")

    assert [one.value for one in precision.choose_formats(Failing("BF16", "INT8"))] == ["float32"]


def test_a_user_may_name_the_format(precision: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precision, "measure", lambda *_: pytest.fail("nothing is to be measured"))
    monkeypatch.setenv(precision.PRECISION_VARIABLE, "bfloat16")
    assert [one.value for one in precision.choose_formats(Core("INT8"))] == ["bfloat16"]
    monkeypatch.setenv(precision.PRECISION_VARIABLE, "int4")
    with pytest.raises(ValueError, match="HIYOKO_PRECISION=int4: say int8, bfloat16, float32"):
        precision.choose_formats(Core("INT8"))
    monkeypatch.setattr(precision, "measure", lambda _, new, old: 1.2)
    monkeypatch.setenv(precision.PRECISION_VARIABLE, "int8")
    assert [one.value for one in precision.choose_formats(Core("BF16", "INT8"))] == ["int8", "bfloat16"], \
        "what is not in integers is in the faster one of the others"


def test_the_tower_in_integers_has_them_in_every_convolution(precision: ModuleType) -> None:
    for with_integers in (False, True):
        names = [node.get_type_name() for node in precision.make_tower(with_integers).get_ordered_ops()]
        assert names.count("Convolution") == precision.TOWER_LAYERS
        assert names.count("FakeQuantize") == with_integers * 2 * precision.TOWER_LAYERS
