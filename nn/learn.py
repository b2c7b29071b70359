"""Training: one loop for every device, for supervised and for reinforcement learning."""

import pickle
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

import learning_param
from board.geometry import make_symmetry_index
from common.print_console import print_err, print_out
from nn.average import WeightAverage
from nn.dataset import DataSet, find_data_files, make_batch, open_files
from nn.interrupt import StopRequest
from nn.loss import PolicyLoss, calculate_policy_loss, calculate_value_loss, make_value_target
from nn.metrics import Row, Scores, Sums, print_scores, write_csv, write_curves
from nn.network.dual_net import DEFAULT_BLOCKS, DEFAULT_FILTERS, DualNet
from nn.precision import choose_precision
from nn.schedule import CosineSchedule, LectureSchedule, Schedule
from nn.utility import (
    ModelFileError,
    get_torch_device,
    load_network,
    save_atomically,
    save_network,
    to_channels_last,
)

ROW_STEPS = 1000  # steps between two rows of the CSV
CHECK_STEPS = 50  # steps between two looks at the running loss
CHECKPOINT_SECONDS = 180.0


class TrainError(Exception):
    """A run that cannot start or go on; one line that says what to do."""


@dataclass(frozen=True)
class Recipe:
    """What supervised and reinforcement learning do differently."""

    name: str  # first part of the names of its files
    data_pattern: str
    policy_loss: PolicyLoss


SUPERVISED = Recipe("sl", "sl_data_*.npz", calculate_policy_loss)


@dataclass(frozen=True)
class TrainConfig:
    """Everything a run is told."""

    board_size: int = 9
    filters: int = DEFAULT_FILTERS
    blocks: int = DEFAULT_BLOCKS
    seed: int = 0
    batch_size: int = learning_param.BATCH_SIZE
    learning_rate: float = learning_param.SL_LEARNING_RATE
    schedule: str = "lecture"  # or "cosine"
    value_weight: float = learning_param.SL_VALUE_WEIGHT
    value_blend: float = 0.0
    test_share: float = 0.2
    ema: float = 0.0  # decay per step of the averaged weights; 0: no averaging
    epochs: int | None = learning_param.EPOCHS  # None: until the minutes are over
    minutes: float | None = None  # wall-clock budget of the whole run, resumed parts together
    use_gpu: bool = True
    restart: bool = False
    start: str = ""  # model file that a new run begins from; empty: random weights
    data_dir: Path = Path("data")
    output: Path = Path("model/sl-model.bin")

    def identity(self) -> dict[str, Any]:
        """Return the settings that a resumed run must share; how long it lasts and where it runs may change."""
        free = {"epochs", "minutes", "use_gpu", "restart", "data_dir", "output"}
        return {name: value for name, value in asdict(self).items() if name not in free}


@dataclass
class Progress:
    """Where a run stands."""

    epoch: int = 0  # from 0
    batch: int = 0  # batches of this epoch that are done
    step: int = 0  # steps of the whole run that are done
    seconds: float = 0.0  # spent by earlier parts of the run
    best_loss: float = float("inf")
    finished: bool = False


def make_schedule(config: TrainConfig) -> Schedule:
    """Return the schedule a config names; raises TrainError for an unknown name."""
    if config.schedule == "cosine":
        return CosineSchedule(config.learning_rate)
    if config.schedule == "lecture":
        steps = learning_param.LEARNING_SCHEDULE["learning_rate"]
        return LectureSchedule(config.learning_rate, learning_param.SL_LEARNING_RATE, steps)
    raise TrainError(f"unknown schedule {config.schedule!r}: say lecture or cosine")


def make_first_network(config: TrainConfig, device: torch.device) -> DualNet:
    """Return the network a new run begins with; raises TrainError for a start that cannot be used or fits not."""
    if not config.start:
        return DualNet(device, config.board_size, config.filters, config.blocks)
    try:
        network = load_network(config.start, config.board_size, config.use_gpu)
    except ModelFileError as error:
        raise TrainError(f"cannot start from {error.path}: {error.reason}; give another model with --start") from None
    filters, blocks = network.conv_layer.out_channels, len(network.blocks)
    if (filters, blocks) != (config.filters, config.blocks):
        raise TrainError(f"{config.start} has {filters} filters and {blocks} blocks, not {config.filters} and "
                         f"{config.blocks}: say --filters {filters} --blocks {blocks}")
    return network


class Trainer:
    """One run: network, optimizer, data and where it stands."""

    def __init__(self, config: TrainConfig, recipe: Recipe) -> None:
        """Make everything anew; raises DataError when there is no usable data."""
        self.config = config
        self.recipe = recipe
        self.device = get_torch_device(config.use_gpu)
        files = open_files(find_data_files(config.data_dir, recipe.data_pattern), config.test_share)
        self.data = DataSet(files, config.board_size, config.batch_size, config.seed)
        torch.manual_seed(config.seed)
        self.network = to_channels_last(make_first_network(config, self.device), self.device)
        self.average = WeightAverage(self.network, config.ema) if config.ema > 0.0 else None
        self.optimizer = torch.optim.SGD(
            self.network.parameters(), lr=config.learning_rate, momentum=learning_param.MOMENTUM,
            weight_decay=learning_param.WEIGHT_DECAY, nesterov=True,
        )
        self.precision = choose_precision(self.device)
        self.schedule = make_schedule(config)
        self.symmetry_table = torch.from_numpy(make_symmetry_index(config.board_size)).to(self.device)
        self.sums = Sums(config.value_weight, self.device)
        self.progress = Progress()
        self.rows: list[Row] = []
        self.row_start = self.last_saved = self.started = time.monotonic()

    @property
    def state_path(self) -> Path:
        """The checkpoint."""
        return self.config.output.with_name(f"{self.recipe.name}-state.ckpt")

    @property
    def metrics_path(self) -> Path:
        """The CSV; the picture lies beside it."""
        return self.config.output.with_name(f"{self.recipe.name}-metrics.csv")

    def identity(self) -> dict[str, Any]:
        """Return the settings and the data of this run."""
        data = [[file.path.name, file.total] for file in self.data.files]
        return {**self.config.identity(), "recipe": self.recipe.name, "data": data}

    def elapsed(self) -> float:
        """Return the seconds spent on this run, earlier parts included."""
        return self.progress.seconds + time.monotonic() - self.started

    def share(self) -> float:
        """Return the share (0..1) of the run that is over, by its budget of time or of epochs, whichever is further."""
        shares = [0.0]
        if self.config.minutes is not None:
            shares.append(self.elapsed() / (60.0 * self.config.minutes))
        if self.config.epochs is not None:
            shares.append(self.progress.step / (self.config.epochs * self.data.batches_per_epoch))
        return min(1.0, max(shares))

    def run(self) -> str:
        """Train to the end; returns the name of the signal that stopped it, empty if it finished."""
        self.row_start = self.last_saved = self.started = time.monotonic()
        with StopRequest() as stop:
            while not self.progress.finished:
                self._train_epoch(stop)
                if stop.name:
                    self.save_state()
                    return stop.name
                self._end_epoch()
        write_curves(self.rows, self.metrics_path.with_suffix(".png"))
        return ""

    def _train_epoch(self, stop: StopRequest) -> None:
        """Train until the epoch, the budget or the user says stop."""
        progress, total = self.progress, self.data.batches_per_epoch
        self.network.train()
        batches = self.data.training_batches(progress.epoch, progress.batch)
        with tqdm(total=total, initial=progress.batch, desc=f"epoch {progress.epoch + 1}", unit="batch",
                  disable=None, dynamic_ncols=True) as bar:
            for samples, symmetries in batches:
                if stop.name or (progress.step and self.share() >= 1.0):
                    break
                loss = self._step(samples, symmetries)
                bar.update()
                if progress.step % CHECK_STEPS == 0:
                    self._check(loss)
                    bar.set_postfix(loss=f"{loss.item():.4f}", refresh=False)
                if progress.step % ROW_STEPS == 0 and progress.batch < total:
                    self._add_row()
                if time.monotonic() - self.last_saved > CHECKPOINT_SECONDS:
                    self.save_state()

    def _step(self, samples: Any, symmetries: Any) -> torch.Tensor:
        """Learn from one batch; returns its loss."""
        rate = self.schedule.rate(self.progress.epoch, self.progress.step, self.share())
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.zero_grad(set_to_none=True)
        loss = self._losses(self.network, samples, symmetries, self.sums)
        self.precision.step(loss, self.optimizer)
        if self.average is not None:
            self.average.update(self.progress.step)
        self.progress.step += 1
        self.progress.batch += 1
        return loss

    def _losses(self, network: torch.nn.Module, samples: Any, symmetries: Any, sums: Sums) -> torch.Tensor:
        """Return the mean loss of a batch and add the batch to the sums."""
        batch = make_batch(samples, symmetries, self.symmetry_table, self.device)
        with self.precision.forward():
            policy_logits, value_logits = network(batch.planes)
        policy_logits, value_logits = policy_logits.float(), value_logits.float()
        target = make_value_target(batch.value, batch.win_rate, self.config.value_blend)
        policy_loss = self.recipe.policy_loss(policy_logits, batch.policy)
        value_loss = calculate_value_loss(value_logits, target)
        sums.add((policy_loss, value_loss), (policy_logits, value_logits), batch.policy, batch.value, target)
        return (policy_loss + self.config.value_weight * value_loss).mean()

    def _check(self, loss: torch.Tensor) -> None:
        """Raise TrainError when the numbers have run away, before they reach a file."""
        if not torch.isfinite(loss):
            raise TrainError(f"the loss is no number any more at step {self.progress.step}: "
                             "start again with --restart true and a lower --learning-rate")

    def _end_epoch(self) -> None:
        """Test, keep the best model, print and write everything."""
        self._add_row()
        scores = self.evaluate() if self.data.test_count else None
        self.rows[-1] = replace(self.rows[-1], test=scores)
        write_csv(self.rows, self.metrics_path)
        loss = self.rows[-1].train.loss if scores is None else scores.loss
        self._check(torch.tensor(loss))
        if scores is None or loss < self.progress.best_loss:
            self.progress.best_loss = loss
            save_network(self.average.network if self.average else self.network, self.config.output)
        if self.progress.batch >= self.data.batches_per_epoch:
            self.progress = replace(self.progress, epoch=self.progress.epoch + 1, batch=0)
        self.progress.finished = self.share() >= 1.0
        self.save_state()

    @torch.inference_mode()
    def evaluate(self) -> Scores:
        """Return the averages over the test samples, for the weights that would be saved."""
        start = time.monotonic()
        network = (self.average.network if self.average else self.network).eval()
        sums = Sums(self.config.value_weight, self.device)
        for samples, symmetries in self.data.test_batches():
            self._losses(network, samples, symmetries, sums)
        scores = sums.scores()
        print_scores(f"Test {self.progress.epoch + 1}", scores, time.monotonic() - start)
        return scores

    def _add_row(self) -> None:
        """Close a stretch of training, if there is one: print it and put it into the CSV."""
        if not self.sums.count():
            return
        progress, now = self.progress, time.monotonic()
        rate = self.optimizer.param_groups[0]["lr"]
        row = Row(progress.epoch + 1, progress.step, self.elapsed(), rate, self.sums.scores(), None)
        print_scores(f"epoch {row.epoch}, step {row.step}, learning rate {rate:.3g}", row.train, now - self.row_start)
        self.rows.append(row)
        self.sums = Sums(self.config.value_weight, self.device)
        self.row_start = now
        write_csv(self.rows, self.metrics_path)

    def save_state(self) -> None:
        """Write the checkpoint; raises OSError, and then the old one is intact."""
        state = {
            "identity": self.identity(),
            "progress": asdict(replace(self.progress, seconds=self.elapsed())),
            "network": self.network.state_dict(),
            "average": self.average.network.state_dict() if self.average else {},
            "optimizer": self.optimizer.state_dict(),
            "precision": self.precision.state_dict(),
            "sums": self.sums.sums,
            "rows": [asdict(row) for row in self.rows],
        }
        save_atomically(state, self.state_path)
        self.last_saved = time.monotonic()

    def load_state(self) -> None:
        """Go on from the checkpoint, if there is an unfinished one; raises TrainError when it is of another run."""
        if self.config.restart or not self.state_path.exists():
            return
        try:
            state = torch.load(self.state_path, map_location=self.device, weights_only=True)
            progress, saved = Progress(**state["progress"]), state["identity"]
        except (OSError, RuntimeError, EOFError, KeyError, TypeError, ValueError, pickle.UnpicklingError):
            raise TrainError(f"{self.state_path} is damaged: start anew with --restart true") from None
        if progress.finished:
            print_err(f"The run of {self.state_path} is finished: starting a new one.")
            return
        own = self.identity()
        changes = [f"{name} {saved.get(name)} -> {own[name]}" for name in own if saved.get(name) != own[name]]
        if changes:
            raise TrainError(f"{self.state_path} holds an unfinished run with other settings ({'; '.join(changes)}): "
                             "repeat its settings to go on, or start anew with --restart true")
        self.network.load_state_dict(state["network"])
        if self.average is not None:
            self.average.network.load_state_dict(state["average"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.precision.load_state_dict(state["precision"])
        self.sums = Sums(self.config.value_weight, self.device, state["sums"])
        self.rows = [_row_from_dict(row) for row in state["rows"]]
        self.progress = progress
        print_out(f"Resumed at epoch {progress.epoch + 1}, step {progress.step}, from {self.state_path}.")


def _row_from_dict(row: dict[str, Any]) -> Row:
    """Return the row that asdict() took apart."""
    test = Scores(**row["test"]) if row["test"] else None
    return Row(**{**row, "train": Scores(**row["train"]), "test": test})


def train(config: TrainConfig, recipe: Recipe = SUPERVISED) -> str:
    """Train a network as told, resuming an unfinished run; returns the signal that stopped it, empty if it finished.

    Raises:
        DataError: no usable data.
        TrainError: the run cannot start or go on.
        OSError: a file could not be written; the old one is intact.
    """
    trainer = Trainer(config, recipe)
    trainer.load_state()
    tests = trainer.data.test_count
    samples = sum(file.train for file in trainer.data.files)
    print_out(f"Training on {samples} samples, testing on {tests}, in {len(trainer.data.files)} files "
              f"({trainer.device.type}, {trainer.precision.name}).")
    stopped = trainer.run()
    if stopped:
        print_out(f"Stopped by {stopped} at step {trainer.progress.step}: the same command goes on from here.")
    else:
        kind = "test" if tests else "training"
        print_out(f"Finished after {trainer.elapsed() / 60:.1f} minutes, "
                  f"best {kind} loss {trainer.progress.best_loss:.6f}: {config.output}")
    return stopped
