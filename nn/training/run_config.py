"""What a training run is told, and where it stands."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import learning_param
from common.exit_status import ProgramError

# What to do where the memory of a GPU does not suffice.
FULL_GPU = "end what else uses it, or begin anew (--restart true) with a smaller --batch-size"

NO_TEACHER = "--teacher-weight is the share of --labels of the games in --kifu-dir: give both"


class TrainError(ProgramError):
    """A run that cannot start or go on; one line that says what to do."""


class RunawayError(TrainError):
    """A run whose numbers have run away."""

    def __init__(self, step: int) -> None:
        """Say at which step that was seen."""
        super().__init__(f"the loss is no number any more at step {step}: start again with --restart true and a lower "
                         "--learning-rate")


@dataclass(frozen=True)
class TrainConfig:
    """Everything a run is told."""

    board_sizes: tuple[int, ...] = (9,)  # more than one: with head "pooled" only
    features: str = "basic"  # name of the plane set
    head: str = "lecture"  # or "pooled": any board size, with lead and ownership
    block: str = "res"
    activation: str = "relu"
    norm: str = "batch"
    filters: int | None = None  # None: as the model that the run begins from, or the lecture's size
    blocks: int | None = None
    seed: int = 0
    batch_size: int = learning_param.BATCH_SIZE
    batch_growth: float = 1.0  # so many batches make a step at the end of the run
    optimizer: str = "sgd"  # one of OPTIMIZERS (nn/training/network_options.py)
    warm_up: int = 0  # steps in which the learning rate rises to its schedule
    clip: float = 0.0  # longest gradient of all weights together; 0: any
    label_smoothing: float = 0.0  # share of the policy target that all moves have alike
    learning_rate: float = learning_param.SL_LEARNING_RATE
    schedule: str = "lecture"  # one of SCHEDULES (nn/training/schedule.py)
    value_weight: float = learning_param.SL_VALUE_WEIGHT
    value_blend: float = 0.0
    ownership_weight: float = 0.0  # 0: without an ownership head
    lead_weight: float = 0.0
    objective: str = "imitate"  # or "reinforce" (nn/training/objective.py)
    baseline: str = "none"  # of "reinforce"; or "value"
    player: str = ""  # whose results are told; empty: everybody's
    one_value: bool = False  # whether one position of each game tells the result, or all do
    labels: tuple[tuple[str, int], ...] | None = None  # names and sizes of files of labels; None: as the data have them
    self_play: bool = False  # whether a supervised run learns from positions that self-play has searched, too
    teacher_weight: float = 1.0  # share of the teacher's policy in the target where there is one; else the move played
    test_share: float = 0.2
    ema: float = 0.0  # decay per step of the averaged weights; 0: no averaging
    # Passes over the data; None: until the minutes are over.
    epochs: int | None = learning_param.EPOCHS * learning_param.PASSES_PER_EPOCH
    minutes: float | None = None  # wall-clock budget of the whole run, resumed parts together
    use_gpu: bool = True
    window_size: int = learning_param.WINDOW_SIZE  # newest games of self-play to learn from
    restart: bool = False
    keep_every: int = 0  # steps between two models that are kept beside the best one; 0: none
    tensorboard: str = ""  # folder for events; empty: none
    start: str = ""  # model file that a new run begins from; empty: random weights
    data_dir: Path = Path("data")
    output: Path = Path("model/sl-model.bin")

    @property
    def board_size(self) -> int:
        """The board size of a run that has only one; else the smallest."""
        return min(self.board_sizes)

    @property
    def is_lecture(self) -> bool:
        """Whether the network is the lecture's, which learns from planes on disk."""
        return self.head == "lecture"

    def identity(self) -> dict[str, Any]:
        """Return the settings that a resumed run must share; how long it lasts and where it runs may change."""
        free = {"epochs", "minutes", "use_gpu", "window_size", "restart", "tensorboard", "data_dir", "output",
                "keep_every"}
        return {name: value for name, value in asdict(self).items() if name not in free}


@dataclass
class RunProgress:
    """Where a run stands."""

    generation: int = 0  # of self-play, of the newest games learnt from; 0 in supervised learning
    epoch: int = 0  # from 0, of the generation
    batch: int = 0  # batches of this epoch that are done
    step: int = 0  # steps of the whole run that are done
    seconds: float = 0.0  # spent by earlier parts of the run
    best_loss: float = float("inf")
    finished: bool = False
