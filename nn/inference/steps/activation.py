"""What follows a convolution: ReLU inside other steps, or a curve as a step of its own; and squeeze and excitation.

Letters: R rows (points or boards), S board size, C channels.
"""

import numpy as np

from common.kernel import kernel
from common.lanes import (
    LANES,
    add_lanes,
    divide_lanes,
    exp_lanes,
    load_lanes,
    multiply_lanes,
    spread_lanes,
    store_lanes,
)
from nn.inference.steps.winograd import Ending, Matrix, finish

# What becomes of a number: nothing; 0 where it is below; x / (1 + e^-x) (Ramachandran et al., "Searching for Activation
# Functions", 2017); x tanh(log(1 + e^x)) (Misra, "Mish", BMVC 2020).
LINEAR, RELU, SWISH, MISH = range(4)
# Those that are steps of their own.
CURVES = (SWISH, MISH)


@kernel
def sigmoid(lanes: np.ndarray) -> np.ndarray:
    """Return 1 / (1 + e^-x) of sixteen numbers."""
    one = spread_lanes(1.0)
    return divide_lanes(one, add_lanes(one, exp_lanes(multiply_lanes(lanes, spread_lanes(-1.0))), 1.0))


@kernel
def mish(lanes: np.ndarray) -> np.ndarray:
    """Return x tanh(log(1 + e^x)) = x - x / (1 + e^x + e^2x / 2) of sixteen numbers; x where e^2x is infinite."""
    power, one = exp_lanes(lanes), spread_lanes(1.0)
    divisor = add_lanes(add_lanes(one, power, 1.0), multiply_lanes(power, power), 0.5)
    return add_lanes(lanes, divide_lanes(lanes, divisor), -1.0)


@kernel
def activate_rows(memory: np.ndarray, rows: int, source: Matrix, channels: int, activation: int) -> None:
    """Put SWISH or MISH of channels [R, C] in their place. Modifies memory."""
    for row in range(rows):
        for at in range(source.start + row * source.columns, source.start + row * source.columns + channels, LANES):
            lanes = load_lanes(memory, at)
            store_lanes(memory, at, mish(lanes) if activation == MISH else multiply_lanes(lanes, sigmoid(lanes)))


@kernel
def excite_board(memory: np.ndarray, board: int, hidden: Matrix, target: Matrix, channels: int, points: int,
                 ending: Ending) -> None:
    """Add hidden [S*S, C] of a board, scaled by the sigmoid of its numbers and shifted by others, to target.

    Modifies memory.

    Args:
        memory: where all lies.
        board: where the board's numbers begin: C that scale, and behind them C that shift.
        hidden, target: [S*S, C].
        channels, points: C and S*S.
        ending: what becomes of the sums.
    """
    for channel in range(0, channels, LANES):
        factor, shift = sigmoid(load_lanes(memory, board + channel)), load_lanes(memory, board + channels + channel)
        for point in range(points):
            lanes = load_lanes(memory, hidden.start + point * hidden.columns + channel)
            at = target.start + point * target.columns + channel
            lanes = add_lanes(add_lanes(shift, multiply_lanes(lanes, factor), 1.0), load_lanes(memory, at), 1.0)
            finish(memory, at, lanes, ending)
