"""Self-play: `python selfplay_main.py` fills archive/{k}/ with games for reinforcement learning."""

import signal

if __name__ == "__main__" and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until run_command: Ctrl-C during the imports is no traceback

import secrets
import sys
from pathlib import Path
from typing import Any

import click

import learning_param
from board.constant import BOARD_SIZE, DEFAULT_KOMI, MAX_BOARD_SIZE, MAX_KOMI, MIN_BOARD_SIZE
from common.command_line import FiniteRange, run_command, was_given
from common.cores import count_usable_cores
from common.exit_status import EXIT_OK, ProgramError, status_of_signal, tell_failures
from common.print_console import print_err, print_out
from engine.options import MAX_TEMPERATURE, MIN_POLICY_TEMPERATURE, RESIGN_THRESHOLD, find_model
from mcts.constant import C_SCALE, MAX_SELF_PLAY_VISITS, PUCT, ROOT_NOISE
from mcts.searches import DEFAULT_TARGET, SEARCHES, SELF_PLAY_SEARCH, SELF_PLAY_SEARCHES, TARGETS
from nn.model_file import RANDOM_MODEL

DEFAULT_MODEL = "model/rl-model.bin"
NO_RESIGN_RATE = 0.1
# Of positions of a call, and of moves.
MOST = 10**6
MOST_GAMES, MOST_MEGABYTES = 10**7, 10**9
VISITS = click.IntRange(2, MAX_SELF_PLAY_VISITS)
TEMPERATURE = FiniteRange(MIN_POLICY_TEMPERATURE, MAX_TEMPERATURE)


@click.command(context_settings={"max_content_width": 110})
@click.option("--save-dir", type=click.Path(file_okay=False, path_type=Path), default="archive", show_default=True,
              help="Folder of the archive; the games of a batch go into a subfolder of it, a number.")
@click.option("--num-data", "games", type=click.IntRange(1, MOST_GAMES), default=learning_param.NUM_SELF_PLAY_GAMES,
              show_default=True, help="Games of the batch.")
@click.option("--size", type=click.IntRange(MIN_BOARD_SIZE, MAX_BOARD_SIZE), default=BOARD_SIZE, show_default=True,
              help="Board size.")
@click.option("--komi", type=FiniteRange(-MAX_KOMI, MAX_KOMI), default=DEFAULT_KOMI, show_default=True,
              help="Points given to White.")
@click.option("--komi-spread", type=FiniteRange(0), default=0.0, show_default=True,
              help="How much komi differs from game to game: the standard deviation, in whole points, for networks "
                   "that see the komi (--head pooled of train.py); 0: all games have --komi.")
@click.option("--superko", type=bool, default=True, show_default=True,
              help="Whether a move that repeats an earlier position is illegal.")
@click.option("--seed", type=click.IntRange(0), default=None, help="Seed of the games.  [default: another every time]")
@click.option("--model", default=DEFAULT_MODEL, show_default=True,
              help="Model file, looked up in the current directory, then beside the program; none: random weights. "
                   "Where the default file is not there yet, random weights, too.")
@click.option("--use-gpu", type=bool, default=True, show_default=True,
              help="Use the first CUDA device if there is one.")
@click.option("--process", "processes", type=click.IntRange(1), default=learning_param.NUM_SELF_PLAY_WORKERS,
              show_default=True, help="Worker processes; on a CPU never more than cores. With --ray: of each GPU.")
@click.option("--batch-size", type=click.IntRange(16, MOST), default=None,
              help="Positions per call of the network.  [default: 128, on a GPU 4096]")
@click.option("--cache-mb", type=click.IntRange(0, MOST_MEGABYTES), default=learning_param.SELF_PLAY_CACHE_MB,
              show_default=True,
              help="Megabytes in which each worker keeps what the network said of a position, also of its mirror "
                   "images; 0: none. Not used on a GPU.")
@click.option("--ray", "ray_address", metavar="ADDRESS", default=None,
              help="Play on a Ray cluster: host:port of its head, auto (the cluster this machine is part of) or local "
                   "(a cluster of this machine alone). One worker for each CPU; if the cluster has GPUs and --use-gpu "
                   "is true, --process workers for each GPU instead.")
@click.option("--search", type=click.Choice(SELF_PLAY_SEARCHES), default=SELF_PLAY_SEARCH, show_default=True,
              help="gumbel: sequential halving with Gumbel noise, for few visits; puct: AlphaZero's, with Dirichlet "
                   "noise.")
@click.option("--visits", type=VISITS, default=learning_param.SELF_PLAY_VISITS, show_default=True,
              help="Visits per move.")
@click.option("--full-share", type=FiniteRange(0, 1, min_open=True), default=1.0, show_default=True,
              help="Share of moves that have all --visits and are learnt from; the others have --fast-visits and only "
                   "bring a game to its end (playout cap randomization, 0.25 in KataGo).")
@click.option("--fast-visits", type=VISITS, default=learning_param.FAST_VISITS, show_default=True,
              help="Visits of the moves that --full-share leaves out, and of those that --soft-resign plays on with.")
@click.option("--policy-temperature", type=TEMPERATURE, default=1.0, show_default=True,
              help="Search and record from the network's policy ^ (1 / T): above 1 keeps it from growing ever sharper "
                   "from generation to generation.")
@click.option("--root-noise", type=FiniteRange(0, 1), default=ROOT_NOISE, show_default=True,
              help="Share of the noise in the priors of the root, for --search puct.")
@click.option("--target", type=click.Choice(TARGETS), default=DEFAULT_TARGET, show_default=True,
              help="What is recorded to learn from. improved: Gumbel AlphaZero's improved policy; visits: the shares "
                   "of the visits; tempered: these at --opening-temperature in the --opening-moves, and after them the "
                   "move alone (AlphaGo Zero).")
@click.option("--target-scale", type=FiniteRange(0, min_open=True), default=C_SCALE, show_default=True,
              help="How sharp the recorded policy is: c_scale of Gumbel AlphaZero in it alone, not in the search "
                   "(doc/rl.md). Few visits teach more with 0.1 to 0.4.")
@click.option("--opening-moves", type=click.IntRange(0, MOST), default=0, show_default=True,
              help="Draw so many moves of each game from the recorded policy instead of playing the best one: games "
                   "that begin in many ways teach more about other players.")
@click.option("--opening-temperature", type=TEMPERATURE, default=1.0, show_default=True,
              help="Temperature of the --opening-moves: above 1 the unlikely moves are drawn more often.")
@click.option("--resign-threshold", type=FiniteRange(0, 1), default=RESIGN_THRESHOLD, show_default=True,
              help="Resign below this win rate; 0: never.")
@click.option("--no-resign-rate", type=FiniteRange(0, 1), default=NO_RESIGN_RATE, show_default=True,
              help="Share of games in which nobody resigns.")
@click.option("--soft-resign", type=bool, default=False, show_default=True,
              help="Play a game on that would be resigned, with --fast-visits and without learning from these moves: "
                   "then all games tell who owns what at the end.")
@click.option("--dry-run", type=bool, default=False, show_default=True,
              help="Say how many positions and hours the games would take on this machine, and write nothing.")
def main(
    save_dir: Path, processes: int, use_gpu: bool, model: str, batch_size: int | None, ray_address: str | None,
    cache_mb: int, dry_run: bool, **options: Any,
) -> int:
    """Play games of the network against itself; the same command goes on with an unfinished batch."""
    check_effects(options)
    from selfplay.archive import BatchSettings, lock_archive, open_batch
    from selfplay.local_pool import LocalPool, divide_cores
    from selfplay.supervisor import Supervisor
    from selfplay.task import WorkerTask
    from selfplay.worker_pool import SelfPlayError

    seed_given = options["seed"] is not None
    if not seed_given:
        options["seed"] = secrets.randbits(63)
    model_path = find_self_play_model(model)
    if dry_run:
        return estimate(BatchSettings(**options), model_path, use_gpu, processes, batch_size)
    with tell_failures(save_dir), lock_archive(save_dir):
        remote_pool = None if ray_address is None else connect(ray_address)
        batch = open_batch(save_dir, BatchSettings(**options), seed_given)
        task = WorkerTask(batch.folder, batch.number, batch.settings, model_path, use_gpu,
                          divide_cores(processes, count_usable_cores())[1], batch_size, cache_mb)
        try:
            pool = (remote_pool(task, processes) if remote_pool
                    else LocalPool(task, processes, len(batch.missing)))
            return play(batch, Supervisor(batch, pool), pool.description, model_path)
        except SelfPlayError:
            batch.discard_if_empty()
            raise


def check_effects(options: dict[str, Any]) -> None:
    """Raise click.UsageError where an option is given that changes no game without another one."""
    resigns, soft = options["resign_threshold"] > 0.0, options["soft_resign"]
    for name, counts, advice in (
        ("opening_temperature", options["opening_moves"] > 0, "is that of the --opening-moves: give --opening-moves N"),
        ("root_noise", SEARCHES[options["search"]].algorithm == PUCT, "is for --search puct: give that, too"),
        ("target_scale", options["target"] == DEFAULT_TARGET, f"is for --target {DEFAULT_TARGET}"),
        ("fast_visits", options["full_share"] < 1.0 or soft, "needs moves that have less than all --visits: give "
                                                             "--full-share P or --soft-resign true"),
        ("no_resign_rate", resigns, "means nothing where nobody resigns: give a --resign-threshold above 0"),
        ("soft_resign", resigns or not soft, "means nothing where nobody resigns: give a --resign-threshold above 0"),
    ):
        if was_given(name) and not counts:
            raise click.UsageError(f"--{name.replace('_', '-')} {advice}")


def estimate(settings: Any, model: str, use_gpu: bool, processes: int, batch_size: int | None) -> int:
    """Say what the games would take, and return the exit status."""
    from selfplay.estimate import estimate_batch

    try:
        for line in estimate_batch(settings, model, use_gpu, processes, batch_size):
            print_out(line)
    except MemoryError:
        raise ProgramError("no memory for --batch-size or --visits: say less") from None
    return EXIT_OK


def find_self_play_model(model: str) -> str:
    """Return the model's path; the default one need not be there. Raises FileNotFoundError."""
    try:
        return find_model(model, "has random weights")
    except FileNotFoundError:
        if model != DEFAULT_MODEL:
            raise
        print_err(f"{DEFAULT_MODEL} is not there yet: playing with random weights.")
        return RANDOM_MODEL


def connect(address: str) -> Any:
    """Connect to a Ray cluster and return the class of its worker pools; raises SelfPlayError."""
    from selfplay import cluster

    cluster.connect(address)
    return cluster.RayPool


def play(batch: Any, supervisor: Any, place: str, model: str) -> int:
    """Play the missing games of a batch, say what becomes of it, and return the exit status."""
    for line in (batch.note, place):
        if line:
            print_err(line)
    print_out(f"Self play visits : {batch.settings.visits}")
    stopped = supervisor.run(f"{batch.folder}: {len(batch.missing)} of {batch.settings.games} games to play, "
                             f"model {model}")
    supervisor.report(supervisor.progress.line())
    supervisor.report(supervisor.progress.summary())
    if stopped:
        print_err(f"stopped by {stopped}: the same command goes on with {batch.folder}")
        return status_of_signal(stopped)
    return EXIT_OK


def start() -> int:
    """Run the command line and return the exit status."""
    return run_command(main, "selfplay_main.py")


if __name__ == "__main__":
    sys.exit(start())
