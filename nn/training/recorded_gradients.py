"""The way from a batch to its gradients as one CUDA graph.

A batch of the usual size keeps a GPU busy for a tenth of the time that torch takes to ask for its hundreds of small
operations; a graph asks for all of them at once.
"""

from collections.abc import Callable

import torch

from nn.data.dataset import LoadedBatch
from nn.training.metrics import Sums

WARM_UP = 3
# Shapes of batches that are recorded, each with memory of its own; others are calculated step by step.
MOST_SHAPES = 16

# Takes a batch and where to add its figures, adds its gradients to those that are there, and returns its loss.
AddGradients = Callable[[LoadedBatch, Sums], torch.Tensor]


class RecordedBatch:
    """The work of batches of one shape."""

    def __init__(self, calculate: AddGradients, network: torch.nn.Module, example: LoadedBatch, sums: Sums) -> None:
        """Record what `calculate` does with a batch on the device, whose memory all later ones share.

        Gradients and statistics of norms are left as they are.
        """
        self._batch, self._sums = example, sums
        statistics = [(buffer, buffer.clone()) for buffer in network.buffers()]
        gradients = [(weight, weight.grad) for weight in network.parameters()]
        here, aside = torch.cuda.current_stream(), torch.cuda.Stream()
        aside.wait_stream(here)
        with torch.cuda.stream(aside):
            for _ in range(WARM_UP):
                network.zero_grad(set_to_none=True)
                self._calculate(calculate)
        here.wait_stream(aside)
        network.zero_grad(set_to_none=True)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):
            self._loss = self._calculate(calculate)
        self._gradients = [(weight, weight.grad) for weight in network.parameters() if weight.grad is not None]
        for weight, gradient in gradients:
            weight.grad = gradient
        with torch.no_grad():
            for buffer, before in statistics:
                buffer.copy_(before)

    def _calculate(self, calculate: AddGradients) -> torch.Tensor:
        """Have the figures be those of this batch alone."""
        self._sums.sums.zero_()
        return calculate(self._batch, self._sums)

    def replay(self, batch: LoadedBatch, sums: Sums | None) -> torch.Tensor:
        """Make a batch's gradients those of the weights, add its figures to the sums, and return its loss."""
        for own, tensor in zip(self._batch, batch.for_device(self._batch.planes.device), strict=True):
            own.copy_(tensor, non_blocking=True)
        self._graph.replay()
        for weight, gradient in self._gradients:
            weight.grad = gradient
        if sums is not None:
            sums.sums += self._sums.sums
        return self._loss.clone()


class RecordedGradients:
    """The same for batches of any shape; what is recorded for one is kept."""

    def __init__(self, calculate: AddGradients, network: torch.nn.Module, new_sums: Callable[[], Sums],
                 device: torch.device) -> None:
        """Take what calculates the gradients of a network's weights on a device."""
        self._calculate, self._network, self._new_sums, self._device = calculate, network, new_sums, device
        self._recorded: dict[tuple, RecordedBatch] = {}

    def find(self, batch: LoadedBatch) -> RecordedBatch | None:
        """Return the record for batches of this shape, None where there are too many shapes."""
        shape = tuple((tensor.shape, tensor.dtype) for tensor in batch)
        if shape not in self._recorded:
            if len(self._recorded) == MOST_SHAPES:
                return None
            self._recorded[shape] = RecordedBatch(
                self._calculate, self._network, batch.to(self._device), self._new_sums())
        return self._recorded[shape]
