"""Measure ways to train a network beside each other: one data set, one budget of time, one table.

    python tools/compare.py --data-dir data --minutes 30 --dir results/ways --out results/ways.md
    python tools/compare.py --data-dir data --minutes 30 --dir results/ways --out results/ways.md --ways block-se \\
        --way "wide=--filters 64" --games 100 --seconds 0.1

Every way is a change of one base. What is done is kept: the same command goes on where it was stopped.
"""

import os
import shlex
import sys
from pathlib import Path
from typing import Any

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common.atomic_file import write_atomically
from common.command_line import FiniteRange, run_command
from common.exit_status import ProgramError, tell_failures
from common.interrupt import raise_on_sigterm
from common.lock_file import hold_lock
from common.print_console import print_out
from tools.comparelib.ways import BASE, WAYS, check_options, choose_ways, read_way

LOCK_FILE = "compare.lock"


@click.command(context_settings={"show_default": True})
@click.option("--data-dir", required=True, type=click.Path(exists=True, file_okay=False, path_type=Path),
              help="Folder of the training data that train.py --head pooled has made (games_*.npz).")
@click.option("--dir", "directory", required=True, type=click.Path(path_type=Path, file_okay=False),
              help="Folder for the trainings and matches; those in it are gone on with.")
@click.option("--out", required=True, type=click.Path(path_type=Path, dir_okay=False), help="Page for the table.")
@click.option("--minutes", type=FiniteRange(0.0, min_open=True), required=True,
              help="Minutes that each training lasts.")
@click.option("--base", default=BASE, help="Options of train.py that all ways begin from.")
@click.option("--ways", default="", help=f"Those of these ways to train, with commas between: "
                                         f"{', '.join(way.name for way in WAYS)}.  [default: all, or the --way alone]")
@click.option("--way", "texts", multiple=True, metavar="NAME=OPTIONS",
              help="A way of your own; may be given more than once.")
@click.option("--games", type=click.IntRange(0), default=0,
              help="Games of each way against the base, on the smallest board that the base learns; 0: none.")
@click.option("--seconds", type=FiniteRange(0.0, min_open=True), default=0.1, help="Seconds for a move in these games.")
@click.option("--use-gpu", type=bool, default=False, help="Train on the first GPU.")
def main(out: Path, ways: str, texts: tuple[str, ...], **options: Any) -> None:
    """Measure ways to train a network beside each other."""
    from tools.comparelib.runs import CompareConfig, Outcome, measure_speed, play_base, train_way
    from tools.comparelib.table import format_page

    config = CompareConfig(**options)
    outcomes: list[Outcome] = []
    try:
        chosen = choose_ways(ways, [read_way(text) for text in texts])
        check_options("--base", config.base)
    except ValueError as error:
        raise ProgramError(str(error)) from None
    taken = ProgramError(f"another compare.py, or a training that one left behind, is at work in {config.directory}")
    with (tell_failures(out, stopped="stopped: the same command goes on"), raise_on_sigterm(),
          hold_lock(config.directory / LOCK_FILE, taken) as lock):
        os.set_inheritable(lock.fileno(), True)  # trainings hold it, too
        for way in chosen:
            print_out(f"[{len(outcomes) + 1}/{len(chosen)}] {way.name}: {shlex.join(config.command_of(way)[2:])}")
            row = train_way(config, way)
            outcomes.append(Outcome(way, row, measure_speed(config.model_of(way)), play_base(config, way, chosen[0])))
            page = format_page(config, outcomes, shlex.join(["tools/compare.py", *sys.argv[1:]]))
            write_atomically(out, page.encode())
    print_out("\n" + page)


if __name__ == "__main__":
    sys.exit(run_command(main, "compare.py"))
