"""One training run, from its checkpoint, if there is one, to its end."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from common.print_console import print_out
from nn.device import tell_gpu_failure
from nn.network.weights import save_network
from nn.training.checkpoint import DamagedCheckpoint, check_shape, describe_finished, read_checkpoint
from nn.training.estimate import estimate_run
from nn.training.process_group import ProcessGroup
from nn.training.recipe import POLICY_GRADIENT, REINFORCEMENT, SUPERVISED, Recipe
from nn.training.run_config import FULL_GPU, TrainConfig, TrainError
from nn.training.run_files import RunFiles
from nn.training.run_table import RunTable
from nn.training.start import continue_from
from nn.training.trainer import Trainer

__all__ = ["POLICY_GRADIENT", "REINFORCEMENT", "SUPERVISED", "TrainConfig", "TrainError", "estimate", "train"]


def train(
    config: TrainConfig, recipe: Recipe = SUPERVISED, group: ProcessGroup | None = None,
    make_data: Callable[[Path], None] | None = None,
) -> str:
    """Train a network as told, resuming an unfinished run; returns the signal that stopped it, empty if it finished.

    Args:
        config: everything the run is told.
        recipe: supervised or reinforcement learning.
        group: the processes that train together; None for this one alone.
        make_data: called once, by the first process, with the folder of the data, before these are opened.

    Raises:
        DataError: no usable data.
        TrainError: the run cannot start or go on.
        OSError: a file could not be written; the old one is intact.
    """
    group = group or ProcessGroup(config.use_gpu)
    files = RunFiles(config.output)
    with _tell_gpu_failure(group), files.hold() if group.is_first else nullcontext():
        state = _find_state(config, recipe, files, group)
        done = describe_finished(config, files, state) if state is not None and not recipe.goes_on else ""
        if done:
            if group.is_first:
                print_out(done)
                _draw_if_missing(RunTable(files.table, recipe.layout))
            return ""
        if make_data is not None and group.is_first:
            make_data(config.data_dir)
        group.wait()
        trainer = Trainer(continue_from(config, state) if recipe.goes_on else config, recipe, group)
        if state is not None:
            trainer.load_state(state)
        return _run(trainer)


def estimate(config: TrainConfig, recipe: Recipe, group: ProcessGroup,
             make_data: Callable[[Path], None] | None = None) -> str:
    """Print what a new run would take; arguments and errors as above, and no file is written that stays."""
    files = RunFiles(config.output)
    if recipe.goes_on and (state := _find_state(config, recipe, files, group)) is not None:
        check_shape(files.checkpoint, state["identity"], continue_from(config, state).identity())
    with (_tell_gpu_failure(group),
          _temporary_folder(group) if make_data is not None else nullcontext(config.data_dir) as folder):
        if make_data is not None and group.is_first:
            make_data(folder)
        group.wait()
        for line in estimate_run(replace(config, data_dir=folder), recipe, group):
            if group.is_first:
                print_out(line)
    return ""


def _tell_gpu_failure(group: ProcessGroup) -> AbstractContextManager[None]:
    """Return a context that tells in one line of a full GPU; of several processes those that have one say more."""
    return tell_gpu_failure(FULL_GPU) if group.size == 1 else nullcontext()


@contextmanager
def _temporary_folder(group: ProcessGroup) -> Iterator[Path]:
    """Make one folder for all processes, which is gone once all have left this block."""
    with TemporaryDirectory() if group.is_first else nullcontext("") as own:
        yield Path(group.tell(own))
        group.wait()


def _find_state(config: TrainConfig, recipe: Recipe, files: RunFiles, group: ProcessGroup) -> dict[str, Any] | None:
    """Return the checkpoint to go on from, None for a new run; raises TrainError rather than replace a stranger."""
    try:
        state = read_checkpoint(files) if files.checkpoint.exists() else None
    except DamagedCheckpoint:
        if not config.restart:
            raise
        state = None
    if config.restart:
        return None
    if state is None and config.output.exists() and not recipe.goes_on:
        raise TrainError(f"{config.output} is there already, and no {files.checkpoint.name} to go on from: give "
                         "another --output, or replace that model with --restart true")
    return state


def _draw_if_missing(table: RunTable) -> None:
    """Draw the picture of a finished run that has none, as where the disk was full at its end; raises OSError."""
    if table.rows and not table.picture.exists():
        table.draw()


def _run(trainer: Trainer) -> str:
    """Train, say how it begins and ends, and return the signal that stopped it."""
    config, recipe, group = trainer.config, trainer.recipe, trainer.group
    if trainer.progress.finished:
        if group.is_first:
            save_network(trainer.result, config.output, trainer.about())
            print_out(f"Generation {trainer.progress.generation} is learnt already: {config.output}")
        return ""
    tests = trainer.data.test_count
    if group.is_first:
        start = f", from {config.start}" if config.start and not trainer.progress.step else ""
        processes = f", {group.size} processes" if group.size > 1 else ""
        print_out(f"Training on {trainer.data.train_count} samples, testing on {tests} "
                  f"({trainer.device.type}, {trainer.precision.name}{processes}){start}.")
    stopped = trainer.run()
    if group.is_first and stopped:
        command = "the same command without --restart true" if config.restart else "the same command"
        print_out(f"Stopped by {stopped} at step {trainer.progress.step}: {command} goes on from here.")
    elif group.is_first:
        kind = ("best " if recipe.keeps_best and tests else "") + ("test" if tests else "training")
        print_out(f"Finished after {trainer.elapsed() / 60:.1f} minutes, "
                  f"{kind} loss {trainer.progress.best_loss:.6f}: {config.output}")
    return stopped
