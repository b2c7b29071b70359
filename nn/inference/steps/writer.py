"""Writes a network down as a table of steps (nn/inference/steps/table.py), layer by layer.

Letters: C channels, F filters, K channels that are pooled.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import nn

from common.lanes import LANES
from nn.inference.board_evaluator import NetworkFacts
from nn.inference.packed import merge_means
from nn.inference.steps.activation import CURVES, LINEAR
from nn.inference.steps.kernels import (
    ACTIVATE,
    CONVOLVE,
    EXCITE,
    MIX,
    NONE,
    OF_POINTS,
    POOL,
    SCALE,
    SPARSE,
    SPREAD,
)
from nn.inference.steps.table import StepTable
from nn.inference.steps.winograd import pack_products, transform_filters
from nn.plane_sets import PLANE_SETS


class UnknownPart(Exception):
    """Something in a network that has no step."""


def to_sixteens(channels: int) -> int:
    """Return the columns for so many channels."""
    return -(-channels // LANES) * LANES


def pad_groups(weight: np.ndarray, axis: int, groups: Sequence[int]) -> np.ndarray:
    """Return weights with zeros behind each of some groups of channels, so that the next begins at a sixteen."""
    parts = np.split(weight, np.cumsum(groups)[:-1], axis)
    shape = [[(0, 0)] * weight.ndim for _ in parts]
    for padding, count in zip(shape, groups, strict=True):
        padding[axis] = (0, to_sixteens(count) - count)
    return np.concatenate([np.pad(part, padding) for part, padding in zip(parts, shape, strict=True)], axis)


def to_array(tensor: torch.Tensor | None, length: int = 0) -> np.ndarray:
    """Return a tensor as numbers; so many zeros for None."""
    return np.zeros(length, dtype=np.float32) if tensor is None else tensor.detach().float().numpy()


class StepWriter:
    """Writes a network down; methods take numbers of matrices and return those of new ones."""

    def __init__(self, facts: NetworkFacts) -> None:
        """Begin with the planes as matrix 0."""
        self._facts, self.size = facts, facts.board_size
        self._steps: list[list[int]] = []
        self._matrices: list[tuple[int, int, int]] = []
        self._numbers: list[np.ndarray] = []
        self._length = 0
        self._parts: list[tuple[int, int, int, int]] = []
        self.add_matrix(PLANE_SETS[facts.features].planes)

    def finish(self) -> StepTable:
        """Return the table."""
        return StepTable(self._facts, np.array(self._steps), np.array(self._matrices), np.concatenate(self._numbers),
                         np.array(self._parts))

    def add_matrix(self, columns: int, of_points: bool = True, place: int | None = None) -> int:
        """Return the number of a new matrix, in the place of another one if that is told."""
        number = len(self._matrices)
        self._matrices.append((number if place is None else place, to_sixteens(columns), of_points))
        return number

    def _keep(self, numbers: np.ndarray) -> int:
        """Return where among the numbers these stand."""
        start, self._length = self._length, self._length + numbers.size
        self._numbers.append(np.ascontiguousarray(numbers, np.float32).ravel())
        return start

    def _add_step(self, kind: int, source: int, target: int, channels: int, *, first: int = 0, filters: int = 0,
                  weight: int = 0, bias: int = 0, residual: int = NONE, activation: int = LINEAR,
                  reach: int = 0) -> int:
        """Add a step, and one for an activation that it cannot do by the way; return its target."""
        is_curve = activation in CURVES
        by_the_way = LINEAR if is_curve else activation
        self._steps.append([kind, source, first, target, channels, filters, weight, bias, residual, by_the_way, reach])
        if is_curve:
            self._activate(target, 0, filters or channels, activation)
        return target

    def _activate(self, matrix: int, first: int, channels: int, activation: int) -> None:
        """Add a step that puts an activation of channels from column `first` on in their place."""
        self._steps.append([ACTIVATE, matrix, first, matrix, channels, 0, 0, 0, NONE, activation, 0])

    def multiply(self, source: int, weight: np.ndarray, bias: np.ndarray, *, into: int | None = None,
                 residual: int = NONE, activation: int = LINEAR) -> int:
        """Write a convolution [F, C, k, k], or a matrix product [F, C] of all rows, with bias [F].

        What becomes of it lies in a new matrix, or in one that is told.
        """
        filters, channels = weight.shape[:2]
        padding = [(0, to_sixteens(filters) - filters), (0, to_sixteens(channels) - channels)]
        padded = np.pad(weight, padding + [(0, 0)] * (weight.ndim - 2))
        kernel_size = weight.shape[2] if weight.ndim == 4 else 1
        if kernel_size not in (1, 3):
            raise UnknownPart(f"a convolution of {kernel_size}x{kernel_size}")
        factors = transform_filters(padded) if kernel_size == 3 else padded.reshape(padded.shape[:2]).T[np.newaxis]
        of_points = bool(self._matrices[source][OF_POINTS])
        target = self.add_matrix(filters, of_points) if into is None else into
        return self._add_step(
            CONVOLVE if kernel_size == 3 else MIX, source, target, padded.shape[1], filters=padded.shape[0],
            weight=self._keep(pack_products(factors)), bias=self._keep(np.pad(bias, padding[:1])), residual=residual,
            activation=activation)

    def add_sparse(self, source: int, weight: np.ndarray, target: int) -> None:
        """Write a convolution [F, C, k, k] of any size, added to what is there; fast where most inputs are 0."""
        filters, channels, kernel_size, _ = weight.shape
        padded = np.pad(weight.transpose(2, 3, 1, 0), [(0, 0)] * 3 + [(0, to_sixteens(filters) - filters)])
        self._add_step(SPARSE, source, target, channels, filters=padded.shape[3], weight=self._keep(padded),
                       reach=kernel_size // 2)

    def apply(self, module: nn.Conv2d | nn.Linear, source: int, *, into: int | None = None, residual: int = NONE,
              activation: int = LINEAR) -> int:
        """Write a convolution or matrix product of torch."""
        weight = to_array(module.weight)
        return self.multiply(source, weight, to_array(module.bias, len(weight)), into=into, residual=residual,
                             activation=activation)

    def pool(self, source: int, channels: int, activation: int, first: int = 0) -> int:
        """Write the means and maxima of an activation of channels from column `first` on: two groups in one row."""
        columns = to_sixteens(channels)
        if activation in CURVES:
            self._activate(source, first, columns, activation)
            activation = LINEAR
        target = self.add_matrix(2 * columns, False)
        return self._add_step(POOL, source, target, columns, first=first, activation=activation)

    def multiply_pooled(self, pooled: int, weight: torch.Tensor, bias: torch.Tensor | None = None,
                        activation: int = LINEAR) -> int:
        """Write a product of what pool gives, weights [F, 3 K] of means, scaled means and maxima."""
        merged = to_array(merge_means(weight, self.size))
        groups = [merged.shape[1] // 2] * 2
        return self.multiply(pooled, pad_groups(merged, 1, groups), to_array(bias, len(merged)), activation=activation)

    def multiply_means(self, pooled: int, weight: np.ndarray, bias: np.ndarray, activation: int) -> int:
        """Write a product of the means of what pool gives, weights [F, K]; its maxima count for nothing."""
        both = np.concatenate((weight, np.zeros_like(weight)), axis=1)
        return self.multiply(pooled, pad_groups(both, 1, [weight.shape[1]] * 2), bias, activation=activation)

    def spread(self, boards: int, target: int, channels: int, activation: int = LINEAR) -> int:
        """Write that a row for each board is added to its points."""
        return self._add_step(SPREAD, boards, target, to_sixteens(channels), activation=activation)

    def excite(self, boards: int, hidden: int, target: int, channels: int, activation: int) -> None:
        """Write squeeze and excitation: hidden is scaled by a row for each board, shifted by it, added to target."""
        self._add_step(EXCITE, boards, target, to_sixteens(channels), residual=hidden, activation=activation)

    def scale(self, source: int, target: int, factor: np.ndarray, shift: np.ndarray, activation: int) -> int:
        """Write that channels are scaled and shifted."""
        padding = (0, to_sixteens(len(factor)) - len(factor))
        factor, shift = np.pad(factor, padding), np.pad(shift, padding)
        return self._add_step(SCALE, source, target, len(factor), weight=self._keep(factor), bias=self._keep(shift),
                              activation=activation)

    def answer(self, answer: int, matrix: int, count: int = 1, first: int = 0) -> None:
        """Say that an answer goes on with columns of a matrix."""
        self._parts.append((answer, matrix, first, count))
