"""The processes of one training run: a single one, or as many as `torchrun` started.

Every process holds the whole network and the data, and learns from its share of each batch; DistributedDataParallel
averages the gradients. Batch normalization takes its statistics from the share of the process, as is usual.
"""

import gc
import math
import os
from collections.abc import Mapping
from datetime import timedelta
from types import TracebackType

import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

from nn.device import get_torch_device
from nn.training.run_config import TrainError

# Making data from a large archive may take the first process hours, while the others wait.
TIMEOUT = timedelta(hours=12)


class ProcessGroup:
    """One process among `size`, with its device; the first one (rank 0) prints and writes."""

    def __init__(self, use_gpu: bool, environment: Mapping[str, str] | None = None) -> None:
        """Join the processes that the environment (None: this process's) announces as torchrun does.

        Raises TrainError when there are GPUs, but fewer than processes on this machine.
        """
        variables = os.environ if environment is None else environment
        self.rank, self.size = int(variables.get("RANK", 0)), int(variables.get("WORLD_SIZE", 1))
        self.is_first = self.rank == 0
        local, neighbors = int(variables.get("LOCAL_RANK", 0)), int(variables.get("LOCAL_WORLD_SIZE", 1))
        if use_gpu and 0 < torch.cuda.device_count() < neighbors:
            raise TrainError(f"{neighbors} processes on {torch.cuda.device_count()} GPUs: start as many with "
                             "--nproc-per-node as there are GPUs, or say --use-gpu false")
        self.device = get_torch_device(use_gpu, local)
        if self.size > 1:
            if self.device.type == "cuda":
                torch.cuda.set_device(self.device)
            distributed.init_process_group(
                "cpu:gloo,cuda:nccl" if self.device.type == "cuda" else "gloo", timeout=TIMEOUT,
                rank=self.rank, world_size=self.size,
            )

    def __enter__(self) -> "ProcessGroup":
        """Return the process itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the others, unless something failed: then torchrun ends them."""
        if self.size > 1 and kind is None:
            # The group's threads are joined by whoever lets go of it last. That must be its own end, which does so
            # without Python's lock, for which one of them may wait; a network wrapped here lets go with the lock.
            gc.collect()
            distributed.destroy_process_group()

    def wrap(self, network: torch.nn.Module) -> torch.nn.Module:
        """Return the network to train through: gradients become averages over all processes."""
        if self.size == 1:
            return network
        devices = [self.device] if self.device.type == "cuda" else None
        return DistributedDataParallel(network, device_ids=devices)

    def share_of(self, count: int) -> tuple[slice, float]:
        """Return which of `count` samples are this process's, and the weight of their mean in the mean of all.

        Weights average to 1 over the processes. Fewer samples than processes are everybody's.
        """
        if count < self.size:
            return slice(0, count), 1.0
        begin, end = count * self.rank // self.size, count * (self.rank + 1) // self.size
        return slice(begin, end), (end - begin) * self.size / count

    def maximum(self, *numbers: float) -> list[float]:
        """Return the largest of all processes' numbers, so that all decide alike; nan counts as infinite."""
        own = [math.inf if math.isnan(number) else float(number) for number in numbers]
        if self.size == 1:
            return own
        agreed = torch.tensor(own, dtype=torch.float64)
        distributed.all_reduce(agreed, distributed.ReduceOp.MAX)
        return agreed.tolist()

    def total(self, sums: torch.Tensor) -> torch.Tensor:
        """Return the sums over all processes."""
        if self.size == 1:
            return sums
        sums = sums.clone()
        distributed.all_reduce(sums)
        return sums

    def copy_statistics(self, network: torch.nn.Module) -> None:
        """Have the norms of a network the first process's statistics: each process's come from its own shares."""
        for buffer in network.buffers() if self.size > 1 else ():
            distributed.broadcast(buffer, 0)

    def tell(self, text: str) -> str:
        """Return the first process's text."""
        told = [text]
        if self.size > 1:
            distributed.broadcast_object_list(told)
        return told[0]

    def wait(self) -> None:
        """Wait for the other processes."""
        self.maximum(0.0)
