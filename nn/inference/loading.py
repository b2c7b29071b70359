"""From model files to the evaluator that is fastest here; imports torch only where it is needed."""

from collections.abc import Sequence
from pathlib import Path

from common.cores import count_free_cores
from nn.inference.board_evaluator import BoardEvaluator
from nn.inference.runtime import BROKEN, Runtime, choose_runtime, find_gpu, has_openvino, replace_openvino
from nn.model_file import (
    DAMAGED,
    RANDOM_MODEL,
    ModelFile,
    ModelFileError,
    choose_size,
    find_common_sizes,
    may_be_network,
    read_model_file,
    split_models,
)

LEAVE_UNSET = "or leave it unset"  # the variable that names no runtime, or none that is there


def load_evaluator(
    model: str | Path | ModelFile, board_size: int | None = None, use_gpu: bool = False, symmetries: int = 1,
    threads: int | None = None, gpus: Sequence[int] = (),
) -> BoardEvaluator:
    """Return the fast numpy evaluator of a model file ("none": random weights), of several with commas their mean.

    Args:
        model: the file or files.
        board_size: None takes the network's only one, BOARD_SIZE where it plays several.
        use_gpu: whether it runs on the first GPU.
        symmetries: how many ways to look at each position.
        threads: of the CPU, each with calls of its own; None for one a core, or OMP_NUM_THREADS.
        gpus: numbers of those that share its calls, instead of use_gpu. Several models are dealt out among them.

    Raises:
        ModelFileError: a file cannot be used, or the files not together, or the runtime that a user names.
        ValueError: there is no such GPU.
    """
    use_gpu = use_gpu and not gpus and find_gpu()
    models = [] if isinstance(model, ModelFile) else split_models(model)
    if isinstance(model, ModelFile) or len(models) == 1:
        one = model if isinstance(model, ModelFile) else models[0]
        return _load_one(one, board_size, use_gpu, symmetries, threads, gpus)
    sizes = find_common_sizes(models)
    board_size = board_size or (choose_size(sizes) if sizes else None)
    shares = [gpus[n::len(models)] or gpus[n % len(gpus):][:1] if gpus else () for n in range(len(models))]
    parts: list[BoardEvaluator] = []
    for path, share in zip(models, shares, strict=True):
        parts.append(_load_one(path, board_size, use_gpu, 1, threads, share))
        board_size = parts[0].board_size  # where a file does not tell it before it is loaded
    from nn.inference.joined import make_ensemble
    return make_ensemble(parts, symmetries)


def _load_one(
    model: str | ModelFile, board_size: int | None, use_gpu: bool, symmetries: int, threads: int | None,
    gpus: Sequence[int],
) -> BoardEvaluator:
    """Return the evaluator of one model file."""
    threads = threads or count_free_cores()
    if not gpus:
        try:
            file = _read(model)
        except OSError:
            pass  # the reason is told below
        else:
            evaluator = _load_without_torch(file, board_size, use_gpu, symmetries, threads)
            if evaluator is not None:
                return evaluator
    from nn.inference.evaluator import load_on_torch
    return load_on_torch(model, board_size, use_gpu, symmetries, threads, gpus)


def _read(model: str | ModelFile) -> ModelFile:
    """Return a model file that has been read, also where random weights stand for one; raises OSError."""
    if isinstance(model, ModelFile):
        return model
    return ModelFile(RANDOM_MODEL, RANDOM_MODEL.encode()) if model == RANDOM_MODEL else read_model_file(model)


def _load_without_torch(file: ModelFile, board_size: int | None, use_gpu: bool, symmetries: int, threads: int,
                        ) -> BoardEvaluator | None:
    """Return the evaluator by kernels or OpenVINO, the faster one that knows the network; None for torch."""
    try:
        runtime = choose_runtime(use_gpu, len(file.content))
    except ValueError as error:
        raise ModelFileError(file, str(error), LEAVE_UNSET) from error
    if file.path != RANDOM_MODEL and not may_be_network(file.content):
        raise ModelFileError(file, DAMAGED)
    if runtime is Runtime.KERNELS:
        evaluator = _load_by_kernels(file, board_size, symmetries, threads)
        if evaluator is not None or not has_openvino():
            return evaluator
    if runtime is Runtime.TORCH or file.path == RANDOM_MODEL:  # that is not worth to be converted for OpenVINO
        return None
    try:
        from nn.inference.openvino_cache import load_openvino
    except BROKEN as error:
        if replace_openvino(error) is not Runtime.KERNELS or runtime is Runtime.KERNELS:
            return None
        return _load_by_kernels(file, board_size, symmetries, threads)
    return load_openvino(file, board_size, symmetries, threads)


def _load_by_kernels(file: ModelFile, board_size: int | None, symmetries: int, threads: int) -> BoardEvaluator | None:
    """Return the evaluator by kernels; None where they do not know the network."""
    from nn.inference.steps.cache import load_kernels
    return load_kernels(file, board_size, symmetries, threads)
