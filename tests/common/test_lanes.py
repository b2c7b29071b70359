"""Sixteen numbers at a time: compiled code does what the same lines do as Python."""
from __future__ import annotations

import numpy as np

from common.kernel import kernel, without_compiler
from common.lanes import LANES, add_lanes, load_lanes, spread_lanes, store_lanes


@kernel
def add_neighbors(source: np.ndarray, target: np.ndarray, weights: np.ndarray) -> None:
    """Put into target a sum over three numbers around each, by weights [3], and a fourth. Modifies target."""
    for start in range(1, len(target) - LANES, LANES):
        sums = spread_lanes(weights[3])
        for i in range(3):
            sums = add_lanes(sums, load_lanes(source, start + i - 1), weights[i])
        store_lanes(target, start, sums)


def test_compiled_lanes_are_those_of_python() -> None:
    rng = np.random.default_rng(1)
    source, weights = (rng.standard_normal(count).astype(np.float32) for count in (3 * LANES, 4))
    compiled, python = np.full((2, 3 * LANES), -7.0, dtype=np.float32)
    add_neighbors(source, compiled, weights)
    with without_compiler():
        add_neighbors.py_func(source, python, weights)  # type: ignore[attr-defined]
    assert np.array_equal(compiled, python)  # to the last bit: no multiplication is fused with an addition
    inside = slice(1, 2 * LANES + 1)
    expected = np.convolve(source, weights[2::-1], "same")[inside] + weights[3]
    assert np.allclose(compiled[inside], np.maximum(expected, 0.0), atol=1e-5)
    assert (compiled[inside] == 0.0).any() and (compiled[2 * LANES + 1 :] == -7.0).all() and compiled[0] == -7.0
