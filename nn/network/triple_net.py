"""The dual network with an ownership head beside its own two, for training.

Who owns each point in the end says more about a position than a single result per game does, and the body that both
heads share learns life and death sooner (D. Wu, "Accelerating Self-Play Learning in Go", 2019, section 4.1). Model
files hold the dual network alone.

Letters: N positions, S board size, A = S*S + 1 policy entries.
"""

import torch
from torch import nn

from nn.network.dual_net import DualNet
from nn.network.head.ownership_head import OwnershipHead


class TripleNet(nn.Module):
    """A dual network and the head that helps it to learn."""

    def __init__(self, network: DualNet) -> None:
        """Take a network as it is, and a head with random weights."""
        super().__init__()
        self.network = network
        self.ownership_head = OwnershipHead(network.conv_layer.out_channels)

    def forward(self, input_plane: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, None, torch.Tensor]:
        """Return the logits of policy [N, A], value [N, 3], no lead, and ownership logits [N, S*S]."""
        features = self.network.body(input_plane)
        policy, value = self.network.policy_head(features), self.network.value_head(features)
        return policy, value, None, self.ownership_head(features)
