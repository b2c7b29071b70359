"""Draw games from a strong network's policy, and keep what it says of every position, so that train.py can learn it.

    python tools/draw_games.py --teacher b6c96.bin.gz --out-dir drawn --num-data 10000
    python train.py --head pooled --kifu-dir drawn --labels drawn --value-blend 0.5

Nobody searches here: a position costs one answer of the teacher, which draws the next move, too. So hardly any position
comes twice, and some of the moves are such as a search looks at and nobody plays. Stopped at any time, the same command
goes on.
"""

import json
import signal
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tqdm import tqdm

from board.constant import BOARD_SIZE, DEFAULT_KOMI, MAX_BOARD_SIZE, MAX_KOMI, MIN_BOARD_SIZE
from board.handicap import MIN_HANDICAP_SIZE, max_fixed_handicap
from common.atomic_file import write_atomically
from common.command_line import FiniteRange, run_command
from common.cores import count_usable_cores
from common.exit_status import tell_failures
from common.interrupt import raise_on_sigterm
from common.lock_file import hold_lock
from common.parallel import map_in_order
from common.print_console import Heedless, print_err
from nn.inference.runtime import find_gpu
from tools.labellib.drawing import SHARD_GAMES, DrawSettings, Shard, draw_shard, load_judge
from tools.labellib.judging import check_tells_lead, find_network, naming_option
from tools.labellib.teacher import KEPT, STOPPED, LabelError

SETTINGS_FILE, LOCK_FILE = "settings.json", ".draw.lock"


def name_network(path: str) -> str:
    """Return the whole path of a model file, empty for none: it may be named from several folders."""
    return path and str(Path(path).resolve())


def hold_folder(folder: Path) -> AbstractContextManager[object]:
    """Be the only one in a block who draws games into a folder, which is made; that raises LabelError and OSError."""
    taken = LabelError(f"another run draws games into {folder}: let it end, or give another --out-dir")
    return hold_lock(folder / LOCK_FILE, taken)


def check_settings(folder: Path, settings: DrawSettings) -> None:
    """Keep the settings with the games, or compare them; raises LabelError for others and OSError."""
    path, own = folder / SETTINGS_FILE, vars(settings)
    if path.exists():
        try:
            old = json.loads(path.read_bytes())
            old |= {name: name_network(old[name]) for name in ("teacher", "student")}
            old.setdefault("handicap", 0.0)  # before 0.27 there were none
            changed = [name for name, value in own.items() if old[name] != value]
        except (KeyError, TypeError, ValueError):
            changed = ["it cannot be read"]
        if changed:
            raise LabelError(f"{folder} holds games that were drawn with other settings ({path}: "
                             f"{', '.join(changed)}): repeat them, or give another --out-dir")
    write_atomically(path, json.dumps(own, indent=1).encode())


def check_handicap(size: int, share: float) -> None:
    """Raise LabelError for handicap games on a board that has no places for the stones."""
    if share and not max_fixed_handicap(size):
        raise LabelError(f"--handicap {share:g}: a board of {size}x{size} has no handicap points; "
                         f"give --size {MIN_HANDICAP_SIZE} or more")


def check_judges(settings: DrawSettings, use_gpu: bool) -> None:
    """Have the networks loaded, and converted, once; raises LabelError where one cannot judge."""
    for option, path in (("--teacher", settings.teacher), ("--model", settings.student)):
        with naming_option(option):
            judge = load_judge(path, settings.size, use_gpu) if path else None
        if judge is not None and option == "--teacher":
            check_tells_lead(judge, path)


def draw(shards: list[Shard], processes: int) -> int:
    """Draw the shards that are not there yet; return how many positions these have."""
    left = [shard for shard in shards if not shard.labels.exists()]
    positions, done = 0, (len(shards) - len(left)) * SHARD_GAMES
    with tqdm(total=len(shards) * SHARD_GAMES, initial=done, unit="game", desc="drawn", file=Heedless()) as bar:
        for _, more in map_in_order(draw_shard, left, min(processes, max(1, len(left)))):
            positions += more
            bar.update(SHARD_GAMES)
    return positions


@click.command(context_settings={"show_default": True})
@click.option("--teacher", required=True, help="Model file of the network that labels: KataGo's, or a pooled one.")
@click.option("--out-dir", type=click.Path(file_okay=False, path_type=Path), required=True,
              help="Folder for games and labels.")
@click.option("--num-data", "games", type=click.IntRange(1), default=10240,
              help=f"Games, rounded up to whole files of {SHARD_GAMES}.")
@click.option("--model", default="", help="Model file of the network that is to learn: it draws the moves of half of "
                                          "all players, so that its own positions come up. Without: the teacher all.")
@click.option("--size", type=click.IntRange(MIN_BOARD_SIZE, MAX_BOARD_SIZE), default=BOARD_SIZE, help="Board size.")
@click.option("--komi", type=FiniteRange(-MAX_KOMI, MAX_KOMI), default=DEFAULT_KOMI,
              help="Usual komi; three games of ten have up to two points less, or one more.")
@click.option("--keep-decided", type=FiniteRange(0, 1), default=0.3,
              help="Share of games that are played on when they are decided.")
@click.option("--handicap", type=FiniteRange(0, 1), default=0.0,
              help="Share of games with handicap stones, two to as many as the board has places for, most with a "
                   "komi of 0.5.")
@click.option("--process", "processes", type=click.IntRange(1), default=None, help="Processes.  [default: one a core]")
@click.option("--seed", type=click.IntRange(0), default=0, help="Seed of the games.")
@click.option("--use-gpu", type=bool, default=True, help="Use the first CUDA device if there is one.")
def main(teacher: str, out_dir: Path, games: int, model: str, processes: int | None, use_gpu: bool,
         **options: Any) -> None:
    """Draw games from a strong network's policy, labelled by it."""
    with tell_failures(out_dir, KEPT, STOPPED):
        student = model and find_network("--model", model)
        check_handicap(options["size"], options["handicap"])
        settings = DrawSettings(name_network(find_network("--teacher", teacher)), name_network(student), **options)
        use_gpu = use_gpu and find_gpu()
        with raise_on_sigterm(), hold_folder(out_dir):
            check_judges(settings, use_gpu)
            check_settings(out_dir, settings)
            shards = [Shard(settings, out_dir, number, use_gpu) for number in range(-(-games // SHARD_GAMES))]
            positions = draw(shards, processes or count_usable_cores())
            print_err(f"{len(shards) * SHARD_GAMES} games in {out_dir}, {positions} positions of them new")


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(run_command(main, "draw_games.py"))
