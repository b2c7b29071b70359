"""Have a stronger engine judge every position of your games, so that train.py can learn from it.

    python tools/label.py --kifu-dir games --out labels.npz --teacher "katago analysis -model MODEL -config CONFIG"
    python train.py --head pooled --kifu-dir games --labels labels.npz --value-blend 0.5

Any program that speaks KataGo's analysis protocol will do, and so will the file of a network alone (`--teacher
MODEL.bin.gz`), which judges many positions at a time. Stopped at any time, the same command goes on. The command is
split as a shell would, but no shell runs it.
"""

import sys
import time
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tqdm import tqdm

from board.constant import BOARD_SIZE, MAX_BOARD_SIZE, MIN_BOARD_SIZE
from common.command_line import run_command
from common.exit_status import tell_failures
from common.interrupt import raise_on_sigterm
from common.print_console import Heedless, print_err
from nn.data.game_encoder import GameEncoder
from nn.data.game_report import GameReport
from nn.data.labels import Labels
from sgf.collection import Kifu, Skipped, list_sgf_files, read_folder
from sgf.grammar import SGFError
from tools.labellib.network_teacher import NetworkTeacher, names_model
from tools.labellib.store import LabelStore, hold_labels
from tools.labellib.teacher import KEPT, STOPPED, LabelError, Question, Teacher, takes_turns
from tools.matchlib.command import split_command

# Games whose labels are written together, unless it takes longer to label so many.
GAMES_PER_PART, PART_SECONDS = 50, 60.0
# The kind of games that cannot be labelled, beside those that nobody can use.
NO_TURNS = "a player twice in a row"
RULES = "tromp-taylor"


def read_games(kifu_dir: Path, board_size: int, report: GameReport) -> dict[str, Kifu]:
    """Return the games that can be labelled by the names that training looks for (nn/data/labels.py).

    The others are reported, illegal ones among them: teachers play them through.
    """
    encoder, games = GameEncoder(board_size), {}
    for game in read_folder(kifu_dir, board_size, report.skip):
        try:
            if not takes_turns(game):
                raise SGFError(NO_TURNS, "a player moves twice in a row")
            encoder.check(game)
            games[Path(game.name).name] = game
        except SGFError as error:
            report.skip(Skipped(game.name, error.kind, str(error)))
    return games


def start_teacher(command: str, question: Question, use_gpu: bool, log: Path) -> Teacher | NetworkTeacher:
    """Return the engine, or the network, that a command or a path names; raises LabelError and ModelFileError."""
    if not names_model(command):
        return Teacher(split_command(command), log, question)
    if question.visits > 1:
        raise LabelError(f"--visits {question.visits} wants a search, and --teacher {command} is a network alone: give "
                         f'"main.py analysis -model {command}"')
    if question.rules != RULES:
        raise LabelError(f"--rules {question.rules} is for an engine, and --teacher {command} is a network alone, "
                         "which judges by area rules: leave it out, or give an engine's command")
    return NetworkTeacher(command, question.board_size, use_gpu)


def label(games: dict[str, Kifu], teacher: Teacher | NetworkTeacher, store: LabelStore) -> None:
    """Have the games labelled that are not yet, and write them part by part, also what a run has that ends early."""
    left = [(name, game) for name, game in games.items() if name not in store.done]
    with tqdm(total=len(games), initial=len(games) - len(left), unit="game", desc="labels", file=Heedless()) as bar:
        part: dict[str, Labels] = {}
        written = time.monotonic()
        try:
            for name, labels in teacher.label(left):
                part[name] = labels
                bar.update()
                if len(part) >= GAMES_PER_PART or time.monotonic() > written + PART_SECONDS:
                    store.add(part)
                    part, written = {}, time.monotonic()
        finally:
            if part:
                store.add(part)


@click.command(context_settings={"show_default": True})
@click.option("--kifu-dir", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True,
              help="Folder of SGF files.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), required=True, help="File of labels to make.")
@click.option("--teacher", "command", required=True,
              help='Command of the engine, such as "katago analysis -model M"; or the model file of a network that '
                   "judges alone: KataGo's, or a pooled one.")
@click.option("--visits", type=click.IntRange(1), default=1,
              help="Visits a position; 1 takes the network's policy, more the shares of the visits.")
@click.option("--size", "board_size", type=click.IntRange(MIN_BOARD_SIZE, MAX_BOARD_SIZE), default=BOARD_SIZE,
              help="Board size.")
@click.option("--rules", default=RULES, help="Rules by KataGo's name, for an engine.")
@click.option("--use-gpu", type=bool, default=True, help="Use the first CUDA device if there is one, for a model file.")
def main(kifu_dir: Path, out: Path, command: str, visits: int, board_size: int, rules: str, use_gpu: bool) -> None:
    """Label every position of a folder of games by a stronger engine."""
    with tell_failures(out, KEPT, STOPPED), raise_on_sigterm(), hold_labels(out):
        if not list_sgf_files(kifu_dir):
            raise LabelError(f"no SGF files in {kifu_dir}; sub-folders are not read: name one with --kifu-dir")
        store = LabelStore(out, board_size, {"teacher": command, "visits": visits, "size": board_size, "rules": rules,
                                             "games": str(kifu_dir.resolve())})
        log = out.with_name(f"{out.name}.parts") / "teacher.log"
        teacher, report = start_teacher(command, Question(board_size, visits, rules), use_gpu, log), GameReport()
        try:
            games = read_games(kifu_dir, board_size, report)
            label(games, teacher, store)
        finally:
            teacher.close()
        labelled = [name for name in games if name in store.done]
        if not labelled:
            raise LabelError(f"no {board_size}x{board_size} game in {kifu_dir} could be labelled (skipped: "
                             f"{report.reasons})")
        store.finish(labelled)
        print_err(f"{len(labelled)} games labelled: {out} (skipped: {report.reasons})")


if __name__ == "__main__":
    sys.exit(run_command(main, "label.py"))
