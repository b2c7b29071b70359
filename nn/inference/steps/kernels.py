"""A network as a table of steps, and the kernel that goes through it: what torch does in a hundred calls, in one.

All matrices lie in one array, the memory (nn/inference/steps/winograd.py): rows are the points of the boards, or the
boards, columns are channels, of which there are sixteens. Weights and biases lie in another array, the numbers.
nn/inference/steps/networks.py makes both of a network.

Letters: N positions, P planes, S board size, C channels, F filters.
"""

import math

import numpy as np

from common.kernel import kernel
from common.lanes import (
    LANES,
    add_lanes,
    fuse_lanes,
    greater_lanes,
    load_lanes,
    multiply_lanes,
    spread_lanes,
    store_lanes,
)
from nn.inference.steps.activation import RELU, activate_rows, excite_board
from nn.inference.steps.winograd import Ending, Matrix, convolve_boards, count_rows, finish, multiply_rows

# What a row of the table says: what is done, with which matrices, and where in the numbers weights and bias begin.
KIND, SOURCE, FIRST, TARGET, CHANNELS, FILTERS, WEIGHT, BIAS, RESIDUAL, ACTIVATION, REACH = range(11)
WIDTH = REACH + 1
# The kinds of steps: a convolution of 3x3; a matrix product row by row (a convolution of 1x1, or one of boards); means
# and maxima over the points of a board; a board's numbers added to all its points; channels scaled and shifted; a
# convolution of any size, of inputs of which most are 0, added to what is there; an activation other than ReLU, which
# the others do by the way; and squeeze and excitation: a residual, scaled and shifted by a board's numbers, is added.
CONVOLVE, MIX, POOL, SPREAD, SCALE, SPARSE, ACTIVATE, EXCITE = range(8)
# What is told of a matrix: where it starts (in a table the number of the matrix in whose place it is), its columns, and
# whether its rows are points.
START, COLUMNS, OF_POINTS = range(3)
NONE = -1
# The answers of a network, and what is told of each part of one: columns of a matrix.
LOGITS, VALUE, LEAD, OWNERSHIP = range(4)
ANSWER, MATRIX, COLUMN, COUNT = range(4)
CLASSES = 3  # of the value: loss, draw and win


@kernel
def take_planes(planes: np.ndarray, memory: np.ndarray, target: Matrix) -> None:
    """Write planes [N, P, S, S] as a matrix [N*S*S, P]. Modifies memory."""
    for n in range(planes.shape[0]):
        for plane in range(planes.shape[1]):
            at = target.start + n * planes.shape[2] * planes.shape[3] * target.columns + plane
            for y in range(planes.shape[2]):
                for x in range(planes.shape[3]):
                    memory[at] = planes[n, plane, y, x]
                    at += target.columns


@kernel
def end_rows(memory: np.ndarray, products: int, target: Matrix, rows: int, filters: int, ending: Ending) -> None:
    """Turn products into rows. Modifies memory."""
    for filter in range(0, filters, LANES):
        bias = load_lanes(ending.numbers, ending.bias + filter)
        for row in range(rows):
            at = target.start + row * target.columns + filter
            finish(memory, at, add_lanes(load_lanes(memory, products + row * filters + filter), bias, 1.0), ending)


@kernel
def multiply(step: np.ndarray, memory: np.ndarray, numbers: np.ndarray, source: Matrix, target: Matrix, rows: int,
             count: int, size: int, work: int, residual: int) -> None:
    """Do a step CONVOLVE of `count` boards, or MIX of so many rows, with work space from `work` on. Modifies memory.

    Both are matrix products, of which a convolution has 25.
    """
    channels, filters = step[CHANNELS], step[FILTERS]
    ending = Ending(numbers, step[BIAS], residual >= 0, residual - target.start, step[ACTIVATION] == RELU)
    if step[KIND] == CONVOLVE:
        convolve_boards(memory, source, channels, target, filters, count, size, step[WEIGHT], work, ending)
    else:
        multiply_rows(memory, source, count_rows(rows), channels, numbers, step[WEIGHT], Matrix(work, filters), filters)
        end_rows(memory, work, target, rows, filters, ending)


@kernel
def pool(step: np.ndarray, memory: np.ndarray, source: Matrix, target: Matrix, count: int, points: int) -> None:
    """Do a step POOL: the means of C channels, and behind them their maxima. Modifies memory."""
    for n in range(count):
        for channel in range(0, step[CHANNELS], LANES):
            at = source.start + n * points * source.columns + channel
            total, highest = spread_lanes(0.0), spread_lanes(-np.inf)
            for point in range(points):
                lanes = load_lanes(memory, at + point * source.columns)
                if step[ACTIVATION] == RELU:
                    lanes = greater_lanes(lanes, spread_lanes(0.0))
                total, highest = add_lanes(total, lanes, 1.0), greater_lanes(highest, lanes)
            at = target.start + n * target.columns + channel
            store_lanes(memory, at, multiply_lanes(total, spread_lanes(1.0 / points)))
            store_lanes(memory, at + step[CHANNELS], highest)


@kernel
def spread(step: np.ndarray, memory: np.ndarray, numbers: np.ndarray, source: Matrix, target: Matrix, count: int,
           points: int) -> None:
    """Do a step SPREAD. Modifies memory."""
    ending = Ending(numbers, 0, False, 0, step[ACTIVATION] == RELU)
    for n in range(count):
        for channel in range(0, step[CHANNELS], LANES):
            lanes = load_lanes(memory, source.start + n * source.columns + channel)
            for point in range(n * points, (n + 1) * points):
                at = target.start + point * target.columns + channel
                finish(memory, at, add_lanes(load_lanes(memory, at), lanes, 1.0), ending)


@kernel
def scale(step: np.ndarray, memory: np.ndarray, numbers: np.ndarray, source: Matrix, target: Matrix, rows: int) -> None:
    """Do a step SCALE. Modifies memory."""
    ending = Ending(numbers, 0, False, 0, step[ACTIVATION] == RELU)
    for channel in range(0, step[CHANNELS], LANES):
        factor, shift = load_lanes(numbers, step[WEIGHT] + channel), load_lanes(numbers, step[BIAS] + channel)
        for row in range(rows):
            lanes = load_lanes(memory, source.start + row * source.columns + channel)
            finish(memory, target.start + row * target.columns + channel,
                   add_lanes(shift, multiply_lanes(lanes, factor), 1.0), ending)


@kernel
def convolve_sparse(step: np.ndarray, memory: np.ndarray, numbers: np.ndarray, source: Matrix, target: Matrix,
                    count: int, size: int) -> None:
    """Do a step SPARSE: each number that is not 0 is added, weighted, to the points around it. Modifies memory."""
    reach, filters, points = step[REACH], step[FILTERS], size * size
    for row in range(count * points):
        board, y, x = row - row % points, row % points // size, row % size
        for channel in range(step[CHANNELS]):
            at = source.start + row * source.columns + channel
            if memory[at] == 0.0:
                continue
            for to_y in range(max(0, y - reach), min(size, y + reach + 1)):
                for to_x in range(max(0, x - reach), min(size, x + reach + 1)):
                    tap = (y - to_y + reach) * (2 * reach + 1) + x - to_x + reach
                    weight = step[WEIGHT] + (tap * step[CHANNELS] + channel) * filters
                    point = target.start + (board + to_y * size + to_x) * target.columns
                    for filter in range(0, filters, LANES):
                        lanes = load_lanes(numbers, weight + filter)
                        store_lanes(memory, point + filter,
                                    fuse_lanes(load_lanes(memory, point + filter), lanes, memory, at))


@kernel
def excite(step: np.ndarray, memory: np.ndarray, numbers: np.ndarray, source: Matrix, hidden: int, target: Matrix,
           count: int, points: int) -> None:
    """Do a step EXCITE: what stands from `hidden` on is the residual, in as many columns as the target has.

    Modifies memory.
    """
    ending = Ending(numbers, 0, False, 0, step[ACTIVATION] == RELU)
    for n in range(count):
        begin = n * points * target.columns
        excite_board(memory, source.start + n * source.columns, Matrix(hidden + begin, target.columns),
                     Matrix(target.start + begin, target.columns), step[CHANNELS], points, ending)


@kernel
def find_matrix(matrices: np.ndarray, number: int, first: int) -> Matrix:
    """Return where a matrix lies, from column `first` on."""
    return Matrix(matrices[number, START] + first, matrices[number, COLUMNS])


@kernel
def find_chances(answers: np.ndarray, first: int) -> None:
    """Make chances of three logits, in a row of answers (softmax). Modifies answers."""
    highest = max(answers[first], answers[first + 1], answers[first + 2])
    total = 0.0
    for i in range(first, first + CLASSES):
        answers[i] = math.exp(answers[i] - highest)
        total += answers[i]
    for i in range(first, first + CLASSES):
        answers[i] /= total


@kernel
def take_answers(parts: np.ndarray, matrices: np.ndarray, memory: np.ndarray, points: int, board: int,
                 answers: np.ndarray) -> None:
    """Write what a network says of one of its boards into a row of answers [_], part by part. Modifies answers."""
    end = 0
    for number in range(len(parts)):
        part = parts[number]
        matrix, rows = find_matrix(matrices, part[MATRIX], part[COLUMN]), 1
        if matrices[part[MATRIX], OF_POINTS]:
            rows = points
        for row in range(board * rows, (board + 1) * rows):
            for column in range(part[COUNT]):
                value = memory[matrix.start + row * matrix.columns + column]
                answers[end] = math.tanh(value / 2.0) if part[ANSWER] == OWNERSHIP else value
                end += 1
        if part[ANSWER] == VALUE:
            find_chances(answers, end - CLASSES)


@kernel
def run_steps(steps: np.ndarray, matrices: np.ndarray, numbers: np.ndarray, planes: np.ndarray, parts: np.ndarray,
              memory: np.ndarray, work: int, answers: np.ndarray) -> None:
    """Evaluate planes float32 [N, P, S, S], for which the memory has room. Modifies memory and answers [N, _].

    Args:
        steps: int64 [K, WIDTH].
        matrices: int64 [M, 3]; the first one is of the planes.
        numbers: float32, weights and biases.
        planes: the positions.
        parts: int64 [_, 4]: which columns of which matrices a row of answers is made of.
        memory: float32.
        work: where in the memory the work space of the steps begins.
        answers: float32, one row for each position.
    """
    count, size = planes.shape[0], planes.shape[2]
    take_planes(planes, memory, find_matrix(matrices, 0, 0))
    for number in range(len(steps)):
        step = steps[number]
        source, target = find_matrix(matrices, step[SOURCE], step[FIRST]), find_matrix(matrices, step[TARGET], 0)
        residual = matrices[step[RESIDUAL], START] if step[RESIDUAL] >= 0 else NONE
        rows = count * size * size if matrices[step[TARGET], OF_POINTS] else count
        if step[KIND] == CONVOLVE or step[KIND] == MIX:
            multiply(step, memory, numbers, source, target, rows, count, size, work, residual)
        elif step[KIND] == POOL:
            pool(step, memory, source, target, count, size * size)
        elif step[KIND] == SPREAD:
            spread(step, memory, numbers, source, target, count, size * size)
        elif step[KIND] == SPARSE:
            convolve_sparse(step, memory, numbers, source, target, count, size)
        elif step[KIND] == ACTIVATE:
            activate_rows(memory, rows, source, step[CHANNELS], step[ACTIVATION])
        elif step[KIND] == EXCITE:
            excite(step, memory, numbers, source, residual, target, count, size * size)
        else:
            scale(step, memory, numbers, source, target, rows)
    for board in range(count):
        take_answers(parts, matrices, memory, size * size, board, answers[board])


@kernel
def run_steps_by_parts(steps: np.ndarray, matrices: np.ndarray, numbers: np.ndarray, planes: np.ndarray,
                       parts: np.ndarray, memory: np.ndarray, work: int, answers: np.ndarray, room: int) -> None:
    """Do the same for more positions than the memory has room for, `room` at a time. Modifies memory and answers.

    One call: between two, the thread would wait for the one that has the interpreter.
    """
    for first in range(0, planes.shape[0], room):
        last = min(first + room, planes.shape[0])
        run_steps(steps, matrices, numbers, planes[first:last], parts, memory, work, answers[first:last])
