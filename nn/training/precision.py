"""How a training step calculates on each kind of device: two small objects with the same verbs."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Protocol

import torch

from nn.device import choose_half_dtype


class Precision(Protocol):
    """What a training loop needs to know about number formats."""

    name: str

    def forward(self) -> AbstractContextManager[Any]:
        """Return the context in which the network and the loss are calculated."""

    def add(self, loss: torch.Tensor) -> None:
        """Calculate the gradients and add them to those that are there."""

    def step(self, optimizer: torch.optim.Optimizer, longest: float) -> None:
        """Shorten the gradients to the norm `longest` (0: leave them), and move the weights."""

    def state_dict(self) -> dict[str, Any]:
        """Return what a checkpoint must keep."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take up what a checkpoint kept; an empty dict is fine."""


def clip_gradients(optimizer: torch.optim.Optimizer, longest: float) -> None:
    """Shorten the gradients of all weights together to the norm `longest`; 0 leaves them."""
    if longest > 0.0:
        weights = [weight for group in optimizer.param_groups for weight in group["params"]]
        torch.nn.utils.clip_grad_norm_(weights, longest)


class FullPrecision:
    """float32 throughout."""

    name = "fp32"

    def forward(self) -> AbstractContextManager[Any]:
        """Return a context that changes nothing."""
        return nullcontext()

    def add(self, loss: torch.Tensor) -> None:
        """Calculate the gradients and add them."""
        loss.backward()

    def step(self, optimizer: torch.optim.Optimizer, longest: float) -> None:
        """Shorten the gradients and move the weights."""
        clip_gradients(optimizer, longest)
        optimizer.step()

    def state_dict(self) -> dict[str, Any]:
        """Return nothing: there is no state."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take up nothing."""


class MixedPrecision:
    """Half-precision network, float32 weights; float16 scales the loss so that small gradients survive."""

    def __init__(self, device_type: str, dtype: torch.dtype) -> None:
        """Calculate in `dtype` (bfloat16 or float16) on "cuda" or "cpu"."""
        self.device_type = device_type
        self.dtype = dtype
        self.name = "bf16" if dtype == torch.bfloat16 else "fp16"
        self.scaler = torch.amp.GradScaler(device_type, enabled=dtype == torch.float16)

    @contextmanager
    def forward(self) -> Iterator[None]:
        """Run the network in half precision inside this context."""
        with torch.autocast(self.device_type, dtype=self.dtype):
            yield

    def add(self, loss: torch.Tensor) -> None:
        """Calculate scaled gradients and add them."""
        self.scaler.scale(loss).backward()

    def step(self, optimizer: torch.optim.Optimizer, longest: float) -> None:
        """Shorten the gradients and move the weights; a step with overflown ones is left out."""
        self.scaler.unscale_(optimizer)
        clip_gradients(optimizer, longest)
        self.scaler.step(optimizer)
        self.scaler.update()

    def state_dict(self) -> dict[str, Any]:
        """Return the loss scale."""
        return self.scaler.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take up the loss scale, if the checkpoint was written with one."""
        if state and self.scaler.is_enabled():
            self.scaler.load_state_dict(state)


def choose_precision(device: torch.device) -> Precision:
    """Return the fastest sound way to train on a device."""
    dtype = choose_half_dtype(device)
    return FullPrecision() if dtype is None else MixedPrecision(device.type, dtype)
