"""Sixteen float32 numbers at a time, for kernels whose sums are to stay in registers.

numba turns a loop over an array into vector instructions, but where several arrays may overlap it writes each sum back
before it reads the next number. These functions say what is meant: LLVM makes of them one instruction or two with
AVX-512, four without AVX. Additions and multiplications stay two steps, so that every machine calculates the same; only
`fuse_lanes` makes one of them, for networks, which no two machines calculate alike anyway. Called from Python they do
the same with numpy.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import lower_builtin, models, register_model, type_callable

LANES = 16
VECTOR = ir.VectorType(ir.FloatType(), LANES)
WHOLES = ir.VectorType(ir.IntType(32), LANES)
# Powers of e that a float32 can be, and log(2) as a sum whose first part times a small whole number is exact.
LEAST_POWER, GREATEST_POWER = -87.0, 88.0
LOG_2 = (0.693359375, -2.12194440e-4)
# Added and subtracted, it rounds a small float32 to a whole number.
ROUNDING = 1.5 * 2.0**23
# Layout of a float32: FRACTION_BITS bits of fraction, above them the exponent of 2 plus EXPONENT_BIAS.
EXPONENT_BIAS, FRACTION_BITS = 127, 23
TERMS = 6  # of the series of e^r for |r| <= log(2) / 2, the last one


class LanesType(types.Type):
    """The type of sixteen numbers in compiled code."""

    def __init__(self) -> None:
        """Name it."""
        super().__init__("Lanes")


lanes_type = LanesType()


class LanesModel(models.PrimitiveModel):
    """How they are kept: in a vector."""

    def __init__(self, manager: Any, kind: Any) -> None:
        """Choose the vector."""
        super().__init__(manager, kind, VECTOR)


def load_lanes(numbers: np.ndarray, start: int) -> np.ndarray:
    """Return the sixteen numbers of an array (float32, in one piece) that begin at `start`."""
    return numbers[start : start + LANES].copy()


def store_lanes(numbers: np.ndarray, start: int, lanes: np.ndarray) -> None:
    """Put sixteen numbers into an array from `start` on. Modifies numbers."""
    numbers[start : start + LANES] = lanes


def greater_lanes(lanes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the greater one of each pair of numbers; with zeros the bend of a ReLU."""
    return np.maximum(lanes, others)


def multiply_lanes(lanes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the product of each pair of numbers."""
    return lanes * others


def divide_lanes(lanes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the quotient of each pair of numbers."""
    return lanes / others


def exp_lanes(lanes: np.ndarray) -> np.ndarray:
    """Return e to the power of each number, to six digits; numbers beyond -87 and 88 count as these."""
    return np.exp(np.clip(lanes, np.float32(LEAST_POWER), np.float32(GREATEST_POWER)))


def spread_lanes(number: float) -> np.ndarray:
    """Return sixteen times the same number."""
    return np.full(LANES, number, dtype=np.float32)


def add_lanes(sums: np.ndarray, lanes: np.ndarray, factor: float) -> np.ndarray:
    """Return sums + lanes * factor."""
    return sums + lanes * np.float32(factor)


def fuse_lanes(sums: np.ndarray, lanes: np.ndarray, numbers: np.ndarray, index: int) -> np.ndarray:
    """Return sums + lanes * numbers[index], rounded once where the processor can."""
    return sums + lanes * numbers[index]


def point_at(context: Any, builder: Any, kind: Any, numbers: Any, start: Any) -> Any:
    """Return a pointer to a number of an array."""
    return builder.gep(context.make_array(kind)(context, builder, numbers).data, [start])


def spread(builder: Any, number: Any) -> Any:
    """Return sixteen times a number."""
    nothing = ir.Constant(VECTOR, ir.Undefined)
    one = builder.insert_element(nothing, number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))


def lower_load(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write the instructions of load_lanes."""
    first = point_at(context, builder, signature.args[0], *arguments)
    return builder.load(builder.bitcast(first, VECTOR.as_pointer()), align=4)


def lower_store(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write the instructions of store_lanes."""
    numbers, start, lanes = arguments
    first = point_at(context, builder, signature.args[0], numbers, start)
    builder.store(lanes, builder.bitcast(first, VECTOR.as_pointer()), align=4)
    return context.get_dummy_value()


def lower_greater(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
    """Write the instructions of greater_lanes."""
    return builder.select(builder.fcmp_ordered(">", *arguments), *arguments)


def lower_multiply(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
    """Write the instructions of multiply_lanes."""
    return builder.fmul(*arguments)


def lower_divide(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
    """Write the instructions of divide_lanes."""
    return builder.fdiv(*arguments)


def lower_exp(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
    """Write the instructions of exp_lanes: x = n log(2) + r, and e^x is 2^n times the Taylor series of e^r."""
    def lanes_of(number: float) -> Any:
        return ir.Constant(VECTOR, [float(np.float32(number))] * LANES)

    (x,) = arguments
    for sign, bound in ((">", LEAST_POWER), ("<", GREATEST_POWER)):
        x = builder.select(builder.fcmp_ordered(sign, x, lanes_of(bound)), x, lanes_of(bound))
    wide = builder.fadd(builder.fmul(x, lanes_of(1.0 / math.log(2.0))), lanes_of(ROUNDING))
    whole = builder.fsub(wide, lanes_of(ROUNDING))
    for part in LOG_2:
        x = builder.fsub(x, builder.fmul(whole, lanes_of(part)))
    series = lanes_of(1.0 / math.factorial(TERMS))
    for n in range(TERMS - 1, -1, -1):
        series = builder.fadd(builder.fmul(series, x), lanes_of(1.0 / math.factorial(n)))
    exponent = builder.add(builder.fptosi(whole, WHOLES), ir.Constant(WHOLES, [EXPONENT_BIAS] * LANES))
    power = builder.shl(exponent, ir.Constant(WHOLES, [FRACTION_BITS] * LANES))
    return builder.fmul(series, builder.bitcast(power, VECTOR))


def lower_spread(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write the instructions of spread_lanes."""
    return spread(builder, context.cast(builder, arguments[0], signature.args[0], types.float32))


def lower_add(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write the instructions of add_lanes."""
    sums, lanes, factor = arguments
    number = context.cast(builder, factor, signature.args[2], types.float32)
    return builder.fadd(sums, builder.fmul(lanes, spread(builder, number)))


def lower_fuse(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write the instructions of fuse_lanes."""
    sums, lanes, numbers, index = arguments
    number = builder.load(point_at(context, builder, signature.args[2], numbers, index))
    kind = ir.FunctionType(VECTOR, [VECTOR] * 3)
    fuse = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.v{LANES}f32")
    return builder.call(fuse, [lanes, spread(builder, number), sums])


def register(function: Callable[..., Any], typer: Callable[..., Any], kinds: tuple[Any, ...],
             lower: Callable[..., Any]) -> None:
    """Tell numba what a function returns, for arguments of which kinds, and what writes its instructions."""
    type_callable(function)(lambda _context: typer)
    lower_builtin(function, *kinds)(lower)


register_model(LanesType)(LanesModel)
register(load_lanes, lambda numbers, start: lanes_type, (types.Array, types.Integer), lower_load)
register(store_lanes, lambda numbers, start, lanes: types.void, (types.Array, types.Integer, LanesType), lower_store)
register(spread_lanes, lambda number: lanes_type, (types.Float,), lower_spread)
register(add_lanes, lambda sums, lanes, factor: lanes_type, (LanesType, LanesType, types.Float), lower_add)
register(greater_lanes, lambda lanes, others: lanes_type, (LanesType, LanesType), lower_greater)
register(multiply_lanes, lambda lanes, others: lanes_type, (LanesType, LanesType), lower_multiply)
register(divide_lanes, lambda lanes, others: lanes_type, (LanesType, LanesType), lower_divide)
register(exp_lanes, lambda lanes: lanes_type, (LanesType,), lower_exp)
register(fuse_lanes, lambda sums, lanes, numbers, index: lanes_type,
         (LanesType, LanesType, types.Array, types.Integer), lower_fuse)
