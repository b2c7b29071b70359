"""Train a network: `python train.py --kifu-dir FOLDER` turns games into data/ and data/ into model/sl-model.bin."""

import signal
import sys
from pathlib import Path
from typing import Any

import click

import learning_param
from board.constant import BOARD_SIZE, MAX_BOARD_SIZE, MIN_BOARD_SIZE
from common.command_line import run_command
from common.print_console import print_err

PROGRAM_DIR = Path(__file__).resolve().parent


@click.command()
@click.option(
    "--kifu-dir", type=click.Path(exists=True, file_okay=False),
    help="Folder of SGF files to make data from; without it, train on the data that is there.",
)
@click.option(
    "--size", "board_size", type=click.IntRange(MIN_BOARD_SIZE, MAX_BOARD_SIZE), default=BOARD_SIZE, show_default=True,
    help="Board size.",
)
@click.option(
    "--use-gpu", type=bool, default=True, show_default=True,
    help="Use the first CUDA device if there is one.",
)
@click.option("--rl", type=bool, default=False, show_default=True, help="Reinforcement learning (not there yet).")
@click.option(
    "--window-size", type=click.IntRange(1), default=300000, show_default=True,
    help="Newest games to use; reinforcement learning only.",
)
@click.option(
    "--value-blend", type=click.FloatRange(0, 1), default=0.0, show_default=True,
    help="Share of a recorded win rate in the value target.",
)
@click.option(
    "--value-weight", type=click.FloatRange(0), default=learning_param.SL_VALUE_WEIGHT, show_default=True,
    help="Weight of the value loss beside the policy loss.",
)
@click.option(
    "--epochs", type=click.IntRange(1), default=None,
    help=f"Passes over the data.  [default: {learning_param.EPOCHS}, or until --minutes are over]",
)
@click.option(
    "--minutes", type=click.FloatRange(0, min_open=True), default=None,
    help="Wall-clock budget of the run, all its parts together.",
)
@click.option(
    "--learning-rate", type=click.FloatRange(0, min_open=True),
    default=learning_param.SL_LEARNING_RATE, show_default=True,
    help="Highest learning rate.",
)
@click.option(
    "--schedule", type=click.Choice(["lecture", "cosine"]), default="lecture", show_default=True,
    help="Fixed steps down by epoch, or a cosine to 0 over the run.",
)
@click.option(
    "--batch-size", type=click.IntRange(1), default=learning_param.BATCH_SIZE, show_default=True,
    help="Positions per step.",
)
@click.option(
    "--test-share", type=click.FloatRange(0, 1, max_open=True), default=0.2, show_default=True,
    help="Share of the data kept for testing.",
)
@click.option(
    "--ema", type=click.FloatRange(0, 1, max_open=True), default=0.0, show_default=True,
    help="Decay per step of averaged weights, such as 0.999; 0 averages nothing.",
)
@click.option("--filters", type=click.IntRange(1), default=64, show_default=True, help="Channels of the network.")
@click.option(
    "--blocks", type=click.IntRange(1), default=6, show_default=True,
    help="Residual blocks of the network.",
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True,
    help="Seed of the first weights and of the order of the data.",
)
@click.option(
    "--output", type=click.Path(dir_okay=False), default=None,
    help="Model file; checkpoint and metrics go beside it.  [default: model/sl-model.bin]",
)
@click.option(
    "--start", type=click.Path(exists=True, dir_okay=False), default=None,
    help="Model file whose weights a new run begins with.  [default: random weights]",
)
@click.option(
    "--data-dir", type=click.Path(file_okay=False), default=None,
    help="Folder of the training data.  [default: data]",
)
@click.option(
    "--workers", type=click.IntRange(1), default=None,
    help="Processes that make data.  [default: one per core]",
)
@click.option(
    "--restart", type=bool, default=False, show_default=True,
    help="Start anew instead of going on with an unfinished run.",
)
def main(**options: Any) -> None:
    """Train a network from game records; the same command goes on with an interrupted run."""
    if options.pop("rl"):
        fail("reinforcement learning is not there yet: only --rl false works", 2)
    options.pop("window_size")
    kifu_dir, workers = options.pop("kifu_dir"), options.pop("workers")
    options["data_dir"] = Path(options["data_dir"] or PROGRAM_DIR / "data")
    options["output"] = Path(options["output"] or PROGRAM_DIR / "model" / "sl-model.bin")
    options["start"] = options["start"] or ""
    if options["epochs"] is None and options["minutes"] is None:
        options["epochs"] = learning_param.EPOCHS

    from nn.dataset import DataError
    from nn.learn import TrainConfig, TrainError, train

    try:
        if kifu_dir is not None:
            make_data(Path(kifu_dir), options["board_size"], workers, options["data_dir"])
        stopped = train(TrainConfig(**options))
    except (DataError, TrainError) as error:
        fail(str(error), 2)
    except OSError as error:
        place = error.filename or options["output"].parent
        fail(f"{error.strerror or error}: {place}; the files written before are intact", 1)
    if stopped:
        sys.exit(128 + signal.Signals[stopped])


def make_data(kifu_dir: Path, board_size: int, workers: int | None, data_dir: Path) -> None:
    """Turn the games of a folder into npz files; ends the program where not one game is usable."""
    from nn.data_generator import NoTrainingDataError, generate_supervised_learning_data

    try:
        generate_supervised_learning_data(PROGRAM_DIR, kifu_dir, board_size, workers, data_dir)
    except NoTrainingDataError as error:
        fail(str(error), 2)


def fail(text: str, status: int) -> None:
    """Say in one line why nothing more happens, and end."""
    print_err(f"train.py: {text}")
    sys.exit(status)


if __name__ == "__main__":
    sys.exit(run_command(main, "train.py"))
