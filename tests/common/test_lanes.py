"""Sixteen numbers at a time: compiled code does what the same lines do as Python."""
from __future__ import annotations

import numpy as np
import pytest

from common.kernel import kernel, without_compiler
from common.lanes import (
    LANES,
    add_lanes,
    divide_lanes,
    exp_lanes,
    fuse_lanes,
    greater_lanes,
    load_lanes,
    multiply_lanes,
    spread_lanes,
    store_lanes,
)


@kernel
def add_neighbors(source: np.ndarray, target: np.ndarray, weights: np.ndarray) -> None:
    """Put into target a half of a sum over three numbers around each, by weights [3], and a fourth.

    Modifies target.
    """
    for start in range(1, len(target) - LANES, LANES):
        sums = spread_lanes(weights[3])
        for i in range(3):
            sums = add_lanes(sums, load_lanes(source, start + i - 1), weights[i])
        store_lanes(target, start, greater_lanes(multiply_lanes(sums, spread_lanes(0.5)), spread_lanes(0.0)))


def test_compiled_lanes_are_those_of_python() -> None:
    rng = np.random.default_rng(1)
    source, weights = (rng.standard_normal(count).astype(np.float32) for count in (3 * LANES, 4))
    compiled, python = np.full((2, 3 * LANES), -7.0, dtype=np.float32)
    add_neighbors(source, compiled, weights)
    with without_compiler():
        getattr(add_neighbors, "py_func", add_neighbors)(source, python, weights)
    assert np.array_equal(compiled, python)  # to the last bit: no multiplication is fused with an addition
    inside = slice(1, 2 * LANES + 1)
    expected = 0.5 * (np.convolve(source, weights[2::-1], "same")[inside] + weights[3])
    assert np.allclose(compiled[inside], np.maximum(expected, 0.0), atol=1e-5)
    assert (compiled[inside] == 0.0).any() and (compiled[2 * LANES + 1 :] == -7.0).all() and compiled[0] == -7.0


@kernel
def multiply_fused(source: np.ndarray, target: np.ndarray, factors: np.ndarray) -> None:
    """Put into target sixteen numbers, and their products with each of the factors added. Modifies target."""
    sums = load_lanes(source, 0)
    for i in range(len(factors)):
        sums = fuse_lanes(sums, load_lanes(source, LANES), factors, i)
    store_lanes(target, 0, sums)


def test_fused_lanes_round_once() -> None:
    rng = np.random.default_rng(2)
    source, factors = (rng.standard_normal(count).astype(np.float32) for count in (2 * LANES, 5))
    target = np.zeros(LANES, dtype=np.float32)
    multiply_fused(source, target, factors)
    expected = source[:LANES].copy()
    for factor in factors:
        expected = (source[LANES:].astype(np.float64) * np.float64(factor) + expected).astype(np.float32)
    assert np.allclose(target, expected, rtol=1e-6)
    with without_compiler():
        getattr(multiply_fused, "py_func", multiply_fused)(source, target, factors)
    assert np.allclose(target, expected, rtol=1e-5)


@kernel
def divide_powers(source: np.ndarray, target: np.ndarray) -> None:
    """Put into target e^x of sixteen numbers, and behind them their quotient with the next sixteen.

    Modifies target.
    """
    powers = exp_lanes(load_lanes(source, 0))
    store_lanes(target, 0, powers)
    store_lanes(target, LANES, divide_lanes(powers, load_lanes(source, LANES)))


@pytest.mark.parametrize("middle", [-200.0, -80.0, -10.0, 0.0, 1.0, 20.0, 80.0, 200.0])
def test_powers_and_quotients(middle: float) -> None:
    rng = np.random.default_rng(3)
    source = np.concatenate((middle + rng.normal(0.0, 4.0, LANES), rng.uniform(0.5, 2.0, LANES))).astype(np.float32)
    compiled, python = np.zeros((2, 2 * LANES), dtype=np.float32)
    divide_powers(source, compiled)
    with without_compiler():
        getattr(divide_powers, "py_func", divide_powers)(source, python)
    expected = np.exp(np.clip(source[:LANES].astype(np.float64), -87.0, 88.0))
    for found in (compiled, python):
        assert np.allclose(found[:LANES], expected, rtol=1e-6)
        assert np.allclose(found[LANES:], expected / source[LANES:], rtol=1e-6)


def test_e_to_the_power_of_0_is_1() -> None:
    source, target = np.zeros(2 * LANES, dtype=np.float32), np.zeros(2 * LANES, dtype=np.float32)
    source[LANES:] = 1.0
    divide_powers(source, target)
    assert (target == 1.0).all()
