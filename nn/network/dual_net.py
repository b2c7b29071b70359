"""The dual network: from six planes to a policy and a value.

Letters: N positions, S board size, F filters, A = S*S + 1 policy entries.
"""

from typing import Any

import torch
from torch import nn

from board.constant import BOARD_SIZE
from nn.constant import INPUT_PLANES
from nn.network.head.policy_head import PolicyHead
from nn.network.head.value_head import ValueHead
from nn.network.res_block import ResidualBlock

DEFAULT_FILTERS = 64
DEFAULT_BLOCKS = 6


class DualNet(nn.Module):
    """Stem, residual blocks, policy head and value head.

    The value classes are loss, draw and win of the side to move, in this order.
    """

    features = "basic"

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
