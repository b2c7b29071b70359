"""3x3 convolutions with a third of the multiplications: Winograd's F(3x3, 3x3), as kernels.

A tile of 3x3 outputs needs 5x5 products per pair of channels instead of 81: the input tile and the filter are
transformed, multiplied, and transformed back (A. Lavin and S. Gray, "Fast Algorithms for Convolutional Neural
Networks", 2015; with the points 0, 1, -1, 2 and infinity). The transforms only add, the products are 25 matrix
products, of which each keeps its sums in registers (common/lanes.py).

A matrix lies in one array of numbers, row by row, and is told by where it starts and how many columns its rows have.
Columns come in sixteens, rows are calculated in threes: what stands behind the last row is overwritten.

Letters: S board size, T = ceil(S / 3) tiles in a row, C channels, F filters, R rows (tiles, points or boards).
"""

from typing import NamedTuple

import numpy as np

from common.kernel import kernel
from common.lanes import LANES, add_lanes, fuse_lanes, greater_lanes, load_lanes, spread_lanes, store_lanes

TILE, INPUT = 3, 5  # outputs of a tile, and the inputs they depend on
FACTORS = INPUT * INPUT
ROWS = 3  # that are calculated together, or twice as many
SPARE = FACTORS * LANES  # numbers that a tile needs on the way

# Filter transform G: of three weights to the five factors of a tile.
FILTER_TRANSFORM = np.array([
    [1 / 2, 0, 0], [-1 / 2, -1 / 2, -1 / 2], [-1 / 6, 1 / 6, -1 / 6], [1 / 6, 1 / 3, 2 / 3], [0, 0, 1],
])

Five = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # sixteen numbers each


class Matrix(NamedTuple):
    """Where a matrix lies in the numbers."""

    start: int
    columns: int


class Ending(NamedTuple):
    """What sums become."""

    numbers: np.ndarray  # float32
    bias: int  # where in them the biases stand
    adds: bool  # whether something is added that stands in the memory,
    distance: int  # so far behind the place of each sum
    rectify: bool  # whether what is below 0 becomes 0


def transform_filters(weight: np.ndarray) -> np.ndarray:
    """Return weights [F, C, 3, 3] as factors [25, C, F], float64."""
    factors = np.einsum("ak,fckl,bl->abcf", FILTER_TRANSFORM, weight.astype(np.float64), FILTER_TRANSFORM)
    return factors.reshape(FACTORS, *factors.shape[2:])


def pack_products(weight: np.ndarray) -> np.ndarray:
    """Return weights [K, C, F] in the order in which multiply_rows reads them: [K, F / 16, C, 16], float32."""
    count, channels, filters = weight.shape
    by_sixteen = weight.reshape(count, channels, filters // LANES, LANES)
    return np.ascontiguousarray(by_sixteen.transpose(0, 2, 1, 3), np.float32)


@kernel
def count_rows(rows: int) -> int:
    """Return how many rows are calculated where so many are wanted."""
    return (rows + ROWS - 1) // ROWS * ROWS


@kernel
def count_tiles(size: int) -> int:
    """Return how many tiles cover a row of a board."""
    return (size + TILE - 1) // TILE


@kernel
def load_five(numbers: np.ndarray, start: int, step: int) -> Five:
    """Return sixteen numbers from `start` on, and from four more places `step` apart."""
    return (load_lanes(numbers, start), load_lanes(numbers, start + step), load_lanes(numbers, start + 2 * step),
            load_lanes(numbers, start + 3 * step), load_lanes(numbers, start + 4 * step))


@kernel
def transform_input(inputs: Five, memory: np.ndarray, start: int, step: int) -> None:
    """Put the five factors of five inputs into memory, `step` apart. Modifies memory."""
    d0, d1, d2, d3, d4 = inputs
    a, b = add_lanes(d3, d1, -1.0), add_lanes(d3, d2, -1.0)
    store_lanes(memory, start, add_lanes(a, add_lanes(d0, d2, -1.0), 2.0))  # 2 d0 - d1 - 2 d2 + d3
    store_lanes(memory, start + step, add_lanes(b, d1, -2.0))  # -2 d1 - d2 + d3
    store_lanes(memory, start + 2 * step, add_lanes(b, add_lanes(d1, d2, -1.0), 2.0))  # 2 d1 - 3 d2 + d3
    store_lanes(memory, start + 3 * step, a)  # d3 - d1
    store_lanes(memory, start + 4 * step, add_lanes(add_lanes(d4, d2, -1.0), a, -2.0))  # 2 d1 - d2 - 2 d3 + d4


@kernel
def transform_output(products: Five, memory: np.ndarray, start: int, step: int) -> None:
    """Put the three outputs of five products into memory, `step` apart. Modifies memory."""
    m0, m1, m2, m3, m4 = products
    a = add_lanes(m1, m2, 1.0)
    store_lanes(memory, start, add_lanes(add_lanes(m0, m3, 1.0), a, 1.0))  # m0 + m1 + m2 + m3
    store_lanes(memory, start + step, add_lanes(add_lanes(m1, m2, -1.0), m3, 2.0))  # m1 - m2 + 2 m3
    store_lanes(memory, start + 2 * step, add_lanes(add_lanes(a, m4, 1.0), m3, 4.0))  # m1 + m2 + 4 m3 + m4


@kernel
def load_point(memory: np.ndarray, board: Matrix, y: int, x: int, size: int, channel: int) -> np.ndarray:
    """Return sixteen channels of a point of a board [S*S, C]; zeros off the board."""
    if y < 0 or y >= size or x < 0 or x >= size:
        return spread_lanes(0.0)
    return load_lanes(memory, board.start + (y * size + x) * board.columns + channel)


@kernel
def load_column(memory: np.ndarray, board: Matrix, y: int, x: int, size: int, channel: int) -> Five:
    """Return sixteen channels of five points below each other, of which (x, y) is the first."""
    return (load_point(memory, board, y, x, size, channel), load_point(memory, board, y + 1, x, size, channel),
            load_point(memory, board, y + 2, x, size, channel), load_point(memory, board, y + 3, x, size, channel),
            load_point(memory, board, y + 4, x, size, channel))


@kernel
def scatter_tiles(memory: np.ndarray, source: Matrix, count: int, size: int, channels: int, rows: int, work: int,
                  ) -> None:
    """Write the factors of all tiles of so many boards, 25 matrices [R, C], behind SPARE numbers at `work`.

    Modifies memory, these included.
    """
    tiles, step = count_tiles(size), rows * channels
    for row in range(count * tiles * tiles):
        tile = row % (tiles * tiles)
        y, x = TILE * (tile // tiles) - 1, TILE * (tile % tiles) - 1
        board = Matrix(source.start + row // (tiles * tiles) * size * size * source.columns, source.columns)
        for channel in range(0, channels, LANES):
            for i in range(INPUT):
                transform_input(load_column(memory, board, y, x + i, size, channel), memory, work + i * LANES,
                                INPUT * LANES)
            first = work + SPARE + row * channels + channel
            for i in range(INPUT):
                transform_input(load_five(memory, work + i * INPUT * LANES, LANES), memory, first + i * INPUT * step,
                                step)


@kernel
def multiply_six(memory: np.ndarray, source: int, columns: int, channels: int, numbers: np.ndarray, weight: int,
                 target: int, filters: int) -> None:
    """Put the products of six rows with sixteen filters, weights [C, 16], into memory. Modifies memory."""
    s0 = s1 = s2 = s3 = s4 = s5 = spread_lanes(0.0)
    for channel in range(channels):
        lanes, first = load_lanes(numbers, weight + LANES * channel), source + channel
        s0 = fuse_lanes(s0, lanes, memory, first)
        s1 = fuse_lanes(s1, lanes, memory, first + columns)
        s2 = fuse_lanes(s2, lanes, memory, first + 2 * columns)
        s3 = fuse_lanes(s3, lanes, memory, first + 3 * columns)
        s4 = fuse_lanes(s4, lanes, memory, first + 4 * columns)
        s5 = fuse_lanes(s5, lanes, memory, first + 5 * columns)
    store_lanes(memory, target, s0)
    store_lanes(memory, target + filters, s1)
    store_lanes(memory, target + 2 * filters, s2)
    store_lanes(memory, target + 3 * filters, s3)
    store_lanes(memory, target + 4 * filters, s4)
    store_lanes(memory, target + 5 * filters, s5)


@kernel
def multiply_three(memory: np.ndarray, source: int, columns: int, channels: int, numbers: np.ndarray, weight: int,
                   target: int, filters: int) -> None:
    """Do the same with three rows. Modifies memory."""
    s0 = s1 = s2 = spread_lanes(0.0)
    for channel in range(channels):
        lanes, first = load_lanes(numbers, weight + LANES * channel), source + channel
        s0 = fuse_lanes(s0, lanes, memory, first)
        s1 = fuse_lanes(s1, lanes, memory, first + columns)
        s2 = fuse_lanes(s2, lanes, memory, first + 2 * columns)
    store_lanes(memory, target, s0)
    store_lanes(memory, target + filters, s1)
    store_lanes(memory, target + 2 * filters, s2)


@kernel
def multiply_rows(memory: np.ndarray, source: Matrix, rows: int, channels: int, numbers: np.ndarray, weight: int,
                  target: Matrix, filters: int) -> None:
    """Multiply rows [R, C], R a multiple of three, with weights [F / 16, C, 16] of `numbers`. Modifies memory.

    Sixteen filters' weights stay in the cache while all rows go by.
    """
    for filter in range(0, filters, LANES):
        weights = weight + filter * channels
        for row in range(0, rows - ROWS, 2 * ROWS):
            multiply_six(memory, source.start + row * source.columns, source.columns, channels, numbers, weights,
                         target.start + row * target.columns + filter, target.columns)
        if rows % (2 * ROWS) > 0:
            row = rows - ROWS
            multiply_three(memory, source.start + row * source.columns, source.columns, channels, numbers, weights,
                           target.start + row * target.columns + filter, target.columns)


@kernel
def finish(memory: np.ndarray, at: int, lanes: np.ndarray, ending: Ending) -> None:
    """Write sixteen sums, bias included. Modifies memory."""
    if ending.adds:
        lanes = add_lanes(lanes, load_lanes(memory, at + ending.distance), 1.0)
    store_lanes(memory, at, greater_lanes(lanes, spread_lanes(0.0)) if ending.rectify else lanes)


@kernel
def gather_tiles(memory: np.ndarray, products: Matrix, rows: int, target: Matrix, count: int, size: int, work: int,
                 ending: Ending) -> None:
    """Turn the products of all tiles of so many boards, 25 matrices [R, F], into the boards [S*S, F].

    Modifies memory, SPARE numbers at `work` included.
    """
    filters, tiles, edge = products.columns, count_tiles(size), work + TILE * INPUT * LANES
    step = rows * filters
    for row in range(count * tiles * tiles):
        tile, board = row % (tiles * tiles), row // (tiles * tiles) * size * size
        y, x = TILE * (tile // tiles), TILE * (tile % tiles)
        for filter in range(0, filters, LANES):
            first, bias = products.start + row * filters + filter, load_lanes(ending.numbers, ending.bias + filter)
            for i in range(INPUT):
                transform_output(load_five(memory, first + i * step, INPUT * step), memory, work + i * LANES,
                                 INPUT * LANES)
            for i in range(min(TILE, size - y)):
                transform_output(load_five(memory, work + i * INPUT * LANES, LANES), memory, edge, LANES)
                for j in range(min(TILE, size - x)):
                    at = target.start + (board + (y + i) * size + x + j) * target.columns + filter
                    finish(memory, at, add_lanes(load_lanes(memory, edge + j * LANES), bias, 1.0), ending)


@kernel
def convolve_boards(memory: np.ndarray, source: Matrix, channels: int, target: Matrix, filters: int, count: int,
                    size: int, weight: int, work: int, ending: Ending) -> None:
    """Calculate a convolution of so many boards, with work space from `work` on. Modifies memory.

    The factors of its weights stand in ending.numbers from `weight` on.
    """
    lines = count_rows(count * count_tiles(size) ** 2)
    factors, products = work + SPARE, work + SPARE + FACTORS * lines * channels
    scatter_tiles(memory, source, count, size, channels, lines, work)
    for factor in range(FACTORS):
        multiply_rows(memory, Matrix(factors + factor * lines * channels, channels), lines, channels, ending.numbers,
                      weight + factor * channels * filters, Matrix(products + factor * lines * filters, filters),
                      filters)
    gather_tiles(memory, Matrix(products, filters), lines, target, count, size, work, ending)
