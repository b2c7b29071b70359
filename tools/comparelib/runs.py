"""The run of one way: train.py in a process of its own, what its table says, its speed, its games."""

import argparse
import csv
import hashlib
import shlex
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from board.constant import BOARD_SIZE
from common.exit_status import EXIT_INTERRUPTED, EXIT_REFUSED, SIGNAL_STATUS, ProgramError
from program import PROGRAM_FOLDER
from tools.benchlib.measure import BenchSettings, measure
from tools.benchlib.network_bench import make_network_work
from tools.comparelib.ways import TrainWay
from tools.matchlib.command import split_words
from tools.matchlib.config import MatchConfig
from tools.matchlib.standing import Standing, play_games

# Positions of a call when the speed of a network is measured: what a search asks about at a time.
CALL = 16


class TrainingFailed(ProgramError):
    """train.py has ended with a status; its message has been shown."""

    def __init__(self, way: TrainWay, status: int) -> None:
        """Say what to do, which that message has said where the options are wrong."""
        advice = "" if status == EXIT_REFUSED else "; the same command goes on"
        super().__init__(f"the training of {way.name} ended with status {status}{advice}", status)


@dataclass(frozen=True)
class CompareConfig:
    """What all ways share.

    Attributes:
        directory: holds a folder for each way.
        data_dir: folder of the training data.
        minutes: budget of each training.
        base: options of train.py that all begin from.
        games, seconds: length of the match against the base, 0 for none, and the time for a move in it.
        use_gpu: whether to train on a GPU.
    """

    directory: Path
    data_dir: Path
    minutes: float
    base: str
    games: int = 0
    seconds: float = 0.1
    use_gpu: bool = False

    @property
    def board_size(self) -> int:
        """The board size of the matches: the smallest one that the base learns, as train.py takes --size."""
        parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
        parser.add_argument("--size", type=int, action="append", default=[])
        return min(parser.parse_known_args(split_words(self.base))[0].size, default=BOARD_SIZE)

    def model_of(self, way: TrainWay) -> Path:
        """Return the model file of a way."""
        return self.directory / way.name / f"{way.name}.bin"

    def command_of(self, way: TrainWay) -> list[str]:
        """Return the command line that trains a way."""
        return [sys.executable, str(PROGRAM_FOLDER / "train.py"), *split_words(self.base), *split_words(way.options),
                "--data-dir", str(self.data_dir), "--minutes", f"{self.minutes:g}", "--use-gpu",
                str(self.use_gpu).lower(), "--output", str(self.model_of(way))]


@dataclass(frozen=True)
class Outcome:
    """What became of a way."""

    way: TrainWay
    row: dict[str, str]  # the last one of its table
    speed: float  # positions a second of the network in calls of CALL, on all cores
    match: Standing | None  # against the base at equal time


def run_training(command: list[str]) -> int:
    """Run a training to its end and return its status.

    Ctrl-C reaches it as well and it takes its time to keep what it has done, which subprocess.run by itself would not
    grant; then KeyboardInterrupt is raised. The training inherits what may be inherited.
    """
    stops: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: stops.append(number))
    try:
        status = subprocess.run(command, check=False, close_fds=False).returncode
    finally:
        signal.signal(signal.SIGINT, before)
    if stops or status == EXIT_INTERRUPTED:
        raise KeyboardInterrupt
    return status if status >= 0 else SIGNAL_STATUS - status


def train_way(config: CompareConfig, way: TrainWay) -> dict[str, str]:
    """Train a way, or go on with it, or do nothing where that is done; return the last row of its table.

    Raises TrainingFailed.
    """
    model = config.model_of(way)
    model.parent.mkdir(parents=True, exist_ok=True)
    status = run_training(config.command_of(way))
    if status:
        raise TrainingFailed(way, status)
    with model.with_name(f"{way.name}-metrics.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))[-1]


def measure_speed(model: Path) -> float:
    """Return the positions a second of a network in calls of CALL, as the engine runs it."""
    from nn.inference.loading import load_evaluator
    work = make_network_work(load_evaluator(str(model)), CALL)
    return measure("", "positions/s", work, BenchSettings(seconds=0.5), one_core=False).value


def play_base(config: CompareConfig, way: TrainWay, base: TrainWay) -> Standing | None:
    """Play a way against the base, at equal time for a move; raises MatchError, OSError and KeyboardInterrupt.

    Networks that have learnt on since, as after more --minutes, play anew, in a folder of their own.
    """
    if not config.games or way == base:
        return None
    models = [config.model_of(one) for one in (way, base)]
    first, second = (f"main.py --model {shlex.quote(str(model))} --const-time {config.seconds:g}" for model in models)
    digests = [hashlib.sha256(model.read_bytes()).digest() for model in models if model.is_file()]
    size = config.board_size
    board = "" if size == BOARD_SIZE else f"-{size}x{size}"
    folder = f"match-{hashlib.sha256(b''.join(digests)).hexdigest()[:12]}{board}"
    return play_games(MatchConfig(first, second, config.directory / way.name / folder, games=config.games, size=size))
