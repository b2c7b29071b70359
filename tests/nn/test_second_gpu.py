"""What belongs to another GPU than the first one asks that one; stand-ins for torch.cuda tell which was asked."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from nn.device import choose_half_dtype
from nn.inference.cuda_call import CudaCall

FIRST, SECOND = torch.device("cuda", 0), torch.device("cuda", 1)


class Echo(torch.nn.Module):
    """Answers with the planes."""

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor]:
        return (planes,)


class Cuda:
    """The GPU that calls without a device mean, and which that was where torch uses it, or comes back to it."""

    def __init__(self) -> None:
        self.current, self.asked = FIRST, list[torch.device]()

    @contextmanager
    def device(self, device: torch.device) -> Iterator[None]:
        before, self.current = self.current, device
        yield
        self.current = before

    @contextmanager
    def use(self, *_: object, **__: object) -> Iterator[None]:
        """Stand for a graph, which begins by waiting for the current device, and for a stream, which comes back."""
        self.asked.append(self.current)
        yield


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> Cuda:
    cuda, nothing = Cuda(), lambda *_, **__: SimpleNamespace(
        wait_stream=lambda _: None, synchronize=lambda: None, record=lambda _: None, replay=lambda: None)
    for name, value in {"device": cuda.device, "graph": cuda.use, "stream": cuda.use,
                        "current_device": lambda: cuda.current.index, "is_available": lambda: True,
                        "Stream": nothing, "Event": nothing, "CUDAGraph": nothing, "current_stream": nothing}.items():
        monkeypatch.setattr(torch.cuda, name, value)
    return cuda


@pytest.mark.parametrize(("device", "chosen"), [(FIRST, torch.bfloat16), (SECOND, torch.float16)])
def test_each_gpu_has_the_format_that_it_knows(device: torch.device, chosen: torch.dtype, cuda: Cuda,
                                               monkeypatch: pytest.MonkeyPatch) -> None:
    """An Ampere beside a Turing, which only imitates bfloat16."""
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda number: SimpleNamespace(major=(8, 7)[number]))
    monkeypatch.setattr(torch.version, "hip", None)
    assert choose_half_dtype(device) == chosen and cuda.current == FIRST


def test_a_call_on_the_second_gpu_leaves_the_first_one_alone(cuda: Cuda, monkeypatch: pytest.MonkeyPatch) -> None:
    """To wait for a GPU is to begin to use it: that takes half a gigabyte there, and fails where it is full."""
    zeros = torch.zeros

    def on_cpu(*shape: Any, **how: Any) -> torch.Tensor:
        return zeros(*shape, dtype=how["dtype"])

    monkeypatch.setattr(torch, "zeros", on_cpu)
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda tensor: tensor)
    call = CudaCall(Echo(), torch.float32, SECOND, (2, 3, 4, 4), asleep=False)
    call.launch()
    assert call.wait(1)[0].shape == (1, 3, 4, 4)
    assert set(cuda.asked) == {SECOND} and cuda.current == FIRST
