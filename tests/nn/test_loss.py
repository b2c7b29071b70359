"""Losses, value targets and learning-rate schedules."""

import math

import pytest
import torch

from nn.data.dataset import TrainingBatch
from nn.training.loss import calculate_ownership_loss, cross_entropy, make_value_target
from nn.training.metrics import Sums, measure_ownership
from nn.training.recipe import make_schedule
from nn.training.run_config import TrainConfig
from nn.training.schedule import WARM_UP_STEPS, CosineSchedule

NAN = math.nan


def test_policy_loss_is_the_cross_entropy() -> None:
    logits = torch.randn(7, 26)
    moves = torch.randint(26, (7,))
    wanted = torch.nn.functional.cross_entropy(logits, moves, reduction="none")
    torch.testing.assert_close(cross_entropy(logits, torch.eye(26)[moves]), wanted)


@pytest.mark.parametrize(("value", "win_rate", "blend", "target"), [
    (0, 0.7, 0.0, (1.0, 0.0, 0.0)),
    (1, 0.7, 0.0, (0.0, 1.0, 0.0)),
    (2, NAN, 0.0, (0.0, 0.0, 1.0)),
    (-1, 0.7, 0.0, (0.0, 0.0, 0.0)),
    (2, 0.7, 0.5, (0.15, 0.0, 0.85)),
    (1, 0.25, 0.2, (0.15, 0.8, 0.05)),
    (0, 0.7, 1.0, (0.3, 0.0, 0.7)),
    (2, NAN, 0.5, (0.0, 0.0, 1.0)),
    (-1, 0.7, 0.5, (0.3, 0.0, 0.7)),
    (-1, NAN, 0.5, (0.0, 0.0, 0.0)),
])
def test_value_target(value: int, win_rate: float, blend: float, target: tuple[float, ...]) -> None:
    got = make_value_target(torch.tensor([value], dtype=torch.int8), torch.tensor([win_rate]), blend)
    torch.testing.assert_close(got, torch.tensor([target]))


def test_the_error_of_the_ownership_is_that_of_the_points_whose_owner_is_known() -> None:
    logits = torch.tensor([[20.0, -20.0, 0.0, 5.0], [0.0, 0.0, 0.0, 0.0]])
    target = torch.tensor([[1.0, 1.0, -0.5, 0.0], [0.0, 0.0, 0.0, 0.0]])
    points, errors = measure_ownership(logits, target)
    assert points.tolist() == [3, 0]
    torch.testing.assert_close(errors, torch.tensor([0.0 + 2.0 + 0.5, 0.0]))
    assert [part.tolist() for part in measure_ownership(None, target)] == [[0.0, 0.0]] * 2


def test_half_a_draw_is_a_win_in_the_error_of_the_win_rate() -> None:
    one, even = torch.zeros(1), torch.zeros(1, 3)
    batch = TrainingBatch(one, even, torch.tensor([1]), torch.tensor([0.5]), one[None], one, torch.tensor([-1]))
    sums = Sums(1.0, torch.device("cpu"))
    sums.add((one, one), (even, even), batch, even, None, None)
    assert sums.scores().rate_error == pytest.approx(0.0)


def test_ownership_loss_leaves_out_what_nobody_owns() -> None:
    logits = torch.tensor([[0.0, 2.0, -3.0, 5.0]], requires_grad=True)
    loss = calculate_ownership_loss(logits, torch.tensor([[1, -1, 1, 0]], dtype=torch.int8))
    wanted = (math.log(2.0) + math.log(1.0 + math.exp(2.0)) + math.log(1.0 + math.exp(3.0))) / 4.0
    assert loss.item() == pytest.approx(wanted, rel=1e-6)
    loss.sum().backward()
    assert logits.grad is not None and logits.grad[0, 3] == 0.0 and logits.grad[0, 0] < 0.0 < logits.grad[0, 1]


def test_an_unknown_value_has_no_loss_and_no_gradient() -> None:
    logits = torch.randn(2, 3, requires_grad=True)
    target = make_value_target(torch.tensor([-1, 2]), torch.tensor([NAN, NAN]), 0.3)
    loss = cross_entropy(logits, target)
    assert loss[0] == 0.0
    torch.testing.assert_close(loss[1], torch.nn.functional.cross_entropy(logits[1:], torch.tensor([2])))
    loss.sum().backward()
    assert logits.grad is not None and not logits.grad[0].any() and logits.grad[1].any()


def test_the_lecture_s_schedule() -> None:
    schedule = make_schedule(TrainConfig())
    batches, passes = 7, TrainConfig().epochs
    assert passes == 15 * 8, "symmetries are drawn: a pass is an eighth of an epoch that has all of them"
    rates = [schedule.rate(0, step / (passes * batches)) for step in range(passes * batches)]
    epoch = 8 * batches
    assert rates == pytest.approx([1e-2] * (5 * epoch) + [1e-3] * (3 * epoch) + [1e-4] * (2 * epoch) +
                                  [1e-5] * (5 * epoch))
    assert make_schedule(TrainConfig(learning_rate=0.1)).rate(0, 0.4) == pytest.approx(0.01)


def test_cosine_schedule() -> None:
    schedule = CosineSchedule(0.1)
    assert schedule.rate(0, 0.0) == pytest.approx(0.1 / WARM_UP_STEPS)
    assert schedule.rate(WARM_UP_STEPS, 0.0) == pytest.approx(0.1)
    assert schedule.rate(10_000, 0.5) == pytest.approx(0.05)
    assert schedule.rate(10_000, 1.0) == pytest.approx(0.0)
    assert schedule.rate(10_000, 1.5) == pytest.approx(0.0)
