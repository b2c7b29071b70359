"""What a run would take: positions, steps and hours, from a few steps that reach no file."""

import statistics
import time
from collections.abc import Iterator
from itertools import chain, count

from nn.training.process_group import ProcessGroup
from nn.training.recipe import Recipe
from nn.training.run_config import TrainConfig
from nn.training.schedule import batches_of_a_step
from nn.training.start import continue_from
from nn.training.trainer import Trainer

# Steps before the clock starts; then so many steps are measured, or so many seconds, whichever is over first.
FIRST_STEPS, STEPS, SECONDS = 3, 100, 15.0
# Parts of a run, in each of which its steps are of one size.
PARTS = 1000
HOUR = 3600.0


def measure_step(trainer: Trainer) -> float:
    """Return the median seconds of a step, in which a stall does not count; the trainer is of no use any more then."""
    trainer.network.train()
    times: list[float] = []
    begin = time.perf_counter()
    for samples, symmetries in chain.from_iterable(map(trainer.data.training_batches, count())):
        trainer.step(samples, symmetries).item()
        now = time.perf_counter()
        times.append(now - begin)
        begin = now
        # Each step waits for all processes, whose clocks differ: none may take one more than the others.
        if len(times) >= FIRST_STEPS + STEPS or trainer.group.maximum(sum(times[FIRST_STEPS:]))[0] >= SECONDS:
            break
    return statistics.median(times[FIRST_STEPS:])


def steps_of_a_batch(growth: float, most: int) -> float:
    """Return how many steps a run takes for each of its batches, where a step has ever more of them, `most` at most."""
    return statistics.fmean(1.0 / min(batches_of_a_step(growth, (part + 0.5) / PARTS), most) for part in range(PARTS))


def estimate_run(config: TrainConfig, recipe: Recipe, group: ProcessGroup) -> Iterator[str]:
    """Yield lines that say what a new run with these options would take; writes nothing. Raises as train() does."""
    trainer = Trainer(continue_from(config, None) if recipe.goes_on else config, recipe, group)
    data = trainer.data
    # Of several board sizes the larger ones have fewer positions a batch; so has a batch that is all there is.
    batch = min(config.batch_size, data.train_count / data.batches_per_epoch)
    weights = sum(weight.numel() for weight in trainer.network.parameters())
    yield (f"Dry run, nothing is written. {data.train_count} positions to learn from in a pass, {data.test_count} to "
           f"test on; {data.batches_per_epoch} batches of {batch:.0f} a pass; {weights} weights.")
    seconds = measure_step(trainer)
    device = f"{trainer.device.type}, {trainer.precision.name}"
    yield f"{batch / seconds:.0f} positions/s here and now ({device}), {seconds:.3f} seconds a batch."
    batches, limit = float("inf"), ""
    if config.epochs is not None:
        batches, limit = config.epochs * data.batches_per_epoch, f"{config.epochs} passes"
    if config.minutes is not None and 60.0 * config.minutes / seconds < batches:
        batches, limit = 60.0 * config.minutes / seconds, f"{config.minutes:g} minutes"
    steps = batches * steps_of_a_batch(config.batch_growth, data.batches_per_epoch)
    yield (f"{limit}: {steps:.0f} steps, {batches * batch:.0f} positions, {batches / data.batches_per_epoch:.1f} "
           f"passes, {batches * seconds / HOUR:.2f} hours, tests and checkpoints not counted.")
