"""A wider or deeper network begins by saying what the smaller one says, and goes on from there."""
from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from nn.network.growth import add_blocks, add_filters
from nn.network.pooled_net import PooledConfig, PooledNet
from nn.network.weights import save_network
from nn.training.run_config import TrainConfig, TrainError
from nn.training.start import continue_from, make_first_network
from tests.nn.test_pooled_net import SHAPES, SMALL, make_network


def learn(network: PooledNet, optimizer: torch.optim.Optimizer, planes: torch.Tensor, steps: int) -> None:
    """Make steps towards small answers."""
    for _ in range(steps):
        optimizer.zero_grad()
        sum(answer.square().mean() for answer in network(planes)).backward()  # type: ignore[union-attr]
        optimizer.step()


@pytest.mark.parametrize("config", SHAPES, ids=str)
@torch.no_grad()
def test_a_wider_network_says_the_same(config: PooledConfig) -> None:
    network = make_network(config)
    wide = add_filters(network, 28)
    assert wide.config == replace(network.config, filters=28)
    for mode in (network.train, network.eval):
        mode()
        wide.train(network.training)
        for size in (5, 7):
            planes = torch.rand(4, network.config.planes, size, size)
            for found, wanted in zip(wide(planes), network(planes), strict=True):
                assert torch.allclose(found, wanted, atol=1e-4)


def test_what_was_added_learns() -> None:
    """No part of the network stays as it was: added channels are read from the second step on, and learn then"""
    torch.manual_seed(3)
    wide = add_filters(make_network(SMALL), 24).train()
    before = {name: weight.clone() for name, weight in wide.named_parameters()}
    optimizer, planes = torch.optim.SGD(wide.parameters(), 0.01), torch.rand(16, SMALL.planes, 5, 5)
    learn(wide, optimizer, planes, 3)
    for name, weight in wide.named_parameters():
        moved = (weight != before[name]).float().mean().item()
        assert moved > 0.7, f"{name}: {moved}; hidden units may be silent for these few positions, the others may not"


def test_a_run_starts_from_a_narrower_network(tmp_path: Path) -> None:
    network = make_network(SMALL)
    save_network(network, tmp_path / "small.bin")
    config = TrainConfig(head="pooled", features="rich", block="gpool", filters=24, start=str(tmp_path / "small.bin"),
                         board_sizes=(5,))
    wide = make_first_network(config)
    assert isinstance(wide, PooledNet)
    assert wide.config.filters == 24
    with pytest.raises(TrainError, match="has other filters than the options say: say .*--filters 16"):
        make_first_network(replace(config, filters=8))


def test_a_network_becomes_neither_narrower_nor_flatter() -> None:
    with pytest.raises(ValueError, match="it has 16 filters, more than 8"):
        add_filters(make_network(SMALL), 8)
    with pytest.raises(ValueError, match="it has 2 blocks, more than 1"):
        add_blocks(make_network(SMALL), 1)


@pytest.mark.parametrize("config", [shape for shape in SHAPES if shape.activation == "relu"], ids=str)
@torch.no_grad()
def test_a_deeper_network_says_the_same(config: PooledConfig) -> None:
    network = make_network(config)
    deep = add_blocks(network, config.blocks + 2)
    assert deep.config == replace(network.config, blocks=config.blocks + 2)
    assert len(deep.blocks) == config.blocks + 2
    for mode in (network.train, network.eval):
        mode()
        deep.train(network.training)
        planes = torch.rand(4, network.config.planes, 7, 7)
        for found, wanted in zip(deep(planes), network(planes), strict=True):
            assert torch.allclose(found, wanted, atol=1e-4)


@pytest.mark.parametrize("config", [shape for shape in SHAPES if shape.activation == "relu"], ids=str)
def test_every_added_block_learns(config: PooledConfig) -> None:
    deep = add_blocks(make_network(replace(config, filters=32)), config.blocks + 2).train()
    before = {name: weight.clone() for name, weight in deep.named_parameters()}
    optimizer, planes = torch.optim.Adam(deep.parameters(), 0.001), torch.rand(16, config.planes, 5, 5)
    learn(deep, optimizer, planes, 6)
    for name, weight in deep.named_parameters():
        if name.startswith(tuple(f"blocks.{number}." for number in range(config.blocks, config.blocks + 2))):
            assert (weight != before[name]).any(), name


def test_a_run_starts_from_a_network_with_fewer_blocks(tmp_path: Path) -> None:
    """Those whose activation changes a block's result once more are refused in one line"""
    save_network(make_network(SMALL), tmp_path / "relu.bin")
    save_network(make_network(replace(SMALL, activation="mish")), tmp_path / "mish.bin")
    config = TrainConfig(head="pooled", features="rich", block="gpool", filters=24, blocks=5,
                         start=str(tmp_path / "relu.bin"), board_sizes=(5,))
    deep = make_first_network(config)
    assert isinstance(deep, PooledNet)
    assert (deep.config.filters, deep.config.blocks) == (24, 5)
    with pytest.raises(TrainError, match="mish.bin does not grow deeper: blocks are added to networks of --activation "
                                         "relu; it has mish; leave out --blocks"):
        make_first_network(replace(config, activation="mish", start=str(tmp_path / "mish.bin")))


def test_a_network_knows_all_board_sizes_that_it_has_learnt(tmp_path: Path) -> None:
    config = TrainConfig(head="pooled", features="rich", block="gpool", filters=8, blocks=2, board_sizes=(7, 9))
    new = make_first_network(config)
    assert isinstance(new, PooledNet) and new.config.trained_on == (7, 9)
    save_network(new, tmp_path / "x.bin")
    taught = make_first_network(replace(config, start=str(tmp_path / "x.bin"), board_sizes=(5, 9)))
    assert isinstance(taught, PooledNet) and taught.config.trained_on == (5, 7, 9)


def test_a_generation_begins_from_the_model_before_unless_it_is_to_begin_anew(tmp_path: Path) -> None:
    config = TrainConfig(output=tmp_path / "x.bin")
    assert continue_from(config, None) == config
    config.output.touch()
    assert continue_from(config, None).start == str(config.output)
    for other in (replace(config, start="other.bin"), replace(config, restart=True)):
        assert continue_from(other, None) == other
    state = {"identity": {"filters": 24, "blocks": 3}}
    resumed = continue_from(replace(config, start="other.bin", blocks=5), state)
    assert (resumed.start, resumed.filters, resumed.blocks) == ("", 24, 5)
