"""How a gradient becomes a step: SGD with Nesterov momentum, plain or sharpness-aware, AdamW, NAdam, or Muon.

Letters: N matrices, R rows of a matrix (output channels), C its columns (input channels times 9).
"""

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import torch

import learning_param
from common.print_console import print_err
from nn.training.network_options import OPTIMIZERS
from nn.training.run_config import TrainConfig, TrainError

Tensors = list[torch.Tensor]
Kind = TypeVar("Kind", bound=type[torch.optim.Optimizer])

# Numbers beside the moments that AdamW and NAdam keep for each weight, and calculate with on the host.
COUNTERS = ("step", "mu_product")

NEWTON_SCHULZ_STEPS = 5
NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)  # of the polynomial a s + b s^3 + c s^5 of a singular value s


def orthogonalize(matrices: torch.Tensor) -> torch.Tensor:
    """Return matrices [N, R, C] of the same singular vectors, with values near 1: 0.7 to 1.2 but for the smallest.

    Newton-Schulz iteration: K. Jordan et al., "Muon: An optimizer for hidden layers in neural networks", 2024.
    """
    a, b, c = NEWTON_SCHULZ
    is_tall = matrices.shape[1] > matrices.shape[2]
    wide = matrices.mT if is_tall else matrices
    wide = wide / (torch.linalg.matrix_norm(wide, keepdim=True) + 1e-7)
    for _ in range(NEWTON_SCHULZ_STEPS):
        gram = wide @ wide.mT
        wide = torch.baddbmm(wide, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), wide, beta=a)
    return wide.mT if is_tall else wide


def never_compiled(kind: Kind) -> Kind:
    """Take from a kind of optimizer what shields it from torch.compile, which nobody asks for here.

    The shields import the compiler, torch._dynamo, which makes the start of a training twice as long as torch alone.
    """
    for name in ("add_param_group", "zero_grad", "state_dict", "load_state_dict"):
        setattr(kind, name, inspect.unwrap(getattr(kind, name)))
    kind.step = torch.no_grad()(inspect.unwrap(kind.step))  # type: ignore[method-assign]
    return kind


@never_compiled
class SGD(torch.optim.SGD):
    """SGD."""


@never_compiled
class AdamW(torch.optim.AdamW):
    """AdamW."""


@never_compiled
class NAdam(torch.optim.NAdam):
    """NAdam."""


@never_compiled
class Muon(torch.optim.Optimizer):
    """Momentum for all weights; the groups that say `orthogonal` move by its orthogonalized matrix.

    A gradient's matrix is dominated by few directions; orthogonalized, a step moves all of them alike, which learns
    the same from fewer positions. The weights of a group move together: a GPU waits for each operation to be asked for.
    """

    def __init__(self, groups: list[dict[str, Any]], lr: float) -> None:
        """Take groups of parameters, each with `orthogonal`, `momentum` and `weight_decay`."""
        super().__init__(groups, {"lr": lr})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """Move the weights; closures are not supported."""
        for group in self.param_groups:
            weights = [weight for weight in group["params"] if weight.grad is not None]
            for weight in weights:
                if not self.state[weight]:
                    self.state[weight]["momentum_buffer"] = torch.zeros_like(weight)
            if weights:
                move = _step_orthogonal if group["orthogonal"] else _step_nesterov
                move(weights, [weight.grad for weight in weights],
                     [self.state[weight]["momentum_buffer"] for weight in weights], group)


class SharpnessAware(SGD):
    """SGD by the gradient at the worst point nearby: before each step, `climb` along the gradient of the same samples.

    Flat minima carry over to new positions better than sharp ones: P. Foret et al., "Sharpness-Aware Minimization for
    Efficiently Improving Generalization", ICLR 2021, algorithm 1. Two gradients make one step.
    """

    def __init__(self, groups: list[dict[str, Any]], lr: float, momentum: float, radius: float) -> None:
        """Take groups of parameters; `radius` is the length of a climb."""
        super().__init__(groups, lr=lr, momentum=momentum, nesterov=True)
        self._radius = radius
        self._climbs: list[tuple[torch.Tensor, torch.Tensor]] = []  # weights and how far each has moved

    @torch.no_grad()
    def climb(self) -> None:
        """Move the weights by `radius` along their gradients, which are forgotten.

        Where a gradient is not finite (float16 with too large a loss scale) all stays as it is, for the step to see.
        """
        weights = [weight for group in self.param_groups for weight in group["params"] if weight.grad is not None]
        length = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(weight.grad) for weight in weights]))
        if not torch.isfinite(length):
            return
        scale = self._radius / (length + 1e-12)
        self._climbs = [(weight, weight.grad * scale) for weight in weights]
        for weight, way in self._climbs:
            weight.add_(way)
        self.zero_grad(set_to_none=True)

    @torch.no_grad()
    def descend(self) -> None:
        """Come back from the climb, with the gradients found up there; also where no step is to follow."""
        for weight, way in self._climbs:
            weight.sub_(way)
        self._climbs = []

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """Come back from the climb and move the weights by the gradients found up there."""
        self.descend()
        super().step(closure)


def _step_nesterov(weights: Tensors, grads: Tensors, buffers: Tensors, group: dict[str, Any]) -> None:
    """Move weights as torch.optim.SGD does with Nesterov momentum. Modifies weights and buffers."""
    updates = torch._foreach_add(grads, weights, alpha=group["weight_decay"])
    torch._foreach_mul_(buffers, group["momentum"])
    torch._foreach_add_(buffers, updates)
    torch._foreach_add_(updates, buffers, alpha=group["momentum"])
    torch._foreach_add_(weights, updates, alpha=-group["lr"])


def _step_orthogonal(weights: Tensors, grads: Tensors, buffers: Tensors, group: dict[str, Any]) -> None:
    """Move weights [R, ...] by their orthogonalized Nesterov momentum. Modifies weights and buffers."""
    torch._foreach_lerp_(buffers, grads, 1.0 - group["momentum"])
    updates = [update.flatten(start_dim=1) for update in torch._foreach_lerp(grads, buffers, group["momentum"])]
    for shape in {update.shape for update in updates}:
        alike = [n for n, update in enumerate(updates) if update.shape == shape]
        for n, update in zip(alike, orthogonalize(torch.stack([updates[n] for n in alike])), strict=True):
            updates[n] = update
    torch._foreach_mul_(weights, 1.0 - group["lr"] * group["weight_decay"])
    torch._foreach_add_(weights, [update.view(weight.shape) for update, weight in zip(updates, weights, strict=True)],
                        alpha=-group["lr"])


def _is_kernel(weight: torch.Tensor) -> bool:
    """Tell whether a weight belongs to a convolution of more than one point."""
    return weight.dim() == 4 and weight.shape[-1] > 1


def _split(weights: Sequence[torch.Tensor], keeps: bool, decay: float, **settings: Any) -> list[dict[str, Any]]:
    """Return weights as groups: biases and norms do not decay, but with the lecture's network all do, as there."""
    kept = [weight for weight in weights if weight.dim() < 2] if keeps else []
    decayed = [weight for weight in weights if not any(weight is one for one in kept)]
    groups = [{"params": decayed, "weight_decay": decay, **settings}, {"params": kept, "weight_decay": 0.0, **settings}]
    return [group for group in groups if group["params"]]


def make_optimizer(network: torch.nn.Module, config: TrainConfig) -> torch.optim.Optimizer:
    """Return the optimizer a config names; raises TrainError for an unknown name."""
    weights, rate, keeps = list(network.parameters()), config.learning_rate, not config.is_lecture
    if config.optimizer == "sgd":
        return SGD(_split(weights, keeps, learning_param.WEIGHT_DECAY), lr=rate, momentum=learning_param.MOMENTUM,
                   nesterov=True)
    if config.optimizer == "adamw":
        return AdamW(_split(weights, keeps, learning_param.ADAM_WEIGHT_DECAY), lr=rate)
    if config.optimizer == "nadam":
        return NAdam(_split(weights, keeps, learning_param.ADAM_WEIGHT_DECAY), lr=rate, decoupled_weight_decay=True)
    if config.optimizer == "sam":
        return SharpnessAware(_split(weights, keeps, learning_param.WEIGHT_DECAY), rate, learning_param.MOMENTUM,
                              learning_param.SAM_RADIUS)
    if config.optimizer == "muon":
        return make_muon(network, rate, keeps)
    known = [name for name in OPTIMIZERS if name != config.optimizer]  # it may stand in the table alone
    raise TrainError(f"unknown optimizer {config.optimizer!r}: say {', '.join(known)}")


def make_muon(network: torch.nn.Module, rate: float, keeps: bool = True) -> Muon:
    """Return Muon for a network: kernels of more than one point move orthogonally, all else by plain momentum.

    With `keeps`, vectors (biases and norms) do not decay.
    """
    weights = list(network.parameters())
    kernels = [weight for weight in weights if _is_kernel(weight)]
    others = [weight for weight in weights if not _is_kernel(weight)]
    return Muon([
        *_split(kernels, keeps, learning_param.MUON_WEIGHT_DECAY, orthogonal=True,
                momentum=learning_param.MUON_MOMENTUM),
        *_split(others, keeps, learning_param.WEIGHT_DECAY, orthogonal=False, momentum=learning_param.MOMENTUM),
    ], rate)


def load_momentum(optimizer: torch.optim.Optimizer, state: dict[str, Any],
                  checkpoint: Path | str | None = "the checkpoint") -> None:
    """Take up momentum and last learning rate of a checkpoint, and keep the optimizer's own settings (decays).

    Earlier versions had the weights in other groups: nothing is taken up of theirs, which is said of `checkpoint`
    unless it is None.
    """
    settings = [{name: value for name, value in group.items() if name not in ("params", "lr")}
                for group in optimizer.param_groups]
    try:
        optimizer.load_state_dict(state)
    except ValueError:
        if checkpoint:
            print_err(f"{checkpoint} is of an earlier version, which kept momentum in another way: "
                      "momentum begins anew")
        return
    for group, own, saved in zip(optimizer.param_groups, settings, state["param_groups"], strict=True):
        group.update(own)
        for weight, number in zip(group["params"], saved["params"], strict=True):
            kept = state["state"].get(number, {})
            # torch has brought them to the weights: on a GPU each step would wait for each of them.
            optimizer.state[weight].update((name, kept[name].cpu()) for name in COUNTERS if name in kept)
