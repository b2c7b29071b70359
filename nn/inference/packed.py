"""Networks made fast on CPUs: what follows a convolution happens in the same call, weights lie as oneDNN wants them.

A convolution of one position takes 20 microseconds on a core with bfloat16, and the calls around it took four times
that. `pack` goes through a network that is prepared for inference and puts faster parts in the place of those it knows.

Letters: N positions, S board size, F filters, K of them pooled, A = S*S + 1 policy entries.
"""

import torch
from torch import nn

from nn.network.pooled_net import (
    LEAD_UNIT,
    MIDDLE_SIZE,
    SIZE_UNIT,
    GlobalPoolingBlock,
    PooledPolicyHead,
    PooledResidualBlock,
    ScoreHead,
)

# The layout of packed weights is chosen for so many positions a call; all numbers run.
TYPICAL_BATCH = 8
ONES = [1, 1]


def can_pack(dtype: torch.dtype) -> bool:
    """Tell whether this build of torch has the operators, and this CPU what they need for a number format."""
    if not (torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_convolution_pointwise_")):
        return False
    return dtype != torch.bfloat16 or torch.ops.mkldnn._is_mkldnn_bf16_supported()


class PackedConvolution(nn.Module):
    """A convolution of stride 1 that keeps the board size, with its bias and perhaps more in one call."""

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None, board_size: int) -> None:
        """Pack weights [F, C, k, k]; they stay in their number format."""
        super().__init__()
        self._padding = [weight.shape[2] // 2] * 2
        shape = [TYPICAL_BATCH, weight.shape[1], board_size, board_size]
        packed = torch.ops.mkldnn._reorder_convolution_weight(
            weight.detach().contiguous(memory_format=torch.channels_last), self._padding, ONES, ONES, 1, shape)
        self._packed, self._bias = packed, None if bias is None else bias.detach().to(weight.dtype)

    @classmethod
    def of(cls, convolution: nn.Conv2d, board_size: int) -> "PackedConvolution":
        """Return a module's twin."""
        return cls(convolution.weight, convolution.bias, board_size)

    def forward(self, features: torch.Tensor, then: str = "none") -> torch.Tensor:
        """Return the convolution [N, F, S, S] of channels_last features, "relu" upon it if `then` says so."""
        return torch.ops.mkldnn._convolution_pointwise.default(
            features, self._packed, self._bias, self._padding, ONES, ONES, 1, then, [], "")

    def add_to(self, residual: torch.Tensor, features: torch.Tensor) -> torch.Tensor:
        """Return relu(residual + convolution of features). Modifies residual, which it returns."""
        return torch.ops.mkldnn._convolution_pointwise_.binary(
            residual, features, self._packed, self._bias, self._padding, ONES, ONES, 1, "add", 1.0, "relu", [], "")


class PackedResidualBlock(nn.Module):
    """PooledResidualBlock with ReLU: two calls."""

    def __init__(self, block: PooledResidualBlock, board_size: int) -> None:
        """Pack a block whose norms are folded."""
        super().__init__()
        self.first = PackedConvolution.of(block.first.convolution, board_size)
        self.second = PackedConvolution.of(block.second.convolution, board_size)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Return [N, F, S, S]. Modifies features."""
        return self.second.add_to(features, self.first(features, "relu"))


def merge_means(weight: torch.Tensor, board_size: int) -> torch.Tensor:
    """Return weights [outputs, 2 K] of means and maxima, from [outputs, 3 K] with scaled means between them."""
    mean, scaled, highest = weight.detach().chunk(3, dim=1)
    return torch.cat((mean + (board_size - MIDDLE_SIZE) / SIZE_UNIT * scaled, highest), dim=1)


def pool_rows(rows: torch.Tensor) -> torch.Tensor:
    """Return means and maxima [N, 2 K] of rows [N, S*S, K]."""
    return torch.cat((rows.mean(dim=1), rows.amax(dim=1)), dim=1)


class PackedPoolingBlock(nn.Module):
    """GlobalPoolingBlock with ReLU. The channels that are pooled go on, too, to weights of 0: cutting costs more."""

    def __init__(self, block: GlobalPoolingBlock, board_size: int) -> None:
        """Pack a block whose norms are folded."""
        super().__init__()
        self._pooled = block.pooled
        self.first = PackedConvolution.of(block.first.convolution, board_size)
        weight, padding = block.second.convolution.weight, (0, 0, 0, 0, block.pooled, 0)
        self.second = PackedConvolution(nn.functional.pad(weight, padding), block.second.convolution.bias, board_size)
        spread = nn.functional.pad(merge_means(block.spread.weight, board_size), (0, 0, block.pooled, 0))
        self._spread = spread.t().to(weight.dtype)
        self._bias = nn.functional.pad(block.spread.bias.detach(), (block.pooled, 0)).to(weight.dtype)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Return [N, F, S, S]. Modifies features."""
        hidden = self.first(features)
        rows = hidden.permute(0, 2, 3, 1).flatten(1, 2)  # the same memory: the layout is channels_last
        board = torch.addmm(self._bias, pool_rows(torch.relu(rows[:, :, :self._pooled])), self._spread)
        rows.add_(board.unsqueeze(1)).relu_()
        return self.second.add_to(features, hidden)


def run_alone(convolution: nn.Conv2d, rows: torch.Tensor) -> torch.Tensor:
    """Return the only output [N, S*S] of a 1x1 convolution of rows [N, S*S, K]."""
    return nn.functional.linear(rows, convolution.weight.flatten(start_dim=1), convolution.bias).squeeze(2)


class PackedHeads(nn.Module):
    """Both heads with ReLU: what they do alike is done at once. Float32 behind the first product."""

    def __init__(self, policy: PooledPolicyHead, score: ScoreHead, dtype: torch.dtype, board_size: int) -> None:
        """Pack two heads whose norms are folded."""
        super().__init__()
        parts = [head.convolution for head in (policy.board, score.reduce, policy.local)]
        self._mix = torch.cat([part.weight.detach().flatten(start_dim=1) for part in parts]).t().to(dtype)
        self._mix_bias = torch.cat([part.bias.detach() for part in parts if part.bias is not None]).to(dtype)
        self._channels = parts[0].out_channels
        # From the pooled channels of policy.board and score.reduce to policy.spread, policy.to_pass and score.hidden.
        rows = [torch.cat((policy.spread.weight, policy.to_pass.weight)), score.hidden.weight]
        means, maxima = zip(*(merge_means(row, board_size).chunk(2, dim=1) for row in rows), strict=True)
        self._spread = torch.cat((torch.block_diag(*means), torch.block_diag(*maxima)), dim=1).t()
        self._spread_bias = torch.cat((policy.spread.bias, policy.to_pass.bias, score.hidden.bias)).detach()
        self._outputs = torch.cat((score.value.weight, LEAD_UNIT * score.lead.weight)).detach().t()
        self._outputs_bias = torch.cat((score.value.bias, LEAD_UNIT * score.lead.bias)).detach()
        self._point, self._ownership = policy.point, score.ownership

    def forward(self, features: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Return what PreparedNet does, from features [N, F, S, S]."""
        count, channels, points = len(features), self._channels, features.shape[2] * features.shape[3]
        rows = features.permute(0, 2, 3, 1).reshape(count * points, -1)
        mixed = torch.addmm(self._mix_bias, rows, self._mix).float().view(count, points, 3 * channels)
        pooled = torch.relu(mixed[:, :, :2 * channels])
        board = torch.addmm(self._spread_bias, pool_rows(pooled), self._spread)
        local = torch.relu(mixed[:, :, 2 * channels:] + board[:, :channels].unsqueeze(1))
        logits = [run_alone(self._point, local), board[:, channels:channels + 1]]
        outputs = torch.addmm(self._outputs_bias, torch.relu(board[:, channels + 1:]), self._outputs)
        ownership = run_alone(self._ownership, pooled[:, :, channels:])
        value, lead = torch.softmax(outputs[:, :3], dim=1), outputs[:, 3]
        return torch.cat(logits, dim=1), value, lead, torch.tanh(ownership / 2.0)


def pack(module: nn.Module, board_size: int) -> nn.Module:
    """Return what does the same faster, in the place of a module; the module is used up."""
    relu = isinstance(getattr(module, "activation", None), nn.ReLU)
    if type(module) is PooledResidualBlock and relu:
        return PackedResidualBlock(module, board_size)
    if isinstance(module, GlobalPoolingBlock) and relu:
        return PackedPoolingBlock(module, board_size)
    if isinstance(module, nn.Conv2d):
        return PackedConvolution.of(module, board_size)
    for name, child in module.named_children():
        setattr(module, name, pack(child, board_size))
    return module
