"""Which games a training run learns from, and the one call that makes its data from them."""

from dataclasses import dataclass
from pathlib import Path

from nn.data.data_generator import generate_game_data, generate_supervised_learning_data
from nn.data.selfplay_data import generate_reinforcement_learning_data
from nn.data.value_choice import ValueChoice


@dataclass(frozen=True)
class Sources:
    """Folders of games, and what is taken from them."""

    kifu_dir: str | tuple[str, ...]  # records, or the archive of self-play of reinforcement learning
    rl: bool
    pooled: bool  # files of moves, for networks other than the lecture's
    sizes: tuple[int, ...]  # of boards
    labels: tuple[str, ...]  # what a teacher says of the records
    archive: str | None  # self-play beside the records
    window_size: int  # newest games of self-play
    choice: ValueChoice
    workers: int | None  # processes that read games; None: one per core

    def make_data(self, folder: Path) -> None:
        """Bring the npz files of a folder up to date.

        Raises NoTrainingDataError where no game is usable, DataError for labels that cannot be used, and OSError where
        the folders cannot be used; the files of before are intact then.
        """
        if self.rl:
            return self._read_archive(str(self.kifu_dir), folder)
        if not self.pooled:
            generate_supervised_learning_data("", self.kifu_dir, self.sizes[0], self.workers, folder, self.choice)
            return
        generate_game_data(self.kifu_dir, self.labels, self.sizes, self.workers, folder, self.choice)
        if self.archive:
            self._read_archive(self.archive, folder)

    def _read_archive(self, archive: str, folder: Path) -> None:
        """Make the data of games of self-play, on the smallest board."""
        generate_reinforcement_learning_data("", archive, min(self.sizes), self.window_size, self.workers, folder,
                                             self.pooled)
