"""Training data from game records: SGF files in, npz files out.

Worker processes turn text into moves; this process replays them on the real board and writes the planes. A game
waits as a few hundred bytes of moves until its file is full, so memory does not grow with the data.

Letters: N = samples of a file, S = board size, A = S*S + 1, G = games of a file.
"""

import itertools
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from tqdm import tqdm

import learning_param
from board.constant import BOARD_SIZE
from board.geometry import get_geometry
from common.atomic_file import replace_file
from common.cores import count_usable_cores
from common.exit_status import ProgramError
from common.parallel import map_in_order
from common.print_console import Heedless, print_err
from nn.constant import INPUT_PLANES
from nn.data.data_file import (
    UNFINISHED,
    Blocks,
    DataError,
    hold_data_folder,
    write_arrays,
)
from nn.data.game_encoder import GameEncoder
from nn.data.game_file import new_game_arrays, write_game_file
from nn.data.game_report import GameReport
from nn.data.labels import describe_bare, read_all_labels
from nn.data.value_choice import ALL_VALUES, ValueChoice
from sgf.collection import (
    Kifu,
    Piece,
    Skipped,
    cut_into_pieces,
    describe_left_out,
    is_line_collection,
    list_sgf_files,
    read_pieces,
)
from sgf.grammar import OTHER_PLAYER, SGFError

# Files (or pieces of large files) that a worker reads at a time.
PIECES_PER_TASK = 64
# A folder of games, or several; and each with the files of games that it has.
Folders = str | Path | Sequence[str | Path]
Listed = list[tuple[str | Path, list[str]]]


class NoTrainingDataError(ProgramError):
    """Folders gave not one sample."""


def generate_supervised_learning_data(
    program_dir: str | Path, kifu_dir: Folders, board_size: int = BOARD_SIZE, workers: int | None = None,
    data_dir: str | Path | None = None, choice: ValueChoice = ALL_VALUES,
) -> list[str]:
    """Turn the *.sgf and *.sgfs files of `kifu_dir` into data/sl_data_{k}.npz and return the paths.

    Of several folders one is read after the other. Every move of every usable game is one sample, in the order of the
    files; the last, partly filled file is kept whole. A game that cannot be used is named on stderr and counted. The
    old files are replaced only when all new ones are complete. `workers` processes read SGF (None: one per core);
    `choice` says which positions tell the result.
    Raises NoTrainingDataError where no game is usable and OSError where the folders cannot be used.
    """
    folder = Path(program_dir) / "data" if data_dir is None else Path(data_dir)
    report = GameReport()
    result = _make_files(_list_games(kifu_dir), folder, "sl_data", [board_size], workers, report,
                         partial(write_data_file, choice=choice), choice.player)
    print_err(report.summary())
    return result


def _make_files(
    listed: Listed, folder: Path, name: str, sizes: Sequence[int], workers: int | None, report: GameReport,
    write: Callable[[Path, list[Kifu], int], None], player: str,
) -> list[str]:
    """Have the games that are listed written to <folder>/<name>_{k}.npz, all of them or none; return the paths.

    Each file is of one of the `sizes` of boards; if a `player` is named, only his games are used.
    """
    paths, left_out = [path for _, found in listed for path in found], ""
    for kifu_dir, found in listed:
        report.say(line := describe_left_out(kifu_dir, found))
        left_out += line
    with hold_data_folder(folder), TemporaryDirectory(prefix=f"{UNFINISHED}{name}_", dir=folder) as temporary:
        files: list[Path] = []
        games = _read_games(paths, sizes, workers or count_usable_cores(), report, player)
        for batch in _group_by_samples(games, learning_param.DATA_SET_SIZE):
            files.append(Path(temporary) / f"{name}_{len(files)}.npz")
            write(files[-1], batch, batch[0].size)
        if not files:
            hint = "; sub-folders are not read: name one with --kifu-dir" if left_out else ""
            boards = " or ".join(f"{size}x{size}" for size in sizes)
            whose = f" of {player}" if player else ""
            where = ", ".join(str(kifu_dir) for kifu_dir, _ in listed)
            raise NoTrainingDataError(f"{where}: no usable {boards} game{whose} in {len(paths)} SGF files{hint}")
        return _replace_data(files, folder, f"{name}_*.npz")


def _list_games(kifu_dir: Folders) -> Listed:
    """Return each folder with its files of games; raises OSError."""
    folders = [kifu_dir] if isinstance(kifu_dir, str | Path) else kifu_dir
    return [(folder, list_sgf_files(folder)) for folder in folders]


def _check_names(listed: Listed) -> None:
    """Raise DataError for files of one name in several folders: labels would take the one for the other."""
    seen: dict[str, str] = {}
    for path in (path for _, found in listed for path in found):
        name = Path(path).name
        if name in seen:
            raise DataError(f"{seen[name]} and {path} have the same name, by which labels find a game: rename one of "
                            "them, and label it again")
        seen[name] = path


def generate_game_data(
    kifu_dir: Folders, label_paths: Sequence[str | Path], sizes: Sequence[int], workers: int | None, folder: Path,
    choice: ValueChoice = ALL_VALUES,
) -> list[str]:
    """Turn the games of `kifu_dir` and the labels of their positions into <folder>/games_{k}.npz; return the paths.

    Games on boards of all `sizes` are used, each file has those of one size. Games that no file of labels knows teach
    by their moves and results. Everything else as above. Raises DataError for labels that cannot be used, too, and
    where a name of theirs means several games.
    """
    listed = _list_games(kifu_dir)
    if label_paths:
        _check_names(listed)
    teachers, report = read_all_labels(label_paths), GameReport()
    bare: list[str] = []

    def write(path: Path, games: list[Kifu], board_size: int) -> None:
        found = [teachers.of_game(game.name, game.size, len(game.pos)) for game in games]
        bare.extend(game.name for game, labels in zip(games, found, strict=True) if labels is None)
        write_game_file(path, new_game_arrays(games, found, board_size, choice))

    result = _make_files(listed, folder, "games", sizes, workers, report, write, choice.player)
    print_err(f"{report.summary()}; {report.games - len(bare)} of the games have labels")
    if label_paths and bare:
        print_err(describe_bare(bare, "which teach by their moves and results"))
    return result


def write_data_file(path: Path, games: list[Kifu], board_size: int, choice: ValueChoice = ALL_VALUES) -> None:
    """Write one npz file with all positions of the games, games contiguous and in order.

    input int8 [N, 6, S, S], policy uint8 one-hot [N, A], value int32 [N] (2 win, 1 draw, 0 loss for the mover,
    -1 unknown), win_rate float32 [N] (recorded win rate of the mover, NaN where none), ownership int8 [N, S*S] (who
    owns each point in the end, 1 the mover, -1 the opponent, 0 nobody or unknown), kifu_count.
    """
    samples = sum(len(game.pos) for game in games)
    policy_index = get_geometry(board_size).policy_index
    classes = np.eye(board_size * board_size + 1, dtype=np.uint8)
    encoder = GameEncoder(board_size)
    write_arrays(path, {
        "input": Blocks((samples, INPUT_PLANES, board_size, board_size), np.int8, map(encoder.encode, games)),
        "policy": Blocks((samples, len(classes)), np.uint8, (classes[policy_index[game.pos]] for game in games)),
        "value": Blocks((samples,), np.int32, map(choice.values, games)),
        "win_rate": Blocks((samples,), np.float32, (game.win_rate for game in games)),
        "ownership": Blocks((samples, board_size**2), np.int8, map(encoder.ownership, games)),
        "kifu_count": Blocks((), np.int64, [np.array(len(games))]),
    })


def _replace_data(files: list[Path], folder: Path, pattern: str) -> list[str]:
    """Move complete files to their folder, remove the data of earlier runs beyond them, and return the new paths."""
    targets = [folder / path.name for path in files]
    for path, target in zip(files, targets, strict=True):
        replace_file(path, target)
    for stale in set(folder.glob(pattern)) - set(targets):
        stale.unlink()
    return [str(target) for target in targets]


def _group_by_samples(games: Iterable[Kifu], limit: int) -> Iterator[list[Kifu]]:
    """Yield the games in order, in lists of one board size and at most `limit` samples (or of one longer game)."""
    groups: dict[int, list[Kifu]] = {}
    samples: Counter[int] = Counter()
    for game in games:
        size = game.size
        if size in groups and samples[size] + len(game.pos) > limit:
            yield groups.pop(size)
            samples[size] = 0
        groups.setdefault(size, []).append(game)
        samples[size] += len(game.pos)
    yield from groups.values()


def _read_games(paths: list[str], sizes: Sequence[int], workers: int, report: GameReport, player: str,
                ) -> Iterator[Kifu]:
    """Yield the games that the rules allow, in order, of a player if one is named; report them and the others."""
    encoders = {size: GameEncoder(size) for size in sizes}
    total = sum(os.path.getsize(path) for path in paths)
    with tqdm(total=total, unit="B", unit_scale=True, desc="reading SGF", file=Heedless()) as bar:
        for pieces, (games, skipped) in _run_tasks(paths, sizes, workers):
            for one in skipped:
                report.skip(one)
            for game in games:
                if player and player not in (game.black, game.white):
                    report.skip(Skipped(game.name, OTHER_PLAYER, f"{game.black} against {game.white}"))
                    continue
                try:
                    encoders[game.size].check(game)
                except SGFError as error:
                    report.skip(Skipped(game.name, error.kind, str(error)))
                    continue
                report.take(game, len(game.pos))
                yield game
            bar.update(sum(piece.length for piece in pieces))
            bar.set_postfix(games=report.games, refresh=False)


def _run_tasks(
    paths: list[str], sizes: Sequence[int], workers: int
) -> Iterator[tuple[list[Piece], tuple[list[Kifu], list[Skipped]]]]:
    """Yield the pieces of the files with what is in them, in order; read by `workers` processes if more than one."""
    pieces = itertools.chain.from_iterable(map(cut_into_pieces, paths))
    if len(paths) == 1 and not is_line_collection(paths[0]):
        workers = 1
    tasks = iter(lambda: list(itertools.islice(pieces, PIECES_PER_TASK)), [])
    return map_in_order(partial(read_pieces, sizes=sizes), tasks, workers)
