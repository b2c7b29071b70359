"""The policy head: one logit per point, and one for the pass."""

import torch
from torch import nn

POLICY_CHANNELS = 2


class PolicyHead(nn.Module):
    """Convolution 1x1 to two channels, batch norm, one linear layer."""

    def __init__(self, board_size: int, channels: int) -> None:
        """Make a head for a board of `board_size` on features of `channels` channels."""
        super().__init__()
        points = board_size ** 2
        self.conv_layer = nn.Conv2d(channels, POLICY_CHANNELS, kernel_size=1, bias=False)
        self.bn_layer = nn.BatchNorm2d(POLICY_CHANNELS)
        self.fc_layer = nn.Linear(POLICY_CHANNELS * points, points + 1)
        self.relu = nn.ReLU()

    def forward(self, input_plane: torch.Tensor) -> torch.Tensor:
        """Return the policy logits [N, S*S+1] of features [N, F, S, S]."""
        hidden = self.relu(self.bn_layer(self.conv_layer(input_plane)))
        return self.fc_layer(hidden.flatten(start_dim=1))
