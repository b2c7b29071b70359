"""The pooled network: a trunk of choice, and heads that pool instead of one weight a point, so that it plays any size.

Its heads tell policy, value, lead and ownership. The blocks are those that went through computer Go after AlphaZero:
plain residual ones, squeeze-and-excitation (J. Hu et al., CVPR 2018), global pooling (D. Wu, "Accelerating Self-Play
Learning in Go", 2019, section 3.3) and bottlenecks (K. He et al., CVPR 2016). Every convolution has its norm right
behind it, so that `fold` can put the two together for inference.

Letters: N positions, P planes, S board size, F filters, A = S*S + 1 policy entries.
"""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import torch
from torch import nn

from nn.model_file import ANY_SIZE
from nn.network.dual_net import BN_EPS
from nn.network.pooled_config import ACTIVATION_NAMES, BLOCK_NAMES, PooledConfig

# With the lecture's 0.01 the statistics of a young network are mostly those it was made with.
BN_MOMENTUM = 0.1
LEAD_UNIT = 20.0  # points of lead that the network's output 1 stands for
MIDDLE_SIZE = 14.0  # the board size at which the scaled mean of a pool is 0
SIZE_UNIT = 10.0

ACTIVATIONS: dict[str, type[nn.Module]] = dict(zip(ACTIVATION_NAMES, (nn.ReLU, nn.SiLU, nn.Mish), strict=True))


def pool(features: torch.Tensor) -> torch.Tensor:
    """Return the mean, the mean scaled by the board size and the maximum of each channel, [N, 3 F]."""
    mean = features.mean(dim=(2, 3))
    scale = (features.shape[-1] - MIDDLE_SIZE) / SIZE_UNIT
    return torch.cat((mean, mean * scale, features.amax(dim=(2, 3))), dim=1)


class Convolution(nn.Module):
    """A convolution and its norm; once folded, a convolution with a bias."""

    def __init__(self, channels: int, filters: int, size: int, norm: str) -> None:
        """Make a convolution of `size` x `size` points."""
        super().__init__()
        self.convolution = nn.Conv2d(channels, filters, size, padding=size // 2, bias=norm == "none")
        self.norm = nn.BatchNorm2d(filters, BN_EPS, BN_MOMENTUM) if norm == "batch" else nn.Identity()

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Return [N, F, S, S]."""
        return self.norm(self.convolution(features))

    def fold(self) -> None:
        """Put the norm into the convolution; only for evaluation."""
        if isinstance(self.norm, nn.BatchNorm2d):
            self.convolution = nn.utils.fusion.fuse_conv_bn_eval(self.convolution.eval(), self.norm.eval())
            self.norm = nn.Identity()


class PooledResidualBlock(nn.Module):
    """Two 3x3 convolutions and a shortcut around them."""

    def __init__(self, config: PooledConfig) -> None:
        """Make a block."""
        super().__init__()
        self.first = Convolution(config.filters, config.filters, 3, config.norm)
        self.second = Convolution(config.filters, config.filters, 3, config.norm)
        self.activation = ACTIVATIONS[config.activation]()

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Return [N, F, S, S]."""
        return self.activation(features + self.second(self.activation(self.first(features))))


class SqueezeExciteBlock(PooledResidualBlock):
    """A residual block whose result is scaled and shifted channel by channel, by what the whole board says."""

    def __init__(self, config: PooledConfig) -> None:
        """Make a block."""
        super().__init__(config)
        self.squeeze = nn.Linear(config.filters, config.filters // 4)
        self.excite = nn.Linear(config.filters // 4, 2 * config.filters)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Return [N, F, S, S]."""
        hidden = self.second(self.activation(self.first(features)))
        scale, shift = self.excite(torch.relu(self.squeeze(hidden.mean(dim=(2, 3))))).chunk(2, dim=1)
        hidden = hidden * torch.sigmoid(scale)[:, :, None, None] + shift[:, :, None, None]
        return self.activation(features + hidden)


class GlobalPoolingBlock(nn.Module):
    """A residual block in which a quarter of the channels tells the others what the whole board looks like."""

    def __init__(self, config: PooledConfig) -> None:
        """Make a block."""
        super().__init__()
        self.pooled = config.filters // 4
        rest = config.filters - self.pooled
        self.first = Convolution(config.filters, config.filters, 3, config.norm)
        self.spread = nn.Linear(3 * self.pooled, rest)
        self.second = Convolution(rest, config.filters, 3, config.norm)
        self.activation = ACTIVATIONS[config.activation]()

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Return [N, F, S, S]."""
        pooled, rest = self.first(features).split((self.pooled, self.spread.out_features), dim=1)
        board = self.spread(pool(self.activation(pooled)))
        hidden = self.activation(rest + board[:, :, None, None])
        return self.activation(features + self.second(hidden))


class BottleneckBlock(nn.Module):
    """Two 3x3 convolutions of half the channels between two 1x1 convolutions, and a shortcut around them."""

    def __init__(self, config: PooledConfig) -> None:
        """Make a block."""
        super().__init__()
        narrow = config.filters // 2
        self.layers = nn.ModuleList([
            Convolution(config.filters, narrow, 1, config.norm), Convolution(narrow, narrow, 3, config.norm),
            Convolution(narrow, narrow, 3, config.norm), Convolution(narrow, config.filters, 1, config.norm),
        ])
        self.activation = ACTIVATIONS[config.activation]()

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Return [N, F, S, S]."""
        hidden = features
        for layer in self.layers[:-1]:
            hidden = self.activation(layer(hidden))
        return self.activation(features + self.layers[-1](hidden))


BLOCKS: dict[str, Callable[[PooledConfig], nn.Module]] = dict(zip(
    BLOCK_NAMES, (PooledResidualBlock, SqueezeExciteBlock, GlobalPoolingBlock, BottleneckBlock), strict=True))


def make_block(config: PooledConfig, number: int) -> nn.Module:
    """Return block `number` of the trunk; of "gpool" networks every second one pools."""
    is_plain = config.block == "gpool" and number % 2 == 0
    return PooledResidualBlock(config) if is_plain else BLOCKS[config.block](config)


class PooledPolicyHead(nn.Module):
    """One logit a point from its own features and the pooled board, and one for the pass from the pooled board."""

    def __init__(self, config: PooledConfig) -> None:
        """Make a head of half the trunk's channels."""
        super().__init__()
        channels = config.filters // 2
        self.local = Convolution(config.filters, channels, 1, config.norm)
        self.board = Convolution(config.filters, channels, 1, config.norm)
        self.spread = nn.Linear(3 * channels, channels)
        self.point = nn.Conv2d(channels, 1, 1)
        self.to_pass = nn.Linear(3 * channels, 1)
        self.activation = ACTIVATIONS[config.activation]()

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Return logits [N, A]."""
        board = pool(self.activation(self.board(features)))
        hidden = self.activation(self.local(features) + self.spread(board)[:, :, None, None])
        return torch.cat((self.point(hidden).flatten(start_dim=1), self.to_pass(board)), dim=1)


class ScoreHead(nn.Module):
    """Value (loss, draw, win), lead and ownership from the same few channels."""

    def __init__(self, config: PooledConfig) -> None:
        """Make a head of half the trunk's channels."""
        super().__init__()
        channels = config.filters // 2
        self.reduce = Convolution(config.filters, channels, 1, config.norm)
        self.hidden = nn.Linear(3 * channels, 2 * channels)
        self.value = nn.Linear(2 * channels, 3)
        self.lead = nn.Linear(2 * channels, 1)
        self.ownership = nn.Conv2d(channels, 1, 1)
        self.activation = ACTIVATIONS[config.activation]()

    def forward(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return value logits [N, 3], lead in points [N] and ownership logits [N, S*S]."""
        channels = self.activation(self.reduce(features))
        hidden = self.activation(self.hidden(pool(channels)))
        lead = LEAD_UNIT * self.lead(hidden).float().squeeze(1)
        return self.value(hidden), lead, self.ownership(channels).flatten(start_dim=1)


class PooledNet(nn.Module):
    """Stem, blocks, policy head and score head; the same weights for every board size."""

    kind = "pooled"
    sizes = ANY_SIZE
    tells_lead = True

    def __init__(self, config: PooledConfig) -> None:
        """Make a network with random weights."""
        super().__init__()
        self.config = config
        self.stem = Convolution(config.planes, config.filters, 3, config.norm)
        self.activation = ACTIVATIONS[config.activation]()
        self.blocks = nn.Sequential(*[make_block(config, number) for number in range(config.blocks)])
        self.policy_head = PooledPolicyHead(config)
        self.score_head = ScoreHead(config)

    @property
    def features(self) -> str:
        """Name of its plane set."""
        return self.config.features

    @property
    def shape(self) -> dict[str, Any]:
        """What tells this network from others of its kind, by the names of the options that choose it."""
        chosen = {name: value for name, value in asdict(self.config).items() if name not in ("planes", "trained_on")}
        return chosen | {"head": "pooled"}

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return policy logits [N, A], value logits [N, 3], lead [N] and ownership logits [N, S*S], all the mover's."""
        features = self.trunk(planes)
        return self.policy_head(features), *self.score_head(features)

    def trunk(self, planes: torch.Tensor) -> torch.Tensor:
        """Return the features [N, F, S, S] that the heads read."""
        return self.blocks(self.activation(self.stem(planes)))

    def fold(self) -> None:
        """Put every norm into its convolution; only for evaluation."""
        for module in self.modules():
            if isinstance(module, Convolution):
                module.fold()
