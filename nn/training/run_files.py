"""The files of a training run: all of them stand beside its model file and begin with its name."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from common.atomic_file import remove_remains
from common.lock_file import hold_lock
from nn.training.run_config import TrainError

# sl-model.bin has sl-state.ckpt and sl-metrics.csv beside it; rl-candidate.bin is what pipeline.sh has trained.
KIND = re.compile(r"-(model|candidate)$")


class RunFiles:
    """Where a run keeps what it makes."""

    def __init__(self, output: Path) -> None:
        """Name the files beside the model file `output`."""
        self.output = output
        self.name = KIND.sub("", output.stem)
        self.checkpoint = output.with_name(f"{self.name}-state.ckpt")
        self.table = output.with_name(f"{self.name}-metrics.csv")

    def numbered(self, step: int) -> Path:
        """Return where the model of a step is kept; its name sorts by the step."""
        return self.output.with_name(f"{self.output.stem}-{step:08d}.bin")

    @property
    def last(self) -> Path:
        """Where the newest model is kept beside the best one."""
        return self.output.with_name(f"{self.output.stem}-last.bin")

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Keep other runs away from these files; raises TrainError where one is at work, and OSError.

        What a run has left that was killed while it wrote a model or checkpoint is removed: a hundred megabytes, maybe.
        """
        taken = TrainError(f"another train.py is at work on {self.output}: let it end, or give another --output")
        with hold_lock(self.output.with_name(f".{self.name}.lock"), taken):
            for path in (self.output, self.last, self.checkpoint):
                remove_remains(path)
            yield
