"""Put the Elo of each generation of a reinforcement-learning run into its metrics and its picture.

    python tools/elo_curve.py --matches model/matches --metrics model/rl-metrics.csv

reads every match directory (tools/match.py) in the folder. Players are known by the names the match was given:
`generation-<n>`, and `gnugo`, which is 0 on the scale; without it the lowest generation is.
"""

import json
import re
import sys
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common.command_line import run_command
from common.exit_status import tell_failures
from common.print_console import print_err, print_out
from tools.matchlib.rating import PairResult, Rating, rate_players
from tools.matchlib.record import read_records
from tools.matchlib.report import count_results
from tools.matchlib.store import CONFIG_FILE, GAMES_FILE

ANCHOR = "gnugo"
GENERATION = re.compile(r"generation-([0-9]{1,9})")


@click.command()
@click.option("--matches", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True,
              help="Folder with one directory for each match.")
@click.option("--metrics", type=click.Path(dir_okay=False, path_type=Path), required=True,
              help="CSV that the Elo goes into; the picture lies beside it.")
def main(matches: Path, metrics: Path) -> None:
    """Rate all generations that have played, on one Elo scale."""
    results = list(read_matches(matches))
    generations = sorted({number for result in results for number in map(get_generation, result[:2]) if number >= 0})
    if not generations:
        print_out(f"No games of generations in {matches}.")
        return
    has_anchor = any(ANCHOR in result[:2] for result in results)
    anchor = ANCHOR if has_anchor else f"generation-{generations[0]}"
    ratings = {get_generation(name): rating for name, rating in rate_players(results, anchor).items()}
    rated = {number: ratings[number] for number in generations if number in ratings}
    for number in generations:
        print_out(f"generation {number}: Elo {format_rating(rated[number])}" if number in rated
                  else f"generation {number}: no games connect it with {anchor}")
    write_metrics(metrics, rated)


def read_matches(folder: Path) -> Iterator[PairResult]:
    """Yield the result of each match; one that cannot be read is named on stderr and left out."""
    for path in sorted(folder.iterdir()):
        if not (path / GAMES_FILE).exists():
            continue
        try:
            first, second = json.loads((path / CONFIG_FILE).read_text(encoding="utf-8"))["names"]
            games = read_records((path / GAMES_FILE).read_bytes())
        except (OSError, ValueError, KeyError, TypeError) as error:
            print_err(f"{path}: not a readable match ({error}), left out")
            continue
        wins, draws, _ = count_results(games)
        yield PairResult(str(first), str(second), wins + draws / 2.0, len(games))


def get_generation(name: str) -> int:
    """Return the number of a generation, -1 for another player."""
    match = GENERATION.fullmatch(name)
    return int(match.group(1)) if match else -1


def format_rating(rating: Rating) -> str:
    """Return a rating as text, as in `+120 [+60, +190], 100 games`."""
    return f"{rating.elo:+.0f} [{rating.low:+.0f}, {rating.high:+.0f}], {rating.games} games"


def write_metrics(path: Path, rated: dict[int, Rating]) -> None:
    """Bring the columns of the Elo up to date and draw the picture."""
    from nn.training.run_table import REINFORCEMENT_LAYOUT, RunTable

    table = RunTable(path, REINFORCEMENT_LAYOUT)
    before = deepcopy(table.rows)
    for number, rating in rated.items():
        table.update(number, {"elo": f"{rating.elo:.1f}", "elo_low": f"{rating.low:.1f}",
                              "elo_high": f"{rating.high:.1f}", "elo_games": str(rating.games)})
    if table.rows == before and table.picture.exists():
        return  # as at each new start of a loop; drawing takes longer than all the rest
    with tell_failures(path):
        table.write()
        table.draw()


if __name__ == "__main__":
    sys.exit(run_command(main, "elo_curve.py"))
