"""Hiyoko, the engine: plays Go through GTP on stdin and stdout.

Only light modules are imported here: torch, the model and compiled code are loaded while GTP is already answered.
"""

import signal

if __name__ == "__main__" and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until run_command: Ctrl-C during the imports is no traceback

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

try:
    import click
    import numpy  # noqa: F401 (everything needs it)
    if find_spec("numba") is None and "--doctor" not in sys.argv:  # looked for only: to import it takes a while
        raise ModuleNotFoundError("No module named 'numba'")
except ModuleNotFoundError as error:
    sys.exit(f"main.py: {error}; start with the Python of the environment, such as .venv/bin/python "
             f"(README.md, Start), or type: {sys.executable} -m pip install -r requirements.txt")

from board.constant import DEFAULT_KOMI, MAX_BOARD_SIZE, MIN_BOARD_SIZE
from common.command_line import FiniteFloat, FiniteRange, run_command, was_given
from common.exit_status import leave
from common.print_console import print_err
from engine.conflicts import (
    OptionConflict,
    check_player_options,
    check_search_options,
    check_values,
    choose_search,
    is_pruned,
)
from engine.doctor import run_doctor
from engine.levels import FULL_LEVEL
from engine.options import (
    CLASSIFIER_SIZES,
    DEFAULT_MODEL,
    KNOWING_LEAD_WEIGHT,
    KNOWING_TEMPERATURE,
    MAX_C_PUCT,
    MAX_LEAD_WEIGHT,
    MAX_PLAYOUTS,
    MAX_PROOF_NODES,
    MAX_TEMPERATURE,
    MIN_POLICY_TEMPERATURE,
    PLAYOUT_PRUNE,
    PLAYOUT_TACTICS,
    RESIGN_STREAK,
    RESIGN_THRESHOLD,
    WINRATES_AS,
    EngineOptions,
    describe_time_conflict,
    find_file,
    find_model,
)
from gtp.analysis.fields import KATAGO_MAX_KOMI
from gtp.analysis.server import run_analysis
from gtp.client import run_gtp
from gtp.katago_start import StartError, translate_arguments
from gtp.self_check import check_gtp, check_json
from mcts.constant import CONST_VISITS, DEFAULT_LAG, KEEP_ALL, MCTS_TREE_SIZE
from mcts.params import ROLLOUTS
from mcts.searches import DEFAULT_SEARCH, SEARCHES, WITH_NETWORK
from mcts.uct.params import UctParams, read_uct_params
from nn.model_file import CLASSIFIER_FILE, LARGE_BOARD, RANDOM_MODEL
from program import PROGRAM_FOLDER, PROGRAM_NAME, VERSION

MAX_THREADS = 64
# For a person who sees this program for the first time; a GUI's pipe sees nothing of it.
GREETING = """{name} {version} plays Go. Here it speaks GTP: type genmove b, showboard, quit.
To play in the browser, type quit and then: {python} {folder}{sep}web.py
To play in a GUI (GoGui, Sabaki, KaTrain, ...), give it this command: {python} {folder}{sep}main.py
"""
ANIMATION_NOTE = "Note: --animation-pv-wait and --animation-move-wait have no effect"


def check_version(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Refuse a version that would not be one line of text."""
    if value is not None and (not value.strip() or not value.isprintable()):
        raise click.BadParameter("the version must be a line of text")
    return value


def parse_uct(_: click.Context, __: click.Parameter, value: str) -> UctParams:
    """Read the numbers of the search by playouts."""
    try:
        return read_uct_params(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def parse_gpus(_: click.Context, __: click.Parameter, value: str) -> tuple[int, ...]:
    """Read numbers of GPUs."""
    names = [name.strip() for name in value.split(",")] if value.strip() else []
    if not all(name.isascii() and name.isdigit() for name in names) or len({*map(int, names)}) < len(names):
        raise click.BadParameter(f"{value!r} is not a list of different numbers such as 0,1")
    return tuple(map(int, names))


COUNT = click.IntRange(min=1)
MOST_VISITS = 10**9  # of a node before it is expanded
MOST_POSITIONS = 2**14  # of a call; Tree.edge_virtual_loss counts those behind one move in 16 bits
POSITIVE = FiniteRange(0.0, min_open=True)


def find_files(arguments: dict[str, Any]) -> None:
    """Put the paths of files in place of the names that were given; raise OSError with a message for the user."""
    arguments["model"] = find_model(arguments["model"])
    for name, what, advice in (("value_model", "model file", "give its path with --value-model"),
                               ("book", "book", "tools/book.py makes one")):
        if arguments[name]:
            arguments[name] = find_file(arguments[name], what, advice)
    # Unless it is asked for, playouts go on without the classifier where it is missing.
    if is_pruned(arguments) or arguments["classifier"] != CLASSIFIER_FILE:
        arguments["classifier"] = find_file(arguments["classifier"], "classifier", "give its path with --classifier")


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option("--size", type=click.IntRange(MIN_BOARD_SIZE, MAX_BOARD_SIZE),
              help="Board size at the start.  [default: 9, or the smallest that the model plays]")
@click.option("--komi", type=FiniteRange(-KATAGO_MAX_KOMI, KATAGO_MAX_KOMI), default=DEFAULT_KOMI, show_default=True,
              help="Points given to White.")
@click.option("--superko", type=click.BOOL, default=False, show_default=True,
              help="Refuse moves that repeat an earlier position; the engine itself never makes one.")
@click.option("--cgos-mode", type=click.BOOL, default=False, show_default=True,
              help="All stones are alive when the game ends: dead ones are captured first. false: they are taken off.")
@click.option("--model", default=DEFAULT_MODEL, show_default=True,
              help="Model file, looked up in the current directory, then beside the program: one of Hiyoko's, or a "
                   "network of KataGo (.bin.gz or .txt.gz). FILE,FILE,...: the mean of several. none: playouts choose "
                   "the moves. Beside NAME.bin, NAME-9x9.bin plays on 9x9, and so for other sizes; NAME-19x19.bin "
                   f"also plays boards of {LARGE_BOARD}x{LARGE_BOARD} and larger that have none of their own.")
@click.option("--value-model", default="", metavar="FILE",
              help="Model file that tells values in place of --model's, which tells the policy then, as in AlphaGo.")
@click.option("--use-gpu", type=click.BOOL, default=False, show_default=True, help="Run the network on the first GPU.")
@click.option("--gpus", default="", metavar="N,N,...", callback=parse_gpus,
              help="Share the calls of the network among these GPUs, 0 the first, such as 0,1; several models are "
                   "dealt out among them. Implies --use-gpu true.")
@click.option("--threads", type=click.IntRange(1, MAX_THREADS), show_default="cores or OMP_NUM_THREADS; uct: at most 8",
              help="Threads of the search, each on a core of its own: while one is at the tree, the others are in the "
                   "network. With --search uct they share the playouts.")
@click.option("--batch-size", type=click.IntRange(1, MOST_POSITIONS),
              help="Most positions per call of the network.  [default: chosen by the search]")
@click.option("--symmetries", type=click.IntRange(1, 8), default=1, show_default=True,
              help="Average the network over so many symmetries of the board: steadier, and so many times slower.")
@click.option("--search", type=click.Choice(list(SEARCHES)), default=DEFAULT_SEARCH, show_default=True,
              help="puct: with a network, the strongest; gumbel: with a network, as self-play does (sequential "
                   "halving, noise, no playouts); uct: without a network, by playouts.")
@click.option("--sequential-halving", type=click.BOOL, default=False, show_default=True,
              help="The older name of --search gumbel.")
@click.option("--policy-move", type=click.BOOL, default=False, show_default=True,
              help="Play the move that the network likes best, without search; beats --search.")
@click.option("--temperature", type=FiniteRange(0.0, MAX_TEMPERATURE), default=0.0, show_default=True,
              help="Draw the move with weight visits ** (1 / temperature), with --policy-move policy ** (1 / "
                   "temperature): the higher, the more often others than the best one; 0 plays the best one.")
@click.option("--level", type=click.IntRange(1, FULL_LEVEL), default=FULL_LEVEL, show_default=True,
              help="Strength, from a beginner who knows the rules (1) to all that the other options allow (20).")
@click.option("--book", default="", metavar="FILE",
              help="Opening book made by tools/book.py: while the position is in it, its move is played at once.")
@click.option("--seed", type=click.IntRange(min=0),
              help="Seed of random choices (--level, --temperature, --search gumbel).  [default: another every time]")
@click.option("--visits", type=COUNT,
              help="Visits per move, fewer when the move is decided. On a clock the search ends with what comes "
                   f"first.  [default: {CONST_VISITS}; on a clock as many as its time allows]")
@click.option("--strict-visits", type=COUNT, help="Visits per move, also when the move is decided; beats --visits.")
@click.option("--const-time", type=POSITIVE, help="Seconds per move; beats --visits and --strict-visits.")
@click.option("--time", type=POSITIVE, help="Seconds per player and game; beats the three options above.")
@click.option("--lag", type=FiniteRange(0.0), default=DEFAULT_LAG, show_default=True,
              help="Seconds to keep on a clock for what the controller charges beyond the thinking.")
@click.option("--ponder", type=click.BOOL, default=False, show_default=True,
              help="Think on the opponent's time.")
@click.option("--resign-threshold", type=FiniteRange(max=1), default=RESIGN_THRESHOLD, show_default=True,
              help="Resign below this win rate, from 0 to 1; 0 or less: never.")
@click.option("--resign-streak", type=COUNT, default=RESIGN_STREAK, show_default=True,
              help="Own moves in a row below the threshold before resigning.")
@click.option("--min-resign-move", type=click.IntRange(min=0),
              help="Number of the game's move, both sides' counted, before which there is no resigning.  [default: a "
                   "quarter of the board's points; with a handicap half of them]")
@click.option("--c-puct", type=FiniteRange(0.0, MAX_C_PUCT), default=EngineOptions.c_puct, show_default=True,
              help="How far --search puct follows the policy against the win rates it finds; the higher, the wider.")
@click.option("--policy-temperature", type=FiniteRange(MIN_POLICY_TEMPERATURE, MAX_TEMPERATURE),
              show_default=", ".join(f"{kind.policy_temperature} for {name}" for name, kind in WITH_NETWORK.items())
              + f"; {KNOWING_TEMPERATURE} for networks that tell leads",
              help="The search starts from the network's policy ^ (1 / T): above 1 it looks at more moves.")
@click.option("--lead-weight", type=FiniteRange(0.0, MAX_LEAD_WEIGHT),
              show_default=f"{KNOWING_LEAD_WEIGHT}; 0 where the network tells no leads",
              help="Win rate that the greatest lead adds in --search puct; 10 points add half of it, 0: none does.")
@click.option("--lcb", type=click.BOOL, show_default="false; true for networks that tell leads",
              help="Play the move whose win rate is highest at its lower confidence bound, not the most visited one.")
@click.option("--expansion-threshold", type=click.IntRange(1, MOST_VISITS), show_default=True,
              default=EngineOptions.expansion_threshold,
              help="Visits of a position before its moves are looked at, as in AlphaGo; for a search with a network.")
@click.option("--solve", type=click.BOOL, default=EngineOptions.solve, show_default=True,
              help="Prove positions won, drawn or lost to the end of the game, and back that up (--search puct); with "
                   "--tactics and --leaf-tactics N also where all but a small part of the board is settled.")
@click.option("--skip-settled", type=click.BOOL, default=EngineOptions.skip_settled, show_default=True,
              help="Consider no moves into areas that are pass-alive, where nothing can change any more.")
@click.option("--playouts", type=click.IntRange(0, MAX_PLAYOUTS),
              show_default=", ".join(f"{kind.selection.playouts} for {name}" for name, kind in WITH_NETWORK.items())
              + "; 0 for networks that tell leads",
              help="Random games from each new position, which correct the network once the board fills; 0: none.")
@click.option("--playout-share", type=FiniteRange(0.0, 1.0), show_default="more and more as the board fills",
              help="Share of the --playouts in each value, the same from the first move on: AlphaGo's lambda.")
@click.option("--rollout", type=click.Choice(ROLLOUTS), default=EngineOptions.rollout, show_default=True,
              help="How these games choose their moves: by chance, but answering ataris, or by learnt patterns.")
@click.option("--tree-size", type=COUNT, help=f"Nodes of the search tree to begin with.  [default: {MCTS_TREE_SIZE}]")
@click.option("--uct", default="", metavar="NAME=VALUE,...", callback=parse_uct,
              help="Numbers of --search uct that are not to be the usual ones (doc/history.md), such as rave=0,ucb=1.")
@click.option("--prune", type=FiniteRange(0.0, KEEP_ALL), show_default=f"{PLAYOUT_PRUNE} without a network on "
              f"{CLASSIFIER_SIZES[0]}x{CLASSIFIER_SIZES[0]} and larger, else 1", metavar="T",
              help="Leave bad moves out of the tree: those whose badness, from -1 to 1 (L_bad - L_good in "
                   "doc/history.md), is above this, by the network or, without one, by --classifier; 1: all moves "
                   "stay.")
@click.option("--classifier", default=CLASSIFIER_FILE, show_default=True,
              help="File that tells bad moves where no network does, made by train.py --task bad-moves. Beside "
                   f"NAME.npz, NAME-19x19.npz judges boards of {LARGE_BOARD}x{LARGE_BOARD} and larger.")
@click.option("--tactics", type=click.IntRange(0, MAX_PROOF_NODES), metavar="N",
              show_default=f"{PLAYOUT_TACTICS.root} without a network, else 0",
              help="Most positions that a proof-number search looks at, before a search, to find whether a string can "
                   "be captured; a move that captures or saves it gets a least prior; 0: none is looked at.")
@click.option("--leaf-tactics", type=click.IntRange(0, MAX_PROOF_NODES), metavar="N",
              show_default=f"{PLAYOUT_TACTICS.leaf} without a network, else 0",
              help="The same at each new position of the tree.")
@click.option("--tactics-prior", type=FiniteRange(0.0, 1.0, min_open=True), default=EngineOptions.tactics_prior,
              show_default=True, help="Least prior of such a move for a large string; of n stones 1 - 1 / n of it.")
@click.option("--live-gfx", type=click.BOOL, default=False, show_default=True,
              help="Show the search in GoGui while it runs: its best line, and the visits of other moves.")
@click.option("--analysis-json", type=click.BOOL, default=False, show_default=True,
              help="Speak KataGo's analysis protocol, lines of JSON, instead of GTP: for KaTrain.")
@click.option("--winrates-as", type=click.Choice(WINRATES_AS, case_sensitive=False), default=EngineOptions.winrates_as,
              show_default=True, help="With --analysis-json: for whom win rates, leads and ownership are told where a "
                                      "query does not say (KataGo's reportAnalysisWinratesAs).")
@click.option("--doctor", type=click.BOOL, default=False, show_default=True,
              help="Tell whether all is well here, how fast the engine is, and what to type where something is wrong.")
@click.option("--override-version", callback=check_version, help="Answer to the command `version`.")
@click.option("--animation-pv-wait", type=FiniteFloat(), default=-1.0, help="TamaGo's; accepted, without effect.")
@click.option("--animation-move-wait", type=FiniteFloat(), default=-1.0, help="TamaGo's; accepted, without effect.")
def main(analysis_json: bool, doctor: bool, animation_pv_wait: float, animation_move_wait: float, **arguments: Any,
         ) -> int:
    """Play Go through GTP: commands on stdin, answers on stdout, everything else on stderr."""
    arguments["use_gpu"] = arguments["use_gpu"] or bool(arguments["gpus"])
    if doctor:
        return run_doctor(EngineOptions(**arguments), Path(__file__).resolve(), (check_gtp, check_json))
    try:
        arguments["search"] = choose_search(arguments, was_given)
        check_search_options(arguments, was_given)
        check_player_options(arguments, analysis_json, was_given)
        find_files(arguments)
        check_values(EngineOptions(**arguments), was_given)
    except (OptionConflict, OSError) as error:
        raise click.UsageError(str(error)) from None
    options = EngineOptions(**arguments)
    if options.policy_move and options.model == RANDOM_MODEL:
        print_err("--policy-move with --model none: the moves are those of a network of random weights")
    if not analysis_json and (note := describe_time_conflict(options)):  # there both limits hold
        click.echo(note, err=True)
    if not analysis_json and sys.stdin is not None and sys.stdin.isatty():
        click.echo(GREETING.format(name=PROGRAM_NAME, version=VERSION, python=sys.executable, sep=os.sep,
                                   folder=PROGRAM_FOLDER), err=True, nl=False)
    if max(animation_pv_wait, animation_move_wait) >= 0:
        click.echo(ANIMATION_NOTE, err=True)
    return run_analysis(options) if analysis_json else run_gtp(options)


def start() -> int:
    """Run the command line, also one of KataGo's (`main.py gtp -model …`), and return the exit status."""
    try:
        arguments, notes = translate_arguments(sys.argv[1:], {str(param.name) for param in main.params})
    except StartError as error:
        click.echo(f"main.py: {error}", err=True)
        return error.status
    for note in notes:
        click.echo(note, err=True)
    return run_command(main, "main.py", arguments)


def run() -> None:
    """Run the command line and end the process."""
    leave(start())


if __name__ == "__main__":
    run()
