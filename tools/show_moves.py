"""Draw a position of a game with the points that `main.py --prune T` keeps in its tree, as SVG.

    python tools/show_moves.py game.sgf --move 20 --prune 0.97 --out moves.svg

With `--search uct` the classifier of bad moves tells them, otherwise the policy of the network.
"""

import sys
from dataclasses import replace
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from board.constant import PASS
from board.go_board import GoBoard
from board.ruleset import Rules
from common.atomic_file import write_atomically
from common.command_line import FiniteRange, NamedFile, run_command
from common.exit_status import ProgramError, tell_failures
from common.print_console import print_err
from engine.engine import Engine
from engine.loader import make_source
from engine.options import DEFAULT_MODEL, EngineOptions, find_file, find_model
from mcts.constant import KEEP_ALL
from mcts.searches import DEFAULT_SEARCH, SEARCHES
from nn.model_file import CLASSIFIER_FILE
from sgf.reader import SGFReader
from tools.board_picture import BEST_COLOR, center, draw_board, draw_position
from tools.treelib.svg import CELL

# Radius of the mark on a point that is kept.
MARK = CELL * 0.22


def draw_kept(board: GoBoard, kept: list[int]) -> str:
    """Return the picture of a position as SVG, with a mark on each point that is kept."""
    marks = []
    for pos in kept:
        if pos != PASS:
            x, y = center(pos, board.coordinate)
            marks.append(f'<circle class="kept" cx="{x}" cy="{y}" r="{MARK:g}" fill="{BEST_COLOR}"/>')
    return draw_board(board.board_size, draw_position(board, [0.0] * board.board_size**2), *marks)


def read_position(game: Path, moves: int | None, rules: Rules) -> GoBoard:
    """Return the board of a record after so many moves (None: all), with its komi; raises ProgramError and OSError."""
    try:
        reader = SGFReader(game)
        board = GoBoard.with_rules(reader.size, replace(rules, komi=reader.komi))
        reader.play_on(board, moves)
    except ValueError as error:
        raise ProgramError(f"{game}: {error}") from None
    if moves is not None and moves > len(reader.moves):
        raise ProgramError(f"--move {moves}: {game} has {len(reader.moves)} moves")
    return board


@click.command(context_settings={"show_default": True})
@click.argument("game", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--move", "moves", type=click.IntRange(min=0), default=None,
              help="Moves of the game to play before.  [default: all of them]")
@click.option("--prune", type=FiniteRange(0.0, KEEP_ALL), default=0.97, help="As for main.py.")
@click.option("--search", type=click.Choice(list(SEARCHES)), default=DEFAULT_SEARCH, help="As for main.py.")
@click.option("--model", default=DEFAULT_MODEL, help="As for main.py.")
@click.option("--classifier", default=CLASSIFIER_FILE, help="As for main.py.")
@click.option("--out", type=NamedFile(".svg"), required=True, help="The picture, ending in .svg.")
def main(game: Path, moves: int | None, prune: float, search: str, model: str, classifier: str, out: Path) -> None:
    """Draw a position of GAME, an SGF file, with the points that are kept in the tree."""
    with tell_failures(out):
        path = find_file(classifier, "classifier", "give its path with --classifier")
        options = EngineOptions(prune=prune, search=search, model=find_model(model), classifier=path)
        engine = Engine(options.for_model(), make_source(options))
        board = read_position(game, moves, engine.board.rules)
        engine.set_board(board)
        kept = engine.find_kept_moves(board.get_to_move())
        write_atomically(out, draw_kept(board, kept).encode())
    legal = len(board.get_all_legal_pos(board.get_to_move(), fill_eyes=False))
    print_err(f"{out}: {sum(pos != PASS for pos in kept)} of {legal} moves are kept")


if __name__ == "__main__":
    sys.exit(run_command(main, "show_moves.py"))
