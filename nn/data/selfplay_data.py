"""Training data from the archive of self-play: one npz file for each of its folders, brought up to date.

Letters: G = games of a file, A = policy entries.
"""

import itertools
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from tqdm import tqdm

import learning_param
from board.constant import BOARD_SIZE
from common.cores import count_usable_cores
from common.parallel import map_in_order
from common.print_console import print_err
from nn.constant import INPUT_PLANES
from nn.data.data_file import Blocks, GameTable, hold_data_folder, read_arrays, read_game_table, write_arrays
from nn.data.data_generator import PIECES_PER_TASK, NoTrainingDataError
from nn.data.game_encoder import GameEncoder, mover_value
from nn.data.game_file import new_game_arrays, policy_labels, write_game_file
from nn.data.game_report import GameReport
from nn.data.labels import Labels, read_labels, unpack_policies
from sgf.archive import SelfPlayGame, list_archive, list_games, read_selfplay_games
from sgf.collection import Skipped, describe_left_out
from sgf.grammar import SGFError

# What a teacher says of the games of a folder, made by tools/label.py.
LABELS_FILE = "labels.npz"


def generate_reinforcement_learning_data(
    program_dir: str | Path, kifu_dir: str | Path, board_size: int = BOARD_SIZE,
    window_size: int = learning_param.WINDOW_SIZE, workers: int | None = None, data_dir: str | Path | None = None,
    as_games: bool = False,
) -> list[str]:
    """Bring data/rl_data_{k}.npz up to date with the newest `window_size` games of an archive; return the paths.

    There is one file for each folder archive/<k> that reaches into the window, with all positions of its games; only
    games that are new or have changed are read. The files of other folders are removed. With `as_games` they are
    data/rl_games_{k}.npz with moves instead of planes, and a folder that has changed is read anew as a whole. Raises
    NoTrainingDataError where no game is usable and OSError where the folders cannot be used.
    """
    name, update = ("rl_games", _update_game_file) if as_games else ("rl_data", _update_data_file)
    folder = Path(program_dir) / "data" if data_dir is None else Path(data_dir)
    archive, report, wanted = list_archive(kifu_dir), GameReport(), window_size
    files: list[Path] = []
    with hold_data_folder(folder):
        for number in reversed(archive):
            path = folder / f"{name}_{number}.npz"
            usable = update(path, archive[number], board_size, workers or count_usable_cores(), report)
            wanted -= usable
            if usable or path.exists():
                files.insert(0, path)
            if wanted <= 0:
                break
        if wanted == window_size:
            kept = f"; what could not be used is remembered: delete {folder}/{name}_*.npz to have it read again"
            raise NoTrainingDataError(f"{kifu_dir}: no usable {board_size}x{board_size} game of self-play in its "
                                      f"numbered folders ({len(archive)}){kept if files else ''}")
        for stale in set(folder.glob(f"{name}_*.npz")) - set(files):
            stale.unlink()
    print_err(report.summary())
    return [str(path) for path in files]


def _update_game_file(path: Path, folder: Path, board_size: int, workers: int, report: GameReport) -> int:
    """As _update_data_file, for a file of games: their moves, and the policies as labels.

    What a teacher says of the games, in the folder's LABELS_FILE, stands beside their policies. Raises DataError for
    labels that cannot be used.
    """
    paths, judged = list_games(folder), folder / LABELS_FILE
    stamps = _stamps(paths)
    old = read_game_table(path, board_size)
    stamp = _stamp(judged) if judged.exists() else (0, 0)
    if old is not None and {number: own for number, (own, _) in old.rows().items()} == stamps and (
            tuple(old.judged) == stamp):
        return old.usable()
    report.say(describe_left_out(folder, paths.values()))
    games = _read_selfplay({n: str(p) for n, p in paths.items()}, board_size, workers, report)
    if not games:
        path.unlink(missing_ok=True)
        return 0
    teacher = read_labels(judged, board_size) if judged.exists() else None
    found = {number: teacher.of_game(paths[number].name, len(game.kifu.pos)) if teacher else None
             for number, game in games.items()}
    if teacher:
        report.say(f"{judged}: a teacher's judgment of {len(games) - list(found.values()).count(None)} of the "
                   f"{len(games)} games")
    games = {number: _complete(game, found[number]) for number, game in games.items()}
    table = GameTable.of(stamps, games, {}, None, stamp)
    labels: list[Labels | None] = [
        _judge(policy_labels(_spread(game), board_size**2), found[number]) for number, game in games.items()]
    write_game_file(path, new_game_arrays([game.kifu for game in games.values()], labels, board_size),
                    table.blocks(board_size))
    return table.usable()


def _complete(game: SelfPlayGame, teacher: Labels | None) -> SelfPlayGame:
    """Return a game in which positions that were not searched in full have a teacher's policy, if he knows it.

    Win rates of such positions, of a few visits, are left out: one beside a move says that it was searched for.
    """
    if teacher is None:
        return game
    policy = unpack_policies(teacher, teacher.policy_start, np.arange(len(game.kifu.pos)), game.policy.shape[1])
    policy[game.moves] = game.policy
    searched = np.full_like(game.kifu.win_rate, np.nan)
    searched[game.moves] = game.kifu.win_rate[game.moves]
    moves = np.flatnonzero(policy.any(axis=1)).astype(game.moves.dtype)
    return SelfPlayGame(game.kifu._replace(win_rate=searched), moves, policy[moves])


def _judge(policies: Labels, teacher: Labels | None) -> Labels:
    """Return the policies of a game with all else that a teacher says of its positions, if he knows the game."""
    if teacher is None:
        return policies
    return policies._replace(win_rate=teacher.win_rate, lead=teacher.lead, ownership=teacher.ownership)


def _spread(game: SelfPlayGame) -> np.ndarray:
    """Return a policy for every move of a game, float32 [moves, A]; zeros where none is recorded."""
    policy = np.zeros((len(game.kifu.pos), game.policy.shape[1]), dtype=np.float32)
    policy[game.moves] = game.policy
    return policy


def _stamp(path: Path) -> tuple[int, int]:
    """Return what tells whether a file has changed: size in bytes and time of change in nanoseconds."""
    stat = path.stat()
    return stat.st_size, stat.st_mtime_ns


def _stamps(paths: dict[int, Path]) -> dict[int, tuple[int, int]]:
    """Return the stamp of each game."""
    return {number: _stamp(path) for number, path in paths.items()}


def _update_data_file(path: Path, folder: Path, board_size: int, workers: int, report: GameReport) -> int:
    """Make the file of one folder hold exactly the games that lie there; return how many are usable."""
    paths = list_games(folder)
    stamps = _stamps(paths)
    old = read_game_table(path, board_size)
    known = {} if old is None else old.rows()
    kept = {number: rows for number, (stamp, rows) in known.items() if stamps.get(number) == stamp}
    if old is None or kept.keys() != stamps.keys() or len(kept) < len(known):
        if not paths:
            path.unlink(missing_ok=True)
            return 0
        report.say(describe_left_out(folder, paths.values()))
        if (folder / LABELS_FILE).exists():
            report.say(f"{folder / LABELS_FILE} is not read: only networks of --head pooled learn from a teacher")
        new = _read_selfplay({n: str(p) for n, p in paths.items() if n not in kept}, board_size, workers, report)
        old = _write_selfplay(path, board_size, stamps, new, kept, old)
    return old.usable()


def _read_selfplay(
    paths: dict[int, str], board_size: int, workers: int, report: GameReport
) -> dict[int, SelfPlayGame]:
    """Return the usable games by number; report them and the others."""
    numbers, encoder = {path: number for number, path in paths.items()}, GameEncoder(board_size)
    texts = iter(numbers)
    tasks = iter(lambda: list(itertools.islice(texts, PIECES_PER_TASK)), [])
    found: dict[int, SelfPlayGame] = {}
    with tqdm(total=len(paths), unit="game", desc="reading self-play", file=sys.stderr, disable=None) as bar:
        read = partial(read_selfplay_games, board_size=board_size)
        for task, games in map_in_order(read, tasks, workers if len(paths) > PIECES_PER_TASK else 1):
            for path, game in zip(task, games, strict=True):
                try:
                    if isinstance(game, Skipped):
                        raise SGFError(game.kind, game.reason)
                    encoder.check(game.kifu)
                except SGFError as error:
                    report.skip(Skipped(path, error.kind, str(error)))
                    continue
                report.take(game.kifu, len(game.moves))
                found[numbers[path]] = game
            bar.update(len(task))
    return found


def _write_selfplay(
    path: Path, board_size: int, stamps: dict[int, tuple[int, int]], new: dict[int, SelfPlayGame],
    kept: dict[int, slice], old: GameTable | None,
) -> GameTable:
    """Write a folder's games in the order of their numbers, the kept ones from the old file; return their table."""
    arrays = read_arrays(path, ("input", "policy", "value", "win_rate")) if kept else {}
    encoder = GameEncoder(board_size)
    table = GameTable.of(stamps, new, kept, old)
    encoders: dict[str, Callable[[SelfPlayGame], np.ndarray]] = {
        "input": lambda game: encoder.encode(game.kifu)[game.moves],
        "policy": lambda game: game.policy,
        "value": lambda game: mover_value(game.kifu)[game.moves],
        "win_rate": lambda game: game.kifu.win_rate[game.moves],
    }

    def blocks(name: str, shape: tuple[int, ...], dtype: type) -> Blocks:
        usable = [number for number in stamps if number in kept or number in new]
        parts = (arrays[name][kept[n]] if n in kept else encoders[name](new[n]) for n in usable)
        return Blocks((table.total(), *shape), dtype, parts)

    write_arrays(path, {
        "input": blocks("input", (INPUT_PLANES, board_size, board_size), np.int8),
        "policy": blocks("policy", (board_size * board_size + 1,), np.float32),
        "value": blocks("value", (), np.int32),
        "win_rate": blocks("win_rate", (), np.float32),
        "kifu_count": Blocks((), np.int64, [np.array(table.usable())]),
        **table.blocks(board_size),
    })
    return table
