"""Losses, value targets and learning-rate schedules."""

import math
from dataclasses import replace
from typing import Any

import pytest
import torch

from nn.data.dataset import LoadedBatch, TrainingBatch
from nn.training.batch_loss import BatchLoss
from nn.training.loss import calculate_lead_loss, calculate_ownership_loss, cross_entropy, make_value_target, smooth
from nn.training.metrics import Sums, measure_ownership
from nn.training.precision import FullPrecision
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


def test_far_leads_cost_by_their_distance_and_unknown_ones_nothing() -> None:
    loss = calculate_lead_loss(torch.tensor([3.0, -12.0, 9.0]), torch.tensor([0.0, 8.0, math.nan]))
    assert loss.tolist() == pytest.approx([9.0 / 12.0, 20.0 - 3.0, 0.0])


def test_averages_are_over_the_samples_that_tell() -> None:
    """Three samples: a right one, a wrong one, and one of which neither the result nor the move is known."""
    nothing = torch.zeros(3)
    policy_logits = torch.tensor([[2.0, 0.0], [2.0, 0.0], [2.0, 0.0]])
    value_logits = torch.tensor([[0.0, 0.0, 9.0], [0.0, 0.0, 9.0], [9.0, 0.0, 0.0]])
    policy = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    batch = TrainingBatch(nothing, policy, torch.tensor([2, 0, -1]), torch.tensor([1.0, math.nan, math.nan]),
                          torch.tensor([[1.0], [0.0], [0.0]]), torch.tensor([5.0, math.nan, math.nan]),
                          torch.tensor([0, 1, -1]))
    target = torch.tensor([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    sums = Sums(0.5, torch.device("cpu"))
    sums.add((torch.tensor([1.0, 2.0, 3.0]), torch.tensor([4.0, 2.0, 0.0])), (policy_logits, value_logits), batch,
             target, torch.tensor([2.0, 7.0, 7.0]), torch.tensor([[-50.0], [9.0], [9.0]]))
    scores = sums.scores()
    assert (scores.policy_loss, scores.value_loss, scores.loss) == pytest.approx((2.0, 3.0, (6.0 + 0.5 * 6.0) / 3))
    assert (scores.policy_top1, scores.value_top1, scores.move_top1) == pytest.approx((2 / 3, 1 / 2, 1 / 2))
    assert scores.rate_error == pytest.approx(0.0, abs=1e-3)
    assert (scores.lead_error, scores.ownership_error) == pytest.approx((3.0, 2.0))


def test_half_a_chance_is_the_middle_of_the_ownership() -> None:
    _, errors = measure_ownership(torch.tensor([[math.log(3.0)]]), torch.tensor([[1.0]]))
    assert errors.item() == pytest.approx(0.5)  # three chances in four


def test_every_head_counts_by_its_weight() -> None:
    loaded = LoadedBatch(torch.zeros(1, 6, 2, 2), torch.eye(5)[:1], torch.tensor([2], dtype=torch.int8),
                         torch.tensor([0.25]), torch.ones(1, 4), torch.tensor([12.0]), torch.tensor([0]),
                         torch.tensor([0]))
    heads = torch.randn(1, 5), torch.randn(1, 3), torch.randn(1), torch.randn(1, 4)

    class Network(torch.nn.Module):
        def forward(self, _: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return heads

    def loss(**changes: Any) -> float:
        config = TrainConfig(board_sizes=(2,), value_weight=0.0, ownership_weight=0.0, lead_weight=0.0)
        return BatchLoss(replace(config, **changes), FullPrecision(), torch.device("cpu"), None)(
            Network(), loaded, None).item()

    plain = loss()
    assert plain == pytest.approx(cross_entropy(heads[0], loaded.policy).item())
    for name, own in (("value_weight", cross_entropy(heads[1], torch.tensor([[0.0, 0.0, 1.0]]))),
                      ("lead_weight", calculate_lead_loss(heads[2], loaded.lead)),
                      ("ownership_weight", calculate_ownership_loss(heads[3], loaded.ownership))):
        assert loss(**{name: 0.5}) - plain == pytest.approx(0.5 * own.item(), rel=1e-4)
    smoothed = cross_entropy(heads[0], smooth(loaded.policy, 0.5)).item()
    assert loss(label_smoothing=0.5) == pytest.approx(smoothed) != plain
    with torch.no_grad():
        assert loss(label_smoothing=0.5) == pytest.approx(plain), "tests are of the targets as they are"
