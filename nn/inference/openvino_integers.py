"""A network's convolutions in integers of 8 bits, which many processors multiply four times as fast as float32.

What enters a convolution is rounded to 256 steps, its weights to 255 steps of another size for each filter; their
products are summed exactly, and all that lies between convolutions, and the heads, stay in floating point (Jacob et
al., "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference", 2018, section 2).
The steps are those that suit the positions of games that the network plays against itself (calibration.py).

Letters: N positions, P planes, S board size, A = S*S + 1 policy entries, C channels, F filters, K = 9 C weights of one.
"""

from typing import Any

import numpy as np
import openvino
from openvino import opset13

from nn.feature import PlaneSet
from nn.inference.calibration import count_games, play_games
from nn.inference.divergence import compare
from nn.inference.weight_rounding import (
    KERNEL,
    LEAST,
    SHARES,
    WEIGHT_LEVELS,
    choose_last_steps,
    multiply_windows,
    round_together,
    round_weights,
)

ENTERING_LEVELS = 256
# Values of each call that steps are chosen by, and points of it whose surroundings tell how weights go together. Where
# channels are many, weights are rounded each by itself: together takes a time that grows with the cube of their number.
SAMPLE, POINTS, MAX_CHANNELS = 500, 80, 128
# How far channels get steps of their own; as the mean over five networks the policy loses half of what it lost with 0.
SMOOTHING = 0.75
# A network that loses more than this by it, nats of its policy and win rate (rms), keeps its format. What is usual is
# 0.0002 and 0.003, for KataGo's network of 6 blocks 0.0005 and 0.004.
MAX_DIVERGENCE, MAX_RATE_ERROR = 0.01, 0.03
# Steps are chosen and compared with all else in float32; the evaluator may have that in bfloat16 (find_network).
CONFIG = {"NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"}


class Entering:
    """What was seen entering one convolution.

    Attributes:
        highest: the greatest value of each channel, [C].
        products: what a filter reads times itself, summed over points, [K, K]; None where channels are many.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self._low = 0.0
        self.highest: np.ndarray = np.zeros(1)
        self.products: np.ndarray | None = None
        self._sum: np.ndarray | float = 0.0
        self._count = 0
        self._samples: list[np.ndarray] = []

    def add(self, features: np.ndarray, rng: np.random.Generator) -> None:
        """Look at features [N, C, S, S]."""
        self._low = min(self._low, float(features.min()))
        self.highest = np.maximum(self.highest, features.max(axis=(0, 2, 3)))
        self._sum = self._sum + features.sum(axis=0)
        self._count += len(features)
        self._samples.append(rng.choice(features.ravel(), SAMPLE))
        if features.shape[1] <= MAX_CHANNELS:
            added = multiply_windows(features, POINTS, rng)
            self.products = added if self.products is None else self.products + added

    @property
    def mean(self) -> np.ndarray:
        """Return the mean of each channel at each point, [C, S, S]."""
        return np.asarray(self._sum / max(self._count, 1))

    def choose_range(self) -> tuple[float, float]:
        """Return the first and the last step, one of which is 0, so that squared errors are small."""
        values, high = np.concatenate(self._samples), float(np.max(self.highest))
        ranges = [align_zero(self._low, max(share * high, LEAST)) for share in SHARES]
        return min(ranges, key=lambda pair: float(np.square(round_to_steps(values, *pair) - values).mean()))

    def share_range(self, low: float, high: float, weight: np.ndarray) -> np.ndarray:
        """Return how much of a range from `low` to `high` each channel gets, float32 [C], above 0.

        Channels of small values get small steps where weights [F, C, 3, 3] bear it that these are multiplied by the
        parts (Xiao et al., "SmoothQuant", 2023, equation 4), those of large ones sometimes more than the whole range.
        All get just that where values are below 0, too.
        """
        reached = self.highest / high
        if low < 0.0:
            return np.ones(len(reached), dtype=np.float32)
        used = np.maximum(np.abs(weight).max(axis=(0, 2, 3)), LEAST)
        parts = np.maximum(reached, LEAST)**SMOOTHING / used**(1.0 - SMOOTHING)
        return np.asarray(parts * (np.minimum(reached, 1.0) / parts).max(), dtype=np.float32)


def align_zero(low: float, high: float) -> tuple[float, float]:
    """Return a range of ENTERING_LEVELS steps near to that from `low` (at most 0) to `high` in which 0 is a step."""
    step = (high - low) / (ENTERING_LEVELS - 1)
    first = round(low / step) * step
    return first, first + (ENTERING_LEVELS - 1) * step


def round_to_steps(values: np.ndarray, low: float, high: float) -> np.ndarray:
    """Return the nearest of the steps for each value."""
    step = (high - low) / (ENTERING_LEVELS - 1)
    return np.asarray(np.round((np.clip(values, low, high) - low) / step) * step + low)


def sum_of_means(mean: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the mean over all points, [F], of a convolution [F, C, 3, 3] of [C, S, S] with a border of zeros."""
    size, padded = mean.shape[1], np.pad(mean, ((0, 0), (1, 1), (1, 1)))
    windows = np.array([[padded[:, y:y + size, x:x + size].mean(axis=(1, 2)) for x in range(KERNEL)]
                        for y in range(KERNEL)])
    return np.einsum("fcyx,yxc->f", weight, windows)


def find_convolutions(model: openvino.Model) -> list[Any]:
    """Return the convolutions of 3x3 of the trunk, in order; the first, which reads planes, is none of them."""
    found = []
    for node in model.get_ordered_ops():
        if node.get_type_name() == "Convolution":
            features, weight = node.input_value(0), node.input_value(1)
            if (list(weight.get_shape())[2:] == [KERNEL, KERNEL] and weight.get_node().get_type_name() == "Constant"
                    and features.get_node().get_type_name() != "Parameter"):
                found.append(node)
    return found


def is_read_once(node: Any, kind: str) -> bool:
    """Tell whether a node is of a kind, and a single input reads it."""
    return node.get_type_name() == kind and len(node.output(0).get_target_inputs()) == 1


def find_source(convolution: Any) -> tuple[Any, Any] | None:
    """Return the convolution, and the sum with its bias, whose rectified values alone enter another convolution."""
    node, chain = convolution, []
    for kind in ("Relu", "Add", "Convolution"):
        node = node.input_value(0).get_node()
        if not is_read_once(node, kind):
            return None
        chain.append(node)
    _, added, source = chain
    constants = (one.input_value(1).get_node().get_type_name() for one in (source, added))
    return (source, added) if all(kind == "Constant" for kind in constants) else None


def divide_channels(source: tuple[Any, Any], parts: np.ndarray) -> None:
    """Divide what a convolution and its bias make by parts [1, F, 1, 1], above 0; modifies the model."""
    for node, shape in zip(source, ((-1, 1, 1, 1), (1, -1, 1, 1)), strict=True):
        values = node.input_value(1).get_node().get_data().astype(np.float32)
        node.input(1).replace_source_output(opset13.constant(values / parts.reshape(shape)).output(0))


def quantize_convolution(convolution: Any, entering: Entering) -> None:
    """Have a convolution calculate in integers; modifies the model.

    What rounding its weights changes in the mean is put right by a bias (Nagel et al., "Data-Free Quantization through
    Weight Equalization and Bias Correction", 2019, section 4.2).
    """
    low, high = entering.choose_range()
    weight = convolution.input_value(1).get_node().get_data().astype(np.float32)
    parts = entering.share_range(low, high, weight).reshape(1, -1, 1, 1)
    reached = parts
    if source := find_source(convolution):  # one range for all channels, which is rounded to in a third of the time
        divide_channels(source, parts)
        reached = np.ones_like(parts)
    steps = opset13.fake_quantize(convolution.input_value(0), np.float32(low) * reached, np.float32(high) * reached,
                                  np.float32(low), np.float32(high), ENTERING_LEVELS)
    scaled = weight * parts
    last = choose_last_steps(scaled)
    if entering.products is None:
        rounded = round_weights(scaled, last)
    else:  # what enters is divided by the parts
        each = np.repeat(parts.ravel(), KERNEL * KERNEL)
        rounded = round_together(scaled, last, entering.products / np.outer(each, each))
    readers = convolution.output(0).get_target_inputs()
    convolution.input(0).replace_source_output(steps.output(0))
    convolution.input(1).replace_source_output(
        opset13.fake_quantize(opset13.constant(rounded.astype(np.float32)), -last, last, -last, last, WEIGHT_LEVELS)
        .output(0))
    missing = sum_of_means(entering.mean, weight - rounded / parts).astype(np.float32)
    mended = opset13.add(convolution, opset13.constant(missing.reshape(1, -1, 1, 1)))
    for reader in readers:
        reader.replace_source_output(mended.output(0))


class Watched:
    """A network that shows what enters its convolutions, but for those in integers, beside its own answers.

    Attributes:
        seen: what entered each convolution.
    """

    def __init__(self, core: openvino.Core, model: openvino.Model, shape: tuple[int, ...]) -> None:
        """Prepare a network for planes of a shape; it is left as it is."""
        watched = model.clone()
        own = len(watched.outputs)
        watched.add_outputs([convolution.input_value(0) for convolution in find_convolutions(watched)])
        watched.reshape({0: shape})
        self._request = core.compile_model(watched, "CPU", CONFIG).create_infer_request()
        self._features = range(own, len(watched.outputs))
        self.seen = [Entering() for _ in self._features]
        self._logits: list[np.ndarray] = []
        self._chances: list[np.ndarray] = []
        self._rng = np.random.default_rng(0)

    def __call__(self, planes: np.ndarray) -> np.ndarray:
        """Return the policy logits [N, A] of planes, and remember what was seen and answered."""
        self._request.infer([planes])
        for entering, number in zip(self.seen, self._features, strict=True):
            entering.add(self._request.get_output_tensor(number).data, self._rng)
        self._logits.append(self._request.get_output_tensor(0).data.copy())
        self._chances.append(self._request.get_output_tensor(1).data.copy())
        return self._logits[-1]

    @property
    def answers(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the logits [N, A] and chances [N, 3] of all calls."""
        return np.concatenate(self._logits), np.concatenate(self._chances)


def quantize(core: openvino.Core, model: openvino.Model, plane_set: PlaneSet, board_size: int) -> bool:
    """Have a network calculate in integers of 8 bits; tell whether it still says the same. Modifies the model."""
    shape = count_games(board_size), plane_set.planes, board_size, board_size
    watched = Watched(core, model, shape)
    shown = list(play_games(watched, plane_set, board_size))
    # The last one first: what enters a convolution is scaled by the one before it.
    for convolution, entering in reversed(list(zip(find_convolutions(model), watched.seen, strict=True))):
        quantize_convolution(convolution, entering)
    model.validate_nodes_and_infer_types()
    rounded = Watched(core, model, shape)
    for planes in shown:
        rounded(planes)
    divergence, error = compare(watched.answers, rounded.answers)
    return divergence <= MAX_DIVERGENCE and error <= MAX_RATE_ERROR
