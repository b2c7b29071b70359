"""Learning which moves are bad, from games: a move that was played is good, all others of its position are bad.

K. Sato and K. Yamamoto, 2015. The paper judges each point by itself. Here the points of a position are weighed against
each other, as in a policy: whether a move is bad depends on what else there is (nn/classifier.py says how L_good and
L_bad follow). The paper's network has three layers: what is seen around a point, one hidden layer, the answer. `layers`
adds convolutions between the last two.

A label of a position tells more than the move that was played: how likely each move is to its teacher.
`teacher_weight` is its share in what is learnt.

Letters: N positions, S board size.
"""

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch

from board.geometry import SYMMETRIES, make_symmetry_index
from common.interrupt import StopRequest
from nn.classifier import MOST_FILTERS, MOST_LAYERS, read_classifier, weigh, write_classifier
from nn.data.data_file import DataError, sum_arrays
from nn.data.labels import describe_bare, read_all_labels
from nn.data.move_samples import KEPT_BACK, MoveSamples, collect_samples, read_games
from nn.device import get_torch_device, tell_gpu_failure
from nn.model_file import CLASSIFIER_FILE
from nn.network.weights import save_atomically
from nn.point_marks import CANDIDATE
from nn.training.bad_move_net import BadMoveNet, make_planes
from nn.training.checkpoint import plan_supervised, read_checkpoint
from nn.training.optimizer import load_momentum, make_muon
from nn.training.precision import choose_precision
from nn.training.recall import Margins, format_table
from nn.training.run_config import FULL_GPU, NO_TEACHER, RunawayError, RunProgress, TrainError
from nn.training.run_files import RunFiles
from nn.training.schedule import CosineSchedule

FILTERS, LAYERS, EPOCHS, LEARNING_RATE = 32, 4, 4, 0.02
# The options of train.py that mean something here.
TAKEN = ("kifu_dir", "board_sizes", "filters", "blocks", "epochs", "minutes", "batch_size", "learning_rate", "seed",
         "use_gpu", "output", "restart", "labels", "teacher_weight", "start")
# If a teacher gives all candidates together less of his policy, he wants to pass, and the label tells nothing.
LEAST_SHARE = 0.01
# Lines of progress in a run.
REPORTS = 10
CHECKPOINT_SECONDS = 60.0


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
    labels: tuple[str, ...] = ()  # files, and folders of them: where the teacher's policies stand
    teacher_weight: float = 1.0  # below 1 the good move of a labelled position is the one that was played
    start: str = ""  # a classifier whose weights a new run begins with

    @classmethod
    def of(cls, options: dict[str, Any], given: set[str], folder: Path) -> "BadMoveConfig":
        """Return the config that options of train.py ask for; `folder` is that of the program.

        Raises TrainError where one of those `given` means nothing here, or one is lacking, and ClassifierError.
        """
        for name in sorted(given - set(TAKEN)):
            raise TrainError(f"--{name.replace('_', '-')} means nothing to --task bad-moves")
        if options["kifu_dir"] is None:
            raise TrainError("--task bad-moves learns from games: give --kifu-dir FOLDER")
        if "teacher_weight" in given and not options["labels"]:
            raise TrainError(NO_TEACHER)
        if len(options["board_sizes"]) > 1:
            raise TrainError("--task bad-moves learns from one --size at a time: its classifier judges any")
        filters, layers, output = FILTERS, LAYERS, Path(options["output"] or folder / CLASSIFIER_FILE)
        if options["start"]:
            start = read_classifier(options["start"])
            filters, layers = len(start.bias), len(start.hidden)
        for name, number, most in (("filters", options["filters"], MOST_FILTERS),
                                   ("blocks", options["blocks"], MOST_LAYERS)):
            if number is not None and number > most:
                raise TrainError(f"--{name} {number}: a classifier of bad moves has {most} at most")
        return cls(
            Path(options["kifu_dir"]), output, options["board_sizes"][0], options["filters"] or filters,
            layers if options["blocks"] is None else options["blocks"], options["epochs"] or EPOCHS,
            options["minutes"], options["batch_size"], options["learning_rate"] or LEARNING_RATE, options["seed"],
            options["use_gpu"], tuple(options["labels"]), options["teacher_weight"], options["start"] or "",
        )


def weigh_candidates(logits: torch.Tensor, marks: torch.Tensor) -> torch.Tensor:
    """Return the logits [N, S*S] of the candidates in the marks [N, S*S], and minus infinity for all other points."""
    return logits.masked_fill((marks >> CANDIDATE & 1) == 0, -torch.inf)


def mix_targets(marks: torch.Tensor, played: torch.Tensor, policy: torch.Tensor, weight: float) -> torch.Tensor:
    """Return what the shares of all points [N, S*S] are to be: `weight` of the policy [N, S*S] of a teacher.

    The rest is the move [N] that was played, and so is all of it where there is no label.
    """
    policy = policy.masked_fill((marks >> CANDIDATE & 1) == 0, 0.0)
    total = policy.sum(dim=1, keepdim=True)
    told = weight * (total > LEAST_SHARE)
    target = told * policy / total.clamp(min=LEAST_SHARE)
    return target.scatter_add(1, played.unsqueeze(1), 1.0 - told)


def calculate_loss(logits: torch.Tensor, marks: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Return the mean cross entropy over positions of the candidates' shares with what they are to be [N, S*S]."""
    nats = torch.log_softmax(weigh_candidates(logits, marks), dim=1)
    return -(target * nats.masked_fill(target == 0.0, 0.0)).sum(dim=1).mean()


def calculate_margins(logits: torch.Tensor, marks: torch.Tensor) -> np.ndarray:
    """Return L_bad - L_good [N, S*S] of the candidates, 1 for other points."""
    margins = weigh_candidates(logits, marks).cpu().numpy()
    for position in margins:
        weigh(position, len(position))
    return margins


class Turner:
    """Turns and mirrors boards, all of a batch in the same way."""

    def __init__(self, size: int, device: torch.device) -> None:
        """Prepare the eight ways."""
        index = make_symmetry_index(size)[:, : size * size]
        self._index = torch.from_numpy(index).to(device)
        self._inverse = torch.from_numpy(np.argsort(index, axis=1)).to(device)

    def of_points(self, values: torch.Tensor, sym: int) -> torch.Tensor:
        """Return what stands on the points of boards, [N, S*S], seen through a symmetry."""
        return values[:, self._index[sym]]

    def of_moves(self, moves: torch.Tensor, sym: int) -> torch.Tensor:
        """Return points [N] seen through a symmetry."""
        return self._inverse[sym][moves]


def judge_by_net(network: BadMoveNet, samples: MoveSamples, size: int, batch_size: int) -> Margins:
    """Return what the network says of all moves of these positions."""
    device, margins = next(network.parameters()).device, []
    with torch.no_grad():
        for start in range(0, len(samples.marks), batch_size):
            marks = torch.from_numpy(samples.marks[start : start + batch_size].astype(np.int32)).to(device)
            margins.append(calculate_margins(network(make_planes(marks, size)), marks))
    return Margins.of(np.concatenate(margins), samples)


class ClassifierRun:
    """A network that learns, and where it stands."""

    def __init__(self, config: BadMoveConfig, samples: MoveSamples) -> None:
        """Begin anew."""
        torch.manual_seed(config.seed)
        self.network = BadMoveNet(config.filters, config.layers)
        if config.start:
            try:
                self.network.begin_with(read_classifier(config.start))
            except ValueError as error:
                raise TrainError(f"{config.start} does not fit --filters and --blocks: {error}") from None
        self.network.to(get_torch_device(config.use_gpu))
        self.progress = RunProgress()
        self._config, self._samples, self._files = config, samples, RunFiles(config.output)
        self._optimizer = make_muon(self.network, config.learning_rate)
        self._precision = choose_precision(next(self.network.parameters()).device)
        self._turn = Turner(config.board_size, next(self.network.parameters()).device)
        self._begin = self._saved = time.monotonic()

    def identity(self) -> dict[str, Any]:
        """Return what a resumed run must share: not how long it lasts, nor where."""
        config = self._config
        return {"task": "bad-moves", "board_sizes": (config.board_size,), "filters": config.filters,
                "blocks": config.layers, "batch_size": config.batch_size, "learning_rate": config.learning_rate,
                "seed": config.seed, "data": [[len(self._samples.played), self._sum]],
                "teacher_weight": config.teacher_weight,
                "labels": [Path(path).name for path in config.labels],
                "start": Path(config.start).name}

    @cached_property
    def _sum(self) -> int:
        """What tells these positions, and the teacher's word on them, from others of as many."""
        return sum_arrays(self._samples)

    def elapsed(self) -> float:
        """Return the seconds spent on learning, earlier parts of the run included."""
        return self.progress.seconds + time.monotonic() - self._begin

    def save(self) -> None:
        """Write the checkpoint; raises OSError, and then the old one is intact."""
        save_atomically({
            "output": self._config.output.name, "identity": self.identity(),
            "progress": asdict(replace(self.progress, seconds=self.elapsed())),
            "network": self.network.state_dict(), "optimizer": self._optimizer.state_dict(),
            "precision": self._precision.state_dict(),
        }, self._files.checkpoint)
        self._saved = time.monotonic()

    def go_on(self) -> bool:
        """Take up the checkpoint, if there is one; raises TrainError for another run's."""
        if not self._files.checkpoint.exists():
            return False
        state = read_checkpoint(self._files)
        old = {**state["identity"], "labels": state["identity"].get("labels") or []}  # None in those of before
        plan_supervised(self._files.checkpoint, state["progress"], old, self.progress, self.identity())
        self.network.load_state_dict(state["network"])
        load_momentum(self._optimizer, state["optimizer"], self._files.checkpoint)
        if "precision" in state:  # not in those of before
            self._precision.load_state_dict(state["precision"])
        self.progress = state["progress"]
        return True

    def learn(self, say: Callable[[str], None]) -> str:
        """Learn for as many epochs or minutes as the config says; tell the mean loss now and then.

        Returns the signal that stopped it, empty if it is finished. Everything follows from the seed and the step.
        Raises TrainError when the numbers have run away.
        """
        config, progress = self._config, self.progress
        steps_of_epoch = max(1, len(self._samples.played) // config.batch_size)
        schedule, losses = CosineSchedule(config.learning_rate), list[float]()
        told, order, ways = -1, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        with StopRequest() as stop:
            while True:
                share = (self.elapsed() / (60.0 * config.minutes) if config.minutes
                         else progress.step / (config.epochs * steps_of_epoch))
                if told < 0:
                    told = int(share * REPORTS)
                if share * REPORTS >= told + 1:
                    told = int(share * REPORTS)
                    say(f"{min(share, 1.0):4.0%}  {progress.step:7,} steps  {self.elapsed():6.0f} s  "
                        f"loss {np.mean(losses):.4f}")
                    losses.clear()
                if share >= 1.0 or stop.number:
                    break
                at = progress.step % steps_of_epoch
                if at == 0 or not len(order):
                    rng = np.random.default_rng([config.seed, progress.step // steps_of_epoch])
                    order = rng.permutation(len(self._samples.played))
                    ways = rng.integers(0, SYMMETRIES, steps_of_epoch)
                losses.append(self._step(order[at * config.batch_size :][: config.batch_size], int(ways[at]),
                                         schedule.rate(progress.step, share)))
                progress.step += 1
                if not math.isfinite(losses[-1]):
                    raise RunawayError(progress.step)
                if time.monotonic() - self._saved > CHECKPOINT_SECONDS:
                    self.save()
        progress.finished = share >= 1.0
        self.save()
        return "" if progress.finished else stop.name

    def _step(self, rows: np.ndarray, sym: int, rate: float) -> float:
        """Learn from some positions, seen through a symmetry; return their loss."""
        device, chosen = next(self.network.parameters()).device, np.sort(rows)
        marks = torch.from_numpy(self._samples.marks[chosen].astype(np.int32)).to(device)
        played = torch.from_numpy(self._samples.played[chosen].astype(np.int64)).to(device)
        policy = torch.from_numpy(self._samples.policy[chosen].astype(np.float32)).to(device)
        marks, policy = self._turn.of_points(marks, sym), self._turn.of_points(policy, sym)
        target = mix_targets(marks, self._turn.of_moves(played, sym), policy, self._config.teacher_weight)
        with self._precision.forward():
            logits = self.network(make_planes(marks, self._config.board_size))
        loss = calculate_loss(logits.float(), marks, target)
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        self._optimizer.zero_grad()
        self._precision.add(loss)
        self._precision.step(self._optimizer, 0.0)
        return loss.item()


def learn_from_games(config: BadMoveConfig, restart: bool, say: Callable[[str], None]) -> str:
    """Learn from games, write the classifier and tell the table; the same call goes on with an interrupted run.

    Returns the signal that stopped it, empty if it is finished. Raises DataError for games, TrainError where it cannot
    begin or go on, and OSError for files.
    """
    files = RunFiles(config.output)
    if config.output.exists() and not files.checkpoint.exists() and not restart:
        raise TrainError(f"{config.output} is there already: give another --output, or replace it with --restart true")
    games, size = read_games(config.kifu_dir, config.board_size), config.board_size
    teachers = read_all_labels(config.labels)
    labelled = [(game, teachers.of_game(game.name, size, len(game.pos))) for game in games]
    is_best = config.teacher_weight == 1.0
    samples = collect_samples((one for i, one in enumerate(labelled) if i % KEPT_BACK), size, is_best)
    tests = collect_samples(labelled[::KEPT_BACK], size, is_best)
    if not len(samples.played) or not len(tests.played):
        raise DataError(f"{config.kifu_dir}: {len(samples.played)} positions to learn from and {len(tests.played)} to "
                        "judge by, in which a move was played that is no pass: give more games")
    config.output.parent.mkdir(parents=True, exist_ok=True)
    with tell_gpu_failure(FULL_GPU), files.hold():
        run = ClassifierRun(config, samples)
        if not restart and run.go_on():
            say(f"Resumed at step {run.progress.step}, from {files.checkpoint}.")
        say(f"{len(games)} games: learning from {len(samples.played):,} positions, judged by {len(tests.played):,}")
        bare = [game.name for game, labels in labelled if labels is None]
        if config.labels and bare:
            say(describe_bare(bare, "whose own moves are taken for good"))
        stopped = run.learn(say)
        if stopped:
            say(f"Stopped by {stopped} at step {run.progress.step}: the same command"
                f"{' without --restart true' if restart else ''} goes on from here.")
            return stopped
        write_classifier(run.network.to_classifier(), config.output)
    margins = judge_by_net(run.network, tests, size, config.batch_size)
    say(f"{config.output}\n{format_table(margins)}")
    return ""
