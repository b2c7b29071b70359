"""The lecture's network made fast: batch norms folded into convolutions, both heads as two matrix products.

Letters: N positions, S board size, F filters, A = S*S + 1 policy entries.
"""

from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional

from nn.inference.packed import PackedConvolution
from nn.network.dual_net import DualNet, ResidualBlock

# Inputs [N, C], weight [F, C] and bias [F] to outputs [N, F].
Product = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]


def fold_batch_norm(convolution: nn.Conv2d, norm: nn.BatchNorm2d) -> tuple[torch.Tensor, torch.Tensor]:
    """Return weight [F, C, k, k] and bias [F] of one convolution that equals a convolution and its batch norm.

    y = gamma * (w x - mean) / sqrt(var + eps) + beta, calculated in float64.
    """
    mean, variance = norm.running_mean, norm.running_var
    assert mean is not None and variance is not None, "batch norm without statistics"
    scale = norm.weight.double() / torch.sqrt(variance.double() + norm.eps)
    weight = convolution.weight.double() * scale[:, None, None, None]
    return weight.float(), (norm.bias.double() - mean.double() * scale).float()


class FoldedNet(nn.Module):
    """A DualNet for inference only: convolutions with biases, and both heads as two matrix products.

    Attributes:
        multiply: how the second of them is calculated.
    """

    mix_weight: torch.Tensor  # [3, F]: the 1x1 convolutions of both heads
    mix_bias: torch.Tensor
    final_weight: torch.Tensor  # [A + 3, S*S*3]: the linear layers of both heads
    final_bias: torch.Tensor

    def __init__(self, network: DualNet) -> None:
        """Fold a network; it is left as it is."""
        super().__init__()
        self.points = network.board_size ** 2
        pairs = [(network.conv_layer, network.bn_layer)]
        for block in network.blocks:
            assert isinstance(block, ResidualBlock)
            pairs += [(block.conv1, block.bn1), (block.conv2, block.bn2)]
        for number, (convolution, norm) in enumerate(pairs):
            weight, bias = fold_batch_norm(convolution, norm)
            self.register_buffer(f"weight{number}", weight)
            self.register_buffer(f"bias{number}", bias)
        self.num_blocks = len(network.blocks)
        self.multiply: Product = functional.linear
        self._packed: list[PackedConvolution] = []
        self._fold_heads(network)

    def _convolve(self, number: int, features: torch.Tensor) -> torch.Tensor:
        """Return convolution `number` of features [N, C, S, S]."""
        weight, bias = self.get_buffer(f"weight{number}"), self.get_buffer(f"bias{number}")
        return functional.conv2d(features, weight, bias, padding=1)

    def pack(self, board_size: int) -> None:
        """Make it faster on a CPU."""
        self._packed = [
            PackedConvolution(self.get_buffer(f"weight{number}"), self.get_buffer(f"bias{number}"), board_size)
            for number in range(2 * self.num_blocks + 1)
        ]

    def _run_tower(self, planes: torch.Tensor) -> torch.Tensor:
        """Return the features [N, F, S, S] that the heads read, of channels_last planes."""
        if self._packed:
            features = self._packed[0](planes, "relu")
            for first, second in zip(self._packed[1::2], self._packed[2::2], strict=True):
                features = second.add_to(features, first(features, "relu"))
            return features
        features = self._convolve(0, planes).relu_()
        for block in range(self.num_blocks):
            hidden = self._convolve(2 * block + 1, features).relu_()
            features = self._convolve(2 * block + 2, hidden).add_(features).relu_()
        return features

    def _fold_heads(self, network: DualNet) -> None:
        """Put the 1x1 convolutions of both heads into one matrix, and both linear layers into another.

        The features come out as [N, S*S, 3], so the columns of the linear layers are put into that order.
        """
        policy, value = network.policy_head, network.value_head
        mixers = [fold_batch_norm(head.conv_layer, head.bn_layer) for head in (policy, value)]
        self.register_buffer("mix_weight", torch.cat([weight.flatten(start_dim=1) for weight, _ in mixers]))
        self.register_buffer("mix_bias", torch.cat([bias for _, bias in mixers]))
        policy_columns = policy.fc_layer.weight.view(self.points + 1, -1, self.points)
        value_columns = value.fc_layer.weight.view(-1, 1, self.points)
        channels = policy_columns.shape[1]
        final = policy_columns.new_zeros(self.points + 1 + value_columns.shape[0], self.points, channels + 1)
        final[:self.points + 1, :, :channels] = policy_columns.transpose(1, 2)
        final[self.points + 1:, :, channels:] = value_columns.transpose(1, 2)
        self.register_buffer("final_weight", final.flatten(start_dim=1))
        self.register_buffer("final_bias", torch.cat((policy.fc_layer.bias, value.fc_layer.bias)))

    def to_precision(self, dtype: torch.dtype) -> "FoldedNet":
        """Calculate in `dtype`, but for the last layer: 8 bits of bfloat16 are too few for logits."""
        final = self.final_weight, self.final_bias
        self.to(dtype)
        self.final_weight, self.final_bias = final
        return self

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return policy logits [N, A] and value probabilities [N, 3], both float32, of channels_last planes."""
        features = self._run_tower(planes).permute(0, 2, 3, 1)
        rows = features.reshape(features.shape[0] * self.points, -1)
        mixed = functional.linear(rows, self.mix_weight, self.mix_bias).relu_()
        output = self.multiply(mixed.view(features.shape[0], -1).float(), self.final_weight, self.final_bias)
        return output[:, :self.points + 1], torch.softmax(output[:, self.points + 1:], dim=1)
