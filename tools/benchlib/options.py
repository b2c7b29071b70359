"""The options that commands of tools/bench.py share."""

import os
from collections.abc import Callable
from pathlib import Path

import click

from board.constant import BOARD_SIZE, MAX_BOARD_SIZE, MIN_BOARD_SIZE
from common.command_line import FiniteRange
from engine.options import DEFAULT_MODEL


def check_writable(_: click.Context, option: click.Parameter, path: Path | None) -> Path | None:
    """Return a file to be written at the end; raises BadParameter for one that cannot be, before all is measured."""
    if path is not None and not os.access(path.parent, os.W_OK):
        raise click.BadParameter(f"{path}: {path.parent} is no folder that can be written to")
    return path


JSON_OPTION = click.option("--json", "json_path", type=click.Path(dir_okay=False, path_type=Path), default=None,
                           callback=check_writable, help="File to write the figures to.")


def with_options(*options: Callable) -> Callable:
    """Return a decorator that gives a command these options, and --json."""
    def decorate(function: Callable) -> Callable:
        for option in reversed((*options, JSON_OPTION)):
            function = option(function)
        return function

    return decorate


# What commands share that measure for some time, again and again.
TIMED = (
    click.option("--seconds", type=FiniteRange(0.0, min_open=True), default=1.0, show_default=True,
                 help="Seconds that each run lasts."),
    click.option("--runs", type=click.IntRange(1), default=3, show_default=True, help="Runs, whose median is told."),
)
SEARCH_VISITS = click.option("--visits", "search_visits", type=click.IntRange(2), default=20000, show_default=True,
                             help="Visits of a PUCT search with the free evaluator.")
SHORT_VISITS = click.option("--visits", "search_visits", type=click.IntRange(1), default=100, show_default=True,
                            help="Visits of the short searches.")
ENGINE_VISITS = click.option("--engine-visits", type=click.IntRange(2), default=1000, show_default=True,
                             help="Visits of the engine's search.")
MODEL = click.option("--model", default=DEFAULT_MODEL, show_default=True,
                     help="Model file, or none for a random network.")
USE_GPU = click.option("--use-gpu", type=bool, default=False, show_default=True, help="Use the first CUDA device.")

KIFU_DIR = click.option("--kifu-dir", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True,
                        help="Folder of SGF files.")
BOARD_SIZE_OPTION = click.option("--size", "board_size", type=click.IntRange(MIN_BOARD_SIZE, MAX_BOARD_SIZE),
                                 default=BOARD_SIZE, show_default=True, help="Board size.")


def count_games(default: int, meaning: str) -> Callable:
    """Return the option that tells how many games a command measures on."""
    return click.option("--games", type=click.IntRange(1), default=default, show_default=True, help=meaning)


# What commands share that ask a network about games.
JUDGED_GAMES = (KIFU_DIR, MODEL, USE_GPU, BOARD_SIZE_OPTION)
