"""Training data from game records: SGF files in, npz files out.

Worker processes turn text into moves; this process replays them on the real board and writes the planes. A game
waits as a few hundred bytes of moves until its file is full, so memory does not grow with the data.

Letters: N = samples of a file, S = board size, A = S*S + 1.
"""

import itertools
import multiprocessing
import os
import sys
import time
import zipfile
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from tqdm import tqdm

import learning_param
from board.constant import BOARD_SIZE
from board.geometry import get_geometry
from common.print_console import print_err
from nn.constant import INPUT_PLANES
from nn.replay import Replayer, mover_value
from sgf.collection import Kifu, Piece, Skipped, cut_into_pieces, list_sgf_files, read_pieces
from sgf.grammar import SGFError

# Files (or pieces of large files) that a worker reads at a time, and how many such tasks wait per worker.
PIECES_PER_TASK = 64
TASKS_PER_WORKER = 8
# Planes compress 30:1 at the fastest level already; slower levels gain little.
COMPRESS_LEVEL = 1


class NoTrainingDataError(ValueError):
    """A folder gave not one sample."""


@dataclass
class _Report:
    """What came of the games."""

    games: int = 0
    positions: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    start: float = field(default_factory=time.perf_counter)

    def skip(self, skipped: Skipped) -> None:
        """Count a game that cannot be used and say so in one line."""
        self.skipped[skipped.kind] += 1
        with tqdm.external_write_mode(file=sys.stderr):
            print_err(f"{skipped.name}: {skipped.reason} (skipped)")

    def summary(self) -> str:
        """Return the line for the end of the run."""
        seconds = time.perf_counter() - self.start
        reasons = ", ".join(f"{count} {kind}" for kind, count in sorted(self.skipped.items())) or "none"
        return (f"{self.games} games, {self.positions} positions, skipped: {reasons}; "
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
    folder.mkdir(parents=True, exist_ok=True)
    paths = list_sgf_files(kifu_dir)
    report = _Report()
    with TemporaryDirectory(prefix=".new_sl_data_", dir=folder) as temporary:
        files: list[Path] = []
        games = _read_games(paths, board_size, workers or os.cpu_count() or 1, report)
        for batch in _group_by_samples(games, learning_param.DATA_SET_SIZE):
            files.append(Path(temporary) / f"sl_data_{len(files)}.npz")
            write_data_file(files[-1], batch, board_size)
        if not files:
            raise NoTrainingDataError(f"{kifu_dir}: no usable {board_size}x{board_size} game in {len(paths)} SGF files")
        result = _replace_data(files, folder)
    print_err(report.summary())
    return result


def write_data_file(path: Path, games: list[Kifu], board_size: int) -> None:
    """Write one npz file with all positions of the games, games contiguous and in order.

    input int8 [N, 6, S, S], policy uint8 one-hot [N, A], value int32 [N] (2 win, 1 draw, 0 loss for the mover,
    -1 unknown), win_rate float32 [N] (recorded win rate of the mover, NaN where none), kifu_count.
    """
    samples = sum(len(game.pos) for game in games)
    policy_index = get_geometry(board_size).policy_index
    classes = np.eye(board_size * board_size + 1, dtype=np.uint8)
    replayer = Replayer(board_size)
    arrays: list[tuple[str, tuple[int, ...], type, Callable[[Kifu], np.ndarray]]] = [
        ("input", (samples, INPUT_PLANES, board_size, board_size), np.int8, replayer.encode),
        ("policy", (samples, len(classes)), np.uint8, lambda game: classes[policy_index[game.pos]]),
        ("value", (samples,), np.int32, mover_value),
        ("win_rate", (samples,), np.float32, lambda game: game.win_rate),
    ]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=COMPRESS_LEVEL) as archive:
        for name, shape, dtype, encode in arrays:
            _write_array(archive, name, shape, np.dtype(dtype), map(encode, games))
        _write_array(archive, "kifu_count", (), np.dtype(np.int64), [np.array(len(games), dtype=np.int64)])


def _write_array(
    archive: zipfile.ZipFile, name: str, shape: tuple[int, ...], dtype: np.dtype, blocks: Iterable[np.ndarray]
) -> None:
    """Write one array of an npz file block by block; the blocks' rows together make up `shape`."""
    header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
        np.lib.format.write_array_header_1_0(file, header)
        for block in blocks:
            file.write(np.ascontiguousarray(block, dtype=dtype).tobytes())


def _replace_data(files: list[Path], folder: Path) -> list[str]:
    """Move complete files to their folder, remove the data of earlier runs beyond them, and return the new paths."""
    targets = [folder / path.name for path in files]
    for path, target in zip(files, targets, strict=True):
        os.replace(path, target)
    for stale in set(folder.glob("sl_data_*.npz")) - set(targets):
        stale.unlink()
    return [str(target) for target in targets]


def _group_by_samples(games: Iterable[Kifu], limit: int) -> Iterator[list[Kifu]]:
    """Yield the games in order, in lists of at most `limit` samples (or of one game that is longer)."""
    group: list[Kifu] = []
    samples = 0
    for game in games:
        if group and samples + len(game.pos) > limit:
            yield group
            group, samples = [], 0
        group.append(game)
        samples += len(game.pos)
    if group:
        yield group


def _read_games(paths: list[str], board_size: int, workers: int, report: _Report) -> Iterator[Kifu]:
    """Yield the games that the rules allow, in order; report them and the others."""
    replayer = Replayer(board_size)
    total = sum(os.path.getsize(path) for path in paths)
    with tqdm(total=total, unit="B", unit_scale=True, desc="reading SGF", file=sys.stderr) as bar:
        for pieces, games, skipped in _run_tasks(paths, board_size, workers):
            for one in skipped:
                report.skip(one)
            for game in games:
                try:
                    replayer.check(game)
                except SGFError as error:
                    report.skip(Skipped(game.name, error.kind, str(error)))
                    continue
                report.games += 1
                report.positions += len(game.pos)
                yield game
            bar.update(sum(piece.length for piece in pieces))
            bar.set_postfix(games=report.games, refresh=False)


def _run_tasks(
    paths: list[str], board_size: int, workers: int
) -> Iterator[tuple[list[Piece], list[Kifu], list[Skipped]]]:
    """Yield the pieces of the files with what is in them, in order; read by `workers` processes if more than one."""
    pieces = itertools.chain.from_iterable(map(cut_into_pieces, paths))
    tasks = iter(lambda: list(itertools.islice(pieces, PIECES_PER_TASK)), [])
    if workers == 1 or len(paths) == 1 and not paths[0].endswith(".sgfs"):
        for task in tasks:
            yield task, *read_pieces(task, board_size)
        return
    # spawn: the caller may have threads (torch), which do not survive a fork.
    pool = ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))
    waiting: deque[tuple[list[Piece], Future]] = deque()
    try:
        for task in tasks:
            waiting.append((task, pool.submit(read_pieces, task, board_size)))
            if len(waiting) >= workers * TASKS_PER_WORKER:
                done, future = waiting.popleft()
                yield done, *future.result()
        while waiting:
            done, future = waiting.popleft()
            yield done, *future.result()
    finally:
        pool.shutdown(cancel_futures=True)
