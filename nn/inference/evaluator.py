"""The evaluator: planes in, policy logits, value and what else the network tells out, as fast as the device allows.

Letters: N positions, P planes, S board size, A = S*S + 1 policy entries.
"""

import copy
from pathlib import Path

import numpy as np
import torch

from board.constant import BOARD_SIZE
from board.geometry import make_symmetry_index
from nn.device import choose_half_dtype
from nn.inference.folded_net import FoldedNet, TiledNet
from nn.inference.packed import can_pack, pack
from nn.inference.prepared_net import PreparedNet
from nn.inference.winograd import is_worth_while
from nn.model_file import ModelFile
from nn.network.dual_net import DualNet
from nn.network.katago import KataGoNet
from nn.network.pooled_net import PooledNet
from nn.network.weights import load_network
from nn.plane_sets import PLANE_SETS

CPU_BATCH_LIMIT = 256
GPU_BATCH_LIMIT = 4096


def prepare(
    network: DualNet | PooledNet | KataGoNet, dtype: torch.dtype, board_size: int
) -> FoldedNet | PreparedNet | KataGoNet:
    """Return a copy of a network as it is run on its device."""
    if isinstance(network, DualNet):
        prepared: FoldedNet | PreparedNet | KataGoNet = FoldedNet(network.eval())
    else:
        prepared = copy.deepcopy(network) if isinstance(network, KataGoNet) else PreparedNet(network)
    prepared = prepared.to_precision(dtype).to(memory_format=torch.channels_last).eval()  # type: ignore[call-overload]
    if next(network.parameters()).device.type == "cpu" and can_pack():
        if isinstance(prepared, KataGoNet):
            pack(prepared, board_size)
        else:
            prepared.pack(board_size)
    return prepared


class NetworkEvaluator:
    """A callable from planes to policy and value; number format and memory layout follow from the device.

    With `symmetries` above 1 every position is seen through so many of the 8 symmetries of the board, and the answers
    are averaged: a steadier judgment for so many times the work. With 8 it is the same for all of them.

    Attributes:
        plane_set: the planes it takes.
        board_size: the only board size it evaluates.
        sizes: those that the network could be loaded for.
        tells_lead: whether it tells lead and ownership, too.
        batch_limit: positions that are evaluated at a time; a call may bring more.
        description: device, number format and shape of the network, for people.
        note: what a user should know before he plays with it, mostly nothing.
        network, dtype: the network as it is run, and its number format, for nn/inference/batch_evaluator.py.
    """

    def __init__(
        self, network: DualNet | PooledNet | KataGoNet, symmetries: int = 1, board_size: int | None = None
    ) -> None:
        """Prepare a network on the device where it lies; it is left as it is. `board_size` None takes the network's."""
        self.plane_set = PLANE_SETS[network.features]
        self.board_size = network.board_size if isinstance(network, DualNet) else board_size or BOARD_SIZE
        self.sizes = network.sizes
        self.tells_lead = not isinstance(network, DualNet)
        self._symmetry = make_symmetry_index(self.board_size)[:symmetries]
        self._inverse = np.argsort(self._symmetry, axis=1)
        self.device = next(network.parameters()).device
        self.dtype = choose_half_dtype(self.device) or torch.float32
        self.batch_limit = GPU_BATCH_LIMIT if self.device.type == "cuda" else CPU_BATCH_LIMIT
        with torch.no_grad():
            self.network = prepare(network, self.dtype, self.board_size)
        on_cpu = self.device.type == "cpu" and self.dtype == torch.float32
        tiles = on_cpu and is_worth_while(self.board_size)
        self._tiled = TiledNet(self.network) if tiles and isinstance(self.network, FoldedNet) else None
        shape = network.shape
        size = f"{self.board_size}x{self.board_size}"
        self.description = (f"{shape['filters']}x{shape['blocks']} network for {size} on {self.device.type}, "
                            f"{str(self.dtype).removeprefix('torch.')}")
        learnt = network.config.trained_on if isinstance(network, PooledNet) else (self.board_size,)
        self.note = "" if self.board_size in learnt else (
            f"the network has learnt on {' and '.join(f'{one}x{one}' for one in learnt)} only: "
            f"on {size} it plays by what carries over")

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, ...]:
        """Evaluate positions.

        Args:
            planes: float32 [N, P, S, S], N at least 1.

        Returns:
            Policy logits float32 [N, A], and the probabilities float32 [N, 3] that the side to move loses, draws, wins;
            from networks that tell them also its lead in points, float32 [N], and the ownership, float32 [N, S*S], from
            -1 (the opponent's) to 1.

        Raises:
            ValueError: the planes have another shape.
        """
        size, count = self.board_size, self.plane_set.planes
        if planes.shape[1:] != (count, size, size) or len(planes) == 0:
            raise ValueError(f"planes have shape {planes.shape}, not [N, {count}, {size}, {size}]")
        if len(self._symmetry) == 1:
            return self._evaluate_all(planes)
        points = planes.reshape(len(planes), count, size * size)
        turned = [points[:, :, order[:-1]] for order in self._symmetry]
        policy, value, *others = self._evaluate_all(np.concatenate(turned).reshape(-1, count, size, size))
        answers = [self._turn_back(policy), _mean(value, len(turned))]
        answers += [_mean(one, len(turned)) if one.ndim == 1 else self._turn_back(one) for one in others]
        return tuple(answers)

    def _turn_back(self, values: np.ndarray) -> np.ndarray:
        """Return the mean over the symmetries of values by point [symmetries * N, A or S*S], as the board lies."""
        values = values.reshape(len(self._symmetry), -1, values.shape[1])
        order = self._inverse[:, np.newaxis, :values.shape[2]]
        return np.take_along_axis(values, order, axis=2).mean(axis=0)

    def _evaluate_all(self, planes: np.ndarray) -> tuple[np.ndarray, ...]:
        """Evaluate any number of positions as they are."""
        if len(planes) <= self.batch_limit:
            return self._evaluate(planes)
        starts = range(0, len(planes), self.batch_limit)
        parts = [self._evaluate(planes[start:start + self.batch_limit]) for start in starts]
        return tuple(np.concatenate(arrays) for arrays in zip(*parts, strict=True))

    @torch.inference_mode()
    def _evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, ...]:
        """Evaluate at most batch_limit positions."""
        if self._tiled is not None:
            return tuple(answer.numpy() for answer in self._tiled(planes))
        source = torch.from_numpy(np.ascontiguousarray(planes, dtype=np.float32)).to(self.device, non_blocking=True)
        answers = self.network(source.to(self.dtype).contiguous(memory_format=torch.channels_last))
        return tuple(answer.cpu().contiguous().numpy() for answer in answers)


def _mean(values: np.ndarray, symmetries: int) -> np.ndarray:
    """Return the mean over the symmetries of values [symmetries * N, ...]."""
    return values.reshape(symmetries, -1, *values.shape[1:]).mean(axis=0)


def load_evaluator(
    path: str | Path | ModelFile, board_size: int | None = None, use_gpu: bool = False, symmetries: int = 1
) -> NetworkEvaluator:
    """Return the fast numpy evaluator of a model file ("none": random weights); raises ModelFileError."""
    return NetworkEvaluator(load_network(path, board_size, use_gpu), symmetries, board_size)
