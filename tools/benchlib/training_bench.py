"""Speed of training beside a bare loop of forward, backward and step, and the time for which it waits for data."""

import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import learning_param
from nn.data.data_generator import generate_game_data, generate_supervised_learning_data
from nn.training.bare_step import in_stretches, make_bare_step
from nn.training.learn import SUPERVISED
from nn.training.run_config import TrainConfig
from nn.training.trainer import Trainer
from tools.benchlib.measure import BenchSettings, Figure, interleave
from tools.benchlib.positions import copy_games

# Percent of the bare loop's speed that training keeps.
SHARE_TARGET = 95.0
# The networks that are trained, by the name of their figures: options of train.py beside the defaults.
KINDS: dict[str, dict[str, Any]] = {
    "lecture's network": {},
    "pooled network": {"head": "pooled", "features": "rich", "block": "gpool", "value_weight": 1.0,
                       "ownership_weight": 1.0, "lead_weight": 0.1},
}


class Steps:
    """A run of training of which single steps are measured."""

    def __init__(self, config: TrainConfig) -> None:
        """Make the run; raises DataError."""
        self.trainer = Trainer(config, SUPERVISED)
        self.trainer.network.train()
        self.waited = self.spent = 0.0
        self._batches = self._endless()

    def _endless(self) -> Iterator[tuple]:
        """Yield batches, epoch after epoch."""
        while True:
            yield from self.trainer.data.training_batches(self.trainer.progress.epoch)
            self.trainer.progress.epoch += 1

    def step(self) -> int:
        """Learn from a batch; return its positions."""
        begin = time.perf_counter()
        samples, symmetries = next(self._batches)
        self.waited += time.perf_counter() - begin
        self.trainer.step(samples, symmetries)
        self.spent += time.perf_counter() - begin
        return len(symmetries)


def measure_kind(name: str, config: TrainConfig, settings: BenchSettings) -> Iterator[Figure]:
    """Yield the figures of one network."""
    steps, bare = Steps(config), Trainer(config, SUPERVISED)
    bare.network.train()
    own, other = in_stretches(steps.step, steps.trainer), in_stretches(make_bare_step(bare), bare)
    own()  # till its first batch is there, the data are loaded
    steps.waited = steps.spent = 0.0
    pairs = [interleave(own, other, settings.seconds) for _ in range(settings.runs)]
    yield Figure(f"training, {name}", "positions/s", tuple(speed for speed, _ in pairs))
    yield Figure(f"bare loop, {name}", "positions/s", tuple(speed for _, speed in pairs))
    yield Figure(f"training / bare loop, {name}", "%", tuple(100.0 * speed / limit for speed, limit in pairs),
                 target=SHARE_TARGET)
    yield Figure(f"waiting for data, {name}", "%", (100.0 * steps.waited / steps.spent,), lower_is_better=True)


def measure_training(settings: BenchSettings) -> Iterator[Figure | str]:
    """Yield the figures of networks of the usual size, in batches of the usual size, on the games of a folder.

    Raises NoGamesError, NoTrainingDataError and OSError.
    """
    assert settings.kifu_dir is not None
    with TemporaryDirectory(prefix="hiyoko-bench-") as folder:
        games, data = Path(folder) / "games", Path(folder) / "data"
        games.mkdir()
        count = len(copy_games(settings.kifu_dir, settings.games, games))
        generate_supervised_learning_data(folder, games, settings.board_size, 1, data)
        generate_game_data(games, (), (settings.board_size,), 1, data)
        yield f"training: batches of {learning_param.BATCH_SIZE}, in turn with a bare loop; {count} games"
        for name, options in KINDS.items():
            config = TrainConfig(board_sizes=(settings.board_size,), data_dir=data, use_gpu=settings.use_gpu,
                                 output=Path(folder) / "model.bin", **options)
            yield from measure_kind(name, config, settings)
