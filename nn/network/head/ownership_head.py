"""The ownership head: one logit per point, positive where the side to move owns it in the end. For training only."""

import torch
from torch import nn


class OwnershipHead(nn.Module):
    """Convolution 1x1 to one channel."""

    def __init__(self, channels: int) -> None:
        """Make a head on features of `channels` channels."""
        super().__init__()
        self.conv_layer = nn.Conv2d(channels, 1, kernel_size=1)

    def forward(self, input_plane: torch.Tensor) -> torch.Tensor:
        """Return the logits [N, S*S] of features [N, F, S, S]."""
        return self.conv_layer(input_plane).flatten(start_dim=1)
