"""From a model file to the evaluator that is fastest here; imports torch only where it is needed."""

import os
from importlib.util import find_spec
from pathlib import Path

from nn.inference.board_evaluator import BoardEvaluator
from nn.model_file import RANDOM_MODEL, ModelFile, read_model_file

# Which runtime to use: unset for the fastest one that is installed, or "torch".
RUNTIME_VARIABLE = "HIYOKO_RUNTIME"
TORCH = "torch"


def may_use_openvino(use_gpu: bool) -> bool:
    """Tell whether OpenVINO is installed, and nobody wants another runtime or has a GPU for it."""
    if os.environ.get(RUNTIME_VARIABLE) == TORCH or find_spec("openvino") is None:
        return False
    if not use_gpu:
        return True
    from nn.device import get_torch_device
    return get_torch_device(use_gpu).type == "cpu"


def load_evaluator(
    path: str | Path | ModelFile, board_size: int | None = None, use_gpu: bool = False, symmetries: int = 1,
    threads: int | None = None,
) -> BoardEvaluator:
    """Return the fast numpy evaluator of a model file ("none": random weights); raises ModelFileError.

    `board_size` None takes the network's own. OpenVINO takes `threads` of the CPU (None: all), torch what it was told.
    """
    if str(path) != RANDOM_MODEL and may_use_openvino(use_gpu):
        try:
            model = path if isinstance(path, ModelFile) else read_model_file(path)
        except OSError:
            pass  # the reason is told below
        else:
            from nn.inference.openvino_evaluator import load_openvino
            evaluator = load_openvino(model, board_size, symmetries, threads)
            if evaluator is not None:
                return evaluator
    from nn.inference.evaluator import NetworkEvaluator
    from nn.network.weights import load_network
    return NetworkEvaluator(load_network(path, board_size, use_gpu), symmetries, board_size)
