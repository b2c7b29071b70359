"""KataGo's networks, versions 8 to 17 of their files: residual blocks, global pooling, nested bottlenecks.

Any board size runs through the same weights. For inference only: norms behind a convolution are folded into it, those
in front of a block remain as scale and shift. Rules are those of nn/katago_feature.py.

Letters: N positions, S board size, A = S*S + 1 policy entries, F features, K channels that are pooled.
"""

from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional

from nn.katago_feature import KATAGO_PLANES, PASSED
from nn.model_file import KATAGO_SIZES
from nn.network.katago_file import KataGoFile
from nn.network.pooled_net import MIDDLE_SIZE, SIZE_UNIT, pool

VERSIONS = range(8, 18)
# What the files say of their inputs, in all of these versions.
SPATIAL_INPUTS, VECTOR_INPUTS = 22, 19
# Where the constant planes of nn/katago_feature.py stand in KataGo's vector; entries 6 and 7 tell the ko rule.
VECTOR_INDEX = [0, 1, 2, 3, 4, 5, 14, 18]
KO_RULE = {6: 1.0, 7: 0.5}
# Points per unit of the lead where the file does not say.
LEAD_UNIT = 20.0
# What is taken off the squared size in the third mean of the value head.
SQUARE_SHIFT = 0.1
MAX_BLOCKS, MAX_NESTING = 500, 4

Activation = Callable[[torch.Tensor], torch.Tensor]
# Where exp(x) is so large that mish(x) is x.
MISH_IS_IDENTITY = 20.0


def identity(features: torch.Tensor) -> torch.Tensor:
    """Return what it is given."""
    return features


def mish(features: torch.Tensor) -> torch.Tensor:
    """Return x tanh(log(1 + e^x)) = x - x / (1 + e^x + e^2x / 2), on CPUs faster than torch's own."""
    if features.is_cuda or torch.jit.is_tracing():  # other runtimes have their own
        return functional.mish(features, inplace=True)
    x = features.float()
    power = x.clamp(max=MISH_IS_IDENTITY).exp_()
    power.addcmul_(power, power, value=0.5).add_(1.0)
    return torch.addcdiv(x, x, power, value=-1.0).to(features.dtype)


ACTIVATIONS: dict[str, Activation] = {
    "ACTIVATION_IDENTITY": identity, "ACTIVATION_RELU": functional.relu_, "ACTIVATION_MISH": mish,
    "ACTIVATION_SILU": functional.silu,
}


def read_activation(file: KataGoFile, version: int) -> Activation:
    """Return an activation, which may work in place; files before version 11 name none and mean ReLU."""
    file.word()
    kind = file.word() if version >= 11 else "ACTIVATION_RELU"
    if kind not in ACTIVATIONS:
        raise ValueError(f"activation {kind} is not known here")
    return ACTIVATIONS[kind]


def make_convolution(weight: torch.Tensor, bias: torch.Tensor | None = None) -> nn.Conv2d:
    """Return a convolution that keeps the board size, with weights [outputs, inputs, k, k]."""
    outputs, inputs, size, _ = weight.shape
    convolution = nn.Conv2d(inputs, outputs, size, padding=size // 2, bias=bias is not None)
    convolution.load_state_dict({"weight": weight} | ({} if bias is None else {"bias": bias}))
    return convolution


def make_linear(weight: torch.Tensor, bias: torch.Tensor | None = None) -> nn.Linear:
    """Return a matrix product with weights [outputs, inputs]."""
    linear = nn.Linear(weight.shape[1], weight.shape[0], bias=bias is not None)
    linear.load_state_dict({"weight": weight} | ({} if bias is None else {"bias": bias}))
    return linear


def scaled(weight: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """Return weights [outputs, ...] with each output multiplied by its scale."""
    return weight * scale.view(-1, *[1] * (weight.dim() - 1))


class NormActivation(nn.Module):
    """Scale, shift and activation in front of a convolution."""

    scale: torch.Tensor
    shift: torch.Tensor

    def __init__(self, file: KataGoFile, version: int, channels: int) -> None:
        """Read both."""
        super().__init__()
        scale, shift = file.norm(channels)
        self.register_buffer("scale", scale.view(1, -1, 1, 1))
        self.register_buffer("shift", shift.view(1, -1, 1, 1))
        self.activate = read_activation(file, version)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Return new features of the same shape."""
        return self.activate(torch.addcmul(self.shift, features, self.scale))


class PlainBlock(nn.Module):
    """Two convolutions beside the identity."""

    def __init__(self, file: KataGoFile, version: int, channels: int) -> None:
        """Read the block."""
        super().__init__()
        self.before = NormActivation(file, version, channels)
        weight = file.convolution(channels)
        scale, shift = file.norm(len(weight))
        self.activate = read_activation(file, version)
        self.first = make_convolution(scaled(weight, scale), shift)
        self.second = make_convolution(file.convolution(len(weight), channels))

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Return new features of the same shape."""
        return self.second(self.activate(self.first(self.before(features)))).add_(features)


class PoolingBlock(nn.Module):
    """As PlainBlock; some channels of the first convolution are pooled over the board and shift the others."""

    def __init__(self, file: KataGoFile, version: int, channels: int) -> None:
        """Read the block; both parts of the first convolution become one."""
        super().__init__()
        self.before = NormActivation(file, version, channels)
        plain, pooled = file.convolution(channels), file.convolution(channels)
        if plain.shape[2] != pooled.shape[2]:
            raise ValueError("a pooling block has convolutions of two sizes, which is not known here")
        pooled_scale, pooled_shift = file.norm(len(pooled))
        self.activate_pooled = read_activation(file, version)
        matrix = file.matrix(3 * len(pooled), len(plain))
        scale, shift = file.norm(len(plain))
        self.activate = read_activation(file, version)
        weight = torch.cat((scaled(plain, scale), scaled(pooled, pooled_scale)))
        self.first = make_convolution(weight, torch.cat((shift, pooled_shift)))
        self.pooled = make_linear(scaled(matrix, scale))
        self.second = make_convolution(file.convolution(len(plain), channels))

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Return new features of the same shape."""
        both = self.first(self.before(features))
        plain = both[:, :self.pooled.out_features]
        pooled = pool(self.activate_pooled(both[:, self.pooled.out_features:]).float())
        shift = self.pooled(pooled).to(features.dtype)
        return self.second(self.activate(plain + shift[:, :, None, None])).add_(features)


class NestedBottleneckBlock(nn.Module):
    """Blocks of fewer channels between two convolutions, beside the identity."""

    def __init__(self, file: KataGoFile, version: int, channels: int, nesting: int) -> None:
        """Read the block and those inside."""
        super().__init__()
        count = file.integer("the number of nested blocks", 1, MAX_BLOCKS)
        self.before = NormActivation(file, version, channels)
        weight = file.convolution(channels)
        self.narrow = make_convolution(weight)
        self.blocks = read_blocks(file, version, len(weight), count, nesting + 1)
        self.after = NormActivation(file, version, len(weight))
        self.widen = make_convolution(file.convolution(len(weight), channels))

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Return new features of the same shape."""
        return self.widen(self.after(self.blocks(self.narrow(self.before(features))))).add_(features)


def read_blocks(file: KataGoFile, version: int, channels: int, count: int, nesting: int = 0) -> nn.Sequential:
    """Return so many blocks in a row."""
    blocks: list[nn.Module] = []
    for _ in range(count):
        kind, _ = file.word(), file.word()
        if kind == "ordinary_block":
            blocks.append(PlainBlock(file, version, channels))
        elif kind == "gpool_block":
            blocks.append(PoolingBlock(file, version, channels))
        elif kind == "nested_bottleneck_block" and nesting < MAX_NESTING:
            blocks.append(NestedBottleneckBlock(file, version, channels, nesting))
        else:
            raise ValueError(f"blocks of the kind {kind!r} are not known here")
    return nn.Sequential(*blocks)


class Heads(nn.Module):
    """Policy, value, lead and ownership from the features of the last block; all but the first step in float32."""

    def __init__(self, file: KataGoFile, version: int, channels: int, lead_unit: float) -> None:
        """Read both heads; their first convolutions become one."""
        super().__init__()
        parts = [*self._read_policy(file, version, channels), self._read_value(file, version, channels)]
        if len({weight.shape[2] for weight, _ in parts}) > 1:
            raise ValueError("its heads begin with convolutions of several sizes, which is not known here")
        self.split = [len(weight) for weight, _ in parts]
        weights, biases = (torch.cat(tensors) for tensors in zip(*parts, strict=True))
        self.first = make_convolution(weights, biases)
        self.lead_unit = lead_unit

    def _read_policy(self, file: KataGoFile, version: int, channels: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Read the policy head; return weight and bias of its two first convolutions."""
        file.word()
        outputs = {**dict.fromkeys(range(12, 16), 2), 16: 4}.get(version, 1)
        if version >= 17:
            outputs = file.integer("the number of policies", 1, 16)
            file.zeros(3, "the policy head")
        plain, pooled = file.convolution(channels), file.convolution(channels)
        pooled_scale, pooled_shift = file.norm(len(pooled))
        self.activate_pooled = read_activation(file, version)
        matrix = file.matrix(3 * len(pooled), len(plain))
        scale, shift = file.norm(len(plain))
        self.activate_policy = read_activation(file, version)
        self.pooled = make_linear(scaled(matrix, scale))
        self.points = make_linear(file.mixture(len(plain), outputs)[:1])
        if version < 15:
            self.pass_move: nn.Module = make_linear(file.matrix(3 * len(pooled), outputs)[:1])
            self.activate_pass = ACTIVATIONS["ACTIVATION_IDENTITY"]
            self.pass_hidden: nn.Module = nn.Identity()
        else:
            hidden = file.matrix(3 * len(pooled))
            self.pass_hidden = make_linear(hidden, file.bias(len(hidden)))
            self.activate_pass = read_activation(file, version)
            self.pass_move = make_linear(file.matrix(len(hidden), outputs)[:1])
        return [(scaled(plain, scale), shift), (scaled(pooled, pooled_scale), pooled_shift)]

    def _read_value(self, file: KataGoFile, version: int, channels: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Read the value head; return weight and bias of its first convolution."""
        file.word()
        if version >= 17:
            file.zeros(3, "the value head")
        weight = file.convolution(channels)
        scale, shift = file.norm(len(weight))
        self.activate_value = read_activation(file, version)
        hidden = file.matrix(3 * len(weight))
        self.value_hidden = make_linear(hidden, file.bias(len(hidden)))
        self.activate_hidden = read_activation(file, version)
        self.value = make_linear(file.matrix(len(hidden), 3), file.bias(3))
        scores = 6 if version >= 9 else 4
        self.scores = make_linear(file.matrix(len(hidden), scores), file.bias(scores))
        self.ownership = make_linear(file.mixture(len(weight), 1))
        return scaled(weight, scale), shift

    def forward(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return what KataGoNet.forward does, from features [N, F, S, S]."""
        plain, pooled, value = self.first(features).float().split(self.split, dim=1)
        summary = pool(self.activate_pooled(pooled))
        plain = self.activate_policy(plain + self.pooled(summary)[:, :, None, None])
        points = self.points(plain.flatten(start_dim=2).transpose(1, 2)).squeeze(2)
        pass_move = self.pass_move(self.activate_pass(self.pass_hidden(summary)))
        value = self.activate_value(value)
        mean, offset = value.mean((2, 3)), (features.shape[2] - MIDDLE_SIZE) / SIZE_UNIT
        summary = torch.cat((mean, mean * offset, mean * (offset * offset - SQUARE_SHIFT)), dim=1)
        hidden = self.activate_hidden(self.value_hidden(summary))
        win, loss = torch.softmax(self.value(hidden)[:, :2], dim=1).unbind(1)
        lead = self.scores(hidden)[:, 2] * self.lead_unit
        ownership = torch.tanh(self.ownership(value.flatten(start_dim=2).transpose(1, 2)).squeeze(2))
        chances = torch.stack((loss, torch.zeros_like(win), win), dim=1)
        return torch.cat((points, pass_move), dim=1), chances, lead, ownership


class KataGoNet(nn.Module):
    """One of KataGo's networks, as its file describes it.

    Attributes:
        name: what the file calls it.
        filters, num_blocks: its shape, for people.
        features: name of its plane set.
        sizes: the board sizes that such networks are trained on.
    """

    features = "katago"
    sizes = KATAGO_SIZES
    tells_lead = True

    def __init__(self, content: bytes) -> None:
        """Read a file's bytes; raises ValueError with the reason where that cannot be done."""
        super().__init__()
        file = KataGoFile(content)
        self.name = file.word()
        version = file.integer("the version of the file", 0, 10 ** 6)
        if version not in VERSIONS:
            raise ValueError(f"its version is {version}, and those from {VERSIONS[0]} to {VERSIONS[-1]} are known here")
        if [file.integer("the number of inputs") for _ in range(2)] != [SPATIAL_INPUTS, VECTOR_INPUTS]:
            raise ValueError("it wants other inputs than KataGo's networks of its version")
        units = [file.positive("a unit of the outputs") for _ in range(7 if version >= 13 else 0)]
        if version >= 15:
            if file.integer("the kind of game data") != 0:
                raise ValueError("it imitates people and wants to know which, which is not known here")
            file.integer("the rule of pass-alive area", 0, 1)
            file.zeros(6, "the network")
        self._read_trunk(file, version)
        self.heads = Heads(file, version, self.filters, units[3] if units else LEAD_UNIT)

    def _read_trunk(self, file: KataGoFile, version: int) -> None:
        """Read all between inputs and heads."""
        file.word()
        self.num_blocks = file.integer("the number of blocks", 1, MAX_BLOCKS)
        self.filters = file.integer("the number of filters", 1)
        for _ in range(4):  # the same for the middle of the blocks, which they tell themselves
            file.integer("a number of filters")
        if version >= 15:
            file.zeros(6, "the norm of the trunk")
        self.stem = make_convolution(file.convolution(SPATIAL_INPUTS, self.filters))
        matrix = file.matrix(VECTOR_INPUTS, self.filters)
        constant = torch.stack([value * matrix[:, index] for index, value in KO_RULE.items()]).sum(dim=0)
        self.stem_vector = make_linear(matrix[:, VECTOR_INDEX], constant)
        self.tower = read_blocks(file, version, self.filters, self.num_blocks)
        self.tip = NormActivation(file, version, self.filters)

    @property
    def shape(self) -> dict[str, int]:
        """What tells this network from others, for people."""
        return {"filters": self.filters, "blocks": self.num_blocks}

    def to_precision(self, dtype: torch.dtype) -> "KataGoNet":
        """Calculate in `dtype` on the board; rounding the rest, what is pooled and the heads, would save no time."""
        for module in (self.stem, self.tower, self.tip, self.heads.first):
            module.to(dtype)
        for block in self.tower.modules():
            if isinstance(block, PoolingBlock):
                block.pooled.float()
        return self

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return what the side to move may expect, all float32.

        Args:
            planes: [N, 30, S, S] as of nn/katago_feature.py.

        Returns:
            Policy logits [N, A]; the probabilities [N, 3] to lose, draw (always 0: half a draw is half a win) and win;
            the lead in points [N]; ownership [N, S*S] from -1 to 1.
        """
        vector = self.stem_vector(planes[:, PASSED:KATAGO_PLANES, 0, 0].float()).to(planes.dtype)
        features = self.stem(planes[:, :SPATIAL_INPUTS]) + vector[:, :, None, None]
        return self.heads(self.tip(self.tower(features)))
