"""The lecture's network says the same when it is folded and packed."""
from __future__ import annotations

import numpy as np
import pytest
import torch

from nn.inference import evaluator as inference
from nn.inference.evaluator import NetworkEvaluator
from nn.inference.folded_net import FoldedNet
from nn.network.dual_net import DualNet


def make_network(size: int, filters: int, blocks: int) -> DualNet:
    """Return a random network whose batch norms do something."""
    torch.manual_seed(size)
    network = DualNet(torch.device("cpu"), size, filters, blocks)
    with torch.no_grad():
        for name, tensor in network.state_dict().items():
            if "bn" in name and tensor.is_floating_point():
                tensor.uniform_(0.5, 1.5)
    return network.eval()


@pytest.mark.parametrize(("half", "tolerance"), [(None, 1e-3), (torch.bfloat16, 0.05)], ids=["float32", "bfloat16"])
@pytest.mark.parametrize(("size", "filters", "blocks"), [(3, 4, 1), (5, 8, 2), (7, 16, 1), (9, 64, 1), (13, 8, 2),
                                                         (19, 8, 2)])
def test_the_evaluator_agrees_with_the_network(
    size: int, filters: int, blocks: int, half: torch.dtype | None, tolerance: float, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(inference, "choose_half_dtype", lambda _: half)  # what this machine is good at does not matter
    network = make_network(size, filters, blocks)
    evaluator, plain = NetworkEvaluator(network.train()), FoldedNet(network)
    assert network.training, "it is left as it is"
    rng = np.random.default_rng(size)
    for count in (1, 2, 5, 19, 4):
        planes = rng.integers(-1, 2, (count, 6, size, size)).astype(np.float32)
        with torch.inference_mode():
            logits, values = plain(torch.from_numpy(planes))
        found = evaluator.evaluate_plainly(planes)
        assert np.allclose(found[0], logits.numpy(), rtol=tolerance, atol=tolerance * logits.abs().max().item())
        assert np.allclose(found[1], values.numpy(), atol=1e-4 if half is None else 0.02)
        assert all(array.flags.c_contiguous and array.dtype == np.float32 for array in found[:1])


def test_the_last_layer_of_a_bfloat16_network_does_not_round(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inference, "choose_half_dtype", lambda _: torch.bfloat16)
    logits = torch.from_numpy(NetworkEvaluator(make_network(9, 8, 1))(np.ones((4, 6, 9, 9), dtype=np.float32))[0])
    assert (logits != logits.bfloat16().float()).float().mean() > 0.9, "most of them need more than 8 bits"
