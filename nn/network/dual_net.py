"""The dual network: from six planes to a policy and a value.

Letters: N positions, S board size, F filters, A = S*S + 1 policy entries.
"""

from typing import Any

import torch
from torch import nn

from board.constant import BOARD_SIZE
from nn.constant import INPUT_PLANES

DEFAULT_FILTERS = 64
DEFAULT_BLOCKS = 6
BN_EPS = 2e-5
BN_MOMENTUM = 0.01
POLICY_CHANNELS = 2
VALUE_CHANNELS = 1
VALUE_CLASSES = 3


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


class DualNet(nn.Module):
    """Stem, residual blocks, policy head and value head.

    The value classes are loss, draw and win of the side to move, in this order.
    """

    features = "basic"
    tells_lead = False

    def __init__(
        self, device: torch.device, board_size: int = BOARD_SIZE,
        filters: int = DEFAULT_FILTERS, blocks: int = DEFAULT_BLOCKS,
    ) -> None:
        """Make a network with random weights; `device` is where the two inference methods send their input."""
        super().__init__()
        self.device = device
        self.board_size = board_size
        self.conv_layer = nn.Conv2d(INPUT_PLANES, filters, kernel_size=3, padding=1, bias=False)
        self.bn_layer = nn.BatchNorm2d(filters)
        self.relu = nn.ReLU()
        self.blocks = make_common_blocks(blocks, filters)
        self.policy_head = PolicyHead(board_size, filters)
        self.value_head = ValueHead(board_size, filters)
        self.softmax = nn.Softmax(dim=1)

    @property
    def sizes(self) -> range:
        """The board sizes it can play."""
        return range(self.board_size, self.board_size + 1)

    @property
    def shape(self) -> dict[str, Any]:
        """What tells this network from others of its kind, by the names of the options that choose it."""
        return {"features": self.features, "head": "lecture", "filters": self.conv_layer.out_channels,
                "blocks": len(self.blocks)}

    def forward(self, input_plane: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the policy logits [N, A] and the value logits [N, 3] of planes [N, 6, S, S]."""
        features = self.body(input_plane)
        return self.policy_head(features), self.value_head(features)

    def body(self, input_plane: torch.Tensor) -> torch.Tensor:
        """Return the features [N, F, S, S] that the heads read."""
        return self.blocks(self.relu(self.bn_layer(self.conv_layer(input_plane))))

    def forward_for_sl(self, input_plane: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the policy as probabilities and the value as logits."""
        policy, value = self.forward(input_plane)
        return self.softmax(policy), value

    def forward_with_softmax(self, input_plane: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the policy and the value as probabilities."""
        policy, value = self.forward(input_plane)
        return self.softmax(policy), self.softmax(value)

    def inference(self, input_plane: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the policy and the value as probabilities, moved to the device and back."""
        policy, value = self.forward_with_softmax(input_plane.to(self.device))
        return policy.cpu(), value.cpu()

    def inference_with_policy_logits(self, input_plane: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the policy as logits and the value as probabilities, moved to the device and back."""
        policy, value = self.forward(input_plane.to(self.device))
        return policy.cpu(), self.softmax(value).cpu()


def make_common_blocks(num_blocks: int, num_filters: int) -> nn.Sequential:
    """Return `num_blocks` residual blocks of `num_filters` channels in a row."""
    return nn.Sequential(*[ResidualBlock(num_filters) for _ in range(num_blocks)])
