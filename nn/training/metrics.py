"""What is measured over samples: running sums, their averages, and the lines that say them."""

from dataclasses import asdict, dataclass

import torch

from common.print_console import print_out
from nn.training.loss import UNKNOWN_VALUE


@dataclass(frozen=True)
class Scores:
    """Averages over some samples; losses are in nats."""

    loss: float
    policy_loss: float
    value_loss: float
    policy_top1: float  # share of samples whose target move has the highest policy
    value_top1: float  # share of known results that have the highest value

    def columns(self, part: str) -> dict[str, str]:
        """Return the numbers as columns of a table, `part` ("train", "test") before each name."""
        return {f"{part}_{name}": f"{number:.6f}" for name, number in asdict(self).items()}


class Sums:
    """Running sums over samples, kept on the device so that no step waits for them."""

    def __init__(self, value_weight: float, device: torch.device, start: torch.Tensor | None = None) -> None:
        """Start from zero, or from the sums of a checkpoint."""
        self.value_weight = value_weight
        self.sums = torch.zeros(7, dtype=torch.float64, device=device) if start is None else start.to(device)

    def add(
        self, losses: tuple[torch.Tensor, torch.Tensor], logits: tuple[torch.Tensor, torch.Tensor],
        policy: torch.Tensor, value: torch.Tensor, value_target: torch.Tensor,
    ) -> None:
        """Add a batch: losses [N] and logits of policy and value, policy target, classes [N], value target [N, 3]."""
        known = value != UNKNOWN_VALUE
        policy_hits = logits[0].argmax(dim=1) == policy.argmax(dim=1)
        value_hits = (logits[1].argmax(dim=1) == value) & known
        targets = value_target.sum(dim=1)
        parts = (torch.ones_like(targets), *losses, targets, policy_hits, known, value_hits)
        self.sums += torch.stack([part.detach().sum(dtype=torch.float64) for part in parts])

    def count(self) -> int:
        """Return the number of samples (waits for the device)."""
        return int(self.sums[0].item())

    def scores(self) -> Scores:
        """Return the averages (waits for the device)."""
        count, policy, value, targets, policy_hits, known, value_hits = self.sums.tolist()
        count = max(count, 1.0)
        return Scores((policy + self.value_weight * value) / count, policy / count, value / max(targets, 1.0),
                      policy_hits / count, value_hits / max(known, 1.0))


def print_scores(title: str, scores: Scores, seconds: float) -> None:
    """Print three lines about some samples: losses, share of right answers, time."""
    print_out(f"{title} : loss = {scores.loss:.6f}, time = {seconds:.2f} seconds.")
    print_out(f"\tpolicy loss : {scores.policy_loss:.6f}, top-1 {100 * scores.policy_top1:.2f} %")
    print_out(f"\tvalue loss  : {scores.value_loss:.6f}, top-1 {100 * scores.value_top1:.2f} %")
