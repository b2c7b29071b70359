"""Speed from game records to training data, on all cores."""

import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from nn.data.data_generator import generate_supervised_learning_data
from tools.benchlib.measure import BenchSettings, Figure

TAMAGO_GAMES = 21.0
GAMES_TARGET = 1000
TINY_GAME = "(;GM[1]SZ[{size}]RE[B+1];B[aa];W[])"


def convert(kifu_dir: Path, board_size: int) -> tuple[int, int]:
    """Turn a folder of games into npz files that are thrown away; return games and positions."""
    with TemporaryDirectory(prefix="hiyoko-bench-") as folder:
        games, positions = 0, 0
        for path in generate_supervised_learning_data(folder, kifu_dir, board_size):
            with np.load(path) as arrays:
                games += int(arrays["kifu_count"])
                positions += len(arrays["value"])
    return games, positions


def measure_data(settings: BenchSettings) -> Iterator[Figure | str]:
    """Yield games and positions a second, the start of the worker processes included.

    Raises NoTrainingDataError and OSError as generate_supervised_learning_data does.
    """
    assert settings.kifu_dir is not None
    yield f"data: SGF to npz, all cores, each run over all games of {settings.kifu_dir}"
    with TemporaryDirectory(prefix="hiyoko-bench-") as folder:  # compiles what is needed
        (Path(folder) / "tiny.sgf").write_text(TINY_GAME.format(size=settings.board_size), encoding="ascii")
        convert(Path(folder), settings.board_size)
    games_rates, positions_rates = [], []
    for _ in range(settings.runs):
        begin = time.perf_counter()
        games, positions = convert(settings.kifu_dir, settings.board_size)
        seconds = time.perf_counter() - begin
        games_rates.append(games / seconds)
        positions_rates.append(positions / seconds)
    yield Figure("games to training data", "games/s", tuple(games_rates), target=GAMES_TARGET,
                 tamago=(TAMAGO_GAMES, TAMAGO_GAMES))
    yield Figure("positions to training data", "positions/s", tuple(positions_rates))
