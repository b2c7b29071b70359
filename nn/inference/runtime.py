"""What runs a network here: kernels of this program, OpenVINO or torch. Imports neither of the two unless it must.

Kernels calculate in float32, with a third of the multiplications (nn/inference/steps/winograd.py). OpenVINO has
integers of 8 bits, two to three times as fast where the processor has instructions for them (AVX-512 VNNI, AMX), and
torch has bfloat16.
"""

import os
from collections.abc import Callable
from enum import Enum
from importlib.metadata import version
from importlib.util import find_spec

import numba
import numpy as np
from llvmlite import binding

from common.machine_facts import recall
from common.race import measure_gain
from nn.constant import PRECISION_VARIABLE
from nn.inference.board_evaluator import NetworkFacts
from nn.inference.steps.kernels import (
    BIAS,
    CHANNELS,
    CONVOLVE,
    FILTERS,
    KIND,
    LOGITS,
    NONE,
    RECTIFY,
    RESIDUAL,
    SOURCE,
    TARGET,
    WEIGHT,
    WIDTH,
    run_steps,
)
from nn.inference.steps.table import StepTable, lay_out
from nn.inference.steps.winograd import FACTORS

# Which runtime to use; unset for the fastest one that is installed.
RUNTIME_VARIABLE = "HIYOKO_RUNTIME"
# Where integers make OpenVINO so many times as fast as float32, kernels are not even compiled for a comparison.
CLEAR_GAIN = 2.5
# Bytes of a model file beyond which integers are faster than kernels everywhere: these read all weights for every few
# positions, three times as many as the file has, and those of a larger one do not stay in a processor's caches.
LARGE_FILE = 6 << 20
# What processors are said to have that multiply bfloat16.
HALF_FEATURES = ("avx512bf16", "amx-bf16")
FILTERS_OF_TOWER, BOARD_SIZE, POSITIONS, LAYERS, ROUNDS = 64, 9, 8, 4, 5


class Runtime(Enum):
    """What runs networks."""

    KERNELS = "kernels"
    OPENVINO = "openvino"
    TORCH = "torch"


def has_openvino() -> bool:
    """Tell whether OpenVINO is installed."""
    return find_spec("openvino") is not None


def choose_runtime(use_gpu: bool, file_size: int = 0) -> Runtime:
    """Return what runs a network best here, or what RUNTIME_VARIABLE names; `file_size` is that of its model file.

    Raises ValueError where that is none, or not installed.
    """
    if wanted := os.environ.get(RUNTIME_VARIABLE):
        return parse_runtime(wanted)
    if use_gpu:
        from nn.device import get_torch_device
        if get_torch_device(use_gpu).type != "cpu":
            return Runtime.TORCH
    interpreted = bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]
    if not has_openvino():
        features = binding.get_host_cpu_features()
        return Runtime.TORCH if interpreted or any(map(features.get, HALF_FEATURES)) else Runtime.KERNELS
    if interpreted or os.environ.get(PRECISION_VARIABLE) or file_size > LARGE_FILE:
        return Runtime.OPENVINO
    stamp = f"{version('openvino')} {numba.__version__} {binding.get_host_cpu_name()}"
    return recall("runtime", stamp, Runtime, find_fastest)


def parse_runtime(name: str) -> Runtime:
    """Return what a user asks for; raises ValueError."""
    if name not in [one.value for one in Runtime]:
        raise ValueError(f"{RUNTIME_VARIABLE}={name}: say {', '.join(one.value for one in Runtime)}")
    if name == Runtime.OPENVINO.value and not has_openvino():
        raise ValueError(f"{RUNTIME_VARIABLE}={name}: it is not installed; pip install openvino, or say kernels")
    return Runtime(name)


def find_fastest() -> str:
    """Return the faster one of OpenVINO, in its fastest format, and kernels; takes a second, and to compile these."""
    import openvino

    from nn.inference.openvino_precision import Format, choose_formats, make_way, measure
    core = openvino.Core()
    best = choose_formats(core)[0]
    if best is not Format.FULL and measure(core, best, Format.FULL) >= CLEAR_GAIN:
        return Runtime.OPENVINO.value
    gain = measure_gain(make_kernel_way(), make_way(core, best), ROUNDS)
    return (Runtime.KERNELS if gain >= 1.0 else Runtime.OPENVINO).value


def make_kernel_way() -> Callable[[], None]:
    """Return what runs a few convolutions of the usual size by kernels."""
    facts = NetworkFacts("basic", BOARD_SIZE, (BOARD_SIZE, BOARD_SIZE), False, FILTERS_OF_TOWER, LAYERS, ())
    numbers = FACTORS * FILTERS_OF_TOWER**2
    steps = np.zeros((LAYERS, WIDTH), dtype=np.int64)
    steps[:, [KIND, CHANNELS, FILTERS]] = CONVOLVE, FILTERS_OF_TOWER, FILTERS_OF_TOWER
    steps[:, [BIAS, RESIDUAL, RECTIFY]] = LAYERS * numbers, NONE, 1
    steps[:, WEIGHT] = np.arange(LAYERS) * numbers
    steps[1::2, SOURCE] = steps[::2, TARGET] = 1
    weights = np.random.default_rng(0).normal(0.0, 0.05, LAYERS * numbers + FILTERS_OF_TOWER).astype(np.float32)
    table = StepTable(facts, steps, np.array([[FILTERS_OF_TOWER, 1, 0], [FILTERS_OF_TOWER, 1, 1]]), weights,
                      np.array([[LOGITS, 0, 0, 1]]))
    layout = lay_out(table, POSITIONS)
    memory = np.zeros(layout.size, dtype=np.float32)
    planes = np.ones((POSITIONS, FILTERS_OF_TOWER, BOARD_SIZE, BOARD_SIZE), dtype=np.float32)
    answers = np.zeros((POSITIONS, BOARD_SIZE**2), dtype=np.float32)
    return lambda: run_steps(table.steps, layout.matrices, table.numbers, planes, table.parts, memory, layout.work,
                             answers)
