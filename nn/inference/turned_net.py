"""A network that turns positions by itself, as nn/inference/orientation.py does, where a CPU has more to do than a GPU.

Letters: N positions, P planes, S board size, A = S*S + 1 policy entries, H hashed entries, B bits of a key.
"""

import numpy as np
import torch
from torch import nn

from board.geometry import SYMMETRIES
from nn.inference.orientation import Turns

KEY_BITS = 63


class TurnedNet(nn.Module):
    """Turns each position to the way of its smallest key, asks a network, and turns what it says back."""

    bits: torch.Tensor  # float32 [H, 8 * B]: the bits that each entry brings into the keys
    shifts: torch.Tensor  # int64 [B]
    order: torch.Tensor  # int64 [8, A], and the other way round
    inverse: torch.Tensor

    def __init__(self, network: nn.Module, turns: Turns) -> None:
        """Take a network and the tables for its planes."""
        super().__init__()
        self.network = network
        images = turns.weight[:, turns.inverse[:, :-1]]  # [planes, 8, S*S]
        bits = images[..., np.newaxis] >> np.arange(KEY_BITS) & 1
        bits = bits.transpose(0, 2, 1, 3).reshape(turns.weight.size, SYMMETRIES * KEY_BITS)
        self.register_buffer("bits", torch.from_numpy(bits.astype(np.float32)))
        self.register_buffer("shifts", torch.arange(KEY_BITS))
        self.register_buffer("order", torch.from_numpy(turns.order))
        self.register_buffer("inverse", torch.from_numpy(turns.inverse))
        self._hashed = len(turns.weight)

    def _choose(self, planes: torch.Tensor) -> torch.Tensor:
        """Return the symmetry [N] that gives each position its smallest key: xor is a sum, of which one bit counts."""
        entries = (planes[:, :self._hashed] != 0).flatten(start_dim=1).float()
        parity = (entries @ self.bits).long() & 1
        return (parity.view(-1, SYMMETRIES, KEY_BITS) << self.shifts).sum(dim=2).argmin(dim=1)

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Return what the network says of channels_last planes [N, P, S, S]."""
        chosen, points = self._choose(planes), planes.flatten(start_dim=2)
        order = self.order[chosen][:, None, :-1].expand(points.shape)
        turned = points.gather(2, order).view(planes.shape).contiguous(memory_format=torch.channels_last)
        inverse = self.inverse[chosen]
        return tuple(
            answer if answer.dim() == 1 or answer.shape[1] < points.shape[2]
            else answer.gather(1, inverse[:, :answer.shape[1]]) for answer in self.network(turned))
