"""Search old games of self-play again with a network that has learnt since, so that they teach what it knows now.

    python tools/reanalyze.py --save-dir archive --num-data 1000 --model model/rl-model.bin

Moves and results stay; policies and win rates are written anew, one file at a time, so it may be stopped at any time.
The games whose policies are oldest come first. The loop does it with `REANALYZE=1000 ./pipeline.sh`.
"""

import secrets
import sys
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tqdm import tqdm

import learning_param
from board.constant import BOARD_SIZE, MAX_BOARD_SIZE, MIN_BOARD_SIZE
from common.command_line import run_command
from common.cores import count_usable_cores
from common.exit_status import ProgramError, status_of_stop, tell_failures
from common.print_console import print_err
from engine.options import find_model
from mcts.constant import MAX_SELF_PLAY_VISITS


@click.command(context_settings={"show_default": True})
@click.option("--save-dir", type=click.Path(exists=True, file_okay=False, path_type=Path), default="archive",
              help="Archive of games, as selfplay_main.py fills it.")
@click.option("--num-data", "games", type=click.IntRange(1), default=1000, help="Games to search again.")
@click.option("--window-size", type=click.IntRange(1), default=learning_param.WINDOW_SIZE,
              help="Newest games of the archive, out of which these are chosen.")
@click.option("--model", default="model/rl-model.bin", help="Model file of the network that searches.")
@click.option("--size", type=click.IntRange(MIN_BOARD_SIZE, MAX_BOARD_SIZE), default=BOARD_SIZE, help="Board size.")
@click.option("--visits", type=click.IntRange(2, MAX_SELF_PLAY_VISITS), default=None,
              show_default="those the game was played with", help="Visits per move.")
@click.option("--use-gpu", type=bool, default=True, help="Use the first CUDA device if there is one.")
@click.option("--seed", type=click.IntRange(0), default=None, show_default="another every time",
              help="Seed of the searches.")
def main(
    save_dir: Path, games: int, window_size: int, model: str, size: int, visits: int | None, use_gpu: bool,
    seed: int | None,
) -> None:
    """Search the games of an archive again whose policies are oldest."""
    from nn.inference.batch_evaluator import load_batch_evaluator
    from selfplay.archive import ArchiveError, lock_archive, read_settings
    from selfplay.reanalysis import choose_oldest, search_again
    from sgf.archive import list_archive

    model = find_model(model, "has random weights")
    with tell_failures(save_dir, "the games written before are intact"), lock_archive(save_dir):
        newest = max(list_archive(save_dir).items(), default=None)
        settings = read_settings(newest[1]) if newest else None
        if settings is not None and settings.size != size:
            raise ArchiveError(f"{save_dir}: its newest games are {settings.size}x{settings.size}, not {size}x{size}: "
                               "give another --save-dir or --size")
        chosen = choose_oldest(save_dir, size, window_size, games)
        if not chosen:
            print_err(f"{save_dir} has no finished {size}x{size} games of self-play before its newest folder")
            return
        evaluator, description = load_batch_evaluator(model, size, use_gpu, count_usable_cores())
        print_err(description)
        seed, done = secrets.randbits(63) if seed is None else seed, 0
        found = search_again(evaluator, chosen, visits, seed)
        try:
            for game, reason in tqdm(found, total=len(chosen), unit="game", desc="searching again", disable=None):
                if reason:
                    print_err(f"{game.folder / str(game.number)}.sgf: {reason} (left as it is)")
                done += not reason
        except KeyboardInterrupt as stop:
            raise ProgramError(f"stopped: {done} games are written, the same command goes on with the others",
                               status_of_stop(stop)) from None
    print_err(f"{done} of {len(chosen)} games searched again")


if __name__ == "__main__":
    sys.exit(run_command(main, "reanalyze.py"))
