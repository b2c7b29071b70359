"""3x3 convolutions with a third of the multiplications: Winograd's F(3x3, 3x3), for float32 on CPUs.

A tile of 3x3 outputs needs 5x5 products per pair of channels instead of 81: the input tile and the filter are
transformed (A. Lavin and S. Gray, "Fast Algorithms for Convolutional Neural Networks", 2015, with the points 0, 1, -1,
2 and infinity), multiplied, and transformed back. The transforms are kernels that only add, the products are 25 matrix
products.

Letters: N positions (n of them in use), S board size, T = ceil(S / 3) tiles in a row, H = 3 T + 2 rows and columns
with padding, C channels, L = N * C. Features are float32 [H, H, L]: point by point, with zeros around the board.
"""

import math

import numba
import numpy as np
import torch

from common.kernel import kernel

TILE, INPUT = 3, 5  # outputs of a tile, and the inputs they depend on

# Filter transform G: of three weights to the five factors of a tile.
FILTER_TRANSFORM = np.array([
    [1 / 2, 0, 0], [-1 / 2, -1 / 2, -1 / 2], [-1 / 6, 1 / 6, -1 / 6], [1 / 6, 1 / 3, 2 / 3], [0, 0, 1],
])

# Worth while only where few tiles stand over the edge of the board: products per point and pair of channels.
MAX_PRODUCTS = 0.6 * 9


@kernel
def transform_input(
    d0: np.ndarray, d1: np.ndarray, d2: np.ndarray, d3: np.ndarray, d4: np.ndarray,
    o0: np.ndarray, o1: np.ndarray, o2: np.ndarray, o3: np.ndarray, o4: np.ndarray,
) -> None:
    """Transform five inputs, each [L], to five factors. Modifies o0 to o4.

    One output at a time, so that the compiler can see that nothing overlaps and uses vector instructions.
    """
    for i in range(len(o0)):
        o0[i] = d0[i] + d0[i] - d1[i] - d2[i] - d2[i] + d3[i]
    for i in range(len(o1)):
        o1[i] = d3[i] - d2[i] - d1[i] - d1[i]
    for i in range(len(o2)):
        o2[i] = d1[i] + d1[i] - d2[i] - d2[i] - d2[i] + d3[i]
    for i in range(len(o3)):
        o3[i] = d3[i] - d1[i]
    for i in range(len(o4)):
        o4[i] = d1[i] + d1[i] - d2[i] - d3[i] - d3[i] + d4[i]


@kernel
def transform_output(
    m0: np.ndarray, m1: np.ndarray, m2: np.ndarray, m3: np.ndarray, m4: np.ndarray,
    o0: np.ndarray, o1: np.ndarray, o2: np.ndarray,
) -> None:
    """Transform five products, each [L], to three outputs. Modifies o0 to o2."""
    for i in range(len(o0)):
        o0[i] = m0[i] + m1[i] + m2[i] + m3[i]
    for i in range(len(o1)):
        o1[i] = m1[i] - m2[i] + m3[i] + m3[i]
    for i in range(len(o2)):
        twice = m3[i] + m3[i]
        o2[i] = m1[i] + m2[i] + twice + twice + m4[i]


@kernel
def scatter_tiles(features: np.ndarray, rows: np.ndarray, factors: np.ndarray) -> None:
    """Write the factors [25, T*T, L] of all tiles of features [H, H, L]. Modifies factors and rows [5, H, L]."""
    width = features.shape[0]
    tiles = (width - 2) // TILE
    for ty in range(tiles):
        y = TILE * ty
        for x in range(width):
            transform_input(features[y, x], features[y + 1, x], features[y + 2, x], features[y + 3, x],
                            features[y + 4, x], rows[0, x], rows[1, x], rows[2, x], rows[3, x], rows[4, x])
        for a in range(INPUT):
            row, first = rows[a], INPUT * a
            for tx in range(tiles):
                x, tile = TILE * tx, ty * tiles + tx
                transform_input(row[x], row[x + 1], row[x + 2], row[x + 3], row[x + 4], factors[first, tile],
                                factors[first + 1, tile], factors[first + 2, tile], factors[first + 3, tile],
                                factors[first + 4, tile])


@kernel
def activate(values: np.ndarray, bias: np.ndarray, residual: np.ndarray, add: bool) -> None:
    """Add bias [L], and residual [L] if `add`, and cut negative values off. Modifies values."""
    zero = np.float32(0.0)
    if add:
        for i in range(len(values)):
            value = values[i] + bias[i] + residual[i]
            values[i] = value if value > zero else zero
    else:
        for i in range(len(values)):
            value = values[i] + bias[i]
            values[i] = value if value > zero else zero


@kernel
def gather_tiles(products: np.ndarray, work: np.ndarray, bias: np.ndarray, residual: np.ndarray, add: bool,
                 board_size: int, out: np.ndarray) -> None:
    """Turn products [25, T*T, L] into the rectified features [H, H, L] of a layer. Modifies out and work [6, 3, L].

    `residual` [H, H, L] is added if `add`.
    """
    tiles = (out.shape[0] - 2) // TILE
    spare = work[INPUT]
    for tile in range(tiles * tiles):
        y, x = TILE * (tile // tiles) + 1, TILE * (tile % tiles) + 1
        for b in range(INPUT):
            transform_output(products[b, tile], products[5 + b, tile], products[10 + b, tile], products[15 + b, tile],
                             products[20 + b, tile], work[b, 0], work[b, 1], work[b, 2])
        for i in range(min(TILE, board_size + 1 - y)):
            inside = min(TILE, board_size + 1 - x)
            row = out[y + i]
            transform_output(work[0, i], work[1, i], work[2, i], work[3, i], work[4, i], row[x],
                             row[x + 1] if inside > 1 else spare[1], row[x + 2] if inside > 2 else spare[2])
            for j in range(inside):
                activate(row[x + j], bias, residual[y + i, x + j], add)


class Layer:
    """One convolution; `weight` [25, C, F] is transformed, `bias` [F] is not."""

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor) -> None:
        """Transform weights [F, C, 3, 3]."""
        factors = np.einsum("ak,fckl,bl->abcf", FILTER_TRANSFORM, weight.double().numpy(), FILTER_TRANSFORM)
        self.weight = torch.from_numpy(factors.reshape(INPUT * INPUT, *factors.shape[2:]).astype(np.float32))
        self.bias = bias.numpy()


class WinogradTower:
    """Stem and residual blocks of a network for batches of up to N positions; not for two threads at a time."""

    def __init__(self, layers: list[Layer], board_size: int, positions: int) -> None:
        """Take the stem and each block's two convolutions, and make work space."""
        self.board_size, self.positions = board_size, positions
        self._layers = layers
        self._biases = [np.tile(layer.bias, positions) for layer in layers]
        tiles = -(-board_size // TILE)
        width, self._filters = TILE * tiles + 2, layers[0].weight.shape[2]
        length = positions * self._filters
        planes = positions * layers[0].weight.shape[1]
        self.input = np.zeros((width, width, planes), dtype=np.float32)
        self._features = [np.zeros((width, width, length), dtype=np.float32) for _ in range(3)]
        self._work = np.zeros((INPUT + 1, TILE, length), dtype=np.float32)
        self._rows = {size: np.zeros((INPUT, width, size), dtype=np.float32) for size in (planes, length)}
        self._factors = {size: np.zeros((INPUT * INPUT, tiles * tiles, size), dtype=np.float32)
                         for size in (planes, length)}
        self._products = np.zeros((INPUT * INPUT, tiles * tiles, length), dtype=np.float32)
        self._matrices = torch.from_numpy(self._products).view(INPUT * INPUT, -1, self._filters)

    def _convolve(self, number: int, source: np.ndarray, target: np.ndarray, residual: np.ndarray | None) -> None:
        """Write the features after a layer to `target`."""
        layer, size = self._layers[number], source.shape[2]
        factors = self._factors[size]
        scatter_tiles(source, self._rows[size], factors)
        matrices = torch.from_numpy(factors).view(INPUT * INPUT, -1, layer.weight.shape[1])
        torch.bmm(matrices, layer.weight, out=self._matrices)
        gather_tiles(self._products, self._work, self._biases[number], target if residual is None else residual,
                     residual is not None, self.board_size, target)

    def __call__(self, planes: np.ndarray) -> torch.Tensor:
        """Return the features [n, S, S, C] of planes [n, 6, S, S]; valid until the next call."""
        size = self.board_size
        inside = self.input.reshape(*self.input.shape[:2], self.positions, -1)[1:size + 1, 1:size + 1]
        inside[:, :, :len(planes)] = planes.transpose(2, 3, 0, 1)
        now, hidden, after = self._features
        self._convolve(0, self.input, now, None)
        for number in range(1, len(self._layers), 2):
            self._convolve(number, now, hidden, None)
            self._convolve(number + 1, hidden, after, now)
            now, after = after, now
        features = torch.from_numpy(now).view(*now.shape[:2], self.positions, self._filters)
        return features[1:size + 1, 1:size + 1, :len(planes)].permute(2, 0, 1, 3)


def is_worth_while(board_size: int) -> bool:
    """Return whether tiles save enough on this board; never where kernels run uncompiled."""
    products = math.pow(INPUT * -(-board_size // TILE), 2) / board_size ** 2
    return products < MAX_PRODUCTS and not numba.config.DISABLE_JIT  # type: ignore[attr-defined]
