"""Training data from game records: SGF files in, npz files out.

Worker processes turn text into moves; this process replays them on the real board and writes the planes. A game
waits as a few hundred bytes of moves until its file is full, so memory does not grow with the data.

Letters: N = samples of a file, S = board size, A = S*S + 1, G = games of a file.
"""

import itertools
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from tqdm import tqdm

import learning_param
from board.constant import BOARD_SIZE
from board.geometry import get_geometry
from common.print_console import print_err
from nn.constant import INPUT_PLANES
from nn.data.data_file import UNFINISHED, Blocks, GameTable, hold_data_folder, read_arrays, read_game_table, write_arrays
from common.parallel import map_in_order
from nn.data.game_file import new_game_arrays, write_game_file
from nn.data.labels import LabelFile, Labels, read_labels
from nn.data.game_encoder import GameEncoder, mover_value
from sgf.archive import SelfPlayGame, list_archive, list_games, read_selfplay_games
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
from sgf.grammar import SGFError

# Files (or pieces of large files) that a worker reads at a time.
PIECES_PER_TASK = 64


class NoTrainingDataError(ValueError):
    """A folder gave not one sample."""


@dataclass
class _Report:
    """What came of the games."""

    games: int = 0
    positions: int = 0
    odd: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    start: float = field(default_factory=time.perf_counter)

    def take(self, game: Kifu, positions: int) -> None:
        """Count a game that is used, and say what is odd about it."""
        self.games += 1
        self.positions += positions
        if game.note:
            self.odd += 1
            self.say(f"{game.name}: {game.note}")

    def skip(self, skipped: Skipped) -> None:
        """Count a game that cannot be used and say so in one line."""
        self.skipped[skipped.kind] += 1
        self.say(f"{skipped.name}: {skipped.reason} (skipped)")

    def say(self, line: str) -> None:
        """Write a line beside the progress bar; nothing for an empty one."""
        if line:
            with tqdm.external_write_mode(file=sys.stderr):
                print_err(line)

    def summary(self) -> str:
        """Return the line for the end of the run."""
        seconds = time.perf_counter() - self.start
        reasons = ", ".join(f"{count} {kind}" for kind, count in sorted(self.skipped.items())) or "none"
        odd = f", komi unknown in {self.odd}" if self.odd else ""
        return (f"{self.games} games, {self.positions} positions{odd}, skipped: {reasons}; "
                f"{seconds:.1f} seconds, {self.games / seconds:.0f} games/s")


def generate_supervised_learning_data(
    program_dir: str | Path, kifu_dir: str | Path, board_size: int = BOARD_SIZE, workers: int | None = None,
    data_dir: str | Path | None = None,
) -> list[str]:
    """Turn the *.sgf and *.sgfs files of `kifu_dir` into data/sl_data_{k}.npz and return the paths.

    Every move of every usable game is one sample, in the order of the files; the last, partly filled file is kept
    whole. A game that cannot be used is named on stderr and counted. The old files are replaced only when all new
    ones are complete. `workers` processes read SGF (None: one per core). Raises NoTrainingDataError where no game
    is usable and OSError where the folders cannot be used.
    """
    folder = Path(program_dir) / "data" if data_dir is None else Path(data_dir)
    report = _Report()
    result = _make_files(kifu_dir, folder, "sl_data", [board_size], workers, report, write_data_file)
    print_err(report.summary())
    return result


def _make_files(
    kifu_dir: str | Path, folder: Path, name: str, sizes: Sequence[int], workers: int | None, report: _Report,
    write: Callable[[Path, list[Kifu], int], None],
) -> list[str]:
    """Have the games of `kifu_dir` written to <folder>/<name>_{k}.npz, all of them or none; return the paths.

    Each file is of one of the `sizes` of boards.
    """
    paths = list_sgf_files(kifu_dir)
    report.say(left_out := describe_left_out(kifu_dir, paths))
    with hold_data_folder(folder), TemporaryDirectory(prefix=f"{UNFINISHED}{name}_", dir=folder) as temporary:
        files: list[Path] = []
        games = _read_games(paths, sizes, workers or os.cpu_count() or 1, report)
        for batch in _group_by_samples(games, learning_param.DATA_SET_SIZE):
            files.append(Path(temporary) / f"{name}_{len(files)}.npz")
            write(files[-1], batch, batch[0].size)
        if not files:
            hint = "; sub-folders are not read: name one with --kifu-dir" if left_out else ""
            boards = " or ".join(f"{size}x{size}" for size in sizes)
            raise NoTrainingDataError(f"{kifu_dir}: no usable {boards} game in {len(paths)} SGF files{hint}")
        return _replace_data(files, folder, f"{name}_*.npz")


def generate_game_data(
    kifu_dir: str | Path, label_paths: Sequence[str | Path], sizes: Sequence[int], workers: int | None, folder: Path,
) -> list[str]:
    """Turn the games of `kifu_dir` and the labels of their positions into <folder>/games_{k}.npz; return the paths.

    Games on boards of all `sizes` are used, each file has those of one size. Games that no file of labels knows teach by
    their results alone. Everything else as above. Raises DataError for labels that cannot be used, too.
    """
    label_files, report, labelled = [read_labels(path) for path in label_paths], _Report(), 0

    def write(path: Path, games: list[Kifu], board_size: int) -> None:
        nonlocal labelled
        found = [_find_labels(label_files, game) for game in games]
        labelled += sum(labels is not None for labels in found)
        write_game_file(path, new_game_arrays(games, found, board_size))

    result = _make_files(kifu_dir, folder, "games", sizes, workers, report, write)
    print_err(f"{report.summary()}; {labelled} of the games have labels")
    return result


def _find_labels(label_files: list[LabelFile], game: Kifu) -> Labels | None:
    """Return the labels of a game from the first file that has them."""
    for one in label_files:
        labels = one.of_game(game.name, len(game.pos)) if one.board_size == game.size else None
        if labels is not None:
            return labels
    return None


def write_data_file(path: Path, games: list[Kifu], board_size: int) -> None:
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
        "value": Blocks((samples,), np.int32, map(mover_value, games)),
        "win_rate": Blocks((samples,), np.float32, (game.win_rate for game in games)),
        "ownership": Blocks((samples, board_size**2), np.int8, map(encoder.ownership, games)),
        "kifu_count": Blocks((), np.int64, [np.array(len(games))]),
    })


def _replace_data(files: list[Path], folder: Path, pattern: str) -> list[str]:
    """Move complete files to their folder, remove the data of earlier runs beyond them, and return the new paths."""
    targets = [folder / path.name for path in files]
    for path, target in zip(files, targets, strict=True):
        os.replace(path, target)
    for stale in set(folder.glob(pattern)) - set(targets):
        stale.unlink()
    return [str(target) for target in targets]


def _group_by_samples(games: Iterable[Kifu], limit: int) -> Iterator[list[Kifu]]:
    """Yield the games in order, in lists of one board size and at most `limit` samples (or of one game that is longer)."""
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


def _read_games(paths: list[str], sizes: Sequence[int], workers: int, report: _Report) -> Iterator[Kifu]:
    """Yield the games that the rules allow, in order; report them and the others."""
    encoders = {size: GameEncoder(size) for size in sizes}
    total = sum(os.path.getsize(path) for path in paths)
    with tqdm(total=total, unit="B", unit_scale=True, desc="reading SGF", file=sys.stderr) as bar:
        for pieces, (games, skipped) in _run_tasks(paths, sizes, workers):
            for one in skipped:
                report.skip(one)
            for game in games:
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


def generate_reinforcement_learning_data(
    program_dir: str | Path, kifu_dir: str | Path, board_size: int = BOARD_SIZE,
    window_size: int = learning_param.WINDOW_SIZE, workers: int | None = None, data_dir: str | Path | None = None,
) -> list[str]:
    """Bring data/rl_data_{k}.npz up to date with the newest `window_size` games of an archive; return the paths.

    There is one file for each folder archive/<k> that reaches into the window, with all positions of its games; only
    games that are new or have changed are read. The files of other folders are removed. Raises NoTrainingDataError
    where no game is usable and OSError where the folders cannot be used.
    """
    folder = Path(program_dir) / "data" if data_dir is None else Path(data_dir)
    archive, report, wanted = list_archive(kifu_dir), _Report(), window_size
    files: list[Path] = []
    with hold_data_folder(folder):
        for number in reversed(archive):
            path = folder / f"rl_data_{number}.npz"
            usable = _update_data_file(path, archive[number], board_size, workers or os.cpu_count() or 1, report)
            wanted -= usable
            if usable or path.exists():
                files.insert(0, path)
            if wanted <= 0:
                break
        if wanted == window_size:
            raise NoTrainingDataError(f"{kifu_dir}: no usable {board_size}x{board_size} game of self-play in its "
                                      f"numbered folders ({len(archive)})")
        for stale in set(folder.glob("rl_data_*.npz")) - set(files):
            stale.unlink()
    print_err(report.summary())
    return [str(path) for path in files]


def _update_data_file(path: Path, folder: Path, board_size: int, workers: int, report: _Report) -> int:
    """Make the file of one folder hold exactly the games that lie there; return how many are usable."""
    paths = list_games(folder)
    stamps = {number: (stat.st_size, stat.st_mtime_ns) for number, stat in ((n, p.stat()) for n, p in paths.items())}
    old = read_game_table(path, board_size)
    known = {} if old is None else old.rows()
    kept = {number: rows for number, (stamp, rows) in known.items() if stamps.get(number) == stamp}
    if old is None or kept.keys() != stamps.keys() or len(kept) < len(known):
        if not paths:
            path.unlink(missing_ok=True)
            return 0
        report.say(describe_left_out(folder, paths.values()))
        new = _read_selfplay({n: str(p) for n, p in paths.items() if n not in kept}, board_size, workers, report)
        old = _write_selfplay(path, board_size, stamps, new, kept, old)
    return old.usable()


def _read_selfplay(
    paths: dict[int, str], board_size: int, workers: int, report: _Report
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
