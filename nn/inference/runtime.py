"""What runs a network here: kernels of this program, OpenVINO or torch. Imports neither of the two unless it must.

Kernels calculate in float32, with a third of the multiplications (nn/inference/steps/winograd.py). OpenVINO has
integers of 8 bits, two to three times as fast where the processor has instructions for them (AVX-512 VNNI, AMX), and
torch has bfloat16.
"""

from collections.abc import Callable
from enum import Enum
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

import numba
import numpy as np
from llvmlite import binding

from common.choice import read_choice
from common.gpu import has_gpu_driver, say_no_gpu
from common.machine_facts import recall
from common.print_console import print_err
from common.race import measure_gain
from nn.constant import (
    PRECISION_VARIABLE,
    PRECISIONS,
    TOWER_CHANNELS,
    TOWER_LAYERS,
    TOWER_POSITIONS,
    TOWER_ROUNDS,
    TOWER_SIZE,
)
from nn.evaluation import Answers
from nn.inference.board_evaluator import NetworkFacts

# Which runtime to use; unset for the fastest one that is installed.
RUNTIME_VARIABLE = "HIYOKO_RUNTIME"
# Where integers make OpenVINO so many times as fast as float32, kernels are not even compiled for a comparison.
CLEAR_GAIN = 2.5
# Bytes of a model file beyond which integers are faster than kernels everywhere: these read all weights for every few
# positions, three times as many as the file has, and those of a larger one do not stay in a processor's caches.
LARGE_FILE = 6 << 20
# What processors are said to have that multiply bfloat16.
HALF_FEATURES = ("avx512bf16", "amx-bf16")
# What the import of a broken package raises.
BROKEN = (ImportError, OSError, RuntimeError)


class Runtime(Enum):
    """What runs networks."""

    KERNELS = "kernels"
    OPENVINO = "openvino"
    TORCH = "torch"


def has_openvino() -> bool:
    """Tell whether OpenVINO is installed: not where only a folder of it is left."""
    if find_spec("openvino") is None:
        return False
    try:
        version("openvino")
    except PackageNotFoundError:
        return False
    return True


def choose_runtime(use_gpu: bool, file_size: int = 0) -> Runtime:
    """Return what runs a network best here, or what RUNTIME_VARIABLE names.

    `use_gpu` says that there is a GPU to use (find_gpu), `file_size` is that of the model file.
    Raises ValueError where that is none, or not installed, or PRECISION_VARIABLE names no format.
    """
    precision = read_choice(PRECISION_VARIABLE, PRECISIONS)
    if wanted := read_choice(RUNTIME_VARIABLE, [one.value for one in Runtime]):
        if wanted == Runtime.OPENVINO.value and not has_openvino():
            raise ValueError(f"{RUNTIME_VARIABLE}={wanted}: it is not installed; pip install openvino, or say kernels")
        return Runtime(wanted)
    if use_gpu:
        return Runtime.TORCH
    if not has_openvino():
        return choose_without_openvino()
    if is_interpreted() or precision or file_size > LARGE_FILE:
        return Runtime.OPENVINO
    stamp = f"{version('openvino')} {numba.__version__} {binding.get_host_cpu_name()}"
    try:
        return recall("runtime", stamp, Runtime, find_fastest)
    except BROKEN as error:
        return replace_openvino(error)


def is_interpreted() -> bool:
    """Tell whether kernels run as plain Python."""
    return bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]


def choose_without_openvino() -> Runtime:
    """Return what runs a network best where there is no OpenVINO."""
    features = binding.get_host_cpu_features()
    return Runtime.TORCH if is_interpreted() or any(map(features.get, HALF_FEATURES)) else Runtime.KERNELS


def replace_openvino(error: Exception) -> Runtime:
    """Return the same where it is installed, but does not work; say so."""
    runtime = choose_without_openvino()
    print_err(f"OpenVINO is installed, but does not work: {' '.join(str(error).split())[:200]}; {runtime.value} "
              "instead, until pip install --force-reinstall openvino")
    return runtime


def find_gpu() -> bool:
    """Tell whether torch finds a GPU, and the user if it does not."""
    if has_gpu_driver():
        from nn.device import get_torch_device
        return get_torch_device(use_gpu=True).type != "cpu"
    say_no_gpu()
    return False


def find_fastest() -> str:
    """Return the faster one of OpenVINO, in its fastest format, and kernels; takes a second, and to compile these."""
    import openvino

    from nn.inference.openvino_precision import Format, choose_formats, make_way, measure
    core = openvino.Core()
    best = choose_formats(core)[0]
    if best is not Format.FULL and measure(core, best, Format.FULL) >= CLEAR_GAIN:
        return Runtime.OPENVINO.value
    gain = measure_gain(make_kernel_way(), make_way(core, best), TOWER_ROUNDS)
    return (Runtime.KERNELS if gain >= 1.0 else Runtime.OPENVINO).value


def make_kernel_way() -> Callable[[], Answers]:
    """Return what runs by kernels as many convolutions as OpenVINO's formats are measured with, of the same size."""
    from nn.inference.steps.activation import RELU
    from nn.inference.steps.evaluator import KernelEvaluator
    from nn.inference.steps.kernels import CLASSES, LOGITS, VALUE
    from nn.inference.steps.writer import StepWriter
    rng = np.random.default_rng(0)
    facts = NetworkFacts("basic", TOWER_SIZE, (TOWER_SIZE, TOWER_SIZE), False, TOWER_CHANNELS, TOWER_LAYERS, ())
    writer = StepWriter(facts)
    features = writer.add_matrix(TOWER_CHANNELS)
    for _ in range(TOWER_LAYERS):
        weight, bias = (rng.normal(0.0, 0.05, (TOWER_CHANNELS, *shape)) for shape in ((TOWER_CHANNELS, 3, 3), ()))
        features = writer.multiply(features, weight, bias, activation=RELU)
    writer.answer(LOGITS, features)
    writer.answer(VALUE, writer.pool(features, TOWER_CHANNELS, RELU), CLASSES)
    evaluator = KernelEvaluator(writer.finish())
    planes = np.zeros((TOWER_POSITIONS, evaluator.plane_set.planes, TOWER_SIZE, TOWER_SIZE), dtype=np.float32)
    return lambda: evaluator.evaluate_plainly(planes)
