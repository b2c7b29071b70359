"""What a run reports: sums over samples, printed lines, a CSV and a picture of the curves."""

import csv
import io
import warnings
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import torch

from common.print_console import print_err, print_out
from nn.loss import UNKNOWN_VALUE
from nn.utility import write_atomically


@dataclass(frozen=True)
class Scores:
    """Averages over some samples; losses are in nats."""

    loss: float
    policy_loss: float
    value_loss: float
    policy_top1: float  # share of samples whose target move has the highest policy
    value_top1: float  # share of known results that have the highest value


@dataclass(frozen=True)
class Row:
    """One line of the CSV; epochs and steps are counted from 1, the test columns are empty inside an epoch."""

    epoch: int
    step: int
    seconds: float
    learning_rate: float
    train: Scores
    test: Scores | None


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


def write_csv(rows: list[Row], path: Path) -> None:
    """Write all rows of a run, replacing the file as a whole."""
    names = [field.name for field in fields(Scores)]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["epoch", "step", "seconds", "learning_rate"]
                    + [f"{part}_{name}" for part in ("train", "test") for name in names])
    for row in rows:
        parts = [f"{number:.6f}" for number in asdict(row.train).values()]
        parts += [f"{number:.6f}" for number in asdict(row.test).values()] if row.test else [""] * len(names)
        writer.writerow([row.epoch, row.step, f"{row.seconds:.1f}", f"{row.learning_rate:.3g}", *parts])
    write_atomically(path, text.getvalue().encode())


def write_curves(rows: list[Row], path: Path) -> None:
    """Draw losses and accuracies over the steps, if matplotlib is there; says so in one line if it is not."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from matplotlib.backends.backend_agg import FigureCanvasAgg
            from matplotlib.figure import Figure
    except ImportError:
        print_err("No matplotlib: the curves are not drawn (pip install matplotlib).")
        return
    panels = (("policy_loss", "policy loss"), ("value_loss", "value loss"),
              ("policy_top1", "policy top-1"), ("value_top1", "value top-1"))
    figure = Figure(figsize=(10, 7), layout="constrained")
    FigureCanvasAgg(figure)
    tested = [row for row in rows if row.test]
    for place, (name, title) in enumerate(panels, start=1):
        axes = figure.add_subplot(2, 2, place, title=title, xlabel="step")
        axes.plot([row.step for row in rows], [getattr(row.train, name) for row in rows], label="train")
        axes.plot([row.step for row in tested], [getattr(row.test, name) for row in tested], marker="o", label="test")
        axes.grid(alpha=0.3)
        axes.legend()
    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=100)
    write_atomically(path, image.getvalue())
