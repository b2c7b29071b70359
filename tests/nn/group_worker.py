"""One of the two processes of test_process_group: the gradients of one step, as a file."""

import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch

from nn.data.dataset import load_samples
from nn.training.learn import SUPERVISED, TrainConfig
from nn.training.precision import FullPrecision
from nn.training.process_group import ProcessGroup
from nn.training.trainer import Trainer

SAMPLES = 11  # an odd number, so that the shares differ


def make_trainer(data_dir: Path, group: ProcessGroup | None = None) -> Trainer:
    """Return a trainer with seeded weights; in full precision on every machine, so that sums are the same in parts."""
    config = TrainConfig(board_sizes=(5,), filters=4, blocks=1, batch_size=SAMPLES, use_gpu=False, data_dir=data_dir,
                         value_weight=1.0, output=data_dir / "sl-model.bin")
    with patch("nn.training.trainer.choose_precision", lambda _: FullPrecision()):
        return Trainer(config, SUPERVISED, group)


def take_steps(data_dir: Path) -> dict[Any, Any]:
    """Take a step with frozen and one with live batch normalization, from the same weights; return the gradients."""
    samples = load_samples(data_dir / "sl_data_0.npz", 5).take(slice(0, SAMPLES))
    symmetries = torch.arange(SAMPLES).numpy() % 8
    found: dict[Any, Any] = {}
    with ProcessGroup(False) as group:
        for mode in (False, True):
            trainer = make_trainer(data_dir, group)
            trainer.network.train(mode)
            trainer.step(samples, symmetries)
            found[mode] = {name: weight.grad for name, weight in trainer.network.named_parameters()}
            found[f"sums {mode}"] = group.total(trainer.sums.sums)
            del trainer  # before the group ends (ProcessGroup.__exit__)
        assert group.tell(f"rank {group.rank}") == "rank 0"
        assert group.maximum(float(group.rank), -1.0, float("nan")) == [1.0, -1.0, float("inf")]
    return found


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.save(take_steps(Path(sys.argv[1])), sys.argv[2])
