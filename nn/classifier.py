"""The classifier of bad moves (Sato and Yamamoto 2015) where it is used: a small network as kernels, without torch.

Each candidate gets a logit, and by a softmax its share of them all, from which L_good follows as from a policy
(`policy_margin`); L_bad = 1 - L_good. A move is left out of a search where L_bad - L_good, its margin, is above a
threshold T. nn/training/bad_moves.py learns the weights.

A first layer of K x K looks at the marks of the points around (nn/point_marks.py); since most points carry few marks it
adds up rows of weights instead of multiplying. L layers of 3x3 may follow (nn/inference/steps/winograd.py), and a last
one of 1x1. With L = 0 that is the network of three layers of the paper.

Letters: S board size, R = K // 2, F filters, L layers, W = S + 2 R.
"""

import io
import math
from pathlib import Path
from typing import NamedTuple

import numpy as np

from board.state import SIZE, State
from common.atomic_file import write_atomically
from common.exit_status import ProgramError
from common.kernel import kernel
from common.lanes import LANES, greater_lanes, load_lanes, spread_lanes, store_lanes
from common.npz import DAMAGES
from nn.inference.steps.winograd import (
    FACTORS,
    SPARE,
    Ending,
    Matrix,
    convolve_boards,
    count_rows,
    count_tiles,
    pack_products,
    transform_filters,
)
from nn.point_marks import CANDIDATE, MARKS

MOST_FILTERS, MOST_LAYERS, MOST_KERNEL = 256, 16, 19
# Bad moves for a good one, as a share of the points of a board: 50 of 81 on the average of our games.
BAD_MOVES = 0.62


class ClassifierError(ProgramError):
    """A file of a classifier that cannot be used; the text is one line for the user."""


class Classifier(NamedTuple):
    """The weights, float32."""

    first: np.ndarray  # [15, K, K * F]: of a mark, for the points around it row by row
    on_board: np.ndarray  # [K, K, F]: of a mark that every point of the board carries
    bias: np.ndarray  # [F]
    hidden: np.ndarray  # [L, F, F, 9]: from the second to the first of the two filters
    hidden_bias: np.ndarray  # [L, F]
    last: np.ndarray  # [F]


# Stands where none is asked: what is compiled is the same for searches with one and without.
NO_CLASSIFIER = Classifier(*(np.zeros(shape, dtype=np.float32) for shape in (
    (MARKS, 1, LANES), (1, 1, LANES), (LANES,), (0, LANES, LANES, 9), (0, LANES), (LANES,))))


class PointJudge(NamedTuple):
    """A classifier, and its work space for one board size. F is a multiple of sixteen here."""

    first: np.ndarray  # float32 [15, K, K * F]: as in Classifier
    layers: int  # L
    numbers: np.ndarray  # float32 [L * 25 * F * F + L * F]: these layers' factors, as multiply_rows reads them; biases
    last: np.ndarray  # float32 [F]
    base: np.ndarray  # float32 [W, W * F]: what the empty board gives
    sums: np.ndarray  # float32 [W, W * F]
    memory: np.ndarray  # float32: two matrices [S*S, F], in which the layers stand in turn, and work space
    marks: np.ndarray  # uint16 [S*S]
    logit: np.ndarray  # float32 [S*S]: of the candidates, -infinity for other points
    margin: np.ndarray  # float32 [S*S]: L_bad - L_good
    threshold: float  # the margin above which a move is bad


def check_weights(found: dict[str, np.ndarray]) -> Classifier:
    """Return weights of which all shapes fit together; raises ValueError."""
    missing = [name for name in Classifier._fields if name not in found]
    if missing:
        raise ValueError(f"it is no file of a classifier (it has no array {missing[0]!r})")
    if "last_bias" in found:
        raise ValueError("it is of an older version, which judged each move by itself")
    weights = Classifier(*(found[name] for name in Classifier._fields))
    filters, size = weights.bias.size, len(weights.on_board)
    layers = len(weights.hidden_bias)
    if not (1 <= filters <= MOST_FILTERS and size % 2 and size <= MOST_KERNEL and layers <= MOST_LAYERS):
        raise ValueError(f"it has {filters} filters, {layers} layers and a kernel of {size}")
    shapes = ((MARKS, size, size * filters), (size, size, filters), (filters,), (layers, filters, filters, 9),
              (layers, filters), (filters,))
    for name, array, shape in zip(weights._fields, weights, shapes, strict=True):
        if array.shape != shape or array.dtype != np.float32 or not np.isfinite(array).all():
            raise ValueError(f"its {name} is not {list(shape)} finite numbers (float32)")
    return weights


def read_classifier(path: str | Path) -> Classifier:
    """Return the classifier of a file; raises ClassifierError."""
    try:
        with np.load(path, allow_pickle=False) as content:
            return check_weights({name: content[name] for name in content.files})
    except OSError as error:
        reason = error.strerror or "it is no file of a classifier"
    except (*DAMAGES, TypeError) as error:  # TypeError: a number where an array should be has no length
        reason = str(error) if str(error).startswith("it") else "it is damaged or no file of a classifier"
    raise ClassifierError(f"cannot use {path}: {reason}; train.py --task bad-moves makes one")


def write_classifier(weights: Classifier, path: str | Path) -> None:
    """Write a classifier, all or nothing; raises OSError."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **weights._asdict())
    write_atomically(path, buffer.getvalue())


def pad_filters(weights: Classifier) -> Classifier:
    """Return the same network with a number of filters that sixteen divides: those that are added are always 0."""
    filters, kernel_size = len(weights.bias), len(weights.on_board)
    more = -filters % LANES
    first = np.pad(weights.first.reshape(MARKS, kernel_size, kernel_size, filters), [(0, 0)] * 3 + [(0, more)])
    return Classifier(
        first.reshape(MARKS, kernel_size, -1), np.pad(weights.on_board, [(0, 0)] * 2 + [(0, more)]),
        np.pad(weights.bias, (0, more)), np.pad(weights.hidden, [(0, 0), (0, more), (0, more), (0, 0)]),
        np.pad(weights.hidden_bias, [(0, 0), (0, more)]), np.pad(weights.last, (0, more)))


def new_judge(weights: Classifier, board_size: int, threshold: float) -> PointJudge:
    """Return a classifier that is ready for one board size."""
    weights = pad_filters(weights)
    size, filters = len(weights.on_board), len(weights.bias)
    factors = [pack_products(transform_filters(layer.reshape(filters, filters, 3, 3))) for layer in weights.hidden]
    numbers = np.concatenate([*(layer.ravel() for layer in factors), weights.hidden_bias.ravel()])
    width = board_size + 2 * (size // 2)
    base = np.tile(weights.bias, (width, width, 1))
    for y in range(board_size):
        for x in range(board_size):
            base[y : y + size, x : x + size] += weights.on_board
    base = base.reshape(width, width * filters)
    margin = np.zeros(board_size**2, dtype=np.float32)
    lines = count_rows(count_tiles(board_size) ** 2)
    room = 2 * board_size**2 * filters + SPARE + 2 * FACTORS * lines * filters
    return PointJudge(weights.first, len(factors), numbers, weights.last, base, np.zeros_like(base),
                      np.zeros(room, dtype=np.float32), np.zeros(board_size**2, dtype=np.uint16),
                      np.zeros_like(margin), margin, threshold)


@kernel
def policy_margin(share: float, points: int) -> float:
    """Return the margin of a move that has this share of a policy, on a board of so many points.

    The share is taken as the chance that the move is good, weighed (Bayes) as if all positions together had as many
    good moves as bad ones. So moves of different positions stand in the order of their shares, and a threshold of the
    margin leaves out the most bad moves for the good ones that it costs (J. Neyman and E. Pearson, 1933).
    """
    good = share * BAD_MOVES * points
    return 1.0 - 2.0 * good / (good + 1.0 - share)


@kernel
def weigh(values: np.ndarray, points: int) -> None:
    """Put the margins of moves on a board of so many points in the place of their logits. Modifies values.

    Entries of -infinity are no candidates; their margin is 1, that of a bad move.
    """
    highest, total = -math.inf, 0.0
    for logit in values:
        highest = max(highest, logit)
    for i in range(len(values)):
        values[i] = math.exp(values[i] - highest) if values[i] > -math.inf else 0.0
        total += values[i]
    for i in range(len(values)):
        values[i] = policy_margin(values[i] / total, points) if values[i] > 0.0 else 1.0


@kernel
def add_row(target: np.ndarray, source: np.ndarray) -> None:
    """Add numbers to as many others. Modifies target."""
    for i in range(len(source)):
        target[i] += source[i]


@kernel
def add_marks(judge: PointJudge, size: int) -> None:
    """Calculate the first layer, before its bend, from judge.marks. Modifies judge.sums."""
    first, sums = judge.first, judge.sums
    filters, rows = len(judge.last), first.shape[1]
    length = rows * filters
    for y in range(len(sums)):
        for i in range(sums.shape[1]):
            sums[y, i] = judge.base[y, i]
    for point in range(size * size):
        y, start = point // size, point % size * filters
        marks = judge.marks[point]
        for mark in range(MARKS):
            if marks >> mark & 1:
                for dy in range(rows):
                    add_row(sums[y + dy, start : start + length], first[mark, dy])


@kernel
def bend_sums(judge: PointJudge, size: int) -> None:
    """Put the first layer's sums, 0 where they are below, into the first matrix. Modifies judge.memory."""
    filters, edge, at = len(judge.last), judge.first.shape[1] // 2, 0
    for y in range(edge, edge + size):
        row = judge.sums[y]
        for i in range(edge * filters, (edge + size) * filters, LANES):
            store_lanes(judge.memory, at, greater_lanes(load_lanes(row, i), spread_lanes(0.0)))
            at += LANES


@kernel
def convolve(judge: PointJudge, layer: int, size: int) -> None:
    """Calculate a layer of 3x3 with its bend, from one of the two matrices to the other. Modifies judge.memory."""
    filters, now = len(judge.last), layer % 2
    length, weights = size * size * filters, FACTORS * filters * filters
    source, target = Matrix(now * length, filters), Matrix((1 - now) * length, filters)
    ending = Ending(judge.numbers, judge.layers * weights + layer * filters, False, 0, True)
    convolve_boards(judge.memory, source, filters, target, filters, 1, size, layer * weights, 2 * length, ending)


@kernel
def sum_filters(judge: PointJudge, start: int) -> float:
    """Return the last layer's sum of a point whose filters stand in judge.memory from `start` on."""
    total = 0.0
    for k in range(len(judge.last)):
        total += judge.last[k] * judge.memory[start + k]
    return total


@kernel
def judge_points(judge: PointJudge, state: State) -> None:
    """Judge the points of a position whose marks stand in judge.marks. Modifies judge: logit and margin answer.

    Points that are no candidates have a margin of 1.
    """
    size, filters = state.info[SIZE], len(judge.last)
    points = size * size
    add_marks(judge, size)
    bend_sums(judge, size)
    for layer in range(judge.layers):
        convolve(judge, layer, size)
    for point in range(points):
        is_candidate = judge.marks[point] >> CANDIDATE & 1
        start = (judge.layers % 2 * points + point) * filters
        judge.logit[point] = sum_filters(judge, start) if is_candidate else -math.inf
        judge.margin[point] = judge.logit[point]
    weigh(judge.margin, points)
