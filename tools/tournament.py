"""Play a tournament of GTP engines, everybody against everybody, with our board as the referee.

    python tools/tournament.py --dir results/cup --games 20 \\
        --player "uct=main.py --search uct --visits 1000" --player "puct=main.py --visits 50" \\
        --player "gnugo=gnugo --mode gtp --level 10 --chinese-rules --positional-superko --capture-all-dead"

Each pairing is a match (tools/match.py tells the rules, and how commands are started) in a folder of its own below the
directory, two games in turn, or as many as --parallel says. After each turn index.html there has the table, with Elo
and its 95 % interval on one scale, and all games. Stopped at any time, the same command goes on; players may be added
and named in another order, and games made more.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from board.ruleset import format_komi
from common.atomic_file import write_atomically
from common.command_line import run_command
from common.exit_status import ProgramError, status_of
from common.interrupt import raise_on_sigterm
from common.print_console import print_err, print_out
from tools.match import limit_engine_threads
from tools.matchlib.config import MatchConfig
from tools.matchlib.errors import MatchError
from tools.matchlib.options import match_options
from tools.tournamentlib.page import format_ratings, make_page
from tools.tournamentlib.round_robin import (
    Entrant,
    Pairing,
    check_players,
    make_pairings,
    play_rounds,
    rate_all,
    read_player,
)

PAGE = "index.html"


def write_page(directory: Path, title: str, players: list[Entrant], pairings: list[Pairing]) -> None:
    """Bring the page up to date; raises MatchError."""
    try:
        write_atomically(directory / PAGE, make_page(title, players, rate_all(players, pairings), pairings).encode())
    except OSError as error:
        raise MatchError(f"cannot write {directory / PAGE}: {error.strerror or error}", status_of(error)) from error


def run_tournament(players: list[Entrant], config: MatchConfig) -> None:
    """Play what is missing, keep the page up to date, and print the table; raises as a match does."""
    clock = f", {config.time_seconds} s a side" if config.time_seconds else ""
    title = f"{len(players)} players, {config.size}x{config.size}, komi {format_komi(config.komi)}{clock}"
    pairings = make_pairings(players, config)
    try:
        for _ in play_rounds(pairings, config.games):
            write_page(config.directory, title, players, pairings)
    except KeyboardInterrupt:
        print_err("stopped: the same command continues the tournament")
        raise
    finally:
        if any(pairing.records for pairing in pairings):
            print_out(f"\n{title}\n\n{format_ratings(rate_all(players, pairings), pairings)}")


@click.command(context_settings={"show_default": True})
@click.option("--player", "texts", multiple=True, required=True, metavar="NAME=COMMAND",
              help="A player; give two or more. The first one's Elo is 0.")
@click.option("--dir", "directory", required=True, type=click.Path(path_type=Path, file_okay=False),
              help="Directory for the games and the page; a tournament in it is continued.")
@click.option("--games", type=click.IntRange(min=1), default=20, help="Games of each pairing.")
@match_options
def main(texts: Sequence[str], **options: Any) -> None:
    """Play a tournament of GTP engines and print the table."""
    limit_engine_threads(options["parallel"])
    try:
        players = [read_player(text) for text in texts]
        check_players(players)
    except ValueError as error:
        raise ProgramError(str(error)) from None
    with raise_on_sigterm():
        run_tournament(players, MatchConfig(first="", second="", **options))


if __name__ == "__main__":
    sys.exit(run_command(main, "tournament.py"))
