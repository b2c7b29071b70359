"""A network as steps of kernels says what torch says of it."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numba import config

from common.kernel import without_compiler
from nn.inference.evaluator import copy_for_inference
from nn.inference.steps import cache, kernels, networks
from nn.inference.steps.activation import MISH, SWISH, activate_rows
from nn.inference.steps.evaluator import KernelEvaluator
from nn.inference.steps.networks import make_steps
from nn.inference.steps.table import StepTable, StepTableError, lay_out
from nn.inference.steps.winograd import FACTORS, TILE, Matrix, pack_products, transform_filters
from nn.inference.steps.writer import UnknownPart, pad_groups
from nn.model_file import ModelFile
from nn.network.dual_net import DualNet
from nn.network.katago import KataGoNet
from nn.network.pooled_net import ACTIVATIONS, BLOCKS, PooledConfig, PooledNet
from nn.network.weights import Network, save_network
from nn.plane_sets import PLANE_SETS
from tests.reference.katago_model import PLAIN, POOLING, TinyNetwork, forward

pytestmark = pytest.mark.skipif(bool(getattr(config, "DISABLE_JIT", 0)), reason="kernels are never chosen uncompiled")

SMALL = PooledConfig(filters=20, blocks=2)
NOTHING = np.float32(np.nan)


def shake(network: Any, seed: int) -> Any:
    """Return a network in which no bias is 0 and each norm does something."""
    torch.manual_seed(seed)
    with torch.no_grad():
        for name, tensor in network.state_dict().items():
            if "running_var" in name:
                tensor.uniform_(0.5, 1.5)
            elif tensor.is_floating_point() and tensor.dim() == 1:
                tensor.normal_(0.3, 0.3)
    return network.eval()


def make_planes(features: str, size: int, count: int) -> np.ndarray:
    """Return planes with numbers of all kinds; the last of KataGo's are constant."""
    rng = np.random.default_rng(size)
    planes = rng.standard_normal((count, PLANE_SETS[features].planes, size, size)).astype(np.float32)
    planes *= rng.integers(0, 2, planes.shape)
    if features == "katago":
        planes[:, 22:] = rng.standard_normal((count, 8, 1, 1))
    return planes


def assert_same(network: Network, size: int, count: int) -> None:
    """Assert that steps and torch say the same of some positions."""
    planes = make_planes(network.features, size, count)
    with torch.inference_mode():
        expected = copy_for_inference(network)(torch.from_numpy(planes))
    found = KernelEvaluator(make_steps(network, size)).evaluate_plainly(planes)
    assert len(found) == len(expected)
    for answer, tensor in zip(found, expected, strict=True):
        assert answer.shape == tensor.shape and answer.dtype == np.float32 and answer.flags.c_contiguous
        assert np.allclose(answer, tensor.numpy(), rtol=1e-3, atol=1e-3 * max(1.0, tensor.abs().max().item()))


@pytest.mark.parametrize(("size", "filters", "blocks"), [(2, 4, 1), (3, 16, 1), (5, 8, 2), (9, 64, 2), (13, 24, 1),
                                                         (19, 8, 2)])
def test_the_lecture_s_network(size: int, filters: int, blocks: int) -> None:
    network = shake(DualNet(torch.device("cpu"), size, filters, blocks), size)
    for count in (1, 3, 8):
        assert_same(network, size, count)


@pytest.mark.parametrize("activation", sorted(ACTIVATIONS))
@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize(("size", "filters"), [(5, 20), (7, 32), (9, 96), (19, 16)])
def test_pooled_networks(block: str, activation: str, size: int, filters: int) -> None:
    network = shake(PooledNet(PooledConfig(filters=filters, blocks=2, block=block, activation=activation)), size)
    for count in (1, 7):
        assert_same(network, size, count)


@pytest.mark.parametrize(("version", "blocks", "kernel"), [
    (8, [PLAIN, POOLING], 3), (10, [POOLING, POOLING], 5), (14, [[PLAIN, PLAIN]], 5), (17, [PLAIN], 3),
    (15, [[PLAIN, POOLING], PLAIN, [[PLAIN], POOLING]], 5),
])
@pytest.mark.parametrize("size", [7, 10, 19])
def test_networks_of_katago(version: int, blocks: list, kernel: int, size: int) -> None:
    network = TinyNetwork(version, blocks=blocks, kernel=kernel, seed=size)
    planes = make_planes("katago", size, 3)
    found = KernelEvaluator(make_steps(KataGoNet(network.content(True)).eval(), size)).evaluate_plainly(planes)
    for answer, expected in zip(found, forward(network, planes), strict=True):
        assert np.allclose(answer, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("activation", ["ACTIVATION_MISH", "ACTIVATION_SILU", "ACTIVATION_IDENTITY"])
def test_activations_of_katago(activation: str) -> None:
    network = TinyNetwork(15, activation, blocks=[[PLAIN, POOLING], PLAIN])
    planes = make_planes("katago", 9, 3)
    found = KernelEvaluator(make_steps(KataGoNet(network.content(True)).eval(), 9)).evaluate_plainly(planes)
    for answer, expected in zip(found, forward(network, planes), strict=True):
        assert np.allclose(answer, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(("kind", "function"), [(SWISH, torch.nn.functional.silu), (MISH, torch.nn.functional.mish)])
def test_curves_far_from_0(kind: int, function: Any) -> None:
    numbers = np.array([-1e9, -200, -88, -40, -15, -1, -1e-5, 0, 1e-5, 1, 15, 40, 60, 88, 200, 1e9], dtype=np.float32)
    found = np.stack((numbers, numbers)).ravel()
    activate_rows(found, 1, Matrix(0, 32), 16, kind)
    expected = function(torch.from_numpy(numbers)).numpy()
    assert np.allclose(found[:16], expected, rtol=1e-6, atol=1e-5)
    assert np.array_equal(found[16:], numbers), "the next columns stay"


def test_what_has_no_step_is_said() -> None:
    network = PooledNet(SMALL)
    network.activation = torch.nn.Tanh()
    with pytest.raises(UnknownPart, match="Tanh"):
        make_steps(network.eval(), 9)
    network = PooledNet(SMALL)
    network.blocks[0] = torch.nn.Conv2d(20, 20, 3, padding=1)
    with pytest.raises(UnknownPart, match="Conv2d"):
        make_steps(network.eval(), 9)


def test_what_a_call_left_behind_changes_no_other() -> None:
    evaluator = KernelEvaluator(make_steps(shake(PooledNet(SMALL), 1), 9))
    planes = make_planes("rich", 9, 5)
    first = [answer.copy() for answer in evaluator.evaluate_plainly(planes)]
    alone = [np.concatenate(answers) for answers in
             zip(*(evaluator.evaluate_plainly(planes[n:n + 1]) for n in range(5)), strict=True)]
    for answer, one in zip(first, alone, strict=True):
        assert np.array_equal(answer, one), "a position is judged alike in any company"
    evaluator._memory[evaluator._matrices[1, kernels.START]:] = NOTHING  # all but the planes
    for answer, again in zip(first, evaluator.evaluate_plainly(planes), strict=True):
        assert np.array_equal(answer, again), "nothing is read that was not written"


@pytest.mark.parametrize(("block", "activation"), [("gpool", "relu"), ("se", "mish"), ("res", "swish")])
def test_compiled_steps_are_those_of_python(block: str, activation: str) -> None:
    network = PooledNet(PooledConfig(filters=16, blocks=2, block=block, activation=activation))
    table = make_steps(shake(network, 2), 4)
    planes, layout = make_planes("rich", 4, 1), lay_out(table, 1)
    answers = np.zeros((2, 1, table.find_ends()[-1]), dtype=np.float32)
    compiled: Any = kernels.run_steps
    for run, out in zip((compiled, compiled.py_func), answers, strict=True):
        memory = np.zeros(layout.size, dtype=np.float32)
        with without_compiler():
            run(table.steps, layout.matrices, table.numbers, planes, table.parts, memory, layout.work, out)
    assert np.allclose(answers[0], answers[1], rtol=1e-3, atol=1e-4)


def test_tiles_are_convolutions() -> None:
    """The transforms as matrices: five by five products, transformed back, are nine points of a convolution"""
    rng = np.random.default_rng(3)
    tile, weight = rng.standard_normal((5, 5)), rng.standard_normal((1, 1, 3, 3))
    inward = np.array([[2, -1, -2, 1, 0], [0, -2, -1, 1, 0], [0, 2, -3, 1, 0], [0, -1, 0, 1, 0], [0, 2, -1, -2, 1]])
    outward = np.array([[1, 1, 1, 1, 0], [0, 1, -1, 2, 0], [0, 1, 1, 4, 1]])
    factors = transform_filters(weight).reshape(5, 5)
    found = outward @ (factors * (inward @ tile @ inward.T)) @ outward.T
    expected = [[(tile[y:y + 3, x:x + 3] * weight[0, 0]).sum() for x in range(TILE)] for y in range(TILE)]
    assert np.allclose(found, expected)


def test_weights_lie_as_they_are_read() -> None:
    packed = pack_products(np.arange(FACTORS * 16 * 32.0).reshape(FACTORS, 16, 32))
    assert packed.shape == (FACTORS, 2, 16, 16) and packed.flags.c_contiguous
    assert packed[3, 1, 5, 7] == (3 * 16 + 5) * 32 + 16 + 7
    assert pad_groups(np.ones((2, 20)), 1, [17, 3]).sum(axis=0).tolist() == [2] * 17 + [0] * 15 + [2] * 3 + [0] * 13


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModelFile:
    """Return a small model file; what is kept of it comes into a folder of its own."""
    monkeypatch.setattr(cache, "cache_folder", lambda: tmp_path)
    save_network(shake(PooledNet(SMALL), 4), tmp_path / "x.bin")
    return ModelFile("x.bin", (tmp_path / "x.bin").read_bytes())


def test_a_table_is_made_once(model: ModelFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planes = make_planes("rich", 9, 2)
    first = cache.load_kernels(model, 9, 1, 1)
    (kept,) = tmp_path.glob("steps-*.npz")
    with monkeypatch.context() as patch:
        patch.setattr(networks, "make_steps", lambda *_: pytest.fail("it is there"))
        again = cache.load_kernels(model, 9, 1, 2)
    assert first is not None and again is not None
    assert again.calls_at_once == 2 and "float32, kernels" in again.description
    for answer, other in zip(first.evaluate_plainly(planes), again.evaluate_plainly(planes), strict=True):
        assert np.array_equal(answer, other)
    for damage in (b"", b"nonsense", kept.read_bytes()[:-200]):
        kept.write_bytes(damage)
        assert cache.load_kernels(model, 9, 1, 1) is not None
        assert StepTable.parse(kept.read_bytes()).facts.board_size == 9, "it was made again"
    monkeypatch.setattr(cache, "cache_folder", lambda: None)
    assert cache.load_kernels(model, 9, 1, 1) is not None


def test_a_network_without_steps_is_found_out_once(model: ModelFile, tmp_path: Path,
                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        calls.append(1)
        raise UnknownPart("something new")

    calls: list[int] = []
    monkeypatch.setattr(networks, "make_steps", refuse)
    assert cache.load_kernels(model, 9, 1, 1) is None
    assert cache.load_kernels(model, 9, 1, 1) is None
    assert len(calls) == 1


def test_few_tables_are_kept(model: ModelFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "KEPT_TABLES", 2)
    for size in (5, 6, 7):
        cache.load_kernels(model, size, 1, 1)
    assert len(list(tmp_path.glob("steps-*.npz"))) == 2


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"unknown"])
def test_files_that_are_no_tables(content: bytes) -> None:
    with pytest.raises(StepTableError, match="no table of steps"):
        StepTable.parse(content)
