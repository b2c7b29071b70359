"""An exponential moving average of a network's weights, which plays better than the last weights do."""

import copy

import torch


class WeightAverage:
    """A second network whose weights and batch-norm statistics trail those of the one in training."""

    def __init__(self, network: torch.nn.Module, decay: float) -> None:
        """Start from the network's present weights; `decay` is the share kept per step, such as 0.999."""
        self.decay = decay
        self.network = copy.deepcopy(network).eval()
        pairs = list(zip(self.network.state_dict().values(), network.state_dict().values(), strict=True))
        self._averaged = [pair for pair in pairs if pair[0].is_floating_point()]
        # How many batches a norm has seen is a whole number, and taken over.
        self._taken = [pair for pair in pairs if not pair[0].is_floating_point()]

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Move towards the network after step number `step` (from 0); early steps move faster."""
        weight = 1.0 - min(self.decay, (1.0 + step) / (10.0 + step))
        torch._foreach_lerp_([own for own, _ in self._averaged], [source for _, source in self._averaged], weight)
        if self._taken:
            torch._foreach_copy_([own for own, _ in self._taken], [source for _, source in self._taken])
