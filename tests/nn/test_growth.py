"""A wider network begins by saying what the narrow one says, and goes on from there."""
from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from nn.network.growth import add_filters
from nn.network.pooled_net import PooledConfig, PooledNet
from nn.network.weights import save_network
from nn.training.run_config import TrainConfig, TrainError
from nn.training.start import make_first_network
from tests.nn.test_pooled_net import SHAPES, SMALL, make_network


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
    for _ in range(3):
        optimizer.zero_grad()
        sum(answer.square().mean() for answer in wide(planes)).backward()  # type: ignore[union-attr]
        optimizer.step()
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


def test_a_network_does_not_become_narrower() -> None:
    with pytest.raises(ValueError, match="it has 16 filters, more than 8"):
        add_filters(make_network(SMALL), 8)
