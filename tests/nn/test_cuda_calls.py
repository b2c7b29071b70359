"""Calls of a network on a GPU that has memory for few of them; stand-ins take the place of those that need one."""
from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from nn.evaluation import Answers
from nn.inference import cuda_call
from nn.inference.cuda_call import CudaCalls

DEVICE = torch.device("cuda", 0)


class SmallGpu:
    """Has memory for so many calls of each size; answers with the first plane's first point."""

    def __init__(self, room: dict[int, int]) -> None:
        self.room, self.tried, self.used, self.lock = Counter(room), list[int](), list[int](), threading.Lock()
        self.fails = False

    def make(self, *args: object, **_: object) -> StandIn:
        """Stand for CudaCall."""
        shape = args[3]
        assert isinstance(shape, tuple)
        with self.lock:
            self.tried.append(shape[0])
            if not self.room[shape[0]]:
                raise torch.OutOfMemoryError("CUDA out of memory.")
            self.room[shape[0]] -= 1
        return StandIn(self, shape)


class StandIn:
    """One call."""

    def __init__(self, gpu: SmallGpu, shape: tuple[int, ...]) -> None:
        self.planes, self._gpu, self._in_use = np.zeros(shape, dtype=np.float32), gpu, threading.Lock()

    def launch(self) -> None:
        assert self._in_use.acquire(blocking=False), "two threads have it at a time"
        self._gpu.used.append(len(self.planes))

    def wait(self, count: int) -> Answers:
        self._in_use.release()
        if self._gpu.fails:
            raise RuntimeError("CUDA error: unspecified launch failure")
        return self.planes[:count, 0, 0], self.planes[:count, 0, 0, 0]


def make_calls(room: dict[int, int], monkeypatch: pytest.MonkeyPatch) -> tuple[CudaCalls, SmallGpu]:
    gpu = SmallGpu(room)
    monkeypatch.setattr(cuda_call, "CudaCall", gpu.make)
    return CudaCalls(torch.nn.Identity(), torch.float32, DEVICE, (1, 2, 2)), gpu


def check(calls: CudaCalls, count: int) -> None:
    planes = np.arange(4 * count, dtype=np.float32).reshape(count, 1, 2, 2)
    rows, numbers = calls.evaluate(planes)
    assert np.array_equal(rows, planes[:, 0, 0]) and np.array_equal(numbers, planes[:, 0, 0, 0])


def test_a_search_goes_on_with_the_calls_that_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """A larger one takes what is left over; where there is none, smaller ones do, and nothing is tried twice."""
    calls, gpu = make_calls({1: 1, 4: 1, 32: 1}, monkeypatch)
    calls.prepare(1)
    for count in (1, 4, 30, 7, 64, 200, 3, 2, 7):
        check(calls, count)
    assert gpu.tried == [1, 4, 32, 8, 2], "what is larger than a size for which there was none is not tried"
    assert gpu.used == [1, 4, 32, 32, 32, 32, *[32] * 7, 4, 4, 32]


def test_what_there_is_is_shared_by_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, gpu = make_calls({1: 1, 8: 1}, monkeypatch)
    with ThreadPoolExecutor(4) as pool:
        for run in [pool.submit(check, calls, 1 + number % 20) for number in range(100)]:
            run.result(60)
    gpu.fails = True
    for _ in range(2):  # a call that failed is not kept from those who come next
        with pytest.raises(RuntimeError, match="unspecified"):
            check(calls, 8)


def test_where_there_is_no_memory_for_any_the_error_comes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, gpu = make_calls({}, monkeypatch)
    for _ in range(2):
        with pytest.raises(torch.OutOfMemoryError):
            check(calls, 20)
    assert gpu.tried[:6] == [32, 16, 8, 4, 2, 1]
