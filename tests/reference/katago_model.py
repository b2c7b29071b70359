"""Tiny networks in KataGo's file formats from random numbers, and what they say, computed layer by layer in numpy.

A network is a list of what stands in its file: words, and arrays of weights. `forward` walks along the same list, so
that it knows nothing of the program under test.
"""
from __future__ import annotations

import gzip
from dataclasses import dataclass, field
from typing import Any

import numpy as np

# Block kinds; a nested one is a list of these.
PLAIN, POOLING = "ordinary_block", "gpool_block"
FUNCTIONS = {
    "ACTIVATION_RELU": lambda x: np.maximum(x, 0),
    "ACTIVATION_MISH": lambda x: x * np.tanh(np.log1p(np.exp(x))),
    "ACTIVATION_SILU": lambda x: x / (1 + np.exp(-x)),
    "ACTIVATION_IDENTITY": lambda x: x,
}


@dataclass
class TinyNetwork:
    """What stands in a file, in its order."""

    version: int
    activation: str = "ACTIVATION_RELU"
    blocks: list[Any] = field(default_factory=lambda: [PLAIN, POOLING])
    filters: int = 5
    seed: int = 0
    kernel: int = 3
    policies: int | None = None
    items: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Draw the weights."""
        self.rng = np.random.default_rng(self.seed)
        if self.policies is None:
            self.policies = 1 if self.version < 12 else 4 if self.version == 16 else 2
        self.add("tiny", self.version, 22, 19)
        if self.version >= 13:
            self.add(20.0, 20.0, 20.0, 17.0, 40.0, 0.25, 150.0)
        if self.version >= 15:
            self.add(*[0] * 8)
        self.add("trunk", len(self.blocks), self.filters, 4, 4, 4, 4)
        if self.version >= 15:
            self.add(*[0] * 6)
        self.convolution(22, self.filters, self.kernel)
        self.matrix(19, self.filters)
        self.add_blocks(self.blocks, self.filters)
        self.norm(self.filters)
        self.act()
        self.add_heads()

    def add(self, *items: Any) -> None:
        """Append words or weights."""
        self.items += items

    def weights(self, *shape: int, scale: float = 1.0) -> None:
        """Append random weights, as exact in text as in binary."""
        self.add((self.rng.standard_normal(shape) * scale).astype(np.float32))

    def convolution(self, inputs: int, outputs: int, size: int = 3) -> None:
        """Append a convolution."""
        self.add("conv", size, size, inputs, outputs, 1, 1)
        self.weights(size, size, inputs, outputs, scale=(size * size * inputs) ** -0.5)

    def matrix(self, inputs: int, outputs: int) -> None:
        """Append a matrix product."""
        self.add("matmul", inputs, outputs)
        self.weights(inputs, outputs, scale=inputs ** -0.5)

    def bias(self, channels: int) -> None:
        """Append biases."""
        self.add("bias", channels)
        self.weights(channels)

    def norm(self, channels: int, has_scale: int = 1) -> None:
        """Append a batch norm."""
        self.add("norm", channels, 1e-3, has_scale, 1)
        self.weights(channels)
        self.add(self.rng.uniform(0.5, 1.5, channels).astype(np.float32))
        if has_scale:
            self.add(self.rng.uniform(0.5, 1.5, channels).astype(np.float32))
        self.weights(channels)

    def act(self) -> None:
        """Append an activation; old files know only one and do not name it."""
        self.add("act")
        if self.version >= 11:
            self.add(self.activation)

    def add_blocks(self, blocks: list[Any], channels: int) -> None:
        """Append blocks, those inside of others with fewer channels."""
        for block in blocks:
            if isinstance(block, list):
                self.add("nested_bottleneck_block", "block", len(block))
                self.norm(channels)
                self.act()
                self.convolution(channels, 4, 1)
                self.add_blocks(block, 4)
                self.norm(4)
                self.act()
                self.convolution(4, channels, 1)
                continue
            self.add(block, "block")
            self.norm(channels, has_scale=0)
            self.act()
            self.convolution(channels, 3)
            if block == POOLING:
                self.convolution(channels, 2)
                self.norm(2)
                self.act()
                self.matrix(6, 3)
            self.norm(3)
            self.act()
            self.convolution(3, channels)

    def add_heads(self) -> None:
        """Append policy and value head."""
        assert self.policies is not None
        self.add("policyhead", *([self.policies, 0, 0, 0] if self.version >= 17 else []))
        self.convolution(self.filters, 3, 1)
        self.convolution(self.filters, 2, 1)
        self.norm(2)
        self.act()
        self.matrix(6, 3)
        self.norm(3)
        self.act()
        self.convolution(3, self.policies, 1)
        if self.version >= 15:
            self.matrix(6, 3)
            self.bias(3)
            self.act()
            self.matrix(3, self.policies)
        else:
            self.matrix(6, self.policies)
        self.add("valuehead", *([0, 0, 0] if self.version >= 17 else []))
        self.convolution(self.filters, 3, 1)
        self.norm(3)
        self.act()
        self.matrix(9, 4)
        self.bias(4)
        self.act()
        self.matrix(4, 3)
        self.bias(3)
        self.matrix(4, 6 if self.version >= 9 else 4)
        self.bias(6 if self.version >= 9 else 4)
        self.convolution(3, 1, 1)

    def plain_bytes(self, binary: bool) -> bytes:
        """Return the file before it is packed."""
        parts = []
        for item in self.items:
            if not isinstance(item, np.ndarray):
                parts.append(str(item).encode() + b"\n")
            elif binary:
                parts.append(b"@BIN@" + item.astype("<f4").tobytes() + b"\n")
            else:
                rows = item.reshape(-1, item.shape[-1])
                parts += [" ".join(repr(float(number)) for number in row).encode() + b"\n" for row in rows]
        return b"".join(parts)

    def content(self, binary: bool) -> bytes:
        """Return the file."""
        return gzip.compress(self.plain_bytes(binary), 1)


def forward(network: TinyNetwork, planes: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return policy logits [N, A], value [N, 3] as loss, draw and win, lead [N] and ownership [N, S*S]."""
    return Walk(network).run(planes.astype(np.float64))


class Walk:
    """Goes along a network's items; every method consumes those of one layer."""

    def __init__(self, network: TinyNetwork) -> None:
        """Begin behind the head of the file."""
        self.network, self.items = network, iter(network.items)
        self.skip(network.items.index("trunk") + 7 + 6 * (network.version >= 15))
        self.lead_unit = 17.0 if network.version >= 13 else 20.0

    def skip(self, count: int) -> list[Any]:
        """Return so many items."""
        return [next(self.items) for _ in range(count)]

    def convolve(self, x: np.ndarray) -> np.ndarray:
        """Return the next convolution of x [N, C, S, S]."""
        *_, weight = self.skip(8)
        size, side = x.shape[2], len(weight)
        padded = np.pad(x, ((0, 0), (0, 0), (side // 2, side // 2), (side // 2, side // 2)))
        return sum(np.einsum("ncyx,co->noyx", padded[:, :, dy:dy + size, dx:dx + size], weight[dy, dx])
                   for dy in range(side) for dx in range(side))

    def multiply(self, x: np.ndarray) -> np.ndarray:
        """Return the next matrix product of x [N, C]."""
        return x @ self.skip(4)[-1]

    def add_bias(self, x: np.ndarray) -> np.ndarray:
        """Return x [N, C] with the next biases."""
        return x + self.skip(3)[-1]

    def normalize(self, x: np.ndarray) -> np.ndarray:
        """Return x [N, C, S, S] after the next norm and activation."""
        _, channels, epsilon, has_scale, _ = self.skip(5)
        mean, variance = self.skip(2)
        scale, shift = next(self.items) if has_scale else np.ones(channels), next(self.items)
        column = (slice(None), None, None)
        return self.activate((x - mean[column]) / np.sqrt(variance[column] + epsilon) * scale[column] + shift[column])

    def activate(self, x: np.ndarray) -> np.ndarray:
        """Return x after the next activation."""
        self.skip(1)
        kind = next(self.items) if self.network.version >= 11 else "ACTIVATION_RELU"
        return FUNCTIONS[kind](x)

    def blocks(self, blocks: list[Any], x: np.ndarray) -> np.ndarray:
        """Return x after the next blocks."""
        for block in blocks:
            self.skip(3 if isinstance(block, list) else 2)
            before = self.normalize(x)
            y = self.convolve(before)
            if isinstance(block, list):
                y = self.blocks(block, y)
            elif block == POOLING:
                y = y + self.multiply(pool(self.normalize(self.convolve(before))))[:, :, None, None]
            x = x + self.convolve(self.normalize(y))
        return x

    def run(self, planes: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return the outputs."""
        vector = np.zeros((len(planes), 19))
        vector[:, [0, 1, 2, 3, 4, 5, 14, 18]] = planes[:, 22:, 0, 0]
        vector[:, 6], vector[:, 7] = 1, 0.5  # positional superko
        x = self.convolve(planes[:, :22])
        x = x + self.multiply(vector)[:, :, None, None]
        x = self.normalize(self.blocks(self.network.blocks, x))
        return self.policy(x), *self.value(x)

    def policy(self, x: np.ndarray) -> np.ndarray:
        """Return the policy."""
        self.skip(5 if self.network.version >= 17 else 1)
        points = self.convolve(x)
        pooled = pool(self.normalize(self.convolve(x)))
        points = self.convolve(self.normalize(points + self.multiply(pooled)[:, :, None, None]))
        passes = self.multiply(pooled)
        if self.network.version >= 15:
            passes = self.multiply(self.activate(self.add_bias(passes)))
        return np.concatenate([points[:, 0].reshape(len(x), -1), passes[:, :1]], axis=1)

    def value(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return value, lead and ownership."""
        self.skip(4 if self.network.version >= 17 else 1)
        x = self.normalize(self.convolve(x))
        mean, far = x.mean((2, 3)), x.shape[2] - 14
        hidden = np.concatenate([mean, mean * far / 10, mean * (far * far / 100 - 0.1)], axis=1)
        hidden = self.activate(self.add_bias(self.multiply(hidden)))
        win, loss, _ = np.exp(self.add_bias(self.multiply(hidden))).T
        lead = self.add_bias(self.multiply(hidden))[:, 2] * self.lead_unit
        ownership = np.tanh(self.convolve(x)).reshape(len(x), -1)
        return np.stack([loss, 0 * win, win], axis=1) / (win + loss)[:, None], lead, ownership


def pool(x: np.ndarray) -> np.ndarray:
    """Return mean, scaled mean and maximum of x [N, C, S, S]."""
    mean = x.mean((2, 3))
    return np.concatenate([mean, mean * (x.shape[2] - 14) / 10, x.max((2, 3))], axis=1)
