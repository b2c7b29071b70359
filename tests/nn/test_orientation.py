"""All eight ways in which a position can lie get one answer."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from board.geometry import make_symmetry_index
from nn.inference.evaluator import NetworkEvaluator
from nn.inference.orientation import Orientation
from nn.inference.turned_net import TurnedNet
from nn.network.dual_net import DualNet
from nn.network.kinds import make_pooled_net

CPU = torch.device("cpu")


def turn(values: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return planes [N, P, S, S] read through one symmetry."""
    return values.reshape(*values.shape[:2], -1)[:, :, order[:-1]].reshape(values.shape)


@pytest.mark.plain
@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 1000), size=st.integers(2, 6), symmetry=st.integers(0, 7))
def test_a_turned_position_is_seen_as_the_same(seed: int, size: int, symmetry: int) -> None:
    rng = np.random.default_rng(seed)
    planes = (rng.random((3, 3, size, size)) < 0.3).astype(np.float32)
    order = make_symmetry_index(size)[symmetry]
    orientation = Orientation(size, 3)
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


@pytest.mark.parametrize("kind", ["lecture", "pooled"])
def test_a_network_says_the_same_of_all_mirror_images(kind: str) -> None:
    """What it says of a position as it lies differs from image to image; what is told does not."""
    torch.manual_seed(2)
    network = DualNet(CPU, 5, 8, 1) if kind == "lecture" else make_pooled_net({"filters": 8, "blocks": 2})
    evaluator = NetworkEvaluator(network.eval(), board_size=5)
    order = make_symmetry_index(5)
    rng = np.random.default_rng(3)
    planes = (rng.random((1, evaluator.plane_set.planes, 5, 5)) < 0.3).astype(np.float32)
    images = np.concatenate([turn(planes, one) for one in order])
    for call in (evaluator, evaluator.average):
        policy, value, *others = call(images)
        assert np.allclose(value, value[0], atol=1e-3)
        assert all(np.allclose(policy[k], policy[0, order[k]], atol=1e-2) for k in range(8))
        assert len(others) == 0 or np.allclose(others[0], others[0][0], atol=1e-2)
    assert np.ptp(evaluator.evaluate_plainly(images)[1], axis=0).max() > 1e-3


@pytest.mark.parametrize("kind", ["lecture", "pooled"])
def test_a_network_that_turns_by_itself_chooses_alike(kind: str) -> None:
    """Also where two ways have the same key: of an empty board, and of one whose stones are symmetrical."""
    torch.manual_seed(2)
    network = DualNet(CPU, 5, 8, 1) if kind == "lecture" else make_pooled_net({"filters": 8, "blocks": 2})
    evaluator = NetworkEvaluator(network.eval(), board_size=5)
    planes = (np.random.default_rng(4).random((40, evaluator.plane_set.planes, 5, 5)) < 0.3).astype(np.float32)
    planes[0] = 0.0
    planes[1, :3] = planes[1, :3] + planes[1, :3, ::-1]
    with torch.inference_mode():
        found = TurnedNet(evaluator.network, evaluator.turns)(torch.from_numpy(planes).to(evaluator.dtype))
    for answer, expected in zip(found, evaluator(planes), strict=True):
        assert np.allclose(answer.float().numpy(), expected, atol=1e-2)
