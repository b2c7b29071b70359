"""All eight ways in which a position can lie get one answer."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from board.geometry import make_symmetry_index
from nn.inference.orientation import Orientation


def turn(values: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return planes [N, P, S, S] read through one symmetry."""
    return values.reshape(*values.shape[:2], -1)[:, :, order[:-1]].reshape(values.shape)


@pytest.mark.plain
@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 1000), size=st.integers(2, 6), symmetry=st.integers(0, 7))
def test_a_turned_position_is_seen_as_the_same(seed: int, size: int, symmetry: int) -> None:
    rng = np.random.default_rng(seed)
    planes = (rng.random((3, 4, size, size)) < 0.3).astype(np.float32)
    order = make_symmetry_index(size)[symmetry]
    orientation = Orientation(size, 4)
    seen, chosen = orientation.turn(planes)
    again, other = orientation.turn(turn(planes, order))
    assert np.array_equal(seen, again)
    answer = rng.random((3, size * size + 1)).astype(np.float32)
    plain, turned = orientation.turn_back(answer, chosen), orientation.turn_back(answer, other)
    for n in range(3):
        ways = {turn(planes[n:n + 1], one).tobytes() for one in make_symmetry_index(size)}
        if len(ways) == 8:  # else the position has a symmetry of its own, and either answer is right
            assert np.allclose(plain[n, order], turned[n])


@pytest.mark.plain
def test_what_is_turned_comes_back_as_it_was() -> None:
    rng = np.random.default_rng(0)
    planes = rng.random((5, 2, 5, 5)).astype(np.float32) * (rng.random((5, 2, 5, 5)) < 0.4)
    orientation = Orientation(5, 2)
    seen, chosen = orientation.turn(planes)
    points = seen.reshape(10, 25)
    assert np.array_equal(orientation.turn_back(points, np.repeat(chosen, 2)).reshape(planes.shape), planes)
    assert len(set(chosen.tolist())) > 1


def test_empty_boards_and_single_stones_of_four_corners() -> None:
    planes = np.zeros((4, 1, 5, 5), dtype=np.float32)
    for n, (row, column) in enumerate(((0, 0), (0, 4), (4, 0), (4, 4))):
        planes[n, 0, row, column] = 1.0
    seen, _ = Orientation(5, 1).turn(planes)
    assert all(np.array_equal(seen[0], other) for other in seen[1:])
