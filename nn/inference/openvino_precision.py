"""Which number format OpenVINO is fastest with here: not every processor that understands one gains by it.

Processors with AVX-512 VNNI or a matrix unit (AMX) multiply integers of 8 bits two to three times as fast as float32.
With bfloat16 those with the unit, and AMD's, gain as much; Intel's without it, which virtual machines often hide, are
slower with it than with float32. So it is measured, once a machine. What a network in integers has beside its
convolutions of 3x3 is calculated in the better one of the other two.
"""

from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np
import openvino
from openvino import opset13

from common.choice import read_choice
from common.machine_facts import recall
from common.race import measure_gain
from nn.constant import (
    HALF_GAIN,
    PRECISION_VARIABLE,
    PRECISIONS,
    TOWER_CHANNELS,
    TOWER_LAYERS,
    TOWER_POSITIONS,
    TOWER_ROUNDS,
    TOWER_SIZE,
)

# Integers round more than bfloat16 does: they have to be so many times as fast as the next best format.
INTEGER_GAIN = 1.3


class Format(Enum):
    """A number format of convolutions, and what people call it."""

    INTEGER, HALF, FULL = PRECISIONS

    @property
    def hint(self) -> str:
        """Return how OpenVINO is told this format of floating-point numbers."""
        return "bf16" if self is Format.HALF else "f32"


def make_tower(with_integers: bool) -> openvino.Model:
    """Return a few convolutions of the usual size."""
    planes = opset13.parameter([TOWER_POSITIONS, TOWER_CHANNELS, TOWER_SIZE, TOWER_SIZE], np.float32)
    features = planes
    for number in range(TOWER_LAYERS):
        weight = opset13.constant(
            np.random.default_rng(number).normal(0.0, 0.05, (TOWER_CHANNELS, TOWER_CHANNELS, 3, 3)).astype(np.float32))
        if with_integers:
            weight = opset13.fake_quantize(weight, *map(np.float32, (-1, 1, -1, 1)), 255)
            features = opset13.fake_quantize(features, *map(np.float32, (0, 1, 0, 1)), 256)
        features = opset13.relu(opset13.convolution(features, weight, [1, 1], [1, 1], [1, 1], [1, 1]))
    return openvino.Model([features], [planes], "tower")


def make_way(core: Any, number_format: Format) -> Callable[[], object]:
    """Return what runs the tower in a format; raises RuntimeError, OpenVINO's, where it cannot be run."""
    config = {"NUM_STREAMS": 1, "INFERENCE_NUM_THREADS": 1, "INFERENCE_PRECISION_HINT": number_format.hint}
    model = make_tower(number_format is Format.INTEGER)
    request = core.compile_model(model, "CPU", config).create_infer_request()
    request.get_input_tensor().data.fill(1.0)  # its memory may hold denormal numbers, which are slow
    return request.infer  # type: ignore[no-any-return]


def measure(core: Any, new: Format, old: Format) -> float:
    """Return how many times as fast one format is as another, 0 where it cannot be run; takes a third of a second."""
    try:
        return measure_gain(make_way(core, new), make_way(core, old), TOWER_ROUNDS)
    except RuntimeError:  # what a processor is said to do is not always there
        return 0.0


def find_fastest_formats(core: Any, capabilities: list[str]) -> list[Format]:
    """Return the formats that are worth using: integers if they are, and the better one for what is not in them."""
    floats = Format.FULL
    if "BF16" in capabilities and measure(core, Format.HALF, Format.FULL) >= HALF_GAIN:
        floats = Format.HALF
    if "INT8" in capabilities and measure(core, Format.INTEGER, floats) >= INTEGER_GAIN:
        return [Format.INTEGER, floats]
    return [floats]


def choose_formats(core: Any) -> list[Format]:
    """Return what is fastest here, or what PRECISION_VARIABLE names; the last one is no integers.

    Raises ValueError where PRECISION_VARIABLE names none.
    """
    wanted = read_choice(PRECISION_VARIABLE, PRECISIONS)
    if wanted and Format(wanted) is not Format.INTEGER:
        return [Format(wanted)]
    fastest = recall_fastest(core)
    return [Format.INTEGER, fastest[-1]] if wanted else fastest


def recall_fastest(core: Any) -> list[Format]:
    """Return what find_fastest_formats does, measured at the first call on a machine and kept on disk."""
    capabilities = core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    stamp = f"{openvino.__version__} {core.get_property('CPU', 'FULL_DEVICE_NAME')} {capabilities}"
    return recall("formats", stamp, lambda text: [Format(word) for word in text.split()],
                  lambda: " ".join(one.value for one in find_fastest_formats(core, capabilities)))
