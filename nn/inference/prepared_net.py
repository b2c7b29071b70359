"""A pooled network as it is run: norms folded, the trunk in half precision where that is fast, the heads in float32."""

import copy

import torch
from torch import nn

from nn.network.pooled_net import PooledNet


class PreparedNet(nn.Module):
    """A copy of a pooled network for inference only."""

    def __init__(self, network: PooledNet) -> None:
        """Copy and fold a network; it is left as it is."""
        super().__init__()
        self.body = copy.deepcopy(network).eval()
        self.body.fold()

    def to_precision(self, dtype: torch.dtype) -> "PreparedNet":
        """Run the trunk in `dtype`; rounding the heads would cost accuracy and save no time."""
        self.body.stem.to(dtype)
        self.body.blocks.to(dtype)
        return self

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Return policy logits [N, A], value probabilities [N, 3], lead [N] and ownership [N, S*S] of a batch.

        All are float32; ownership is from -1 (the opponent's) to 1 (the mover's).
        """
        features = self.body.trunk(planes).float()
        value, lead, ownership = self.body.score_head(features)
        return self.body.policy_head(features), torch.softmax(value, dim=1), lead, torch.tanh(ownership / 2.0)
