"""One call of a network on a GPU, with everything about it fixed: memory, shapes, and the work as one CUDA graph.

A network of this size is some fifty small operations, each of which takes the GPU less time than torch takes to ask for
it. A graph asks for all of them at once.

Letters: N positions a call holds, P planes, S board size.
"""

import threading

import numpy as np
import torch

from nn.evaluation import Answers

# How many positions calls of an engine's search hold; one with fewer takes the next of these.
CALL_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
WARM_UP = 3


class CudaCall:
    """One call's memory on both sides of the bus, and the work between them, on a stream of its own.

    Attributes:
        planes: float32 [N, P, S, S] for the caller to write into.
    """

    _making = threading.Lock()  # torch records one graph at a time

    def __init__(self, network: torch.nn.Module, dtype: torch.dtype, device: torch.device, shape: tuple[int, ...],
                 asleep: bool) -> None:
        """Allocate pinned memory, warm the network up, and record its work.

        `asleep` says to wait asleep, which leaves the core to others and takes some tens of microseconds longer.
        """
        self._network, self._dtype, self._device = network, dtype, device
        self._host_planes = torch.zeros(shape, dtype=torch.float32).pin_memory()
        self._planes = torch.zeros(shape, dtype=torch.float32, device=device)
        self._stream = torch.cuda.Stream(device)
        self._done = torch.cuda.Event(blocking=asleep)
        # torch waits for the current device before it records, and goes back to it after each use of a stream: where
        # that is another one, it would begin to be used, which takes half a gigabyte and fails where it is full.
        with self._making, torch.cuda.device(device), torch.inference_mode():
            self._stream.wait_stream(torch.cuda.current_stream(device))
            with torch.cuda.stream(self._stream):
                for _ in range(WARM_UP):  # nothing but kernels may be recorded
                    answers = self._evaluate()
            self._stream.synchronize()
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph, stream=self._stream, capture_error_mode="thread_local"):
                self._answers = self._evaluate()
        self._host_answers = tuple(torch.zeros(answer.shape, dtype=torch.float32).pin_memory() for answer in answers)
        self._results = tuple(answer.numpy() for answer in self._host_answers)
        self.planes = self._host_planes.numpy()

    def _evaluate(self) -> tuple[torch.Tensor, ...]:
        """Return what the network says of the planes on the device."""
        return self._network(self._planes.to(self._dtype).contiguous(memory_format=torch.channels_last))

    def launch(self) -> None:
        """Bring the planes over, evaluate them and bring the answers back, without waiting for any of it."""
        with torch.cuda.device(self._device), torch.cuda.stream(self._stream), torch.inference_mode():
            self._planes.copy_(self._host_planes, non_blocking=True)
            self._graph.replay()
            for result, answer in zip(self._host_answers, self._answers, strict=True):
                result.copy_(answer, non_blocking=True)
            self._done.record(self._stream)

    def wait(self, count: int) -> Answers:
        """Return the answers for the first positions, once they are there; valid until the next launch."""
        self._done.synchronize()
        return tuple(result[:count] for result in self._results)


class CudaCalls:
    """Calls of one network in all sizes, as many of each as threads ask for at a time."""

    def __init__(self, network: torch.nn.Module, dtype: torch.dtype, device: torch.device,
                 shape: tuple[int, ...]) -> None:
        """Make room for calls about positions of a shape [P, S, S]; each is made when it is first wanted."""
        self._network, self._dtype, self._device, self._shape = network, dtype, device, shape
        self._free: dict[int, list[CudaCall]] = {size: [] for size in CALL_SIZES}

    def prepare(self, size: int) -> None:
        """Have a call of a size ready."""
        self._free[size].append(self._take(size))

    def _take(self, size: int) -> CudaCall:
        """Return a call of a size that nobody uses."""
        try:
            return self._free[size].pop()
        except IndexError:
            return CudaCall(self._network, self._dtype, self._device, (size, *self._shape), asleep=False)

    def evaluate(self, planes: np.ndarray) -> Answers:
        """Evaluate planes float32 [N, P, S, S], at most as many as the largest call holds."""
        count = len(planes)
        size = next(size for size in CALL_SIZES if size >= count)
        call = self._take(size)
        call.planes[:count] = planes
        call.launch()
        answers = tuple(answer.copy() for answer in call.wait(count))
        self._free[size].append(call)
        return answers
