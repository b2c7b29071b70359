"""Play a match between two GTP engines, with our board as the referee.

A hundred games of this engine against GNU Go, two at a time:

    python tools/match.py --games 100 --parallel 2 --dir results/gnugo \\
        --first "main.py --visits 100" \\
        --second "gnugo --mode gtp --level 10 --chinese-rules --positional-superko --capture-all-dead"

The referee forbids suicide and the repetition of any earlier position, ends the game at two passes and counts area.
With `--scoring area` all stones on the board are alive: engines must capture what is dead; `--capture-all-dead` makes
GNU Go do it. A loss on time, by an illegal move, a crash or a hang counts against the engine at fault. The directory
gets an SGF file of each game (sgf/), the engines' messages (logs/) and one line of JSON a game (games.jsonl); the same
command goes on where it was stopped. An engine command is split as a shell would, but no shell runs it; `/usr/games`
belongs to its search path, and a first word ending in `.py` runs under this Python. Unless OMP_NUM_THREADS says
otherwise, the engines of each game get their share of the cores.
"""

import os
import sys
from pathlib import Path
from typing import Any

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common.command_line import FiniteRange, run_command
from common.cores import count_usable_cores
from common.interrupt import raise_on_sigterm
from tools.matchlib.config import MatchConfig
from tools.matchlib.dialect import CLIENTS
from tools.matchlib.options import KOMI, OPENINGS, PARALLEL, SCORING, SEED, SIZE, TIME
from tools.matchlib.runner import run_match


def limit_engine_threads(games: int) -> None:
    """Give the engines of each of so many games at a time their share of the cores, unless OMP_NUM_THREADS is set.

    In each game one engine thinks at a time. With more threads than cores they would wait for each other.
    """
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, count_usable_cores() // games)))


@click.command(context_settings={"show_default": True})
@click.option("--first", required=True, help="Command of the first engine; it is Black in every other game.")
@click.option("--second", required=True, help="Command of the second engine.")
@click.option("--dir", "directory", required=True, type=click.Path(path_type=Path, file_okay=False),
              help="Directory for the games; a match in it is continued.")
@click.option("--games", type=click.IntRange(min=1), default=100, help="Number of games.")
@SIZE
@KOMI
@PARALLEL
@TIME
@click.option("--no-time-left", "sends_time_left", is_flag=True, flag_value=False, default=True, show_default=False,
              help="Do not send time_left before each move.")
@click.option("--client", type=click.Choice(CLIENTS), default="gtp",
              help="Ask for moves in plain GTP, or as the CGOS client does: with analysis, kept in the SGF.")
@OPENINGS
@click.option("--opening-plies", type=click.IntRange(min=0), default=2,
              help="Length of center and random openings; longer ones follow where these are not enough.")
@click.option("--max-moves", type=click.IntRange(min=0), default=0,
              help="Score a game as it stands after so many moves; 0 is four times the points of the board.")
@SCORING
@SEED
@click.option("--hang-limit", type=FiniteRange(min=0.0, min_open=True), default=300.0,
              help="Seconds after which an engine that does not answer loses the game and is killed.")
@click.option("--names", nargs=2, default=None, help="Names of both engines; they are asked when this is left out.")
def main(**options: Any) -> None:
    """Play a match between two GTP engines and print the score with its 95 % interval."""
    limit_engine_threads(options["parallel"])
    with raise_on_sigterm():
        run_match(MatchConfig(**options))


def start() -> int:
    """Run the command line and return the exit status."""
    return run_command(main, "match.py")


if __name__ == "__main__":
    sys.exit(start())
