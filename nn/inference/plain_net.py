"""Any network that learns here, as it is run where no faster way is known."""

import copy

import torch
from torch import nn


class PlainNet(nn.Module):
    """A copy of a network for inference only: in float32 on every device, with chances for logits."""

    def __init__(self, network: nn.Module) -> None:
        """Copy a network; it is left as it is."""
        super().__init__()
        self.network = copy.deepcopy(network).float().eval()

    def to_precision(self, _: torch.dtype) -> "PlainNet":
        """Stay in float32, which no network minds."""
        return self

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Return policy logits [N, A] and value probabilities [N, 3]; lead [N] and ownership [N, S*S] if it tells them.

        Ownership is from -1 (the opponent's) to 1 (the mover's).
        """
        policy, value, *others = self.network(planes.float())
        if not others:
            return policy, torch.softmax(value, dim=1)
        lead, ownership = others
        return policy, torch.softmax(value, dim=1), lead, torch.tanh(ownership / 2.0)
