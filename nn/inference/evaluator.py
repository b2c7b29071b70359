"""The evaluator: planes in, policy logits and value out, as fast as the device allows.

Letters: N positions, S board size, F filters, A = S*S + 1 policy entries.
"""

import math
import threading
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from board.geometry import make_symmetry_index
from nn.constant import INPUT_PLANES
from nn.device import choose_half_dtype
from nn.feature import BASIC
from nn.inference.winograd import Layer, WinogradTower, is_worth_while
from nn.model_file import ModelFile
from nn.network.dual_net import DualNet
from nn.network.res_block import ResidualBlock
from nn.network.weights import load_network

CPU_BATCH_LIMIT = 256
GPU_BATCH_LIMIT = 4096

# Positions that Winograd convolutions take at a time; more would leave the cache.
CHUNKS = (1, 2, 4, 6, 8, 12, 16)


def fold_batch_norm(convolution: nn.Conv2d, norm: nn.BatchNorm2d) -> tuple[torch.Tensor, torch.Tensor]:
    """Return weight [F, C, k, k] and bias [F] of one convolution that equals a convolution and its batch norm.

    y = gamma * (w x - mean) / sqrt(var + eps) + beta, calculated in float64.
    """
    mean, variance = norm.running_mean, norm.running_var
    assert mean is not None and variance is not None, "batch norm without statistics"
    scale = norm.weight.double() / torch.sqrt(variance.double() + norm.eps)
    weight = convolution.weight.double() * scale[:, None, None, None]
    return weight.float(), (norm.bias.double() - mean.double() * scale).float()


class FoldedNet(nn.Module):
    """A DualNet for inference only: convolutions with biases, and both heads as two matrix products."""

    mix_weight: torch.Tensor  # [3, F]: the 1x1 convolutions of both heads
    mix_bias: torch.Tensor
    final_weight: torch.Tensor  # [A + 3, S*S*3]: the linear layers of both heads
    final_bias: torch.Tensor

    def __init__(self, network: DualNet) -> None:
        """Fold a network; it is left as it is."""
        super().__init__()
        self.points = network.board_size ** 2
        pairs = [(network.conv_layer, network.bn_layer)]
        for block in network.blocks:
            assert isinstance(block, ResidualBlock)
            pairs += [(block.conv1, block.bn1), (block.conv2, block.bn2)]
        for number, (convolution, norm) in enumerate(pairs):
            weight, bias = fold_batch_norm(convolution, norm)
            self.register_buffer(f"weight{number}", weight)
            self.register_buffer(f"bias{number}", bias)
        self.num_blocks = len(network.blocks)
        self._fold_heads(network)

    def _convolve(self, number: int, features: torch.Tensor) -> torch.Tensor:
        """Return convolution `number` of features [N, C, S, S]."""
        weight, bias = self.get_buffer(f"weight{number}"), self.get_buffer(f"bias{number}")
        return functional.conv2d(features, weight, bias, padding=1)

    def _fold_heads(self, network: DualNet) -> None:
        """Put the 1x1 convolutions of both heads into one matrix, and both linear layers into another.

        The features come out as [N, S*S, 3], so the columns of the linear layers are put into that order.
        """
        policy, value = network.policy_head, network.value_head
        mixers = [fold_batch_norm(head.conv_layer, head.bn_layer) for head in (policy, value)]
        self.register_buffer("mix_weight", torch.cat([weight.flatten(start_dim=1) for weight, _ in mixers]))
        self.register_buffer("mix_bias", torch.cat([bias for _, bias in mixers]))
        policy_columns = policy.fc_layer.weight.view(self.points + 1, -1, self.points)
        value_columns = value.fc_layer.weight.view(-1, 1, self.points)
        channels = policy_columns.shape[1]
        final = policy_columns.new_zeros(self.points + 1 + value_columns.shape[0], self.points, channels + 1)
        final[:self.points + 1, :, :channels] = policy_columns.transpose(1, 2)
        final[self.points + 1:, :, channels:] = value_columns.transpose(1, 2)
        self.register_buffer("final_weight", final.flatten(start_dim=1))
        self.register_buffer("final_bias", torch.cat((policy.fc_layer.bias, value.fc_layer.bias)))

    def to_precision(self, dtype: torch.dtype) -> "FoldedNet":
        """Calculate in `dtype`, but for the last layer: 8 bits of bfloat16 are too few for logits."""
        final = self.final_weight, self.final_bias
        self.to(dtype)
        self.final_weight, self.final_bias = final
        return self

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return policy logits [N, A] and value probabilities [N, 3], both float32, of channels_last planes."""
        features = self._convolve(0, planes).relu_()
        for block in range(self.num_blocks):
            hidden = self._convolve(2 * block + 1, features).relu_()
            features = self._convolve(2 * block + 2, hidden).add_(features).relu_()
        return self.heads(features.permute(0, 2, 3, 1))

    def heads(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return policy logits [N, A] and value probabilities [N, 3], both float32, of features [N, S, S, F]."""
        rows = features.reshape(len(features) * self.points, -1)
        mixed = functional.linear(rows, self.mix_weight, self.mix_bias).relu_()
        output = functional.linear(mixed.view(len(features), -1).float(), self.final_weight, self.final_bias)
        return output[:, :self.points + 1], torch.softmax(output[:, self.points + 1:], dim=1)


class TiledNet:
    """A FoldedNet on a CPU with Winograd convolutions, in chunks that fit its cache; threads take turns."""

    def __init__(self, network: FoldedNet) -> None:
        """Transform the weights; work space is made when it is needed."""
        self._network = network
        self._board_size = math.isqrt(network.points)
        self._layers = [Layer(network.get_buffer(f"weight{number}"), network.get_buffer(f"bias{number}"))
                        for number in range(2 * network.num_blocks + 1)]
        self._towers: dict[int, WinogradTower] = {}
        self._lock = threading.Lock()

    def _get_tower(self, positions: int) -> WinogradTower:
        """Return the smallest tower that has room for so many positions."""
        size = next(size for size in CHUNKS if size >= positions)
        if size not in self._towers:
            self._towers[size] = WinogradTower(self._layers, self._board_size, size)
        return self._towers[size]

    def __call__(self, planes: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        """Return policy logits [N, A] and value probabilities [N, 3] of planes [N, 6, S, S]."""
        parts = []
        with self._lock:
            for start in range(0, len(planes), CHUNKS[-1]):
                chunk = planes[start:start + CHUNKS[-1]]
                parts.append(self._network.heads(self._get_tower(len(chunk))(chunk)))
        return torch.cat([policy for policy, _ in parts]), torch.cat([value for _, value in parts])


class Evaluator:
    """A callable from planes to policy and value; number format and memory layout follow from the device.

    With `symmetries` above 1 every position is seen through so many of the 8 symmetries of the board, and the logits
    and the values are averaged: a steadier judgment for so many times the work. With 8 it is the same for all of them.

    Attributes:
        plane_set: the planes it takes.
        board_size: the only board size it evaluates.
        batch_limit: positions that are evaluated at a time; a call may bring more.
        description: device, number format and shape of the network, for people.
        network, dtype: the folded network and its number format, for nn/inference/batch_evaluator.py.
    """

    plane_set = BASIC

    def __init__(self, network: DualNet, symmetries: int = 1) -> None:
        """Fold the network and prepare it on the device where it lies; the network is left as it is."""
        self.board_size = network.board_size
        self._symmetry = make_symmetry_index(network.board_size)[:symmetries]
        self._inverse = np.argsort(self._symmetry, axis=1)
        self.device = next(network.parameters()).device
        half = choose_half_dtype(self.device)
        self.dtype = half or torch.float32
        self.batch_limit = GPU_BATCH_LIMIT if self.device.type == "cuda" else CPU_BATCH_LIMIT
        with torch.no_grad():
            folded = FoldedNet(network.eval()).to_precision(self.dtype)
        self.network = folded.to(memory_format=torch.channels_last).eval()  # type: ignore[call-overload]
        filters = network.conv_layer.out_channels
        self._tiled = TiledNet(self.network) if self._pays_to_tile() else None
        self.description = (f"{filters}x{len(network.blocks)} network for {self.board_size}x{self.board_size} "
                            f"on {self.device.type}, {str(self.dtype).removeprefix('torch.')}")

    def _pays_to_tile(self) -> bool:
        """Tell whether Winograd convolutions are the faster ones here."""
        return self.device.type == "cpu" and self.dtype == torch.float32 and is_worth_while(self.board_size)

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate positions.

        Args:
            planes: float32 [N, 6, S, S], N at least 1.

        Returns:
            Policy logits float32 [N, A], and the probabilities float32 [N, 3] that the side to move loses, draws, wins.

        Raises:
            ValueError: the planes have another shape.
        """
        size = self.board_size
        if planes.shape[1:] != (INPUT_PLANES, size, size) or len(planes) == 0:
            raise ValueError(f"planes have shape {planes.shape}, not [N, {INPUT_PLANES}, {size}, {size}]")
        if len(self._symmetry) == 1:
            return self._evaluate_all(planes)
        points = planes.reshape(len(planes), INPUT_PLANES, size * size)
        turned = [points[:, :, order[:-1]] for order in self._symmetry]
        policy, value = self._evaluate_all(np.concatenate(turned).reshape(-1, INPUT_PLANES, size, size))
        policy = policy.reshape(len(turned), len(planes), -1)
        restored = np.take_along_axis(policy, self._inverse[:, np.newaxis], axis=2)
        return restored.mean(axis=0), value.reshape(len(turned), len(planes), -1).mean(axis=0)

    def _evaluate_all(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate any number of positions as they are."""
        if len(planes) <= self.batch_limit:
            return self._evaluate(planes)
        starts = range(0, len(planes), self.batch_limit)
        parts = [self._evaluate(planes[start:start + self.batch_limit]) for start in starts]
        return np.concatenate([policy for policy, _ in parts]), np.concatenate([value for _, value in parts])

    @torch.inference_mode()
    def _evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate at most batch_limit positions."""
        if self._tiled is not None:
            policy, value = self._tiled(planes)
            return policy.numpy(), value.numpy()
        source = torch.from_numpy(np.ascontiguousarray(planes, dtype=np.float32)).to(self.device, non_blocking=True)
        policy, value = self.network(source.to(self.dtype).contiguous(memory_format=torch.channels_last))
        return policy.cpu().contiguous().numpy(), value.cpu().numpy()


def load_evaluator(
    path: str | Path | ModelFile, board_size: int | None = None, use_gpu: bool = False, symmetries: int = 1
) -> Evaluator:
    """Return the fast numpy evaluator of a model file ("none": random weights); raises ModelFileError."""
    return Evaluator(load_network(path, board_size, use_gpu), symmetries)
