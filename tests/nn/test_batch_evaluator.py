"""Evaluating one buffer while another is filled: the same answers, whichever is asked first."""
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from nn.inference import batch_evaluator
from nn.inference.batch_evaluator import ThreadedEvaluator, load_batch_evaluator
from nn.inference.board_evaluator import BoardEvaluator
from nn.inference.cuda_evaluator import CudaEvaluator
from nn.inference.loading import load_evaluator
from nn.inference.runtime import RUNTIME_VARIABLE
from nn.model_file import ModelFileError

SIZE, POSITIONS = 5, 24


def check(batches: ThreadedEvaluator | CudaEvaluator, single: BoardEvaluator, tolerance: float) -> None:
    """Both buffers are worked on at once, with counts that change, and a buffer is refilled after its answer."""
    rng = np.random.default_rng(0)
    assert len(batches.planes) == 2 and batches.planes[0].shape == (POSITIONS, 6, SIZE, SIZE)
    for counts in ((24, 24), (1, 17), (24, 3)):
        planes = [rng.integers(-1, 2, (count, 6, SIZE, SIZE)).astype(np.float32) for count in counts]
        for buffer in (0, 1):
            batches.planes[buffer][:counts[buffer]] = planes[buffer]
            batches.start(buffer, counts[buffer])
        for buffer in (1, 0):
            logits, values = batches.finish(buffer)
            expected = single(planes[buffer])
            assert logits.shape == (counts[buffer], SIZE * SIZE + 1) and values.shape == (counts[buffer], 3)
            assert logits.dtype == values.dtype == np.float32 and logits.flags.c_contiguous
            assert np.allclose(logits, expected[0], atol=tolerance) and np.allclose(values, expected[1], atol=tolerance)


def test_in_a_thread() -> None:
    single = load_evaluator("none", SIZE)
    check(ThreadedEvaluator(single, SIZE, POSITIONS), single, 1e-5)


def test_failures_come_out_where_the_answer_is_asked() -> None:
    def fail(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        raise MemoryError("too many")

    batches = ThreadedEvaluator(fail, SIZE, POSITIONS)
    batches.start(0, 1)
    with pytest.raises(MemoryError, match="too many"):
        batches.finish(0)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(RUNTIME_VARIABLE)
    batches, description = load_batch_evaluator("none", SIZE, True, 1, POSITIONS)
    assert isinstance(batches, CudaEvaluator) and "cuda" in description
    check(batches, load_evaluator("none", SIZE, use_gpu=True), 0.02)


@pytest.mark.parametrize(("runtime", "is_used"), [("", True), ("torch", True), ("kernels", False)])
def test_an_ensemble_tells_that_it_is_on_a_gpu(runtime: str, is_used: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Self-play takes the GPU from the workers after the first one that says it has none."""
    asked: list[bool] = []

    def load(_: str, board_size: int, use_gpu: bool, threads: int) -> BoardEvaluator:
        asked.append(use_gpu)
        return load_evaluator("none", board_size, threads=threads)

    monkeypatch.setenv(RUNTIME_VARIABLE, runtime)
    monkeypatch.setattr("nn.inference.runtime.has_gpu_driver", lambda: True)
    monkeypatch.setattr("nn.device.get_torch_device", lambda use_gpu: torch.device("cuda"))
    monkeypatch.setattr(batch_evaluator, "load_evaluator", load)
    monkeypatch.setattr(batch_evaluator, "GPU_POSITIONS", POSITIONS)
    monkeypatch.setattr(batch_evaluator, "CPU_POSITIONS", 1)
    batches, _ = load_batch_evaluator("one.bin,two.bin", SIZE, True, 1)
    assert asked == [is_used] and batches.on_gpu is is_used
    assert len(batches.planes[0]) == (POSITIONS if is_used else 1)


def test_a_single_network_runs_by_the_runtime_that_is_named_beside_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nn.inference.runtime.has_gpu_driver", lambda: True)
    monkeypatch.setattr("nn.device.get_torch_device", lambda use_gpu: torch.device("cuda"))
    monkeypatch.setenv(RUNTIME_VARIABLE, "kernels")
    batches, description = load_batch_evaluator("none", SIZE, True, 1, POSITIONS)
    assert not batches.on_gpu and "kernels" in description
    for model in ("none", "one.bin,two.bin"):
        monkeypatch.setenv(RUNTIME_VARIABLE, "tensorflow")
        with pytest.raises(ModelFileError, match="HIYOKO_RUNTIME=tensorflow: say .*; or leave it"):
            load_batch_evaluator(model, SIZE, True, 1, POSITIONS)


@pytest.mark.parametrize(("runtime", "device"), [("torch", "cpu"), ("kernels", "kernels")])
def test_loading(runtime: str, device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RUNTIME_VARIABLE, runtime)
    batches, description = load_batch_evaluator("none", SIZE, False, 2, POSITIONS)
    assert not batches.on_gpu and "for 5x5" in description and device in description
    remembering, _ = load_batch_evaluator("none", SIZE, False, 1, POSITIONS, memory=1 << 20)
    check(remembering, load_evaluator("none", SIZE), 1e-5)
    with pytest.raises(ModelFileError, match="no such file"):
        load_batch_evaluator(str(tmp_path / "x.bin"), SIZE, False, 1)


@pytest.mark.slow
def test_a_worker_of_self_play_needs_no_torch(root: Path) -> None:
    """Where a GPU is asked for, too, if no driver of one is installed and the network was converted before."""
    load_evaluator("none", SIZE)
    code = ("import sys; from nn.inference import runtime; runtime.has_gpu_driver = lambda: False; "
            "import selfplay.worker; from nn.inference.batch_evaluator import load_batch_evaluator; "
            f"print(load_batch_evaluator('none', {SIZE}, True, 1)[1], 'torch' in sys.modules)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root)
    assert "kernels" in done.stdout and done.stdout.split()[-1] == "False", done.stderr
    assert "No CUDA device" in done.stderr and done.stderr.count("\n") == 1
