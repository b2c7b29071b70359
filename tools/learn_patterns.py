"""Learn from games what moves weigh in the search without a network, and write the table that it reads.

    python tools/learn_patterns.py --kifu-dir FOLDER --out mcts/uct/patterns.txt

A move competes with all other moves of its position; the strength of a move is the product of the gammas of its
features, found by minorization-maximization (Coulom, "Computing Elo ratings of move patterns in the game of Go", 2007).
One game in ten is kept back: how well the gammas foretell its moves is told on stderr and in the table's head. The
table has two parts: `playout`, the few features that playouts draw by, and `prior`, all those that the tree begins
with. mcts/uct/pattern_table.py tells how it is read.
"""

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import click
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from board.constant import BOARD_SIZE, MAX_BOARD_SIZE, MIN_BOARD_SIZE
from common.atomic_file import write_atomically
from common.command_line import run_command
from common.exit_status import ProgramError, tell_failures
from common.print_console import print_err
from mcts.uct.pattern_table import CODES, draw_code
from nn.data.game_report import GameReport
from sgf.collection import read_folder
from tools.patternlib.minorization import Foresight, Model
from tools.patternlib.rows import PARTS, Rows, collect_rows

# One game in so many is kept back to judge by.
KEPT_BACK = 10


def learn_part(part: str, rows: Rows, test: Rows, rounds: int) -> tuple[Model, Foresight]:
    """Return the model of one part of the table, and how well it foretells the moves that were kept back."""
    columns = PARTS[part]
    model = Model(columns, [len(values) or CODES for _, _, values in columns])
    model.learn(rows, rounds)
    return model, model.judge(test)


def list_lines(part: str, model: Model, rows: Rows, least: int) -> Iterator[str]:
    """Yield the lines of a part: every value of a feature, the patterns from the strongest on if they were met often.

    `least` is how often a pattern must have been a move that could be played.
    """
    for (column, feature, values), gammas in zip(model.columns, model.normalized(), strict=True):
        if values:
            yield from (f"{part} {feature} {value} {gamma:.4g}" for value, gamma in zip(values, gammas, strict=True))
            continue
        met = np.flatnonzero(np.bincount(rows.features[:, column], minlength=CODES) >= least)
        for code in met[np.argsort(-gammas[met], kind="stable")]:
            yield f"{part} {feature} {draw_code(code)} {gammas[code]:.4g}"


@click.command(context_settings={"show_default": True})
@click.option("--kifu-dir", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True,
              help="Folder of SGF files.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), required=True, help="Table to write.")
@click.option("--size", "board_size", type=click.IntRange(MIN_BOARD_SIZE, MAX_BOARD_SIZE), default=BOARD_SIZE,
              help="Board size of the games.")
@click.option("--games", "most", type=click.IntRange(min=KEPT_BACK), default=4000, help="Games to learn from, at most.")
@click.option("--rounds", type=click.IntRange(min=1), default=12,
              help="Rounds of learning, in each of which every feature is updated once.")
@click.option("--least", type=click.IntRange(min=1), default=50,
              help="How often a pattern must have been a possible move to stand in the table.")
def main(kifu_dir: Path, out: Path, board_size: int, most: int, rounds: int, least: int) -> None:
    """Learn from games what moves weigh in the search without a network."""
    with tell_failures(out):
        out.parent.mkdir(parents=True, exist_ok=True)  # before all is learnt for nothing
    games = list(islice(read_folder(kifu_dir, board_size, GameReport().skip), most))
    if len(games) < KEPT_BACK:
        raise ProgramError(f"{kifu_dir} has {len(games)} games on {board_size}x{board_size}; "
                           f"{KEPT_BACK} are the least to learn from")
    rows = collect_rows(game for i, game in enumerate(games) if i % KEPT_BACK)
    test = collect_rows(games[::KEPT_BACK])
    if not len(rows.played) or not len(test.played):
        raise ProgramError(f"{kifu_dir}: its {len(games)} games have no moves to learn from")
    lines = [f"# part feature value gamma; {len(games)} games, {len(rows.played)} moves, {rounds} rounds"]
    for part in PARTS:
        model, verdict = learn_part(part, rows, test, rounds)
        note = (f"{part}: foretells {100 * verdict.first:.1f} % of {len(test.played)} moves kept back, "
                f"mean log likelihood {verdict.log_likelihood:.3f}")
        print_err(note)
        lines += [f"# {note}", *list_lines(part, model, rows, least)]
    with tell_failures(out):
        write_atomically(out, "\n".join([*lines, ""]).encode())


if __name__ == "__main__":
    sys.exit(run_command(main, "learn_patterns.py"))
