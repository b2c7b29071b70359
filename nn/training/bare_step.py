"""What a step of training cannot do without: the measure that tools/bench.py holds training to."""

from collections.abc import Callable

import torch
from torch.nn import functional

from nn.plane_sets import PLANE_SETS
from nn.training.trainer import Trainer


def make_bare_step(trainer: Trainer) -> Callable[[], int]:
    """Return a step that only calculates: the same network, formats and optimizer, on one and the same batch."""
    size, count = trainer.config.board_size, trainer.config.batch_size
    planes = PLANE_SETS[trainer.result.features].planes
    batch = torch.rand(count, planes, size, size, device=trainer.device).contiguous(memory_format=torch.channels_last)
    moves = torch.randint(size * size, (count,), device=trainer.device)

    def step() -> int:
        trainer.optimizer.zero_grad(set_to_none=True)
        with trainer.precision.forward():
            policy, *others = trainer.network(batch)
        loss = functional.cross_entropy(policy.float(), moves) + sum(other.float().square().mean() for other in others)
        trainer.precision.add(loss)
        trainer.precision.step(trainer.optimizer, 0.0)
        return count

    return step
