"""Which number format OpenVINO is faster with here: not every processor that understands bfloat16 gains by it.

Processors with a matrix unit (AMX), and AMD's with AVX-512, multiply bfloat16 twice as fast and more; Intel's without
the unit, which virtual machines often hide, are slower with it than with float32. So it is measured, once a machine.
"""

import contextlib
import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
import openvino
from openvino import opset13

from common.atomic_file import write_atomically
from common.kernel_cache import cache_folder
from common.race import measure_gain
from nn.constant import HALF_GAIN

CHANNELS, BOARD_SIZE, POSITIONS, LAYERS = 64, 9, 8, 4
ROUNDS = 5
HALF, FULL = "bf16", "f32"  # OpenVINO's names
FORMATS = {HALF: "bfloat16", FULL: "float32"}


def _make_tower() -> openvino.Model:
    """Return a few convolutions of the usual size."""
    planes = opset13.parameter([POSITIONS, CHANNELS, BOARD_SIZE, BOARD_SIZE], np.float32)
    features = planes
    for number in range(LAYERS):
        weight = np.random.default_rng(number).normal(0.0, 0.05, (CHANNELS, CHANNELS, 3, 3)).astype(np.float32)
        features = opset13.relu(opset13.convolution(features, opset13.constant(weight), [1, 1], [1, 1], [1, 1], [1, 1]))
    return openvino.Model([features], [planes], "tower")


def measure_half(core: Any) -> float:
    """Return how many times as fast bfloat16 is as float32; takes a third of a second."""

    def make_way(hint: str) -> Callable[[], object]:
        """Return what runs the tower in a format."""
        config = {"NUM_STREAMS": 1, "INFERENCE_NUM_THREADS": 1, "INFERENCE_PRECISION_HINT": hint}
        request = core.compile_model(_make_tower(), "CPU", config).create_infer_request()
        request.get_input_tensor().data.fill(1.0)  # its memory may hold denormal numbers, which are slow
        return request.infer  # type: ignore[no-any-return]

    return measure_gain(make_way(HALF), make_way(FULL), ROUNDS)


def choose_hint(core: Any) -> str:
    """Return OpenVINO's name of the faster format: measured at the first call on a machine, and kept on disk."""
    capabilities = core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    if "BF16" not in capabilities:
        return FULL
    stamp = f"{openvino.__version__} {core.get_property('CPU', 'FULL_DEVICE_NAME')} {capabilities}".encode()
    name, base = f"precision-{hashlib.sha256(stamp).hexdigest()[:8]}.txt", cache_folder()
    with contextlib.suppress(OSError):
        if base and (known := (base / name).read_text()) in FORMATS:
            return known
    hint = HALF if measure_half(core) >= HALF_GAIN else FULL
    with contextlib.suppress(OSError):
        if base:
            write_atomically(base / name, hint.encode())
    return hint
