"""Tune numbers of an engine over matches against a fixed opponent, with Optuna (pip install '.[tune]').

    python tools/tune.py --first "main.py --visits 100 --c-puct {c} --lead-weight {lead}" \\
        --second "main.py --visits 100" --float c:0.2:1.5:log --float lead:0:0.3 --trials 30 --dir results/tune

A setting plays pairs of games, a batch at a time; after each it is compared with the settings before it, and ends early
where it is worse than most. Settings and games are kept: the same command goes on where it was stopped. The score of
the best of many settings is flattered by chance: play it again, with tools/match.py and another --seed.
"""

import importlib.util
import sys
from pathlib import Path
from typing import Any

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common.command_line import run_command
from common.exit_status import ProgramError, status_of_stop
from common.interrupt import raise_on_sigterm
from common.print_console import print_out
from tools.match import limit_engine_threads
from tools.matchlib.command import split_command
from tools.matchlib.config import MatchConfig
from tools.matchlib.errors import MatchError
from tools.matchlib.options import match_options
from tools.tunelib.space import check_space, read_range, read_words


@click.command(context_settings={"show_default": True})
@click.option("--first", required=True, help="Command of the engine that is tuned, with a place {NAME} for each value.")
@click.option("--second", required=True, help="Command of its opponent, the same for all settings.")
@click.option("--float", "floats", multiple=True, metavar="NAME:LOW:HIGH[:log]",
              help="A number to vary; log draws it evenly by its logarithm. May be given more than once.")
@click.option("--int", "wholes", multiple=True, metavar="NAME:LOW:HIGH[:log]",
              help="A whole number to vary. May be given more than once.")
@click.option("--choice", "choices", multiple=True, metavar="NAME:WORD,WORD,...",
              help="Words to choose from. May be given more than once.")
@click.option("--dir", "directory", required=True, type=click.Path(path_type=Path, file_okay=False),
              help="Directory for the study (study.db) and the games; a study in it is continued.")
@click.option("--trials", type=click.IntRange(min=1), default=30,
              help="Settings to try, those of earlier runs included.")
@click.option("--games", type=click.IntRange(min=2), default=60, help="Games of a setting that is not ended early.")
@click.option("--batch", type=click.IntRange(min=2), default=10,
              help="A setting may be ended early after so many games, and each time after as many more.")
@click.option("--pruner", type=click.Choice(["median", "halving", "none"]), default="median",
              help="What ends a setting early. median: its score is below the median of the others; halving: it is "
                   "none of the best third (successive halving); none: nothing.")
@match_options
def main(floats: tuple[str, ...], wholes: tuple[str, ...], choices: tuple[str, ...], trials: int, batch: int,
         pruner: str, **options: Any) -> None:
    """Tune numbers of an engine over matches against a fixed opponent, and print a table."""
    limit_engine_threads(options["parallel"])
    if importlib.util.find_spec("optuna") is None:
        raise ProgramError("Optuna is not installed: pip install '.[tune]', or pip install optuna")
    from tools.tunelib.study import TuneConfig, format_study, open_study, run_study

    try:
        tunables = [*(read_range(text, False) for text in floats), *(read_range(text, True) for text in wholes),
                    *map(read_words, choices)]
        check_space(tunables, options["first"])
        if batch % 2 or options["games"] % 2:
            raise ValueError("--batch and --games must be even: games come in pairs, one with either color")
    except ValueError as error:
        raise ProgramError(str(error)) from None
    for command in (options["first"], options["second"]):
        split_command(command)
    config = TuneConfig(MatchConfig(**options), tunables, trials, batch, pruner)
    try:
        with raise_on_sigterm():
            study = run_study(config)
        print_out("\n" + format_study(study))
    except (KeyboardInterrupt, MatchError) as stop:
        print_out("\n" + format_study(open_study(config)))
        if isinstance(stop, MatchError):
            raise
        raise ProgramError("stopped: the same command goes on", status_of_stop(stop)) from None


if __name__ == "__main__":
    sys.exit(run_command(main, "tune.py"))
