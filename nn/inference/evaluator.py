"""The evaluator on torch: planes in, policy logits, value and what else the network tells out.

Letters: N positions, S board size, A = S*S + 1 policy entries.
"""

import copy

import numpy as np
import torch

from board.constant import BOARD_SIZE
from nn.device import choose_half_dtype
from nn.inference.board_evaluator import BoardEvaluator, NetworkFacts
from nn.inference.folded_net import FoldedNet, TiledNet
from nn.inference.packed import can_pack, pack
from nn.inference.plain_net import PlainNet
from nn.inference.prepared_net import PreparedNet
from nn.inference.winograd import is_worth_while
from nn.network.dual_net import DualNet
from nn.network.katago import KataGoNet
from nn.network.pooled_net import PooledNet

CPU_BATCH_LIMIT = 256
GPU_BATCH_LIMIT = 4096

Network = DualNet | PooledNet | KataGoNet
Runnable = FoldedNet | PreparedNet | KataGoNet | PlainNet


def find_facts(network: Network, board_size: int | None) -> NetworkFacts:
    """Return what is told of a network that is prepared for a board size, None for its own."""
    size = network.board_size if isinstance(network, DualNet) else board_size or BOARD_SIZE
    shape = network.shape
    return NetworkFacts(
        features=network.features, board_size=size, sizes=(network.sizes[0], network.sizes[-1]),
        tells_lead=network.tells_lead, filters=shape["filters"], blocks=shape["blocks"],
        trained_on=tuple(getattr(getattr(network, "config", None), "trained_on", (size,))))


def copy_for_inference(network: Network) -> Runnable:
    """Return a copy of a network with its norms folded; it is left as it is."""
    if isinstance(network, DualNet):
        return FoldedNet(network.eval())
    if isinstance(network, PooledNet):
        return PreparedNet(network).eval()
    return (copy.deepcopy(network) if isinstance(network, KataGoNet) else PlainNet(network)).eval()


def prepare(network: Network, dtype: torch.dtype, board_size: int) -> Runnable:
    """Return a copy of a network as torch runs it on its device."""
    prepared = copy_for_inference(network).to_precision(dtype)
    prepared = prepared.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    if next(network.parameters()).device.type == "cpu" and can_pack():
        if isinstance(prepared, KataGoNet):
            pack(prepared, board_size)
        elif not isinstance(prepared, PlainNet):
            prepared.pack(board_size)
    return prepared


class NetworkEvaluator(BoardEvaluator):
    """A network run by torch; number format and memory layout follow from the device.

    Attributes:
        network, device, dtype: the network as it is run, where, and its number format
            (nn/inference/batch_evaluator.py).
    """

    def __init__(self, network: Network, symmetries: int = 1, board_size: int | None = None) -> None:
        """Prepare a network on the device where it lies; it is left as it is. `board_size` None takes the network's."""
        facts = find_facts(network, board_size)
        self.device = next(network.parameters()).device
        self.dtype = choose_half_dtype(self.device) or torch.float32
        super().__init__(facts, f"on {self.device.type}, {str(self.dtype).removeprefix('torch.')}",
                         GPU_BATCH_LIMIT if self.device.type == "cuda" else CPU_BATCH_LIMIT, symmetries)
        with torch.no_grad():
            self.network = prepare(network, self.dtype, self.board_size)
        on_cpu = self.device.type == "cpu" and self.dtype == torch.float32
        tiles = on_cpu and is_worth_while(self.board_size)
        self._tiled = TiledNet(self.network) if tiles and isinstance(self.network, FoldedNet) else None

    @torch.inference_mode()
    def _evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, ...]:
        """Evaluate at most batch_limit positions."""
        if self._tiled is not None:
            return tuple(answer.numpy() for answer in self._tiled(planes))
        source = torch.from_numpy(np.ascontiguousarray(planes, dtype=np.float32)).to(self.device, non_blocking=True)
        answers = self.network(source.to(self.dtype).contiguous(memory_format=torch.channels_last))
        return tuple(answer.cpu().contiguous().numpy() for answer in answers)
