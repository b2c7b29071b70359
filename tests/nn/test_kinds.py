"""A network of a new kind: a class with its config, and a line in the table."""
from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from nn.constant import PRECISION_VARIABLE
from nn.inference.loading import load_evaluator
from nn.model_file import ANY_SIZE
from nn.network import kinds
from nn.network.weights import load_network, save_network

SIZE = 3


@dataclass(frozen=True)
class LinearConfig:
    """The shape of a linear network."""

    filters: int


class LinearNet(nn.Module):
    """One convolution for the policy, means for all else; tells a lead if it is told to."""

    kind = "linear"
    features = "basic"
    sizes = ANY_SIZE
    tells_lead = False

    def __init__(self, config: LinearConfig) -> None:
        super().__init__()
        self.config = config
        self.layer = nn.Conv2d(6, config.filters, 1)

    @property
    def shape(self) -> dict[str, str | int]:
        return {"head": "linear", "features": self.features, "filters": self.config.filters, "blocks": 0}

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, ...]:
        features = self.layer(planes)
        board = features.mean(dim=(2, 3))
        outputs = torch.cat((features[:, 0].flatten(1), board[:, :1]), dim=1), board[:, :3]
        return (*outputs, board[:, 3], features[:, 1].flatten(1)) if self.tells_lead else outputs


@pytest.mark.parametrize("tells_lead", [False, True])
def test_a_new_kind_is_saved_loaded_and_played_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tells_lead: bool
) -> None:
    monkeypatch.setitem(kinds.KINDS, "linear", lambda config: LinearNet(LinearConfig(**config)))
    monkeypatch.setattr(LinearNet, "tells_lead", tells_lead)
    # Exact also where bfloat16 is fast, by torch or OpenVINO.
    monkeypatch.setattr("nn.inference.evaluator.choose_half_dtype", lambda _: None)
    monkeypatch.setenv(PRECISION_VARIABLE, "float32")
    network = LinearNet(LinearConfig(5))
    save_network(network, tmp_path / "linear.bin", {"taught by": "nobody"})
    assert isinstance(load_network(tmp_path / "linear.bin"), LinearNet)
    evaluator = load_evaluator(tmp_path / "linear.bin", SIZE)
    assert evaluator.tells_lead is tells_lead
    planes = np.random.default_rng(1).integers(0, 2, (2, 6, SIZE, SIZE)).astype(np.float32)
    policy, value, *others = evaluator.evaluate_plainly(planes)
    with torch.no_grad():
        expected = network(torch.from_numpy(planes))
    np.testing.assert_allclose(policy, expected[0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(value, torch.softmax(expected[1], dim=1), rtol=1e-4, atol=1e-5)
    assert len(others) == 2 * tells_lead
    if tells_lead:
        np.testing.assert_allclose(others[0], expected[2], rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(others[1], torch.tanh(expected[3] / 2), rtol=1e-4, atol=1e-5)
