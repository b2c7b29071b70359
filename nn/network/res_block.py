"""The residual block of the network's body."""

import torch
from torch import nn

BN_EPS = 2e-5
BN_MOMENTUM = 0.01


class ResidualBlock(nn.Module):
    """Two 3x3 convolutions with batch norm and a shortcut around them."""

    def __init__(self, num_filters: int) -> None:
        """Make a block of `num_filters` channels in and out."""
        super().__init__()
        self.conv1 = nn.Conv2d(num_filters, num_filters, kernel_size=3, padding=1, bias=False)
        self.conv2 = nn.Conv2d(num_filters, num_filters, kernel_size=3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(num_filters, eps=BN_EPS, momentum=BN_MOMENTUM)
        self.bn2 = nn.BatchNorm2d(num_filters, eps=BN_EPS, momentum=BN_MOMENTUM)
        self.relu = nn.ReLU()

    def forward(self, input_plane: torch.Tensor) -> torch.Tensor:
        """Return the features [N, F, S, S] after the block."""
        hidden = self.relu(self.bn1(self.conv1(input_plane)))
        return self.relu(input_plane + self.bn2(self.conv2(hidden)))
