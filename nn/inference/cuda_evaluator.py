"""Evaluating one buffer on a GPU while another is filled, as nn/inference/batch_evaluator.py does on a CPU.

Letters: N positions a buffer holds, S board size, A = S*S + 1 policy entries.
"""

import numpy as np
import torch

from nn.constant import BUFFERS
from nn.inference.evaluator import NetworkEvaluator


class CudaBuffer:
    """One buffer's memory on both sides of the bus, and the work between them, on a stream of its own.

    All shapes are fixed, so that one CUDA graph holds the whole network.
    """

    def __init__(self, network: torch.nn.Module, dtype: torch.dtype, device: torch.device, shape: tuple[int, ...],
                 actions: int) -> None:
        """Allocate pinned memory, warm the network up, and record its work."""
        self.host_planes = torch.zeros(shape, dtype=torch.float32).pin_memory()
        self.host_logits = torch.zeros((shape[0], actions), dtype=torch.float32).pin_memory()
        self.host_values = torch.zeros((shape[0], 3), dtype=torch.float32).pin_memory()
        self._planes = torch.zeros(shape, dtype=torch.float32, device=device)
        self._network, self._dtype = network, dtype
        self.stream = torch.cuda.Stream(device)
        self.done = torch.cuda.Event(blocking=True)  # waits asleep: several processes share the cores
        self.stream.wait_stream(torch.cuda.current_stream(device))
        with torch.cuda.stream(self.stream), torch.inference_mode():
            for _ in range(3):  # cuDNN chooses its algorithms before anything is recorded
                self._evaluate()
        self.stream.synchronize()
        self._graph = torch.cuda.CUDAGraph()
        with torch.inference_mode(), torch.cuda.graph(self._graph, stream=self.stream):
            self._logits, self._values = self._evaluate()

    def _evaluate(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return policy logits and values of the planes on the device."""
        return self._network(self._planes.to(self._dtype).contiguous(memory_format=torch.channels_last))[:2]

    def launch(self) -> None:
        """Bring the planes over, evaluate them and bring the answer back, without waiting for any of it."""
        with torch.cuda.stream(self.stream), torch.inference_mode():
            self._planes.copy_(self.host_planes, non_blocking=True)
            self._graph.replay()
            self.host_logits.copy_(self._logits, non_blocking=True)
            self.host_values.copy_(self._values, non_blocking=True)
            self.done.record(self.stream)


class CudaEvaluator:
    """The network on a GPU: thousands of positions per call, pinned memory, both buffers in flight at once.

    A call always evaluates the whole buffer; what stands beyond the positions wanted is left from earlier calls.
    """

    on_gpu = True

    def __init__(self, evaluator: NetworkEvaluator, positions: int) -> None:
        """Make two buffers of so many positions for the evaluator's network."""
        size, self.plane_set = evaluator.board_size, evaluator.plane_set
        shape, actions = (positions, self.plane_set.planes, size, size), size * size + 1
        self._buffers = [CudaBuffer(evaluator.network, evaluator.dtype, evaluator.device, shape, actions)
                         for _ in range(BUFFERS)]
        self.planes = [buffer.host_planes.numpy() for buffer in self._buffers]
        self._counts = [0] * BUFFERS

    def start(self, buffer: int, count: int) -> None:
        """Begin to evaluate the first `count` positions of a buffer."""
        self._counts[buffer] = count
        self._buffers[buffer].launch()

    def finish(self, buffer: int) -> tuple[np.ndarray, np.ndarray]:
        """Return policy logits float32 [count, A] and values float32 [count, 3]; valid until the next start."""
        one, count = self._buffers[buffer], self._counts[buffer]
        one.done.synchronize()
        return one.host_logits.numpy()[:count], one.host_values.numpy()[:count]
