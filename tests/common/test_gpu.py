"""A GPU's driver is looked for without torch."""
from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import pytest

from common import gpu
from common.gpu import CUDA_DRIVER, has_gpu_driver


@pytest.mark.parametrize(("platform", "cuda", "amd", "found"), [
    ("linux", False, False, False), ("linux", True, False, True), ("linux", False, True, True),
    ("win32", False, False, True), ("darwin", False, False, True),
])
def test_only_a_linux_without_drivers_is_known_to_have_none(
    platform: str, cuda: bool, amd: bool, found: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    def load(name: str) -> None:
        assert name == CUDA_DRIVER
        if not cuda:
            raise OSError("cannot open shared object file")

    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(ctypes, "CDLL", load)
    monkeypatch.setattr(gpu, "AMD_DEVICE", tmp_path if amd else tmp_path / "none")
    assert has_gpu_driver() is found
