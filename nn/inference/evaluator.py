"""The evaluator on torch: planes in, policy logits, value and what else the network tells out.

Letters: N positions, S board size, A = S*S + 1 policy entries.
"""

import copy
from collections.abc import Sequence

import numpy as np
import torch

from board.constant import BOARD_SIZE
from nn.device import choose_half_dtype, get_gpus
from nn.inference.board_evaluator import BoardEvaluator, NetworkFacts
from nn.inference.cuda_call import CALL_SIZES, CudaCalls
from nn.inference.folded_net import FoldedNet
from nn.inference.packed import can_pack, pack
from nn.inference.plain_net import PlainNet
from nn.inference.prepared_net import PreparedNet
from nn.inference.shared import SharedEvaluator
from nn.model_file import ModelFile
from nn.network.dual_net import DualNet
from nn.network.katago import KataGoNet
from nn.network.pooled_net import PooledNet
from nn.network.weights import Network, load_network

CPU_BATCH_LIMIT = 256
GPU_BATCH_LIMIT = 4096
# Weights from which on a GPU has two calls at a time, so that the tree grows while it calculates: on an H200 that made
# searches with 24 million weights 1.5 times as fast. With 3 million and fewer it made them up to a third slower: the
# tree is what takes the time, and threads that take turns at it lose some.
LARGE_NETWORK = 1 << 22

Runnable = FoldedNet | PreparedNet | KataGoNet | PlainNet


def find_facts(network: Network, board_size: int | None) -> NetworkFacts:
    """Return what is told of a network that is prepared for a board size, None for its only one, or BOARD_SIZE."""
    size = network.board_size if isinstance(network, DualNet) else board_size or BOARD_SIZE
    shape = network.shape
    return NetworkFacts(
        features=network.features, board_size=size, sizes=(network.sizes[0], network.sizes[-1]),
        tells_lead=network.tells_lead, filters=shape["filters"], blocks=shape["blocks"],
        trained_on=tuple(getattr(getattr(network, "config", None), "trained_on", (size,))))


def copy_for_inference(network: Network) -> Runnable:
    """Return a copy of a network with its norms folded; it is left as it is."""
    if isinstance(network, DualNet):
        return FoldedNet(network).eval()
    if isinstance(network, PooledNet):
        return PreparedNet(network).eval()
    return (copy.deepcopy(network) if isinstance(network, KataGoNet) else PlainNet(network)).eval()


def prepare(network: Network, dtype: torch.dtype, board_size: int) -> Runnable:
    """Return a copy of a network as torch runs it on its device."""
    prepared = copy_for_inference(network).to_precision(dtype)
    prepared = prepared.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    if next(network.parameters()).device.type == "cpu" and can_pack(dtype):
        if isinstance(prepared, KataGoNet):
            pack(prepared, board_size)
        elif not isinstance(prepared, PlainNet):
            prepared.pack(board_size)
    return prepared


class NetworkEvaluator(BoardEvaluator):
    """A network run by torch; number format and memory layout follow from the device.

    Attributes:
        network, device, dtype: the network as it is run, where, and its number format
            (nn/inference/cuda_evaluator.py).
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
        self._calls: CudaCalls | None = None
        self.on_gpu = self.device.type == "cuda"
        if self.on_gpu:
            shape = self.plane_set.planes, self.board_size, self.board_size
            self._calls, self.call_sizes = CudaCalls(self.network, self.dtype, self.device, shape), CALL_SIZES

    def prepare(self) -> None:
        """On a GPU, record the smallest call; a search records the others as it meets them."""
        if self._calls:
            self._calls.prepare(CALL_SIZES[0])

    def _evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, ...]:
        """Evaluate at most batch_limit positions."""
        if self._calls and len(planes) <= CALL_SIZES[-1]:
            return self._calls.evaluate(planes)
        return self._evaluate_any(planes)

    @torch.inference_mode()
    def _evaluate_any(self, planes: np.ndarray) -> tuple[np.ndarray, ...]:
        """Evaluate any number of positions."""
        source = torch.from_numpy(np.ascontiguousarray(planes, dtype=np.float32)).to(self.device, non_blocking=True)
        answers = self.network(source.to(self.dtype).contiguous(memory_format=torch.channels_last))
        return tuple(answer.cpu().contiguous().numpy() for answer in answers)


def work_alone() -> None:
    """Let torch use one core for what this thread asks of it."""
    if torch.get_num_threads() > 1:
        torch.set_num_threads(1)


def share_cores(network: Network, board_size: int | None, symmetries: int, threads: int) -> BoardEvaluator:
    """Return an evaluator that has a call on each of so many cores at a time, faster than one call on all of them."""
    return SharedEvaluator([NetworkEvaluator(network, 1, board_size)] * threads, symmetries, begin=work_alone)


def share_devices(network: Network, board_size: int | None, symmetries: int, devices: Sequence[torch.device],
                  ) -> BoardEvaluator:
    """Return an evaluator that has a call on each of several devices at a time, two of a large network."""
    is_large = sum(weight.numel() for weight in network.parameters()) >= LARGE_NETWORK
    if len(devices) == 1 and not is_large:
        return NetworkEvaluator(network.to(devices[0]), symmetries, board_size)
    parts = [NetworkEvaluator(network.to(device), 1, board_size) for device in devices]
    return SharedEvaluator(parts, symmetries, 2 if is_large else 1)


@torch.inference_mode()
def evaluate_exactly(model: str | ModelFile, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return policy logits and chances of planes float32 [N, P, S, S] as a model file says them in float32."""
    network = copy_for_inference(load_network(model, planes.shape[-1])).to_precision(torch.float32)
    parts = np.array_split(planes, -(-len(planes) // CPU_BATCH_LIMIT))
    logits, chances, *_ = zip(*(network(torch.from_numpy(part)) for part in parts), strict=True)
    return torch.cat(logits).numpy(), torch.cat(chances).numpy()


def load_on_torch(model: str | ModelFile, board_size: int | None, use_gpu: bool, symmetries: int, threads: int,
                  gpus: Sequence[int]) -> BoardEvaluator:
    """Return what load_evaluator does (nn/inference/loading.py), run by torch."""
    devices = get_gpus(gpus)
    if threads == 1:
        work_alone()
    network = load_network(model, board_size, use_gpu and not devices)
    device = next(network.parameters()).device
    if devices or device.type == "cuda":
        return share_devices(network, board_size, symmetries, devices or [device])
    if threads > 1:
        return share_cores(network, board_size, symmetries, threads)
    return NetworkEvaluator(network, symmetries, board_size)
