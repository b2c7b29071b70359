"""The value head: one logit each for loss, draw and win of the side to move."""

import torch
from torch import nn

VALUE_CHANNELS = 1
VALUE_CLASSES = 3


class ValueHead(nn.Module):
    """Convolution 1x1 to one channel, batch norm, one linear layer."""

    def __init__(self, board_size: int, channels: int) -> None:
        """Make a head for a board of `board_size` on features of `channels` channels."""
        super().__init__()
        self.conv_layer = nn.Conv2d(channels, VALUE_CHANNELS, kernel_size=1, bias=False)
        self.bn_layer = nn.BatchNorm2d(VALUE_CHANNELS)
        self.fc_layer = nn.Linear(VALUE_CHANNELS * board_size ** 2, VALUE_CLASSES)
        self.relu = nn.ReLU()

    def forward(self, input_plane: torch.Tensor) -> torch.Tensor:
        """Return the value logits [N, 3] of features [N, F, S, S]."""
        hidden = self.relu(self.bn_layer(self.conv_layer(input_plane)))
        return self.fc_layer(hidden.flatten(start_dim=1))
