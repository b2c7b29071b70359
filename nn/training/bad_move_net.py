"""The classifier of bad moves while it learns: torch's twin of what nn/classifier.py calculates.

Letters: N positions, S board size, P = 16 planes (the marks and the board), F filters.
"""

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from nn.classifier import Classifier
from nn.point_marks import MARKS

KERNEL = 7


def to_array(tensor: torch.Tensor) -> np.ndarray:
    """Return weights as float32."""
    return np.ascontiguousarray(tensor.detach().cpu().numpy(), dtype=np.float32)


class BadMoveNet(nn.Module):
    """A first layer of 7x7, convolutions of 3x3, and the last layer."""

    def __init__(self, filters: int, layers: int) -> None:
        """Make a network with random weights."""
        super().__init__()
        self.first = nn.Conv2d(MARKS + 1, filters, KERNEL, padding=KERNEL // 2)
        self.hidden = nn.ModuleList(nn.Conv2d(filters, filters, 3, padding=1) for _ in range(layers))
        self.last = nn.Conv2d(filters, 1, 1, bias=False)

    def forward(self, planes: torch.Tensor) -> torch.Tensor:
        """Return the logits [N, S*S] of planes [N, P, S, S]."""
        features = functional.relu(self.first(planes))
        for layer in self.hidden:
            features = functional.relu(layer(features))
        return self.last(features).flatten(start_dim=1)

    def to_classifier(self) -> Classifier:
        """Return the weights as the kernels want them."""
        # A point that sees a mark at +d is a point to which the mark adds at -d.
        around = to_array(self.first.weight.flip(2, 3).permute(1, 2, 3, 0))
        filters, layers = len(around[0, 0, 0]), len(self.hidden)
        weights = [to_array(layer.weight) for layer in self.hidden]  # type: ignore[arg-type]
        hidden = [weight.reshape(filters, filters, 9) for weight in weights]
        bias = [to_array(layer.bias) for layer in self.hidden]  # type: ignore[arg-type]
        assert self.first.bias is not None
        return Classifier(
            around[:MARKS].reshape(MARKS, KERNEL, KERNEL * filters), around[MARKS], to_array(self.first.bias),
            np.stack(hidden) if layers else np.zeros((0, filters, filters, 9), dtype=np.float32),
            np.stack(bias) if layers else np.zeros((0, filters), dtype=np.float32),
            to_array(self.last.weight).reshape(filters),
        )

    @torch.no_grad()
    def begin_with(self, weights: Classifier) -> None:
        """Take the weights of a classifier that has as many layers and not more filters, and say what it says.

        Further filters see what random ones see, and nobody listens to them yet (T. Chen, I. Goodfellow and J. Shlens,
        "Net2Net", ICLR 2016, widen networks by copies). Raises ValueError for one that does not fit.
        """
        known, filters = len(weights.bias), len(self.last.weight[0])
        if weights.on_board.shape[0] != KERNEL or len(weights.hidden) != len(self.hidden) or known > filters:
            raise ValueError(f"it has {known} filters, {len(weights.hidden)} layers and a kernel of "
                             f"{len(weights.on_board)}")
        around = np.concatenate([weights.first.reshape(MARKS, KERNEL, KERNEL, known), weights.on_board[None]])
        self.first.weight[:known] = torch.from_numpy(around).permute(3, 0, 1, 2).flip(2, 3)
        assert self.first.bias is not None
        self.first.bias[:known] = torch.from_numpy(weights.bias)
        for layer, own, bias in zip(self.hidden, weights.hidden, weights.hidden_bias, strict=True):
            assert isinstance(layer, nn.Conv2d) and layer.bias is not None
            layer.weight[:known] = 0.0
            layer.weight[:known, :known] = torch.from_numpy(own).view(known, known, 3, 3)
            layer.bias[:known] = torch.from_numpy(bias)
        self.last.weight[0] = 0.0
        self.last.weight[0, :known] = torch.from_numpy(weights.last).view(known, 1, 1)


def make_planes(marks: torch.Tensor, size: int) -> torch.Tensor:
    """Return the planes [N, P, S, S] of marks [N, S*S]: one a mark, and one of the board."""
    bits = torch.arange(MARKS, device=marks.device, dtype=torch.int32)
    planes = (marks.unsqueeze(1) >> bits.view(1, -1, 1)) & 1
    planes = functional.pad(planes.float(), (0, 0, 0, 1), value=1.0)
    return planes.view(len(marks), MARKS + 1, size, size)
