"""Compare how finished games are counted: an engine's verdict (GNU Go's by default) beside ours.

    python tools/verdict.py results/match/sgf --csv verdict.csv

Takes every SGF file of a folder whose game ended with two passes, plays it in both engines through GTP and asks for
`final_status_list dead`, `final_status_list seki` and `final_score`. Each disagreement is printed with the board, the
points in dispute marked with a star. tools/match.py with `--scoring friendly` plays games that end with dead stones on
the board. An engine command is split as a shell would, but no shell runs it.
"""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common.atomic_file import write_atomically
from common.command_line import run_command
from common.exit_status import tell_failures
from common.interrupt import raise_on_sigterm
from common.print_console import print_err, print_out
from gtp.engine_process import EngineError
from tools.matchlib.command import split_command
from tools.matchlib.engine import MatchEngine
from tools.matchlib.errors import MatchError
from tools.verdictlib.position import NotFinishedError, find_games, read_finished_game
from tools.verdictlib.report import format_csv, format_disagreement, format_summary
from tools.verdictlib.verdict import Comparison, ask_verdict

GNUGO = "gnugo --mode gtp --chinese-rules"
OURS = "main.py --model none"
HANG_LIMIT = 120.0


class EnginePair:
    """Both engines, and what they said so far."""

    def __init__(self, commands: tuple[str, str], names: tuple[str, str], log_folder: Path) -> None:
        """Prepare the engines; raises MatchError for a command that does not exist."""
        self.names = names
        self.comparisons: list[Comparison] = []
        self._engines = [MatchEngine(split_command(command), log_folder / f"{i}.log", HANG_LIMIT)
                         for i, command in enumerate(commands)]

    def compare(self, path: Path, name: str) -> None:
        """Ask about one game and print what differs; raises MatchError when an engine fails, and NotFinishedError."""
        board = read_finished_game(path)
        verdicts = []
        for engine in self._engines:
            engine.start(board.board_size, has_clock=False)
            try:
                verdicts.append(ask_verdict(engine, board))
            except EngineError as error:
                raise MatchError(f"{name}: {engine.tell(error)}") from error
        one = Comparison(name, board, *verdicts)
        self.comparisons.append(one)
        if one.differing or not one.same_dead or not one.same_score:
            print_out(format_disagreement(one, self.names) + "\n")

    def close(self) -> None:
        """End the engines."""
        for engine in self._engines:
            engine.close()


@contextmanager
def keep_what_is_named() -> Iterator[Path]:
    """Give a folder for the engines' messages, which goes at the end unless the error that ends all names one."""
    folder = Path(mkdtemp(prefix="hiyoko-verdict-"))
    names_it = False
    try:
        yield folder
    except MatchError as error:
        names_it = str(folder) in str(error)
        raise
    finally:
        if not names_it:
            shutil.rmtree(folder, ignore_errors=True)


def run(folder: Path, pair: EnginePair, csv_path: Path | None) -> None:
    """Compare all games of a folder; what was found is printed and kept also when the user stops it."""
    games = find_games(folder)
    if not games:
        raise MatchError(f"no .sgf files in {folder}")
    try:
        for path in games:
            name = path.relative_to(folder).as_posix()
            try:
                pair.compare(path, name)
            except (NotFinishedError, OSError) as error:
                print_err(f"verdict.py: {name} left out: {error}")
    finally:
        pair.close()
        print_out(format_summary(pair.comparisons, pair.names))
        if csv_path is not None:
            write_atomically(csv_path, format_csv(pair.comparisons).encode())


@click.command(context_settings={"show_default": True})
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--theirs", default=GNUGO, help="Command of the engine to compare with.")
@click.option("--ours", default=OURS, help="Command of the engine that is judged.")
@click.option("--names", nargs=2, default=("GNU Go", "Hiyoko"), help="Names of both in the report.")
@click.option("--csv", "csv_path", type=click.Path(dir_okay=False, path_type=Path), default=None,
              help="File for one line a game.")
def main(folder: Path, theirs: str, ours: str, names: tuple[str, str], csv_path: Path | None) -> None:
    """Compare two engines' verdicts about the finished games of FOLDER (and the folders in it)."""
    with keep_what_is_named() as log_folder, tell_failures(csv_path or log_folder), raise_on_sigterm():
        run(folder, EnginePair((theirs, ours), names, log_folder), csv_path)


if __name__ == "__main__":
    sys.exit(run_command(main, "verdict.py"))
