"""Train a network: `python train.py --kifu-dir FOLDER` turns games into data/ and data/ into model/sl-model.bin.

`python train.py --rl true --kifu-dir archive` learns from the games of self-play: model/rl-model.bin. With several
GPUs: `torchrun --nproc-per-node 2 -- train.py ...`.
"""

import signal

if __name__ == "__main__" and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until run_command: Ctrl-C during the imports is no traceback

import importlib.util
import os
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import learning_param
from board.constant import BOARD_SIZE, MAX_BOARD_SIZE, MIN_BOARD_SIZE
from common.command_line import FiniteRange, run_command, was_given
from common.exit_status import status_of_signal, tell_failures
from common.interrupt import raise_on_sigterm
from common.print_console import print_err, print_out
from nn.network.pooled_config import ACTIVATION_NAMES, BLOCK_NAMES, NORMS
from nn.training.network_options import (
    NETWORK_DEFAULTS,
    OPTIMIZERS,
    TAKEN_FROM_START,
    check_data_options,
    check_network_options,
)
from nn.training.objective import BASELINES, IMITATE, NO_BASELINE, OBJECTIVES, REINFORCE, check_objective
from nn.training.run_config import TrainError
from nn.training.schedule import SCHEDULES
from program import PROGRAM_FOLDER

if TYPE_CHECKING:
    from nn.data.sources import Sources

MOST_SEED = 2**64 - 1  # that torch takes
INTACT = "the files written before are intact"
STOPPED = f"stopped: {INTACT}, the same command goes on"  # between the stages, which tell more
NO_WIN_RATES = "Note: of --labels the win rates are left out, results alone teach the value: give --value-blend 0.5"

SL_OUTPUT, RL_OUTPUT = (PROGRAM_FOLDER / "model" / name for name in ("sl-model.bin", "rl-model.bin"))
# Defaults that depend on the way of learning, by the names of nn/training/recipe.py: from games of others, REINFORCE
# from the results of such games, and from self-play.
SL: dict[str, Any] = {
    "value_weight": learning_param.SL_VALUE_WEIGHT, "epochs": learning_param.EPOCHS * learning_param.PASSES_PER_EPOCH,
    "learning_rate": learning_param.SL_LEARNING_RATE, "schedule": "lecture", "test_share": 0.2, "output": SL_OUTPUT,
}
PG = SL | {
    "value_weight": learning_param.RL_VALUE_WEIGHT, "epochs": 1,
    "learning_rate": learning_param.REINFORCE_LEARNING_RATE, "schedule": "constant", "test_share": 0.05,
}
RL = PG | {"learning_rate": learning_param.RL_LEARNING_RATE, "output": RL_OUTPUT}
DEFAULTS = {"sl": SL, "pg": PG, "rl": RL}


def by_network(name: str) -> str:
    """Return the end of an option's help that states the defaults of both networks."""
    lecture, pooled = NETWORK_DEFAULTS[name]
    start = "that of --start, or " if name in TAKEN_FROM_START else ""
    return f"  [default: {start}{lecture}; with --head pooled {pooled}]"


def by_kind(name: str) -> str:
    """Return the end of an option's help that states the defaults; that of REINFORCE where it is like no other."""
    values = [defaults[name] for defaults in DEFAULTS.values()]
    usual, won, rl = (f"{value.parent.name}/{value.name}" if isinstance(value, Path) else value for value in values)
    own = "" if won in (usual, rl) else f"with --objective reinforce {won}; "
    return f"  [default: {usual}; {own}with --rl {rl}]"


@click.command()
@click.option(
    "--task", type=click.Choice(["moves", "bad-moves"]), default="moves", show_default=True,
    help="moves: the network that plays; bad-moves: a classifier that tells main.py --prune which moves need not be "
         "looked at, learnt from the games in --kifu-dir in minutes, with none of the options below but --size, "
         "--labels, --teacher-weight, --filters, --blocks (0: three layers), --start, --epochs, --minutes, "
         "--batch-size, --learning-rate, --seed, --use-gpu, --output, --restart.",
)
@click.option(
    "--kifu-dir", type=click.Path(exists=True, file_okay=False), multiple=True,
    help="Folder of SGF files to make training data from; where they lie in several, give it more than "
         "once. With --rl true the archive of self-play. Without it the data that are there are learnt from.",
)
@click.option(
    "--labels", multiple=True, type=click.Path(exists=True),
    help="File of a teacher's labels of the games in --kifu-dir (tools/label.py makes them), or folder of such files; "
         "may be given more than once. With --head pooled.",
)
@click.option("--rl", type=bool, default=False, show_default=True,
              help="Learn from self-play: one generation, as a step of pipeline.sh.")
@click.option(
    "--archive", type=click.Path(exists=True, file_okay=False),
    help="Archive of self-play to learn from beside --kifu-dir, with --head pooled: its positions that were searched "
         "in full or judged by a teacher, in the newest folders that hold --window-size games; of the smallest "
         "--size.",
)
@click.option("--window-size", type=click.IntRange(1), default=learning_param.WINDOW_SIZE, show_default=True,
              help="Games of self-play to learn from, the newest ones (--rl, --archive).")
@click.option(
    "--data-dir", type=click.Path(file_okay=False), default=None,
    help="Folder of the training data.  [default: data]",
)
@click.option(
    "--size", "board_sizes", type=click.IntRange(MIN_BOARD_SIZE, MAX_BOARD_SIZE), default=(BOARD_SIZE,), multiple=True,
    show_default=True, help="Board size; with --head pooled it may be given more than once.",
)
@click.option(
    "--workers", type=click.IntRange(1), default=None,
    help="Processes that make data.  [default: one per core]",
)
@click.option(
    "--objective", type=click.Choice(OBJECTIVES), default=IMITATE, show_default=True,
    help="imitate: the policy learns the moves of the games; reinforce: it learns to win (REINFORCE: what won becomes "
         "likelier, what lost less likely), from games that this network, --start, has played itself.",
)
@click.option("--baseline", type=click.Choice(BASELINES), default=NO_BASELINE, show_default=True,
              help="What --objective reinforce takes off the result: nothing, or what the value head expected.")
@click.option("--player", default="", help="Learn only from the results of the moves of this player, by the name in "
                                           "the games (PB, PW).")
@click.option("--one-value", type=bool, default=False, show_default=True,
              help="Learn the result from one position of each game, as AlphaGo's value network; the moves from all.")
@click.option(
    "--teacher-weight", type=FiniteRange(0, 1), default=1.0, show_default=True,
    help="Share of the teacher's policy in what the policy learns, where a position of --kifu-dir has a label. The "
         "rest is the move played, where a search's win rate is recorded with it.",
)
@click.option(
    "--label-smoothing", type=FiniteRange(0, 1, max_open=True), default=0.0, show_default=True,
    help="Share of what the policy learns that all moves have alike, such as 0.05.",
)
@click.option("--value-blend", type=FiniteRange(0, 1), default=0.0, show_default=True,
              help="Share of the win rate that a search or a teacher has told (comments of the games, --labels) in "
                   "what the value learns; the rest is the result of the game. 0 learns from results alone.")
@click.option(
    "--value-weight", type=FiniteRange(0),
    help=f"Weight of the value loss beside the policy loss.{by_kind('value_weight')}",
)
@click.option(
    "--ownership-weight", type=FiniteRange(0),
    help=f"Weight of a third loss, on who owns each point in the end; 0 does without. With --rl true only with "
         f"--head pooled.{by_network('ownership_weight')}",
)
@click.option(
    "--lead-weight", type=FiniteRange(0),
    help=f"Weight of a fourth loss, on the lead in points.{by_network('lead_weight')}",
)
@click.option(
    "--start", type=click.Path(exists=True, dir_okay=False), default=None,
    help="Model file whose weights a new run begins with, with more --filters or --blocks in a larger network.  "
         "[default: random weights]",
)
@click.option(
    "--head", type=click.Choice(["lecture", "pooled"]),
    help="lecture: TamaGo's network, for one board size; pooled: for boards of any size, with ownership and lead.  "
         "[default: that of --start, or lecture]",
)
@click.option(
    "--features", type=click.Choice(["basic", "rich", "history"]),
    help="What the network sees. basic: the stones and the last move; rich: liberties, ladders, area, komi and five "
         f"moves, too; history: as AlphaZero's, the last eight boards.{by_network('features')}",
)
@click.option(
    "--filters", type=click.IntRange(1), default=None,
    help="Channels of the network.  [default: those of the model that the run begins from, or 64]",
)
@click.option(
    "--blocks", type=click.IntRange(0), default=None,
    help="Blocks of the network.  [default: those of the model that the run begins from, or 6]",
)
@click.option(
    "--block", type=click.Choice(BLOCK_NAMES),
    help="res: residual blocks, se: with squeeze and excitation, gpool: with global pooling, bottleneck: narrower "
         f"inside.{by_network('block')}",
)
@click.option(
    "--activation", type=click.Choice(ACTIVATION_NAMES),
    help="Function behind each convolution; swish is SiLU.  [default: that of --start, or relu]",
)
@click.option(
    "--norm", type=click.Choice(NORMS),
    help="batch: batch normalization keeps the numbers of a layer in their range; none: nothing does.  [default: that "
         "of --start, or batch]",
)
@click.option(
    "--epochs", type=click.IntRange(1),
    help=f"Passes over the data, 8 to each of TamaGo's epochs; with --rl over the window, for each generation."
         f"{by_kind('epochs')}",
)
@click.option(
    "--minutes", type=FiniteRange(0, min_open=True), default=None,
    help="Wall-clock budget of the run, all its parts together; not with --rl.",
)
@click.option(
    "--batch-size", type=click.IntRange(1), default=learning_param.BATCH_SIZE, show_default=True,
    help="Positions per step.",
)
@click.option("--batch-growth", type=FiniteRange(1), default=1.0, show_default=True,
              help="Positions per step at the end of the run, as a multiple of those at its beginning.")
@click.option(
    "--optimizer", type=click.Choice(OPTIMIZERS), default="sgd", show_default=True,
    help="sgd: with Nesterov momentum; adamw; nadam; sam: SGD that is sharpness-aware (two gradients a step); muon: "
         "learns the same from fewer positions.",
)
@click.option(
    "--learning-rate", type=FiniteRange(0, min_open=True),
    help=f"Highest learning rate.{by_kind('learning_rate')}",
)
@click.option(
    "--schedule", type=click.Choice(list(SCHEDULES)),
    help="How the learning rate goes on over the whole run. lecture: TamaGo's fixed steps down; cosine: to 0, after a "
         f"rise of 200 steps; constant: always the same.{by_kind('schedule')}",
)
@click.option("--warm-up", type=click.IntRange(0), default=0, show_default=True,
              help="Steps in which the learning rate rises to that of the schedule; cosine rises for 200 steps by "
                   "itself, and the two are multiplied.")
@click.option(
    "--clip", type=FiniteRange(0), default=0.0, show_default=True,
    help="Longest gradient, of all weights together, such as 1; 0: gradients stay as they are.",
)
@click.option(
    "--ema", type=FiniteRange(0, 1, max_open=True), default=0.0, show_default=True,
    help="Keep an average of the weights as the model: its decay for each step, such as 0.999; 0: no average.",
)
@click.option(
    "--test-share", type=FiniteRange(0, 1, max_open=True),
    help=f"Share of the data kept for testing.{by_kind('test_share')}",
)
@click.option(
    "--seed", type=click.IntRange(0, MOST_SEED), default=0, show_default=True,
    help="Seed of the first weights and of the order of the data.",
)
@click.option(
    "--use-gpu", type=bool, default=True, show_default=True,
    help="Use CUDA if it is there: the first device, or under torchrun one for each process.",
)
@click.option(
    "--output", type=click.Path(dir_okay=False), default=None,
    help=f"Model file; checkpoint and metrics (curves) go beside it.{by_kind('output')}",
)
@click.option(
    "--keep-every", type=click.IntRange(0), default=0, show_default=True,
    help="Keep the model of every N-th step, NAME-STEP.bin beside the output, and the newest, NAME-last.bin; 0: no.",
)
@click.option("--restart", type=bool, default=False, show_default=True,
              help="Start anew instead of going on with an earlier run.")
@click.option("--dry-run", type=bool, default=False, show_default=True,
              help="Say how many positions, steps and hours the run would take, and write nothing (games of --kifu-dir "
                   "are read into a temporary folder).")
@click.option("--tensorboard", type=click.Path(file_okay=False), default=None, help="Folder for TensorBoard's events.")
def main(**options: Any) -> None:
    """Train a network from game records or from self-play; the same command goes on with an interrupted run."""
    task, kifu_dirs = options.pop("task"), options.pop("kifu_dir")
    kifu_dir = kifu_dirs[-1] if kifu_dirs else None  # where there can be but one, of self-play: the last holds
    if task == "bad-moves":
        if len(kifu_dirs) > 1:
            raise TrainError("--task bad-moves learns from one folder: give one --kifu-dir")
        return learn_bad_moves({**options, "kifu_dir": kifu_dir})
    rl, archive, workers, labels, dry_run = map(options.pop, ("rl", "archive", "workers", "labels", "dry_run"))
    options["self_play"] = archive is not None
    if kifu_dir is not None:
        from nn.data.labels import list_label_files
        options["labels"] = tuple((path.name, path.stat().st_size) for path in list_label_files(labels))
    take_shape_of_start(options)
    pooled = options["head"] != "lecture"
    options["board_sizes"] = tuple(sorted(set(options["board_sizes"])))
    for name, values in NETWORK_DEFAULTS.items():
        if options[name] is None:
            options[name] = values[pooled]
    check_network_options(options, rl, labels, kifu_dir)
    check_objective(options, rl, labels, kifu_dir, was_given)
    check_data_options(options, rl, labels, kifu_dir, was_given)
    way = "rl" if rl else "pg" if options["objective"] == REINFORCE else "sl"
    if rl and options["minutes"] is not None:
        raise TrainError("--minutes is for supervised learning: a generation of --rl true lasts --epochs passes")
    for name, usual in DEFAULTS[way].items():
        if options[name] is None and (name != "epochs" or options["minutes"] is None):
            options[name] = usual
    options["data_dir"] = Path(options["data_dir"] or PROGRAM_FOLDER / "data")
    options["output"] = Path(options["output"])
    options["start"], options["tensorboard"] = options["start"] or "", options["tensorboard"] or ""

    from nn.data.sources import Sources
    from nn.data.value_choice import ValueChoice
    from nn.training.learn import TrainConfig, estimate, train
    from nn.training.process_group import ProcessGroup
    from nn.training.recipe import RECIPES

    if options["tensorboard"] and importlib.util.find_spec("tensorboard") is None:
        raise TrainError("--tensorboard needs a package that is not installed: pip install tensorboard")
    with tell_failures(options["output"].parent, INTACT, STOPPED), ProcessGroup(options["use_gpu"]) as group:
        if labels and not was_given("value_blend") and group.is_first:
            print_err(NO_WIN_RATES)
        read_games = kifu_dir and partial(make_data, Sources(
            kifu_dir if rl else kifu_dirs, rl, pooled, options["board_sizes"], labels, archive, options["window_size"],
            ValueChoice(options["player"], options["one_value"]), workers))
        stopped = (estimate if dry_run else train)(TrainConfig(**options), RECIPES[way], group, read_games)
    if stopped:
        sys.exit(status_of_signal(stopped))


def learn_bad_moves(options: dict[str, Any]) -> None:
    """Learn the classifier of bad moves."""
    from nn.training.bad_moves import BadMoveConfig, learn_from_games

    config = BadMoveConfig.of(options, set(filter(was_given, options)), PROGRAM_FOLDER)
    with tell_failures(config.output, INTACT, STOPPED):
        stopped = learn_from_games(config, options["restart"], print_out)
    if stopped:
        sys.exit(status_of_signal(stopped))


def take_shape_of_start(options: dict[str, Any]) -> None:
    """Fill in what is not said about the network from the model file that the run begins with."""
    shape: dict[str, Any] = {}
    if options["start"]:
        from nn.model_file import ModelFileError
        from nn.network.weights import load_network
        with suppress(ModelFileError):  # which the run itself will tell
            shape = load_network(options["start"]).shape
    options["head"] = options["head"] or shape.get("head", "lecture")
    for name in TAKEN_FROM_START:
        options[name] = options[name] or shape.get(name)


def make_data(sources: "Sources", folder: Path) -> None:
    """Turn games into npz files; raises ProgramError where it cannot, and where it is told to stop."""
    with tell_failures(folder, INTACT, "stopped while games were read: the data of before are intact, the same command "
                                       "reads the games anew"), raise_on_sigterm():
        sources.make_data(folder)


def start() -> int:
    """Run the command line and return the exit status; under torchrun the first process speaks for all."""
    return run_command(main, "train.py", speaks=os.environ.get("RANK", "0") == "0")


if __name__ == "__main__":
    sys.exit(start())
