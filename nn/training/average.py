"""An exponential moving average of a network's weights, which plays better than the last weights do."""

import copy

import torch


class WeightAverage:
    """A second network whose weights and batch-norm statistics trail those of the one in training."""

    def __init__(self, network: torch.nn.Module, decay: float) -> None:
        """Start from the network's present weights; `decay` is the share kept per step, such as 0.999."""
        self.decay = decay
        self.network = copy.deepcopy(network).eval()
        self._own = list(self.network.state_dict().values())
        self._source = list(network.state_dict().values())

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Move towards the network after step number `step` (from 0); early steps move faster."""
        decay = min(self.decay, (1.0 + step) / (10.0 + step))
        floats = [own.is_floating_point() for own in self._own]
        pairs = list(zip(self._own, self._source, floats, strict=True))
        torch._foreach_lerp_([own for own, _, is_float in pairs if is_float],
                             [source for _, source, is_float in pairs if is_float], 1.0 - decay)
        for own, source, is_float in pairs:
            if not is_float:
                own.copy_(source)
