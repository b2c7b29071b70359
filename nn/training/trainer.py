"""The training loop: one for every device, for supervised and for reinforcement learning."""

import copy
import shlex
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import islice
from typing import Any

import torch
from tqdm import tqdm

from common.interrupt import StopRequest
from common.print_console import print_out
from nn.data.dataset import LoadedBatch, Samples, load_batch
from nn.device import to_channels_last
from nn.network.dual_net import DualNet
from nn.network.pooled_net import PooledNet
from nn.network.triple_net import TripleNet
from nn.network.weights import save_atomically, save_network
from nn.training.average import WeightAverage
from nn.training.batch_loss import BatchLoss
from nn.training.checkpoint import Resume, describe_constants, get_constants
from nn.training.metrics import Scores, Sums, print_scores
from nn.training.objective import REINFORCE
from nn.training.optimizer import SharpnessAware, load_momentum, make_optimizer
from nn.training.precision import choose_precision
from nn.training.process_group import ProcessGroup
from nn.training.recipe import Recipe, make_schedule
from nn.training.recorded_gradients import RecordedGradients
from nn.training.run_config import RunawayError, RunProgress, TrainConfig
from nn.training.run_files import RunFiles
from nn.training.run_table import RunTable, go_on_without
from nn.training.schedule import batches_of_a_step
from nn.training.start import make_first_network
from program import PROGRAM_NAME, VERSION

ROW_STEPS = 1000  # steps between two rows of a supervised run
CHECK_STEPS = 50  # steps between two looks at the running loss
CHECKPOINT_SECONDS = 180.0
# An epoch's bar stands for its part of the whole run, and tells what is left of that.
BAR = "{desc}: {percentage:5.1f} % of the run |{bar}| {elapsed} of this epoch, {remaining} left{postfix}"


class Trainer:
    """One run: network, optimizer, data and where it stands."""

    def __init__(self, config: TrainConfig, recipe: Recipe, group: ProcessGroup | None = None) -> None:
        """Make everything anew; raises DataError when there is no usable data."""
        self.recipe = recipe
        self.group = group or ProcessGroup(config.use_gpu)
        self.device = self.group.device
        self.files = RunFiles(config.output)
        self.data = recipe.open_data(config)
        torch.manual_seed(config.seed)
        network = make_first_network(config)
        self.config = replace(config, **network.shape)
        self.network = to_channels_last(network, self.device)
        self.average = WeightAverage(self.network, config.ema) if config.ema > 0.0 else None
        with_head = isinstance(self.network, DualNet) and config.ownership_weight > 0.0
        self.triple = TripleNet(self.network).to(self.device) if with_head else None  # type: ignore[arg-type]
        learner = self.triple or self.network
        self.optimizer = make_optimizer(learner, self.config)
        self.precision = choose_precision(self.device)
        self.schedule = make_schedule(config)
        plays_to_win = config.objective == REINFORCE
        player = copy.deepcopy(self.network).eval().requires_grad_(False) if plays_to_win else None
        self.loss = BatchLoss(self.config, self.precision, self.device, player)
        self.sums = self.new_sums()
        self.progress = RunProgress(generation=self.data.generation)
        self.part = 0.0  # share of the run that is over
        self.row_start = self.last_saved = self.started = time.monotonic()
        self.trained = self.group.wrap(learner)
        self._recorded: RecordedGradients | None = None
        if self.device.type == "cuda" and self.group.size == 1:
            self._recorded = RecordedGradients(self._add_batch, learner, self.new_sums, self.device)

    def new_sums(self, start: torch.Tensor | None = None) -> Sums:
        """Return sums of nothing, or of what a checkpoint tells."""
        return Sums(self.config.value_weight, self.device, start)

    @property
    def is_first(self) -> bool:
        """Whether this process prints and writes."""
        return self.group.is_first

    @property
    def row_number(self) -> int:
        """What numbers the present row of the table."""
        return self.progress.generation if self.recipe.goes_on else self.progress.step

    @property
    def rate(self) -> float:
        """The learning rate of the last step."""
        return float(self.optimizer.param_groups[0]["lr"])

    @property
    def result(self) -> DualNet | PooledNet:
        """The network that is tested and saved."""
        return self.average.network if self.average else self.network  # type: ignore[return-value]

    def identity(self) -> dict[str, Any]:
        """Return the settings and the data of this run."""
        return {**self.config.identity(), "recipe": self.recipe.name, "data": self.data.identity()}

    def about(self) -> dict[str, str]:
        """Return where the network comes from, for its file."""
        return {"program": f"{PROGRAM_NAME} {VERSION}", "command": shlex.join(sys.argv),
                "steps": str(self.progress.step), "samples": str(self.data.train_count),
                "data": str(self.config.data_dir),
                "minutes": f"{self.elapsed() / 60.0:.1f}"}

    def elapsed(self) -> float:
        """Return the seconds spent on this run, earlier parts included."""
        return self.progress.seconds + time.monotonic() - self.started

    def share(self) -> float:
        """Return the share (0..1) of the run that is over, by its budget of time or of epochs, whichever is further."""
        shares = [0.0]
        if self.config.minutes is not None:
            shares.append(self.elapsed() / (60.0 * self.config.minutes))
        if self.config.epochs is not None:
            done = self.progress.epoch * self.data.batches_per_epoch + self.progress.batch
            shares.append(done / (self.config.epochs * self.data.batches_per_epoch))
        return min(1.0, max(shares))

    def run(self) -> str:
        """Train to the end; returns the name of the signal that stopped it, empty if it finished."""
        self.row_start = self.last_saved = self.started = time.monotonic()
        self.table = RunTable(self.files.table, self.recipe.layout, self.config.tensorboard if self.is_first else "")
        begins = not self.progress.step
        self.table.keep_until(-1 if begins and self.config.restart else self.row_number - begins)
        if not self.progress.step:
            self.save_state()  # from the first step on, a model file that appears has a checkpoint beside it
        with StopRequest() as stop:
            while not self.progress.finished:
                number = self._train_epoch(stop)
                if number:
                    self.save_state()
                    return signal.Signals(number).name
                self._end_epoch()
        if self.is_first:
            with go_on_without():
                self.table.draw()
        return ""

    def _train_epoch(self, stop: StopRequest) -> int:
        """Train until the epoch, the budget or the user says stop; return the number of the user's signal, or 0."""
        progress, total = self.progress, self.data.batches_per_epoch
        self._begin_to_learn()
        batches = self.data.training_batches(progress.epoch, progress.batch)
        with tqdm(total=1.0, initial=self.share(), desc=f"epoch {progress.epoch + 1}", bar_format=BAR,
                  disable=None if self.is_first else True, dynamic_ncols=True) as bar:
            for samples, symmetries in batches:
                more = list(islice(batches, min(self._batches_of_a_step(), total) - 1))
                idle = time.monotonic() - self.last_saved
                number, self.part, idle = self.group.maximum(stop.number, self.share(), idle)
                if number or (progress.step and self.part >= 1.0):
                    return int(number)
                if idle > CHECKPOINT_SECONDS:
                    self.save_state()
                loss = self.step(samples, symmetries, *more)
                self._keep()
                bar.update(self.share() - bar.n)
                if progress.step % CHECK_STEPS == 0:
                    self._check(loss.item())
                    bar.set_postfix(loss=f"{loss.item():.4f}", refresh=False)
                if progress.step % ROW_STEPS == 0 and progress.batch < total and not self.recipe.goes_on:
                    self._write_row(self._close_stretch(), None)
        return int(self.group.maximum(stop.number)[0])

    def _begin_to_learn(self) -> None:
        """Have norms take their statistics from the batches, but where the network is to be compared with what it was.

        A policy that has not learnt anything yet is then the one that played.
        """
        self.network.train()
        for module in self.network.modules() if self.loss.player is not None else ():
            if isinstance(module, torch.nn.BatchNorm2d):
                module.eval()

    def _batches_of_a_step(self) -> int:
        """Return how many batches the next step learns from, the same for all processes."""
        growth = self.config.batch_growth
        return 1 if growth == 1.0 else batches_of_a_step(growth, self.group.maximum(self.share())[0])

    def step(self, samples: Samples, symmetries: Any, *more: tuple[Samples, Any]) -> torch.Tensor:
        """Learn from a batch, and from more in the same step; returns the mean loss of the last one's own share."""
        rate = self.schedule.rate(self.progress.step, self.part)
        rate *= min(1.0, (self.progress.step + 1) / (self.config.warm_up + 1))
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.zero_grad(set_to_none=True)
        batches = ((samples, symmetries), *more)
        if isinstance(self.optimizer, SharpnessAware):
            self._add_gradients(batches, None)
            self.optimizer.climb()
        loss = self._add_gradients(batches, self.sums)
        if isinstance(self.optimizer, SharpnessAware):
            self.optimizer.descend()
        self.precision.step(self.optimizer, self.config.clip)
        if self.average is not None:
            self.average.update(self.progress.step)
        self.progress.step += 1
        self.progress.batch += len(batches)
        return loss

    def _add_gradients(self, batches: Sequence[tuple[Samples, Any]], sums: Sums | None) -> torch.Tensor:
        """Add the gradients of the mean loss of batches, and the batches to the sums; return the loss of the last."""
        for samples, symmetries in batches:
            own, weight = self.group.share_of(len(symmetries))
            batch = load_batch(samples.take(own), symmetries[own])
            recorded = self._recorded.find(batch) if self._recorded and len(batches) == 1 else None
            loss = recorded.replay(batch, sums) if recorded else self._add_batch(
                batch.to(self.device), sums, weight / len(batches))
        return loss

    def _add_batch(self, batch: LoadedBatch, sums: Sums | None, weight: float = 1.0) -> torch.Tensor:
        """Add the gradients of a batch's mean loss times `weight`, and the batch to the sums; return the loss."""
        loss = self.loss(self.trained, batch, sums)
        self.precision.add(loss * weight)
        return loss.detach()

    def _keep(self) -> None:
        """Keep the model of this step for good, if it is one of those."""
        if self.config.keep_every and self.progress.step % self.config.keep_every == 0 and self.is_first:
            save_network(self.result, self.files.numbered(self.progress.step), self.about())

    def _check(self, loss: float) -> None:
        """Raise TrainError when the numbers have run away."""
        if self.group.maximum(loss)[0] == float("inf"):
            raise RunawayError(self.progress.step)

    def _end_epoch(self) -> None:
        """Test, keep the model, print and write everything."""
        train = self._close_stretch()
        if train is None and self.progress.step and not self.progress.batch:  # no time was left for this epoch
            self.progress.finished = True
            return self.save_state()
        test = self.evaluate() if self.data.test_count else None
        self._write_row(train, test)
        scores = test or train
        loss = scores.loss if scores else self.progress.best_loss
        if test is None or loss < self.progress.best_loss or not self.recipe.keeps_best:
            self.progress.best_loss = loss
            if self.is_first:
                save_network(self.result, self.config.output, self.about())
        if self.config.keep_every and self.is_first:
            save_network(self.result, self.files.last, self.about())
        if self.progress.batch >= self.data.batches_per_epoch:
            self.progress = replace(self.progress, epoch=self.progress.epoch + 1, batch=0)
        self.progress.finished = self.group.maximum(self.share())[0] >= 1.0
        self.save_state()

    @torch.inference_mode()
    def evaluate(self) -> Scores:
        """Return the averages over the test samples, for the weights that would be saved."""
        start = time.monotonic()
        network = self.result.eval()
        self.group.copy_statistics(network)  # it is the first process's that is saved
        sums = self.new_sums()
        for number, (samples, symmetries) in enumerate(self.data.test_batches()):
            if number % self.group.size == self.group.rank:
                self.loss(network, load_batch(samples, symmetries).to(self.device), sums)
        scores = self.new_sums(self.group.total(sums.sums)).scores()
        self._check(scores.loss)
        if self.is_first:
            print_scores(f"Test {self.progress.epoch + 1}", scores, time.monotonic() - start)
        return scores

    def _close_stretch(self) -> Scores | None:
        """Print and return the averages since the last stretch of training was closed, None if there was no step."""
        sums = self.new_sums(self.group.total(self.sums.sums))
        self.sums = self.new_sums()
        if not sums.count():
            return None
        scores, seconds, self.row_start = sums.scores(), time.monotonic() - self.row_start, time.monotonic()
        self._check(scores.loss)
        if self.is_first:
            print_scores(f"epoch {self.progress.epoch + 1}, step {self.progress.step}, learning rate {self.rate:.3g}",
                         scores, seconds)
        return scores

    def _write_row(self, train: Scores | None, test: Scores | None) -> None:
        """Put a stretch of training into the table."""
        if not self.is_first:
            return
        columns = {"epoch": str(self.progress.epoch + 1), "step": str(self.progress.step),
                   "seconds": f"{self.elapsed():.1f}", "learning_rate": f"{self.rate:.3g}", **self.data.columns()}
        columns |= train.columns("train") if train else {}
        columns |= test.columns("test") if test else {}
        self.table.update(self.row_number, columns)
        with go_on_without():
            self.table.write()

    def save_state(self) -> None:
        """Write the checkpoint; raises OSError, and then the old one is intact."""
        state = {
            "output": self.config.output.name, "identity": self.identity(),
            "constants": get_constants(),
            "progress": asdict(replace(self.progress, seconds=self.elapsed())),
            "network": self.network.state_dict(),
            "ownership_head": self.triple.ownership_head.state_dict() if self.triple else {},
            "average": self.average.network.state_dict() if self.average else {},
            "player": self.loss.player.state_dict() if self.loss.player is not None else {},
            "optimizer": self.optimizer.state_dict(),
            "precision": self.precision.state_dict(),
            "sums": self.group.total(self.sums.sums),
        }
        if self.is_first:
            save_atomically(state, self.files.checkpoint)
        self.last_saved = time.monotonic()

    def load_state(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint as the recipe says, with no best model where that is gone; raises TrainError."""
        target = RunProgress(generation=self.data.generation, epoch=self.config.epochs or 0)
        resume = self.recipe.plan(self.files.checkpoint, state["progress"], state["identity"], target, self.identity())
        self._take_weights(state)
        progress = state["progress"]
        if resume == Resume.NEW_DATA:
            self.progress = RunProgress(target.generation, step=progress.step, seconds=progress.seconds)
        else:
            best_loss = progress.best_loss if self.config.output.exists() else float("inf")
            self.progress = replace(progress, finished=resume == Resume.DONE, best_loss=best_loss)
            if self.is_first:
                self.sums = self.new_sums(state["sums"])
        if self.is_first:
            print_out(f"Resumed at {self.place()}, from {self.files.checkpoint}.{describe_constants(state)}")

    def _take_weights(self, state: dict[str, Any]) -> None:
        """Take up network, averaged weights and, where the optimizer is still the same, its momentum."""
        self.network.load_state_dict(state["network"])
        if self.triple:
            self.triple.ownership_head.load_state_dict(state["ownership_head"])
        if self.average is not None:
            self.average.network.load_state_dict(state["average"] or state["network"])
        if self.loss.player is not None and state.get("player"):  # its file may be another one by now
            self.loss.player.load_state_dict(state["player"])
        if state["identity"].get("optimizer", "sgd") == self.config.optimizer:
            load_momentum(self.optimizer, state["optimizer"], self.files.checkpoint if self.is_first else None)
        self.precision.load_state_dict(state["precision"])

    def place(self) -> str:
        """Say where the run stands."""
        generation = f"generation {self.progress.generation}, " if self.recipe.goes_on else ""
        return f"{generation}epoch {self.progress.epoch + 1}, step {self.progress.step}"
