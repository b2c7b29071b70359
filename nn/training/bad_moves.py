"""Learning which moves are bad, from games: a move that was played is good, all others of its position are bad.

K. Sato and K. Yamamoto, 2015. Good and bad moves weigh the same in the loss, however many bad ones a position has, so
that L_bad > L_good says "rather bad" (nn/classifier.py says what comes of it). The paper's network has three layers:
what is seen around a point, one hidden layer, the answer. `layers` adds convolutions between the last two.

Letters: N positions, S board size, P = 16 planes (the marks and the board), F filters.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from board.geometry import make_symmetry_index
from nn.classifier import Classifier, write_classifier
from nn.data.move_samples import KEPT_BACK, MoveSamples, collect_samples, read_games
from nn.device import get_torch_device
from nn.model_file import CLASSIFIER_FILE
from nn.point_marks import CANDIDATE, MARKS
from nn.training.recall import Margins, format_table
from nn.training.run_config import TrainError
from nn.training.schedule import CosineSchedule

KERNEL = 7
FILTERS, LAYERS, EPOCHS, LEARNING_RATE = 16, 2, 4, 0.004
# The options of train.py that mean something here.
TAKEN = ("kifu_dir", "board_sizes", "filters", "blocks", "epochs", "minutes", "batch_size", "learning_rate", "seed",
         "use_gpu", "output", "restart")
# Lines of progress in a run.
REPORTS = 10


@dataclass(frozen=True)
class BadMoveConfig:
    """What `train.py --task bad-moves` is told; without minutes it learns for some epochs."""

    kifu_dir: Path
    output: Path
    board_size: int
    filters: int
    layers: int
    epochs: int
    minutes: float | None
    batch_size: int
    learning_rate: float
    seed: int
    use_gpu: bool

    @classmethod
    def of(cls, options: dict[str, Any], given: set[str], folder: Path) -> "BadMoveConfig":
        """Return the config that options of train.py ask for; `folder` is that of the program.

        Raises TrainError where one of those `given` means nothing here, or one is lacking.
        """
        for name in sorted(given - set(TAKEN)):
            raise TrainError(f"--{name.replace('_', '-')} means nothing to --task bad-moves")
        if options["kifu_dir"] is None:
            raise TrainError("--task bad-moves learns from games: give --kifu-dir FOLDER")
        if len(options["board_sizes"]) > 1:
            raise TrainError("--task bad-moves learns from one --size at a time: its classifier judges any")
        layers, output = options["blocks"], Path(options["output"] or folder / CLASSIFIER_FILE)
        if output.exists() and not options["restart"]:
            raise TrainError(f"{output} is there already: give another --output, or replace it with --restart true")
        return cls(
            Path(options["kifu_dir"]), output, options["board_sizes"][0],
            options["filters"] or FILTERS, LAYERS if layers is None else layers, options["epochs"] or EPOCHS,
            options["minutes"], options["batch_size"], options["learning_rate"] or LEARNING_RATE, options["seed"],
            options["use_gpu"],
        )


class BadMoveNet(nn.Module):
    """The classifier while it learns."""

    def __init__(self, filters: int, layers: int) -> None:
        """Make a network with random weights."""
        super().__init__()
        self.first = nn.Conv2d(MARKS + 1, filters, KERNEL, padding=KERNEL // 2)
        self.hidden = nn.ModuleList(nn.Conv2d(filters, filters, 3, padding=1) for _ in range(layers))
        self.last = nn.Conv2d(filters, 1, 1)

    def forward(self, planes: torch.Tensor) -> torch.Tensor:
        """Return the logits [N, S*S] of planes [N, P, S, S]."""
        features = functional.relu(self.first(planes))
        for layer in self.hidden:
            features = functional.relu(layer(features))
        return self.last(features).flatten(start_dim=1)

    def to_classifier(self) -> Classifier:
        """Return the weights as the kernels want them."""
        def array(tensor: torch.Tensor) -> np.ndarray:
            return np.ascontiguousarray(tensor.detach().cpu().numpy(), dtype=np.float32)

        # A point that sees a mark at +d is a point to which the mark adds at -d.
        around = array(self.first.weight.flip(2, 3).permute(1, 2, 3, 0))
        filters, layers = len(around[0, 0, 0]), len(self.hidden)
        hidden = [array(layer.weight).reshape(filters, filters, 9) for layer in self.hidden]  # type: ignore[arg-type]
        bias = [array(layer.bias) for layer in self.hidden]  # type: ignore[arg-type]
        assert self.first.bias is not None and self.last.bias is not None
        return Classifier(
            around[:MARKS].reshape(MARKS, KERNEL, KERNEL * filters), around[MARKS], array(self.first.bias),
            np.stack(hidden) if layers else np.zeros((0, filters, filters, 9), dtype=np.float32),
            np.stack(bias) if layers else np.zeros((0, filters), dtype=np.float32),
            array(self.last.weight).reshape(filters), array(self.last.bias),
        )


def make_planes(marks: torch.Tensor, size: int) -> torch.Tensor:
    """Return the planes [N, P, S, S] of marks [N, S*S]: one a mark, and one of the board."""
    bits = torch.arange(MARKS, device=marks.device, dtype=torch.int32)
    planes = (marks.unsqueeze(1) >> bits.view(1, -1, 1)) & 1
    planes = functional.pad(planes.float(), (0, 0, 0, 1), value=1.0)
    return planes.view(len(marks), MARKS + 1, size, size)


def calculate_loss(logits: torch.Tensor, marks: torch.Tensor, played: torch.Tensor) -> torch.Tensor:
    """Return the mean cross entropy over positions: half for the good move, half for the mean of the bad ones."""
    bad = (marks >> CANDIDATE & 1).float().scatter(1, played.unsqueeze(1), 0.0)
    good_loss = functional.softplus(-logits.gather(1, played.unsqueeze(1))).squeeze(1)
    bad_loss = (functional.softplus(logits) * bad).sum(dim=1) / bad.sum(dim=1).clamp(min=1.0)
    return ((good_loss + bad_loss) / 2.0).mean()


class Turner:
    """Turns and mirrors boards, all of a batch in the same way."""

    def __init__(self, size: int, device: torch.device) -> None:
        """Prepare the eight ways."""
        index = make_symmetry_index(size)[:, : size * size]
        self._index = torch.from_numpy(index).to(device)
        self._inverse = torch.from_numpy(np.argsort(index, axis=1)).to(device)

    def __call__(self, marks: torch.Tensor, played: torch.Tensor, sym: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Return marks [N, S*S] and points [N] seen through a symmetry."""
        return marks[:, self._index[sym]], self._inverse[sym][played]


def judge_by_net(network: BadMoveNet, samples: MoveSamples, size: int, batch_size: int) -> Margins:
    """Return what the network says of all moves of these positions."""
    device, margins = next(network.parameters()).device, []
    with torch.no_grad():
        for start in range(0, len(samples.marks), batch_size):
            marks = torch.from_numpy(samples.marks[start : start + batch_size].astype(np.int32)).to(device)
            margins.append(-torch.tanh(network(make_planes(marks, size)) / 2.0).cpu().numpy())
    return Margins.of(np.concatenate(margins), samples)


def learn(network: BadMoveNet, samples: MoveSamples, config: BadMoveConfig, say: Callable[[str], None]) -> None:
    """Learn for as many epochs or minutes as the config says; tell the mean loss now and then."""
    device, rng = next(network.parameters()).device, np.random.default_rng(config.seed)
    turn, size = Turner(config.board_size, device), config.batch_size
    optimizer = torch.optim.Adam(network.parameters())
    schedule = CosineSchedule(config.learning_rate)
    steps_of_epoch, begin = max(1, len(samples.played) // size), time.monotonic()
    steps = config.epochs * steps_of_epoch
    share, step, told, losses = 0.0, 0, 0, []
    order = np.zeros(0, dtype=np.int64)
    while share < 1.0:
        if step % steps_of_epoch == 0:
            order = rng.permutation(len(samples.played))
        at = step % steps_of_epoch * size
        chosen = np.sort(order[at : at + size])
        marks = torch.from_numpy(samples.marks[chosen].astype(np.int32)).to(device)
        played = torch.from_numpy(samples.played[chosen].astype(np.int64)).to(device)
        marks, played = turn(marks, played, int(rng.integers(8)))
        loss = calculate_loss(network(make_planes(marks, config.board_size)), marks, played)
        for group in optimizer.param_groups:
            group["lr"] = schedule.rate(step, share)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        step += 1
        share = (time.monotonic() - begin) / (60.0 * config.minutes) if config.minutes else step / steps
        if share * REPORTS >= told + 1:
            told = int(share * REPORTS)
            say(f"{min(share, 1.0):4.0%}  {step:7,} steps  {time.monotonic() - begin:6.0f} s  "
                f"loss {np.mean(losses):.4f}")
            losses.clear()


def learn_from_games(config: BadMoveConfig, say: Callable[[str], None]) -> None:
    """Learn from games, write the classifier and tell the table; raises DataError for games and OSError for files."""
    torch.manual_seed(config.seed)
    games = read_games(config.kifu_dir, config.board_size)
    samples = collect_samples((game for i, game in enumerate(games) if i % KEPT_BACK), config.board_size)
    tests = collect_samples(games[::KEPT_BACK], config.board_size)
    network = BadMoveNet(config.filters, config.layers).to(get_torch_device(config.use_gpu))
    say(f"{len(games)} games: learning from {len(samples.played):,} positions, judged by {len(tests.played):,}")
    learn(network, samples, config, say)
    write_classifier(network.to_classifier(), config.output)
    margins = judge_by_net(network, tests, config.board_size, config.batch_size)
    say(f"{config.output}\n{format_table(margins)}")
