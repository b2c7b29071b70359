"""Evaluating one buffer of positions while another is being filled.

The class here and the one for a GPU (nn/inference/cuda_evaluator.py) have the same members: `planes`, two buffers
float32 [N, P, S, S] for the caller to write into, `start`, which begins to evaluate the first positions of one, and
`finish`, which waits for the answer.

Letters: N positions a buffer holds, P planes, S board size, A = S*S + 1 policy entries.
"""

from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

import numpy as np

from nn.constant import BUFFERS
from nn.feature import Evaluator, plane_set_of
from nn.inference.evaluation_cache import CachedEvaluator
from nn.inference.loading import LEAVE_UNSET, load_evaluator
from nn.inference.runtime import Runtime, choose_runtime, find_gpu
from nn.model_file import ModelFile, ModelFileError, split_models

if TYPE_CHECKING:  # it imports torch, which other runtimes do without
    from nn.inference.cuda_evaluator import CudaEvaluator

# Positions per call: more make a CPU no faster (64 and more are alike), a GPU wants thousands.
CPU_POSITIONS = 128
GPU_POSITIONS = 4096
FULL_GPU = "start fewer processes (--process), say a smaller --batch-size, or end what else uses it"


class ThreadedEvaluator:
    """Any evaluator, called in a thread of its own; torch and the search's kernels both release the GIL."""

    def __init__(self, evaluator: Evaluator, board_size: int, positions: int, on_gpu: bool = False) -> None:
        """Make two buffers of so many positions; `on_gpu` says where the evaluator calculates."""
        self.on_gpu = on_gpu
        self.plane_set = plane_set_of(evaluator)
        self.planes = [self.plane_set.new_planes(board_size, positions) for _ in range(BUFFERS)]
        self._evaluator = evaluator
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="network")
        self._answers: list[Future | None] = [None] * BUFFERS

    def start(self, buffer: int, count: int) -> None:
        """Begin to evaluate the first `count` positions of a buffer; calls are worked off one by one."""
        self._answers[buffer] = self._pool.submit(self._evaluator, self.planes[buffer][:count])

    def finish(self, buffer: int) -> tuple[np.ndarray, ...]:
        """Return policy logits float32 [count, A], values float32 [count, 3], and what else the evaluator tells."""
        answer = self._answers[buffer]
        assert answer is not None, "finish without start"
        with telling_gpu_failure(self.on_gpu):
            return answer.result()


def telling_gpu_failure(on_gpu: bool) -> AbstractContextManager[None]:
    """Return a context that tells in one line of a GPU that is full or fails, where one is used."""
    if not on_gpu:
        return nullcontext()
    from nn.device import tell_gpu_failure
    return tell_gpu_failure(FULL_GPU)


def load_batch_evaluator(
    model: str | ModelFile, board_size: int, use_gpu: bool, threads: int, positions: int | None = None, memory: int = 0,
) -> tuple["ThreadedEvaluator | CudaEvaluator", str]:
    """Return the evaluator of a model file and the description of its network; raises ProgramError (ModelFileError).

    `threads` is how many a CPU may use; `positions` per call None takes what suits the device. On a CPU answers are
    remembered within so many bytes of memory, 0 for none: on a GPU a call takes as long with fewer positions.
    """
    try:  # a user may name another runtime
        use_gpu = use_gpu and find_gpu() and choose_runtime(use_gpu) is Runtime.TORCH
    except ValueError as error:
        raise ModelFileError(model, str(error), LEAVE_UNSET) from None
    with telling_gpu_failure(use_gpu):
        if use_gpu and (isinstance(model, ModelFile) or len(split_models(model)) == 1):
            from nn.inference.cuda_evaluator import CudaEvaluator
            from nn.inference.evaluator import NetworkEvaluator
            from nn.network.weights import load_network
            single = NetworkEvaluator(load_network(model, board_size, use_gpu), 1, board_size)
            return CudaEvaluator(single, positions or GPU_POSITIONS), single.description
        evaluator = load_evaluator(model, board_size, use_gpu, threads=threads)
        source = CachedEvaluator(evaluator, memory) if memory and not use_gpu else evaluator
        usual = GPU_POSITIONS if use_gpu else CPU_POSITIONS
        batches = ThreadedEvaluator(source, board_size, positions or usual, use_gpu)
        evaluator(batches.planes[0])  # compiles, and makes the work space
        return batches, evaluator.description
