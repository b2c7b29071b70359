"""tools/mix_weights.py: the mean of two networks, and what has none."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from click.testing import Result

from nn.inference.loading import load_evaluator
from nn.network.dual_net import DualNet
from nn.network.pooled_net import PooledConfig, PooledNet
from nn.network.weights import load_network, save_network
from tests.tools.in_process import ProgramRunner
from tools.mix_weights import main


def make_network(seed: int, filters: int = 4) -> PooledNet:
    """Return a small network with random weights and statistics."""
    torch.manual_seed(seed)
    network = PooledNet(PooledConfig(filters=filters, blocks=1))
    with torch.no_grad():
        for values in network.state_dict().values():
            if values.is_floating_point():
                values.copy_(torch.rand_like(values))
    return network


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with two networks of one shape, and three of others."""
    for name, network in (("a", make_network(1)), ("b", make_network(2)), ("wide", make_network(3, 8)),
                          ("lecture", DualNet(torch.device("cpu"), 9, 4, 1)),
                          ("larger", DualNet(torch.device("cpu"), 13, 4, 1))):
        save_network(network, tmp_path / f"{name}.bin")
    return tmp_path


def run(folder: Path, *arguments: str) -> Result:
    """Mix files of the folder into out.bin there."""
    names = [str(folder / argument) if argument.endswith(".bin") else argument for argument in arguments]
    return ProgramRunner().invoke(main, [*names, "--out", str(folder / "out.bin")])


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_every_weight_is_the_mean(share: float, folder: Path) -> None:
    result = run(folder, "a.bin", "b.bin", "--share", str(share))
    assert result.exit_code == 0, result.output
    first, second, mixed = (load_network(folder / f"{name}.bin").state_dict() for name in ("a", "b", "out"))
    for name, values in mixed.items():
        expected = (1 - share) * first[name].double() + share * second[name].double()
        np.testing.assert_allclose(values, expected, rtol=1e-6)
    assert load_evaluator(folder / "out.bin", 7).tells_lead


@pytest.mark.parametrize(("names", "reason"), [
    (("a.bin", "wide.bin"), "wide.bin has another shape than"), (("a.bin", "lecture.bin"), "has another shape than"),
    (("lecture.bin", "larger.bin"), "larger.bin has another shape than"), (("a.bin", "none.bin"), "none.bin"),
])
def test_what_has_no_mean_is_one_line(names: tuple[str, str], reason: str, folder: Path) -> None:
    result = run(folder, *names)
    assert result.exit_code == 2 and reason in result.stderr and len(result.stderr.splitlines()) == 1
    assert not (folder / "out.bin").exists()
