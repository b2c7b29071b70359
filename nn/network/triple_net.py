"""The dual network with an ownership head beside its own two, for training.

Who owns each point in the end says more about a position than a single result per game does, and the body that both
heads share learns life and death sooner (D. Wu, "Accelerating Self-Play Learning in Go", 2019, section 4.1). Model
files hold the dual network alone.

Letters: N positions, S board size, A = S*S + 1 policy entries.
"""

import torch
from torch import nn

from nn.network.dual_net import DualNet


class OwnershipHead(nn.Module):
    """Convolution 1x1 to one channel."""

    def __init__(self, channels: int) -> None:
        """Make a head on features of `channels` channels."""
        super().__init__()
        self.conv_layer = nn.Conv2d(channels, 1, kernel_size=1)

    def forward(self, input_plane: torch.Tensor) -> torch.Tensor:
        """Return the logits [N, S*S] of features [N, F, S, S]."""
        return self.conv_layer(input_plane).flatten(start_dim=1)


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
