"""Tell whether a run of self-play and training degenerates, from its table: pipeline.sh asks after each generation.

    tools/stop_rule.py --metrics model/rl-metrics.csv

Status 3, with one line that names the figure, where the games of the newest generation are much shorter than those
before, or where the Elo has fallen several times in a row, by more than chance explains.
"""

import math
import statistics
import sys
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common.command_line import run_command
from common.exit_status import EXIT_OK, ProgramError
from common.print_console import print_err

EXIT_DEGENERATES = 3
# Generations before the newest one from which on their length tells something.
LEAST_GENERATIONS = 3

RunRows = dict[int, dict[str, str]]


def column(rows: RunRows, name: str) -> list[tuple[int, float]]:
    """Return generation and value of all rows that have the column, in their order; raises ValueError for no number."""
    values = [(number, float(row[name])) for number, row in sorted(rows.items()) if row.get(name)]
    if not all(math.isfinite(value) for _, value in values):
        raise ValueError(f"{name} is not a finite number everywhere")
    return values


def judge_length(rows: RunRows, percent: int) -> str:
    """Return what is wrong with the length of the newest games, empty where nothing is."""
    lengths = column(rows, "game_length")
    if len(lengths) <= LEAST_GENERATIONS:
        return ""
    number, newest = lengths[-1]
    usual = statistics.median(length for _, length in lengths[:-1])
    if newest >= usual * percent / 100:
        return ""
    return (f"the games of generation {number} have {newest:.1f} moves on the average, less than {percent} % of the "
            f"{usual:.1f} that were usual before")


def judge_elo(rows: RunRows, falls: int) -> str:
    """Return what is wrong with the Elo of the newest generations, empty where nothing is."""
    elos = column(rows, "elo")[-falls - 1:]
    if falls == 0 or len(elos) <= falls or any(b >= a for (_, a), (_, b) in zip(elos, elos[1:], strict=False)):
        return ""
    (first, highest), (last, lowest) = elos[0], elos[-1]
    if dict(column(rows, "elo_high")).get(last, lowest) >= dict(column(rows, "elo_low")).get(first, highest):
        return ""
    return (f"the Elo has fallen {falls} times in a row, from {highest:+.0f} at generation {first} to {lowest:+.0f} at "
            f"generation {last}")


@click.command(context_settings={"show_default": True})
@click.option("--metrics", type=click.Path(dir_okay=False, path_type=Path), required=True, help="Table of the run.")
@click.option("--length-percent", type=click.IntRange(0, 100), default=50,
              help="Share of the usual length below which games have collapsed; 0: never.")
@click.option("--elo-falls", type=click.IntRange(0), default=3,
              help="Falls of the Elo in a row, together beyond chance, that end a run; 0: never.")
def main(metrics: Path, length_percent: int, elo_falls: int) -> int:
    """Tell whether a run of self-play and training degenerates."""
    from nn.training.run_table import REINFORCEMENT_LAYOUT, RunTable

    if not metrics.exists():
        print_err(f"stop_rule.py: there is no {metrics} yet: nothing to judge")
        return EXIT_OK
    rows = RunTable(metrics, REINFORCEMENT_LAYOUT).rows
    if not rows:
        raise ProgramError(f"{metrics} is not the table of a run of self-play and training: it has no generation; "
                           "put it aside to go on")
    try:
        trouble = judge_length(rows, length_percent) or judge_elo(rows, elo_falls)
    except ValueError as error:
        raise ProgramError(f"{metrics} is not the table of a run: {error}") from None
    if not trouble:
        return EXIT_OK
    print_err(f"this run degenerates: {trouble}")
    return EXIT_DEGENERATES


if __name__ == "__main__":
    sys.exit(run_command(main, "stop_rule.py"))
