"""One call of a network on a GPU, with everything about it fixed: memory, shapes, and the work as one CUDA graph.

A network of this size is some fifty small operations, each of which takes the GPU less time than torch takes to ask for
it. A graph asks for all of them at once.

Letters: N positions a call holds, P planes, S board size.
"""

import threading
from queue import Empty, SimpleQueue

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
        """Make room for calls about positions of a shape [P, S, S]; each is made when it is first wanted.

        Where the GPU has no memory for that, those there are do the work: a larger one, or smaller ones in turn.
        """
        self._network, self._dtype, self._device, self._shape = network, dtype, device, shape
        self._free: dict[int, SimpleQueue[CudaCall]] = {size: SimpleQueue() for size in CALL_SIZES}
        self._sizes: tuple[int, ...] = CALL_SIZES  # that may be asked for
        self._made = set[int]()  # sizes of which there are some

    def prepare(self, size: int) -> None:
        """Have a call of a size ready."""
        self._free[size].put(self._take(size))

    def _take(self, size: int) -> CudaCall:
        """Return a call of a size that nobody uses, waiting for one where there is memory for no more of them.

        Raises torch.OutOfMemoryError where there is none of this size.
        """
        try:
            return self._free[size].get_nowait()
        except Empty:
            pass
        try:
            call = CudaCall(self._network, self._dtype, self._device, (size, *self._shape), asleep=False)
        except torch.OutOfMemoryError:
            if size not in self._made:
                raise
            return self._free[size].get()
        self._made.add(size)
        return call

    def evaluate(self, planes: np.ndarray) -> Answers:
        """Evaluate planes float32 [N, P, S, S], at most as many as the largest call holds.

        Raises torch.OutOfMemoryError where the GPU has no memory for any call.
        """
        while True:
            size = next((size for size in self._sizes if size >= len(planes)), self._sizes[-1])
            try:
                parts = [self._evaluate(planes[start:start + size], size) for start in range(0, len(planes), size)]
                return parts[0] if len(parts) == 1 else tuple(map(np.concatenate, zip(*parts, strict=True)))
            except torch.OutOfMemoryError:
                sizes = tuple(other for other in CALL_SIZES if other < size or other in self._made)
                if size in self._made or not sizes:
                    raise
            self._sizes = sizes  # behind the error, which holds on to the memory of what could not be made

    def _evaluate(self, planes: np.ndarray, size: int) -> Answers:
        """Evaluate planes in a call of a size that holds them."""
        call = self._take(size)
        try:
            call.planes[:len(planes)] = planes
            call.launch()
            return tuple(answer.copy() for answer in call.wait(len(planes)))
        finally:
            self._free[size].put(call)
