"""Options that all share which play matches."""

from collections.abc import Callable

import click

from board.constant import DEFAULT_KOMI, MAX_BOARD_SIZE, MAX_KOMI, MIN_BOARD_SIZE
from common.command_line import FiniteRange

SIZE = click.option("--size", type=click.IntRange(MIN_BOARD_SIZE, MAX_BOARD_SIZE), default=9, help="Board size.")
KOMI = click.option("--komi", type=FiniteRange(-MAX_KOMI, MAX_KOMI), default=DEFAULT_KOMI,
                    help="Points given to White.")
PARALLEL = click.option("--parallel", type=click.IntRange(min=1), default=1, help="Games played at the same time.")
TIME = click.option("--time", "time_seconds", type=click.IntRange(min=1), default=None,
                    help="Seconds per side and game; no clock when left out.")
OPENINGS = click.option("--openings", default="center",
                        help="center: random moves in the middle of the board (5x5 points on 9x9); random: anywhere; "
                             "none; or a file with one opening a line.")
SCORING = click.option("--scoring", type=click.Choice(["area", "friendly"]), default="area",
                       help="area: all stones are alive; friendly: stones that playouts find dead are removed first.")
SEED = click.option("--seed", type=int, default=0, help="Seed of the openings.")


def match_options(command: Callable) -> Callable:
    """Give a command all of these options, in this order."""
    for option in (SEED, SCORING, OPENINGS, TIME, PARALLEL, KOMI, SIZE):
        command = option(command)
    return command
