"""Which number format OpenVINO is faster with here: not every processor that understands bfloat16 gains by it.

Processors with a matrix unit (AMX), and AMD's with AVX-512, multiply bfloat16 twice as fast and more; Intel's without
the unit, which virtual machines often hide, are slower with it than with float32. So it is measured, once a machine.
"""

import contextlib
import hashlib
import time
from typing import Any

import numpy as np
import openvino
from openvino import opset13

from common.atomic_file import write_atomically
from common.kernel_cache import cache_folder

CHANNELS, BOARD_SIZE, POSITIONS, LAYERS = 64, 9, 8, 4
ROUNDS = 5
# bfloat16 is taken where it is so many times as fast; float32 is more exact.
LEAST_GAIN = 1.1
HINTS = {True: "bf16", False: "f32"}
FORMATS = {"bf16": "bfloat16", "f32": "float32"}


def _make_tower() -> openvino.Model:
    """Return a few convolutions of the usual size."""
    planes = opset13.parameter([POSITIONS, CHANNELS, BOARD_SIZE, BOARD_SIZE], np.float32)
    features = planes
    for number in range(LAYERS):
        weight = np.random.default_rng(number).normal(0.0, 0.05, (CHANNELS, CHANNELS, 3, 3)).astype(np.float32)
        features = opset13.relu(opset13.convolution(features, opset13.constant(weight), [1, 1], [1, 1], [1, 1], [1, 1]))
    return openvino.Model([features], [planes], "tower")


def measure_gain(core: Any) -> float:
    """Return how many times as fast bfloat16 is as float32; takes a tenth of a second."""
    requests = {}
    for half, hint in HINTS.items():
        config = {"NUM_STREAMS": 1, "INFERENCE_NUM_THREADS": 1, "INFERENCE_PRECISION_HINT": hint}
        requests[half] = core.compile_model(_make_tower(), "CPU", config).create_infer_request()
        requests[half].get_input_tensor().data.fill(1.0)  # its memory may hold denormal numbers, which are slow
        requests[half].infer()
    least = dict.fromkeys(HINTS, float("inf"))
    for _ in range(ROUNDS):
        for half, request in requests.items():
            begin = time.perf_counter()
            request.infer()
            least[half] = min(least[half], time.perf_counter() - begin)
    return least[False] / least[True]


def choose_hint(core: Any) -> str:
    """Return OpenVINO's name of the faster format: measured at the first call on a machine, and kept on disk."""
    if "BF16" not in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES"):
        return HINTS[False]
    processor, base = core.get_property("CPU", "FULL_DEVICE_NAME"), cache_folder()
    capabilities = core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    stamp = hashlib.sha256(f"{openvino.__version__} {processor} {capabilities}".encode()).hexdigest()[:8]
    path = base and base / f"precision-{stamp}.txt"
    if path:
        with contextlib.suppress(OSError):
            known = path.read_text()
            if known in HINTS.values():
                return known
    hint = HINTS[measure_gain(core) >= LEAST_GAIN]
    if path:
        with contextlib.suppress(OSError):
            write_atomically(path, hint.encode())
    return hint
