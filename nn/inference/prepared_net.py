"""A pooled network as it is run: norms folded, the trunk in half precision where that is fast, the heads in float32."""

import copy

import torch
from torch import nn

from nn.inference.packed import PackedHeads, pack
from nn.network.pooled_net import PooledNet, PooledPolicyHead, ScoreHead


class PreparedHeads(nn.Module):
    """Both heads, with probabilities for logits of values and ownership."""

    def __init__(self, policy: PooledPolicyHead, score: ScoreHead) -> None:
        """Take two heads whose norms are folded."""
        super().__init__()
        self.policy, self.score = policy, score

    def forward(self, features: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Return what PreparedNet does, from features [N, F, S, S]."""
        features = features.float()
        value, lead, ownership = self.score(features)
        return self.policy(features), torch.softmax(value, dim=1), lead, torch.tanh(ownership / 2.0)


class PreparedNet(nn.Module):
    """A copy of a pooled network for inference only."""

    def __init__(self, network: PooledNet) -> None:
        """Copy and fold a network; it is left as it is."""
        super().__init__()
        body = copy.deepcopy(network).eval()
        body.fold()
        self.trunk = nn.Sequential(body.stem, body.activation, *body.blocks)
        self.heads: PreparedHeads | PackedHeads = PreparedHeads(body.policy_head, body.score_head)

    def to_precision(self, dtype: torch.dtype) -> "PreparedNet":
        """Run the trunk in `dtype`; rounding the heads would cost accuracy and save no time."""
        self.trunk.to(dtype)
        return self

    def pack(self, board_size: int) -> None:
        """Make it faster on a CPU, and from now on only for this board size."""
        dtype = next(self.trunk.parameters()).dtype
        pack(self.trunk, board_size)
        heads = self.heads
        if isinstance(heads, PreparedHeads) and isinstance(heads.policy.activation, nn.ReLU):
            self.heads = PackedHeads(heads.policy, heads.score, dtype, board_size)

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Return policy logits [N, A], value probabilities [N, 3], lead [N] and ownership [N, S*S] of a batch.

        All are float32; ownership is from -1 (the opponent's) to 1 (the mover's).
        """
        return self.heads(self.trunk(planes))
