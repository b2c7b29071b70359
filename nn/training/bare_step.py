"""What a step of training cannot do without: the measure that tools/bench.py holds training to."""

from collections.abc import Callable

import numpy as np
import torch
from torch.nn import functional

from nn.data.dataset import LoadedBatch, Samples, load_batch
from nn.plane_sets import PLANE_SETS
from nn.training.metrics import Sums
from nn.training.recorded_gradients import RecordedGradients
from nn.training.trainer import CHECK_STEPS, Trainer


def make_bare_step(trainer: Trainer) -> Callable[[], int]:
    """Return a step that only calculates: the same network, formats and optimizer, on one and the same batch."""
    size, count = trainer.config.board_size, trainer.config.batch_size
    points, planes = size * size, PLANE_SETS[trainer.result.features].planes
    samples = Samples(
        planes=np.random.default_rng(0).random((count, planes, size, size), dtype=np.float32),
        policy=np.zeros((count, points + 1), dtype=np.float32), value=np.zeros(count, dtype=np.int8),
        win_rate=np.zeros(count, dtype=np.float32), ownership=np.zeros((count, points), dtype=np.int8),
        lead=np.zeros(count, dtype=np.float32), move=np.arange(count, dtype=np.int16) % points)
    batch = load_batch(samples, np.zeros(count, dtype=np.int64)).to(trainer.device)

    def add(batch: LoadedBatch, _: Sums) -> torch.Tensor:
        with trainer.precision.forward():
            policy, *others = trainer.network(batch.planes.contiguous(memory_format=torch.channels_last))
        loss = functional.cross_entropy(policy.float(), batch.move.long())
        loss = loss + sum(other.float().square().mean() for other in others)
        trainer.precision.add(loss)
        return loss.detach()

    record = None
    if trainer.device.type == "cuda":
        record = RecordedGradients(add, trainer.network, trainer.new_sums, trainer.device).find(batch)

    def step() -> int:
        trainer.optimizer.zero_grad(set_to_none=True)
        if record:
            record.replay(batch, None)
        else:
            add(batch, trainer.sums)
        trainer.precision.step(trainer.optimizer, 0.0)
        return count

    return step


def in_stretches(step: Callable[[], int], trainer: Trainer) -> Callable[[], int]:
    """Return a step, on a GPU many of them and the wait for the last: one alone only asks for the work."""
    if trainer.device.type != "cuda":
        return step

    def stretch() -> int:
        positions = sum(step() for _ in range(CHECK_STEPS))
        torch.cuda.synchronize(trainer.device)
        return positions

    return stretch
