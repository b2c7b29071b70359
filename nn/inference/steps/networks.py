"""From a network on torch to the table of steps that kernels go through (nn/inference/steps/kernels.py).

Known are the networks of this program, and KataGo's, whose convolutions are of 3x3 or 1x1.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from nn.inference.evaluator import copy_for_inference, find_facts
from nn.inference.folded_net import FoldedNet
from nn.inference.prepared_net import PreparedHeads, PreparedNet
from nn.inference.steps.activation import LINEAR, MISH, RELU, SWISH
from nn.inference.steps.kernels import LEAD, LOGITS, OWNERSHIP, VALUE
from nn.inference.steps.table import StepTable
from nn.inference.steps.writer import StepWriter, UnknownPart, pad_groups, to_array, to_sixteens
from nn.network.katago import (
    SQUARE_SHIFT,
    Heads,
    KataGoNet,
    NestedBottleneckBlock,
    NormActivation,
    PlainBlock,
    PoolingBlock,
    identity,
    mish,
)
from nn.network.pooled_net import (
    LEAD_UNIT,
    MIDDLE_SIZE,
    SIZE_UNIT,
    BottleneckBlock,
    Convolution,
    GlobalPoolingBlock,
    PooledResidualBlock,
    SqueezeExciteBlock,
)
from nn.network.weights import Network

# A logit that says never.
NEVER = -1e9


# What an activation of torch, or of KataGo's, is called in a table.
KINDS: dict[object, int] = {
    nn.ReLU: RELU, nn.SiLU: SWISH, nn.Mish: MISH,
    functional.relu_: RELU, functional.silu: SWISH, mish: MISH, identity: LINEAR,
}


def find_activation(*activations: object) -> int:
    """Return which activation all of these are; raises UnknownPart for another one, and for several."""
    found = {KINDS.get(type(one) if isinstance(one, nn.Module) else one) for one in activations}
    kind = found.pop()
    if kind is None or found:
        raise UnknownPart(f"{activations}")
    return kind


class Trunk:
    """Writes the blocks of a trunk; their features stay in one matrix."""

    def __init__(self, writer: StepWriter, filters: int) -> None:
        """Make the matrices: the features, and those that the blocks use in turn."""
        self.writer = writer
        self.features = writer.add_matrix(filters)
        self._hidden: dict[tuple[int, int], int] = {}

    def work_matrix(self, columns: int, number: int = 0) -> int:
        """Return a matrix of so many columns that every block may overwrite."""
        key = to_sixteens(columns), number
        if key not in self._hidden:
            self._hidden[key] = self.writer.add_matrix(columns)
        return self._hidden[key]

    def end_block(self, convolution: nn.Conv2d, hidden: int, activation: int = LINEAR) -> None:
        """Write the last convolution of a block, to which its features are added."""
        self.writer.apply(convolution, hidden, into=self.features, residual=self.features, activation=activation)

    def write(self, block: nn.Module) -> None:
        """Write a block; raises UnknownPart."""
        if type(block) not in BLOCKS:
            raise UnknownPart(type(block).__name__)
        BLOCKS[type(block)](self, block)

    def write_residual(self, block: PooledResidualBlock) -> None:
        """Write a block of two convolutions."""
        first, activation = block.first.convolution, find_activation(block.activation)
        hidden = self.writer.apply(first, self.features, into=self.work_matrix(first.out_channels),
                                   activation=activation)
        self.end_block(block.second.convolution, hidden, activation)

    def write_excited(self, block: SqueezeExciteBlock) -> None:
        """Write a block of two convolutions whose result is scaled and shifted by what the whole board says."""
        first, second = block.first.convolution, block.second.convolution
        activation, filters = find_activation(block.activation), second.out_channels
        into, result = (self.work_matrix(filters, number) for number in range(2))
        hidden = self.writer.apply(first, self.features, into=into, activation=activation)
        pooled = self.writer.pool(self.writer.apply(second, hidden, into=result), filters, LINEAR)
        squeeze = to_array(block.squeeze.weight)
        squeezed = self.writer.multiply_means(pooled, squeeze, to_array(block.squeeze.bias), RELU)
        weight, bias = (pad_groups(to_array(numbers), 0, [filters] * 2)
                        for numbers in (block.excite.weight, block.excite.bias))
        self.writer.excite(self.writer.multiply(squeezed, weight, bias), result, self.features, filters, activation)

    def write_pooling(self, block: GlobalPoolingBlock) -> None:
        """Write a block that pools some channels, which its first convolution has before the others."""
        activation = find_activation(block.activation)
        weight, bias = to_array(block.first.convolution.weight), to_array(block.first.convolution.bias)
        behind = np.roll(weight, -block.pooled, axis=0), np.roll(bias, -block.pooled)
        hidden = self._pool_hidden(*behind, self.features, block.spread, activation)
        self.end_block(block.second.convolution, hidden, activation)

    def _pool_hidden(self, weight: np.ndarray, bias: np.ndarray, source: int, linear: nn.Linear,
                     activation: int) -> int:
        """Write a convolution whose last channels are pooled and, by a matrix product, shift the others."""
        rest = linear.out_features
        groups = [rest, len(weight) - rest]
        weight, bias = pad_groups(weight, 0, groups), pad_groups(bias, 0, groups)
        hidden = self.writer.multiply(source, weight, bias, into=self.work_matrix(len(weight)))
        pooled = self.writer.pool(hidden, groups[1], activation, first=to_sixteens(rest))
        shift = self.writer.multiply_pooled(pooled, linear.weight, linear.bias)
        return self.writer.spread(shift, hidden, rest, activation)

    def write_bottleneck(self, block: BottleneckBlock) -> None:
        """Write a block of narrow convolutions between two of 1x1."""
        hidden, activation = self.features, find_activation(block.activation)
        *narrow, last = (layer.convolution for layer in block.layers if isinstance(layer, Convolution))
        for number, convolution in enumerate(narrow):
            into = self.work_matrix(convolution.out_channels, number % 2)
            hidden = self.writer.apply(convolution, hidden, into=into, activation=activation)
        self.end_block(last, hidden, activation)

    def scale(self, norm: NormActivation) -> int:
        """Write what stands in front of a block of KataGo's."""
        factor, shift = (to_array(tensor).ravel() for tensor in (norm.scale, norm.shift))
        into, activation = self.work_matrix(len(factor)), find_activation(norm.activate)
        return self.writer.scale(self.features, into, factor, shift, activation)

    def write_plain(self, block: PlainBlock) -> None:
        """Write a block of KataGo's of two convolutions."""
        into, activation = self.work_matrix(block.first.out_channels, 1), find_activation(block.activate)
        hidden = self.writer.apply(block.first, self.scale(block.before), into=into, activation=activation)
        self.end_block(block.second, hidden)

    def write_katago_pooling(self, block: PoolingBlock) -> None:
        """Write a block of KataGo's that pools some channels, which its first convolution has behind the others."""
        activation = find_activation(block.activate, block.activate_pooled)
        weight, bias = to_array(block.first.weight), to_array(block.first.bias)
        source = self.scale(block.before)
        self.end_block(block.second, self._pool_hidden(weight, bias, source, block.pooled, activation))

    def write_nested(self, block: NestedBottleneckBlock) -> None:
        """Write blocks of KataGo's between two convolutions, on features of their own."""
        inner = Trunk(self.writer, block.narrow.out_channels)
        self.writer.apply(block.narrow, self.scale(block.before), into=inner.features)
        for one in block.blocks:
            inner.write(one)
        self.end_block(block.widen, inner.scale(block.after))


BLOCKS: dict[type[nn.Module], Callable[[Trunk, Any], None]] = {
    PooledResidualBlock: Trunk.write_residual, SqueezeExciteBlock: Trunk.write_excited,
    GlobalPoolingBlock: Trunk.write_pooling,
    BottleneckBlock: Trunk.write_bottleneck, PlainBlock: Trunk.write_plain,
    PoolingBlock: Trunk.write_katago_pooling, NestedBottleneckBlock: Trunk.write_nested,
}


def write_prepared(writer: StepWriter, network: PreparedNet) -> None:
    """Write a pooled network down."""
    stem, activate, *blocks = network.trunk
    activation = find_activation(activate)
    assert isinstance(stem, Convolution) and isinstance(network.heads, PreparedHeads)
    trunk = Trunk(writer, stem.convolution.out_channels)
    writer.apply(stem.convolution, 0, into=trunk.features, activation=activation)
    for block in blocks:
        trunk.write(block)
    policy, score = network.heads.policy, network.heads.score
    channels = policy.local.convolution.out_channels
    board = writer.pool(writer.apply(policy.board.convolution, trunk.features), channels, activation)
    local = writer.apply(policy.local.convolution, trunk.features)
    writer.spread(writer.multiply_pooled(board, policy.spread.weight, policy.spread.bias), local, channels, activation)
    writer.answer(LOGITS, writer.apply(policy.point, local))
    writer.answer(LOGITS, writer.multiply_pooled(board, policy.to_pass.weight, policy.to_pass.bias))
    reduced = writer.apply(score.reduce.convolution, trunk.features, activation=activation)
    pooled = writer.pool(reduced, channels, LINEAR)
    hidden = writer.multiply_pooled(pooled, score.hidden.weight, score.hidden.bias, activation)
    writer.answer(VALUE, writer.apply(score.value, hidden), 3)
    lead, bias = (LEAD_UNIT * to_array(numbers) for numbers in (score.lead.weight, score.lead.bias))
    writer.answer(LEAD, writer.multiply(hidden, lead, bias))
    writer.answer(OWNERSHIP, writer.apply(score.ownership, reduced))


def write_folded(writer: StepWriter, network: FoldedNet) -> None:
    """Write the lecture's network down, whose heads are two matrix products."""
    convolutions = [(to_array(network.get_buffer(f"weight{number}")), to_array(network.get_buffer(f"bias{number}")))
                    for number in range(2 * network.num_blocks + 1)]
    (weight, bias), *blocks = convolutions
    features = writer.multiply(0, weight, bias, activation=RELU)
    hidden = writer.add_matrix(len(weight))
    for number, (weight, bias) in enumerate(blocks):
        if number % 2 == 0:
            writer.multiply(features, weight, bias, into=hidden, activation=RELU)
        else:
            writer.multiply(hidden, weight, bias, into=features, residual=features, activation=RELU)
    mixed = writer.multiply(features, to_array(network.mix_weight), to_array(network.mix_bias), activation=RELU)
    final, points = to_array(network.final_weight), network.points
    by_point = pad_groups(final.reshape(len(final), points, -1), 2, [final.shape[1] // points]).reshape(len(final), -1)
    rows = writer.add_matrix(by_point.shape[1], False, place=mixed)
    outputs = writer.multiply(rows, by_point, to_array(network.final_bias))
    writer.answer(LOGITS, outputs, points + 1)
    writer.answer(VALUE, outputs, 3, first=points + 1)


def write_katago(writer: StepWriter, network: KataGoNet) -> None:
    """Write a network of KataGo's down; its first convolution is one of 5x5 or more, mostly."""
    trunk = Trunk(writer, network.filters)
    weight = to_array(network.stem.weight)
    constant = np.pad(to_array(network.stem_vector.weight), [(0, 0), (weight.shape[1], 0)])
    writer.multiply(0, constant, to_array(network.stem_vector.bias), into=trunk.features)
    writer.add_sparse(0, weight, trunk.features)
    for block in network.tower:
        trunk.write(block)
    write_katago_heads(writer, network.heads, trunk.scale(network.tip))


def write_katago_heads(writer: StepWriter, heads: Heads, features: int) -> None:
    """Write KataGo's heads."""
    activation = find_activation(heads.activate_pooled, heads.activate_policy, heads.activate_value,
                                 heads.activate_hidden)
    weight, bias = to_array(heads.first.weight), to_array(heads.first.bias)
    plain, pooled, value = heads.split
    local = writer.multiply(features, weight[:plain], bias[:plain])
    middle = slice(plain, plain + pooled)
    board = writer.pool(writer.multiply(features, weight[middle], bias[middle]), pooled, activation)
    writer.spread(writer.multiply_pooled(board, heads.pooled.weight), local, plain, activation)
    writer.answer(LOGITS, writer.apply(heads.points, local))
    pass_move, pass_hidden = heads.pass_move, heads.pass_hidden
    assert isinstance(pass_move, nn.Linear)
    if isinstance(pass_hidden, nn.Linear):
        hidden = writer.multiply_pooled(board, pass_hidden.weight, pass_hidden.bias,
                                        find_activation(heads.activate_pass))
        writer.answer(LOGITS, writer.apply(pass_move, hidden))
    else:
        writer.answer(LOGITS, writer.multiply_pooled(board, pass_move.weight))
    reduced = writer.multiply(features, weight[-value:], bias[-value:], activation=activation)
    means = merge_value_means(to_array(heads.value_hidden.weight), writer.size)
    pooled_value = writer.pool(reduced, value, LINEAR)
    hidden = writer.multiply_means(pooled_value, means, to_array(heads.value_hidden.bias), activation)
    weight, bias = to_array(heads.value.weight), to_array(heads.value.bias)
    never = np.zeros_like(weight[0]), NEVER
    win, loss = zip(weight[:2], bias[:2], strict=True)
    weight, bias = (np.stack(rows) for rows in zip(loss, never, win, strict=True))
    writer.answer(VALUE, writer.multiply(hidden, weight, bias), 3)
    lead, shift = (heads.lead_unit * to_array(numbers)[2:3] for numbers in (heads.scores.weight, heads.scores.bias))
    writer.answer(LEAD, writer.multiply(hidden, lead, shift))
    ownership = 2.0 * to_array(heads.ownership.weight)  # tanh(x), where networks of this program have tanh(x / 2)
    writer.answer(OWNERSHIP, writer.multiply(reduced, ownership, np.zeros(1)))


def merge_value_means(weight: np.ndarray, board_size: int) -> np.ndarray:
    """Return weights [F, K] of means from KataGo's [F, 3 K] of means scaled in three ways."""
    mean, scaled, squared = np.split(weight, 3, axis=1)
    offset = (board_size - MIDDLE_SIZE) / SIZE_UNIT
    return mean + offset * scaled + (offset * offset - SQUARE_SHIFT) * squared


def make_steps(network: Network, board_size: int | None) -> StepTable:
    """Return the table of a network; raises UnknownPart where it has something that has no step."""
    writer = StepWriter(find_facts(network, board_size))
    with torch.no_grad():
        prepared = copy_for_inference(network)
        if isinstance(prepared, PreparedNet):
            write_prepared(writer, prepared)
        elif isinstance(prepared, FoldedNet):
            write_folded(writer, prepared)
        elif isinstance(prepared, KataGoNet):
            write_katago(writer, prepared)
        else:
            raise UnknownPart(type(network).__name__)
    return writer.finish()
