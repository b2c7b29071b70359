"""What is measured over samples: running sums, their averages, and the lines that say them."""

import math
from dataclasses import asdict, dataclass

import torch

from common.print_console import print_out
from nn.constant import UNKNOWN_VALUE
from nn.data.dataset import TrainingBatch

# Numbers that are summed.
SUMS = 15


@dataclass(frozen=True)
class Scores:
    """Averages over some samples; losses are in nats."""

    loss: float
    policy_loss: float
    value_loss: float
    policy_top1: float  # share of samples whose target move has the highest policy
    value_top1: float  # share of known results that have the highest value
    move_top1: float  # share of the moves played that have the highest policy; 0 where they are not known
    rate_error: float  # root of the mean square of the win rate's error, where one is known
    lead_error: float  # mean distance between leads in points, where they are known
    ownership_error: float  # mean distance between owners (-1 to 1) of a point, where they are known

    def columns(self, part: str) -> dict[str, str]:
        """Return the numbers as columns of a table, `part` ("train", "test") before each name."""
        return {f"{part}_{name}": f"{number:.6f}" for name, number in asdict(self).items()}


def measure_ownership(logits: torch.Tensor | None, target: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return how many points of each sample have a known owner [N], and the sum of what is missed there [N].

    `logits` [N, S*S] are None where the network does not tell; the target [N, S*S] is from -1 to 1, 0 unknown.
    """
    if logits is None:
        nothing = torch.zeros(len(target), device=target.device)
        return nothing, nothing
    known = target != 0
    return known.sum(dim=1), ((torch.tanh(logits.float() / 2.0) - target).abs() * known).sum(dim=1)


class Sums:
    """Running sums over samples, kept on the device so that no step waits for them."""

    def __init__(self, value_weight: float, device: torch.device, start: torch.Tensor | None = None) -> None:
        """Start from zero, or from the sums of a checkpoint."""
        self.value_weight = value_weight
        if start is None or len(start) != SUMS:
            start = torch.zeros(SUMS, dtype=torch.float64)
        self.sums = start.to(device)

    def add(
        self, losses: tuple[torch.Tensor, torch.Tensor], logits: tuple[torch.Tensor, torch.Tensor],
        batch: TrainingBatch, value_target: torch.Tensor, lead: torch.Tensor | None, ownership: torch.Tensor | None,
    ) -> None:
        """Add a batch: losses [N] and logits of policy and value, value target [N, 3], lead [N], ownership [N, S*S]."""
        known = batch.value != UNKNOWN_VALUE
        choice = logits[0].argmax(dim=1)
        policy_hits = choice == batch.policy.argmax(dim=1)
        value_hits = (logits[1].argmax(dim=1) == batch.value) & known
        targets = value_target.sum(dim=1)
        moved, rated = batch.move >= 0, ~torch.isnan(batch.win_rate)
        chances = torch.softmax(logits[1].float(), dim=1)
        rate = chances[:, 2] + 0.5 * chances[:, 1]
        rate_errors = (rate - torch.nan_to_num(batch.win_rate)).square() * rated
        led = torch.zeros_like(rated) if lead is None else ~torch.isnan(batch.lead)
        lead_errors = led.float() if lead is None else (lead.float() - torch.nan_to_num(batch.lead)).abs() * led
        owned, owner_errors = measure_ownership(ownership, batch.ownership)
        parts = (torch.ones_like(targets), *losses, targets, policy_hits, known, value_hits, moved,
                 (choice == batch.move) & moved, rated, rate_errors, led, lead_errors, owned, owner_errors)
        self.sums += torch.stack([part.detach().sum(dtype=torch.float64) for part in parts])

    def count(self) -> int:
        """Return the number of samples (waits for the device)."""
        return int(self.sums[0].item())

    def scores(self) -> Scores:
        """Return the averages (waits for the device)."""
        (count, policy, value, targets, policy_hits, known, value_hits, moved, move_hits, rated, rate_errors, led,
         lead_errors, owned, owner_errors) = self.sums.tolist()
        count = max(count, 1.0)
        return Scores((policy + self.value_weight * value) / count, policy / count, value / max(targets, 1.0),
                      policy_hits / count, value_hits / max(known, 1.0), move_hits / max(moved, 1.0),
                      math.sqrt(rate_errors / max(rated, 1.0)), lead_errors / max(led, 1.0),
                      owner_errors / max(owned, 1.0))


def print_scores(title: str, scores: Scores, seconds: float) -> None:
    """Print three lines about some samples: losses, share of right answers, time."""
    print_out(f"{title} : loss = {scores.loss:.6f}, time = {seconds:.2f} seconds.")
    print_out(f"\tpolicy loss : {scores.policy_loss:.6f}, top-1 {100 * scores.policy_top1:.2f} %")
    print_out(f"\tvalue loss  : {scores.value_loss:.6f}, top-1 {100 * scores.value_top1:.2f} %")
    if scores.move_top1:
        lead = f", lead by {scores.lead_error:.2f}" if scores.lead_error else ""  # a network need not tell it
        errors = f"win rate off by {scores.rate_error:.4f} (rms){lead}"
        print_out(f"\tmove played : top-1 {100 * scores.move_top1:.2f} %; {errors}")
