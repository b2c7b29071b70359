"""bfloat16 is chosen where it is faster, not wherever a processor knows it."""
from __future__ import annotations

from pathlib import Path

import pytest
import torch

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


@pytest.mark.parametrize(("gain", "hint"), [(0.6, "f32"), (1.05, "f32"), (2.0, "bf16")])
def test_openvino_measures_once_a_machine(gain: float, hint: str, tmp_path: Path,
                                          monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openvino", reason="OpenVINO is not installed (pip install '.[fast]')")
    from nn.inference import openvino_precision as precision
    calls: list[Core] = []

    def measure(core: Core) -> float:
        """Count the measurements."""
        calls.append(core)
        return gain

    monkeypatch.setattr(precision, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(precision, "measure_half", measure)
    assert [precision.choose_hint(Core("BF16")) for _ in range(2)] == [hint] * 2 and len(calls) == 1
    (kept,) = tmp_path.iterdir()
    assert kept.read_text() == hint
    kept.write_text("nonsense")
    assert precision.choose_hint(Core("BF16")) == hint and len(calls) == 2
    monkeypatch.setattr(precision, "cache_folder", lambda: None)
    assert precision.choose_hint(Core("BF16")) == hint and len(calls) == 3
    assert precision.choose_hint(Core()) == "f32" and len(calls) == 3
