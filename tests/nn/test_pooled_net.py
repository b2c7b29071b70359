"""The pooled network: every shape learns, folds and is read again; one file plays every size."""
from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from board.geometry import make_symmetry_index
from nn.inference.evaluator import NetworkEvaluator
from nn.inference.packed import PackedConvolution, can_pack
from nn.inference.prepared_net import PreparedNet
from nn.model_file import ModelFileError
from nn.network.pooled_net import ACTIVATIONS, BLOCKS, PooledConfig, PooledNet
from nn.network.weights import load_network, save_atomically, save_network

SMALL = PooledConfig(filters=16, blocks=2)
SHAPES = [replace(SMALL, block=block) for block in BLOCKS]
SHAPES += [replace(SMALL, activation=activation) for activation in ACTIVATIONS] + [replace(SMALL, norm="none")]


def make_network(config: PooledConfig) -> PooledNet:
    """Return a network whose norms have seen something."""
    torch.manual_seed(1)
    network = PooledNet(config).train()
    for _ in range(3):
        network(torch.rand(8, config.planes, 5, 5))
    return network.eval()


@pytest.mark.parametrize("config", SHAPES, ids=str)
@torch.no_grad()
def test_every_shape_folds_to_the_same_answers_on_every_size(config: PooledConfig) -> None:
    network = make_network(config)
    prepared = PreparedNet(network)
    for size in (2, 5, 7):
        planes = torch.rand(3, config.planes, size, size)
        policy, value, lead, ownership = network(planes)
        assert (policy.shape, value.shape, lead.shape, ownership.shape) == (
            (3, size * size + 1), (3, 3), (3,), (3, size * size))
        answers = prepared(planes)
        expected = policy, torch.softmax(value, dim=1), lead, 2 * torch.sigmoid(ownership) - 1
        for found, wanted in zip(answers, expected, strict=True):
            assert torch.allclose(found, wanted, atol=2e-4)
    assert not any(isinstance(module, torch.nn.BatchNorm2d) for module in prepared.modules())


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 2e-4), (torch.bfloat16, 5e-2)], ids=str)
@pytest.mark.parametrize("config", SHAPES, ids=str)
@torch.no_grad()
def test_a_packed_network_gives_the_same_answers(config: PooledConfig, dtype: torch.dtype, tolerance: float) -> None:
    if not can_pack(dtype):
        pytest.skip("this torch has no oneDNN, or this CPU no bfloat16")
    network, size = make_network(config), 5
    plain = PreparedNet(network)
    packed = PreparedNet(network).to_precision(dtype)
    packed.pack(size)
    for count in (1, 3):
        planes = torch.rand(count, config.planes, size, size)
        given = planes.to(dtype).contiguous(memory_format=torch.channels_last)
        for found, wanted in zip(packed(given), plain(planes), strict=True):
            assert torch.allclose(found, wanted, atol=tolerance, rtol=tolerance) and found.dtype == torch.float32
    assert any(isinstance(module, PackedConvolution) for module in packed.modules())


@pytest.mark.parametrize("config", SHAPES, ids=str)
def test_every_weight_is_learnt(config: PooledConfig) -> None:
    network = make_network(config).train()
    sum(answer.square().mean() for answer in network(torch.rand(4, config.planes, 5, 5))).backward()
    still = [name for name, weight in network.named_parameters() if weight.grad is None or not weight.grad.any()]
    assert not still


def test_a_file_says_what_it_holds(tmp_path: Path) -> None:
    network = make_network(replace(SMALL, block="se", activation="mish"))
    save_network(network, tmp_path / "x.bin", {"command": "train.py"})
    read = load_network(tmp_path / "x.bin", 7)
    assert isinstance(read, PooledNet) and read.config == network.config
    planes = torch.rand(2, network.config.planes, 7, 7)
    with torch.no_grad():
        assert all(torch.equal(a, b) for a, b in zip(read(planes), network(planes), strict=True))


@pytest.mark.parametrize(("changes", "complaint"), [
    ({"kind": "puzzled"}, "unknown kind 'puzzled' .known: pooled"),
    ({"config": None}, "does not say the shape"),
    ({"config": {"block": "brick"}}, "unknown block 'brick'"),
    ({"config": {"features": "poor"}}, "unknown features 'poor'"),
    ({"config": {"filters": 10**9}}, "1000000000 filters, not 4 to"),
    ({"config": {"blocks": 3, "filters": 16}}, "has no tensor blocks.2"),
    ({"weights": {"x": 1}}, "no state_dict"),
    ({"weights": {}}, "no state_dict"),
])
def test_odd_files_are_refused_in_one_line(tmp_path: Path, changes: dict, complaint: str) -> None:
    network = make_network(SMALL)
    content = {"kind": "pooled", "config": {"filters": 16, "blocks": 2}, "about": {}, "weights": network.state_dict()}
    save_atomically({**content, **changes}, tmp_path / "x.bin")
    with pytest.raises(ModelFileError, match=complaint):
        load_network(tmp_path / "x.bin")


def test_eight_symmetries_see_a_turned_board_alike() -> None:
    size = 5
    evaluator = NetworkEvaluator(make_network(SMALL), 8, size)
    planes = np.random.default_rng(3).random((2, SMALL.planes, size, size), dtype=np.float32)
    policy, value, lead, ownership = evaluator(planes)
    for order in make_symmetry_index(size):
        turned = planes.reshape(2, SMALL.planes, -1)[:, :, order[:-1]].reshape(planes.shape)
        answers = evaluator(turned)
        expected = policy[:, order], value, lead, ownership[:, order[:-1]]
        for found, wanted in zip(answers, expected, strict=True):
            assert np.allclose(found, wanted, atol=2e-2 if evaluator.dtype != torch.float32 else 1e-4)
