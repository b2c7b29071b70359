"""Measure how fast the program is here, beside TamaGo's figures.

    python tools/bench.py all
    python tools/bench.py data --kifu-dir FOLDER

`--help` lists what there is. Figures are medians of several runs, `ratio` is to TamaGo's best. Rates are per second of
the clock, "per CPU s" per second that a figure's only thread was really running, which a busy machine hardly changes.
"""

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

# The parts that measure are imported when they are needed: worker processes import this file once more.
from board.constant import BOARD_SIZE, MAX_BOARD_SIZE, MIN_BOARD_SIZE
from common.command_line import FiniteRange, run_command
from common.exit_status import tell_failures
from engine.options import find_file, find_model
from nn.model_file import CLASSIFIER_FILE, find_specialist
from tools.benchlib.measure import BenchSettings, Figure
from tools.benchlib.options import (
    BOARD_SIZE_OPTION,
    ENGINE_VISITS,
    JSON_OPTION,
    JUDGED_GAMES,
    KIFU_DIR,
    MODEL,
    SEARCH_VISITS,
    SHORT_VISITS,
    TIMED,
    USE_GPU,
    check_writable,
    count_games,
    with_options,
)
from tools.benchlib.report import Report

RANDOM = "has random weights"  # what --model none does

Suite = Callable[[BenchSettings], Iterable[Figure | str]]


def run(suites: Iterable[Suite], json_path: Path | None, **options: Any) -> None:
    """Run the suites and print their figures as they come."""
    report = Report()
    for suite in suites:
        for item in suite(BenchSettings(**options)):
            report.add(item)
    with tell_failures(json_path or ""):
        report.finish(json_path)


def run_with_model(suites: Iterable[Suite], model: str, **options: Any) -> None:
    """Run suites that need the network."""
    if judge := options.get("judge_model"):
        options["judge_model"] = find_model(judge, RANDOM)
    run(suites, model=find_model(model, RANDOM), **options)


def check_changes(context: click.Context, _: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse a setting of the search that there is not."""
    from mcts.uct.params import read_uct_params
    from tools.benchlib.regret_bench import read_change

    try:
        for text in values:
            (read_uct_params if context.params["search"] == "uct" else read_change)(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None
    return values


@click.group()
def main() -> None:
    """Measure how fast the program is here, beside TamaGo's figures."""


@main.command()
@with_options(*TIMED)
def board(**options: Any) -> None:
    """Random games, copies, move lists and moves, on one core."""
    from tools.benchlib.board_bench import measure_board

    run([measure_board], **options)


@main.command()
@with_options(SEARCH_VISITS, *TIMED)
def search(**options: Any) -> None:
    """Visits a second with an evaluator that costs nothing, on one core."""
    from tools.benchlib.search_bench import measure_search

    run([measure_search], **options)


@main.command()
@with_options(ENGINE_VISITS, *TIMED)
def playouts(**options: Any) -> None:
    """Playouts and visits a second of the search without a network, on one core."""
    from tools.benchlib.playout_bench import measure_playouts

    run([measure_playouts], **options)


@main.command()
@with_options(MODEL, USE_GPU, *TIMED)
def network(**options: Any) -> None:
    """Positions a second of the network alone."""
    from tools.benchlib.network_bench import measure_network

    run_with_model([measure_network], **options)


@main.command()
@with_options(MODEL, USE_GPU, ENGINE_VISITS, *TIMED)
def engine(**options: Any) -> None:
    """Visits a second with the network, beside the network alone in the same run."""
    from tools.benchlib.network_bench import measure_engine

    run_with_model([measure_engine], **options)


@main.command()
@with_options(KIFU_DIR, BOARD_SIZE_OPTION, *TIMED)
def data(**options: Any) -> None:
    """Games a second from SGF to training data; a run takes as long as the folder does."""
    from tools.benchlib.data_bench import measure_data

    run([measure_data], **options)


@main.command()
@with_options(KIFU_DIR, USE_GPU, BOARD_SIZE_OPTION, count_games(500, "Games to learn from."), *TIMED)
def training(**options: Any) -> None:
    """Positions a second of training, in turn with a bare loop of forward, backward and step."""
    from tools.benchlib.training_bench import measure_training

    run([measure_training], **options)


@main.command()
@with_options(
    *JUDGED_GAMES,
    count_games(60, "Games to measure on."),
    click.option("--visits", "engine_visits", type=click.IntRange(2), default=200, show_default=True,
                 help="Visits of the searches whose lines are played out."),
)
def ownership(**options: Any) -> None:
    """How well each way to estimate ownership and lead foretells the end of finished games (not its speed alone)."""
    from tools.benchlib.ownership_bench import measure_ownership

    run_with_model([measure_ownership], **options)


@main.command()
@with_options(
    *JUDGED_GAMES, count_games(500, "Games to judge, the last ones of the folder."),
    click.option("--labels", type=click.Path(exists=True), multiple=True,
                 help="File of a teacher's labels of the games, or folder of such files: what the network says is "
                      "compared with them, not with the moves that were played; may be given more than once."),
)
def judgment(**options: Any) -> None:
    """How many moves of games the network finds, and how far off its win rates are (not its speed)."""
    from tools.benchlib.judgment_bench import measure_judgment

    run_with_model([measure_judgment], **options)


@main.command()
@with_options(
    *JUDGED_GAMES,
    count_games(300, "Games to take a position of."),
    click.option("--visits", "engine_visits", type=click.IntRange(2), default=1000, show_default=True,
                 help="Visits of the long search."),
)
def targets(**options: Any) -> None:
    """How good a policy a search of few visits teaches, beside that of a long one (not its speed)."""
    from tools.benchlib.target_bench import measure_targets

    run_with_model([measure_targets], **options)


@main.command()
@with_options(
    *JUDGED_GAMES,
    click.option("--positions", "games", type=click.IntRange(1), default=400, show_default=True,
                 help="Positions to search, several of each game."),
    SHORT_VISITS,
    click.option("--search", type=click.Choice(["puct", "uct"]), default="puct", show_default=True, is_eager=True,
                 help="Whose numbers are tried: of the search with the network, or of that by playouts."),
    click.option("--judge-model", default="", help="Model of the long search.  [default: that of the short ones]"),
    click.option("--judge-visits", "engine_visits", type=click.IntRange(2), default=2500, show_default=True,
                 help="Visits of the long search."),
    click.option("--change", "changes", metavar="NAME=VALUE,...", multiple=True, callback=check_changes,
                 help="A setting to try beside the default, by fields of mcts/params.py, or as main.py --uct takes "
                      "them; may be given more than once.  [default: a table of settings]"),
)
def regret(**options: Any) -> None:
    """What the numbers of the search are worth: win rate that short searches lose against a long one."""
    from tools.benchlib.regret_bench import measure_regret

    run_with_model([measure_regret], **options)


@main.command()
@with_options(
    *JUDGED_GAMES,
    click.option("--positions", "games", type=click.IntRange(1), default=100, show_default=True,
                 help="Positions to search, two of each game."),
    SHORT_VISITS,
)
def batches(**options: Any) -> None:
    """What it costs that several leaves wait for the network at a time: moves that single leaves choose (not speed)."""
    from tools.benchlib.batch_bench import measure_batches

    run_with_model([measure_batches], **options)


@main.command()
@with_options(KIFU_DIR, BOARD_SIZE_OPTION, count_games(60, "Games to take positions of."))
def tactics(**options: Any) -> None:
    """How many strings proof-number search settles, by the positions it may look at, and what came of them."""
    from tools.benchlib.tactics_bench import measure_tactics

    run([measure_tactics], **options)


@main.command()
@with_options(KIFU_DIR, BOARD_SIZE_OPTION, count_games(60, "Games to take the last positions of."))
def endings(**options: Any) -> None:
    """How long before its end a game's winner is proven, by the positions that may be looked at."""
    from tools.benchlib.ending_bench import measure_endings

    run([measure_endings], **options)


@main.command()
@with_options(
    *JUDGED_GAMES,
    click.option("--classifier", default=CLASSIFIER_FILE, show_default=True, help="File of train.py --task bad-moves."),
    click.option("--positions", "games", type=click.IntRange(1), default=3000, show_default=True,
                 help="Positions to judge, of games that training keeps back."),
    *TIMED,
)
def bad_moves(classifier: str, **options: Any) -> None:
    """How many bad moves a classifier, and the network's policy, tell from good ones, and at what cost."""
    from tools.benchlib.bad_moves_bench import measure_bad_moves

    path = find_file(classifier, "classifier", "give its path with --classifier")
    run_with_model([measure_bad_moves], classifier=find_specialist(path, options["board_size"]), **options)


@main.command()
@click.option("--seconds", type=FiniteRange(0.0, min_open=True), default=60.0, show_default=True,
              help="Seconds that the measurement lasts, after a warm-up; as long again for the network alone.")
@JSON_OPTION
@click.option("--visits", "selfplay_visits", type=click.IntRange(2), default=16, show_default=True,
              help="Visits per move.")
@click.option("--process", "processes", type=click.IntRange(1), default=None,
              help="Worker processes.  [default: one per core]")
@click.option("--batch-size", "positions", type=click.IntRange(16), default=None,
              help="Positions per call of the network.  [default: what suits the device]")
@click.option("--size", "board_size", type=click.IntRange(MIN_BOARD_SIZE, MAX_BOARD_SIZE), default=BOARD_SIZE,
              show_default=True, help="Board size.")
@click.option("--model", default="none", show_default=True, help="Model file, or none for a random network.")
@USE_GPU
def selfplay(**options: Any) -> None:
    """Self-play games an hour, in turn with the network alone in the same processes."""
    from tools.benchlib.selfplay_bench import measure_selfplay

    run_with_model([measure_selfplay], **options)


@main.command()
@with_options(
    BOARD_SIZE_OPTION,
    click.option("--visits", "selfplay_visits", type=click.IntRange(2), default=16, show_default=True,
                 help="Visits per move."),
    count_games(2000, "Games to write, to read and to gather."),
    click.option("--ray", "ray_address", metavar="ADDRESS", default=None,
                 help="Ray cluster to gather games from, such as local.  [default: none]"),
    *TIMED,
)
def cluster(**options: Any) -> None:
    """What bounds self-play on many machines: a core without the network, and the place where all games arrive."""
    from tools.benchlib.cluster_bench import measure_cluster

    run([measure_cluster], **options)


@main.command()
@with_options(
    KIFU_DIR,
    click.option("--limit", type=FiniteRange(0.0, min_open=True), default=60.0, show_default=True,
                 help="CPU seconds that one point of a curve may take."),
    click.option("--out", "picture", type=click.Path(dir_okay=False, path_type=Path), default=None,
                 callback=check_writable, help="PNG file to draw the curves to (needs matplotlib)."),
)
def growth(**options: Any) -> None:
    """How cost grows with visits, boards, games at a time, windows and collections (each point once)."""
    from tools.benchlib.growth_bench import measure_growth

    run([measure_growth], **options)


@main.command()
@with_options()
def signature(**options: Any) -> None:
    """One number that a change must keep unless it is meant to change the search."""
    from tools.benchlib.signature import measure_signature

    run([measure_signature], **options)


@main.command(name="all")
@with_options(SEARCH_VISITS, MODEL, USE_GPU, ENGINE_VISITS, *TIMED)
def run_all(**options: Any) -> None:
    """Board, search, network, engine and signature: what needs neither games nor long runs."""
    from tools.benchlib.board_bench import measure_board
    from tools.benchlib.network_bench import measure_engine, measure_network
    from tools.benchlib.search_bench import measure_search
    from tools.benchlib.signature import measure_signature

    run_with_model([measure_board, measure_search, measure_network, measure_engine, measure_signature], **options)


if __name__ == "__main__":
    sys.exit(run_command(main, "bench.py"))
