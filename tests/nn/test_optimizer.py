"""The optimizers: Muon against what it is made of."""

import copy
import math
import sys
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import learning_param
from nn.device import to_channels_last
from nn.network.dual_net import DualNet
from nn.network.pooled_net import PooledConfig, PooledNet
from nn.training.average import WeightAverage
from nn.training.optimizer import (
    NEWTON_SCHULZ,
    NEWTON_SCHULZ_STEPS,
    OPTIMIZERS,
    Muon,
    SharpnessAware,
    load_momentum,
    make_optimizer,
    orthogonalize,
)
from nn.training.precision import FullPrecision
from nn.training.run_config import TrainConfig, TrainError

CPU = torch.device("cpu")


def step_with(network: DualNet, optimizer: torch.optim.Optimizer, planes: torch.Tensor) -> None:
    """Take one step on a loss that reaches every weight."""
    optimizer.zero_grad()
    policy, value = network(planes)
    (policy.square().mean() + value.square().mean()).backward()
    optimizer.step()


@settings(deadline=None)
@given(rows=st.integers(1, 12), columns=st.integers(1, 12), seed=st.integers(0, 1000))
def test_orthogonalizing_keeps_the_singular_vectors_and_levels_the_values(rows: int, columns: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    rank = min(rows, columns)
    left = torch.linalg.qr(torch.randn(rows, rank, generator=generator))[0]
    right = torch.linalg.qr(torch.randn(columns, rank, generator=generator))[0]
    values = torch.linspace(1.0, 5.0, rank)
    result = orthogonalize((left * values @ right.T)[None])[0]
    levelled = left.T @ result @ right
    assert result.shape == (rows, columns)
    assert torch.all((levelled.diagonal() > 0.6) & (levelled.diagonal() < 1.3))
    assert torch.allclose(levelled, torch.diag(levelled.diagonal()), atol=1e-4)
    assert torch.allclose(left @ levelled @ right.T, result, atol=1e-4)


def test_no_gradient_gives_no_step() -> None:
    assert torch.equal(orthogonalize(torch.zeros(2, 3, 5)), torch.zeros(2, 3, 5))


def test_without_orthogonal_groups_it_is_sgd() -> None:
    planes = torch.randn(4, 6, 5, 5, generator=torch.Generator().manual_seed(1))
    networks = []
    for is_muon in (True, False):
        torch.manual_seed(0)
        network = DualNet(CPU, 5, 4, 1)
        optimizer: torch.optim.Optimizer = torch.optim.SGD(
            network.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-3, nesterov=True)
        if is_muon:
            optimizer = Muon([{"params": list(network.parameters()), "orthogonal": False, "momentum": 0.9,
                               "weight_decay": 1e-3}], 0.05)
        for _ in range(3):
            step_with(network, optimizer, planes)
        networks.append(network)
    for own, other in zip(networks[0].parameters(), networks[1].parameters(), strict=True):
        assert torch.allclose(own, other, atol=1e-6)


def test_a_kernel_moves_by_the_rate_in_every_direction() -> None:
    torch.manual_seed(0)
    network = to_channels_last(DualNet(CPU, 5, 8, 1), CPU)
    before = {name: weight.detach().clone() for name, weight in network.named_parameters()}
    optimizer = make_optimizer(network, TrainConfig(optimizer="muon", learning_rate=0.1))
    step_with(network, optimizer, torch.randn(16, 6, 5, 5))
    for name, weight in network.named_parameters():
        if weight.dim() == 4 and weight.shape[-1] == 3:
            kept = 1.0 - 0.1 * learning_param.MUON_WEIGHT_DECAY
            moved = torch.linalg.svdvals((weight - kept * before[name]).flatten(start_dim=1).detach())
            assert moved.max() < 0.13 and moved.median() > 0.06, name
        else:
            assert not torch.equal(weight, before[name]), name


def step_one_by_one(weight: torch.Tensor, grad: torch.Tensor, buffer: torch.Tensor, rate: float) -> None:
    """Muon's step of one kernel, as its authors write it."""
    momentum, (a, b, c) = learning_param.MUON_MOMENTUM, NEWTON_SCHULZ
    buffer.lerp_(grad, 1.0 - momentum)
    way = grad.lerp(buffer, momentum).flatten(start_dim=1)
    wide = way.T if len(way) > way.shape[1] else way
    wide = wide / (wide.norm() + 1e-7)
    for _ in range(NEWTON_SCHULZ_STEPS):
        gram = wide @ wide.T
        wide = a * wide + (b * gram + c * gram @ gram) @ wide
    way = wide.T if len(way) > way.shape[1] else wide
    weight.mul_(1.0 - rate * learning_param.MUON_WEIGHT_DECAY).sub_(way.reshape(weight.shape), alpha=rate)


def test_kernels_that_move_together_move_as_each_alone() -> None:
    torch.manual_seed(0)
    shapes = [(8, 6, 3, 3), (8, 8, 3, 3), (40, 2, 3, 3), (8, 8, 3, 3)]
    kernels = [torch.nn.Parameter(torch.randn(shape)) for shape in shapes]
    twins, buffers = [kernel.detach().clone() for kernel in kernels], [torch.zeros(shape) for shape in shapes]
    optimizer = make_optimizer(torch.nn.ParameterList(kernels), TrainConfig(optimizer="muon", learning_rate=0.1))
    for _ in range(3):
        for kernel, twin, buffer in zip(kernels, twins, buffers, strict=True):
            kernel.grad = torch.randn(kernel.shape)
            step_one_by_one(twin, kernel.grad, buffer, 0.1)
        optimizer.step()
    for kernel, twin in zip(kernels, twins, strict=True):
        assert torch.allclose(kernel, twin, atol=1e-4)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(TrainError, match="unknown optimizer 'adam'"):
        make_optimizer(DualNet(CPU, 5, 4, 1), TrainConfig(optimizer="adam"))


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_optimizer_goes_downhill(name: str) -> None:
    torch.manual_seed(0)
    network, planes = DualNet(CPU, 5, 4, 1), torch.randn(16, 6, 5, 5)
    optimizer = make_optimizer(network, TrainConfig(optimizer=name, learning_rate=0.01))
    losses = []
    for _ in range(30):
        step_with(network, optimizer, planes)
        losses.append(sum(answer.square().mean().item() for answer in network(planes)))
    assert losses[-1] < 0.7 * losses[0]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_none_imports_the_compiler_of_torch(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes as long to import as all the rest of torch."""
    monkeypatch.setitem(sys.modules, "torch._dynamo", None)
    network = DualNet(CPU, 5, 4, 1)
    optimizer = make_optimizer(network, TrainConfig(optimizer=name))
    step_with(network, optimizer, torch.randn(2, 6, 5, 5))
    load_momentum(optimizer, optimizer.state_dict())


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_biases_and_norms_decay_with_the_lecture_alone(name: str) -> None:
    for head, network in (("lecture", DualNet(CPU, 5, 4, 1)), ("pooled", PooledNet(PooledConfig(filters=8, blocks=2)))):
        optimizer = make_optimizer(network, TrainConfig(optimizer=name, head=head))
        decays = {weight.dim() > 1: group["weight_decay"]
                  for group in optimizer.param_groups for weight in group["params"]}
        assert decays[True] > 0.0 and (decays[False] > 0.0) == (head == "lecture")
        found = {id(weight) for group in optimizer.param_groups for weight in group["params"]}
        assert found == {id(weight) for weight in network.parameters()}


def test_optimizers_have_the_momentum_and_the_decay_of_the_settings() -> None:
    found = {}
    for name in OPTIMIZERS:
        optimizer = make_optimizer(DualNet(CPU, 5, 4, 1), TrainConfig(optimizer=name, learning_rate=0.3))
        found[name] = optimizer.param_groups[0]
        assert all(group["lr"] == 0.3 for group in optimizer.param_groups)
    for name in ("sgd", "sam"):
        group = found[name]
        assert group["nesterov"] and group["momentum"] == learning_param.MOMENTUM
        assert group["weight_decay"] == learning_param.WEIGHT_DECAY
    for name in ("adamw", "nadam"):
        assert found[name]["weight_decay"] == learning_param.ADAM_WEIGHT_DECAY
    assert found["nadam"]["decoupled_weight_decay"]


def test_the_average_trails_and_moves_faster_in_the_beginning() -> None:
    network = torch.nn.BatchNorm1d(1)
    average = WeightAverage(network, 0.75)
    for step, kept in ((0, 0.1), (10**6, 0.75)):
        with torch.no_grad():
            average.network.weight.zero_()  # type: ignore[union-attr, operator]
        network.num_batches_tracked.fill_(step)  # type: ignore[union-attr]
        average.update(step)
        assert average.network.weight.item() == pytest.approx(1.0 - kept)  # type: ignore[union-attr, operator]
        assert average.network.num_batches_tracked == step


def test_gradients_are_shortened_together() -> None:
    weights = [torch.nn.Parameter(torch.zeros(3)), torch.nn.Parameter(torch.zeros(2, 2))]
    optimizer = torch.optim.SGD(weights, lr=1.0)
    for clip, length in ((0.0, 10.0 * 7**0.5), (2.0, 2.0)):
        for weight in weights:
            weight.data.zero_()
        optimizer.zero_grad()
        FullPrecision().add(sum(10.0 * weight.sum() for weight in weights))  # type: ignore[arg-type]
        FullPrecision().step(optimizer, clip)
        moved = torch.cat([weight.detach().flatten() for weight in weights])
        assert moved.norm().item() == pytest.approx(length, rel=1e-4)


def test_sharpness_aware_steps_take_the_gradient_from_the_top_of_the_climb() -> None:
    """One weight, loss w^4: from 1 up by the radius, and down from 1 by the gradient found there."""
    weight = torch.nn.Parameter(torch.tensor([1.0]))
    optimizer = SharpnessAware([{"params": [weight], "nesterov": False}], 0.01, 0.9, 0.5)
    (weight**4).sum().backward()
    optimizer.climb()
    assert weight.item() == pytest.approx(1.5) and weight.grad is None
    (weight**4).sum().backward()
    optimizer.step()
    assert weight.item() == pytest.approx(1.0 - 0.01 * 4 * 1.5**3)


def test_no_climb_outlasts_gradients_that_are_not_finite() -> None:
    """In float16 such steps are left out while the scale of the loss is found; weights stay where they are."""
    weight = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    optimizer = SharpnessAware([{"params": [weight]}], 0.01, 0.9, 0.5)
    for gradient in (math.inf, math.nan):
        weight.grad = torch.tensor([gradient, 1.0])
        optimizer.climb()
        assert weight.tolist() == [1.0, 2.0] and not torch.isfinite(weight.grad).all()
    weight.grad = torch.tensor([1.0, 1.0])
    optimizer.climb()
    assert weight.tolist() != [1.0, 2.0]
    optimizer.descend()
    assert weight.tolist() == pytest.approx([1.0, 2.0])


def test_nothing_to_climb_is_no_climb() -> None:
    weight = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    optimizer = SharpnessAware([{"params": [weight]}], 0.01, 0.9, 0.5)
    (0.0 * weight).sum().backward()
    optimizer.climb()
    assert weight.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_step_after_a_resume_waits_for_no_device(name: str) -> None:
    """As a step of a new run: a number that has to come from a GPU costs as long as the whole step; "meta" has none."""
    network = DualNet(CPU, 5, 4, 1)
    before = make_optimizer(network, TrainConfig(optimizer=name))
    step_with(network, before, torch.zeros(2, 6, 5, 5))
    resumed = copy.deepcopy(network).to("meta")
    optimizer = make_optimizer(resumed, TrainConfig(optimizer=name))
    load_momentum(optimizer, before.state_dict())
    for weight in resumed.parameters():
        weight.grad = torch.zeros_like(weight)
    optimizer.step()
    for own, weight in zip(network.parameters(), resumed.parameters(), strict=True):
        for key, value in before.state[own].items():
            assert optimizer.state[weight][key].device.type == ("meta" if value.dim() else "cpu")


def test_momentum_of_an_earlier_version_begins_anew(capsys: pytest.CaptureFixture[str]) -> None:
    """Biases had not been a group of their own: the run goes on without their momentum."""
    network = PooledNet(PooledConfig(filters=4, blocks=1))
    before = torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.9)
    optimizer = make_optimizer(network, TrainConfig(head="pooled"))
    load_momentum(optimizer, before.state_dict())
    assert "momentum begins anew" in capsys.readouterr().err and len(optimizer.param_groups) == 2
    load_momentum(optimizer, before.state_dict(), Path("a.ckpt"))
    assert capsys.readouterr().err.startswith("a.ckpt is of an earlier version")
    load_momentum(optimizer, before.state_dict(), None)  # as all processes of a training but the first
    load_momentum(optimizer, make_optimizer(network, TrainConfig(head="pooled")).state_dict())
    assert not capsys.readouterr().err
