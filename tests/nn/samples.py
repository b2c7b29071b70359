"""Small made-up training data for the tests of nn/."""

from pathlib import Path
from typing import Any

import numpy as np


def make_arrays(count: int, board_size: int, seed: int = 0) -> dict[str, Any]:
    """Return the arrays of an npz file: random stones, the answer is the point of the last move's right neighbor."""
    rng = np.random.default_rng(seed)
    points = board_size * board_size
    stones = rng.integers(0, 3, (count, points))
    planes = np.zeros((count, 6, points), dtype=np.int8)
    for plane in range(3):
        planes[:, plane] = stones == plane
    last = rng.integers(0, points, count)
    planes[np.arange(count), 3, last] = 1
    planes[:, 5] = rng.choice([-1, 1], count)[:, None]
    policy = np.zeros((count, points + 1), dtype=np.uint8)
    policy[np.arange(count), (last + 1) % points] = 1
    return {
        "input": planes.reshape(count, 6, board_size, board_size), "policy": policy,
        "value": rng.integers(0, 3, count).astype(np.int32),
        "win_rate": rng.random(count, dtype=np.float32), "kifu_count": np.array(1),
        "ownership": ((stones == 1).astype(np.int8) - (stones == 2)).astype(np.int8),
    }


def write_data(folder: Path, counts: list[int], board_size: int = 5) -> Path:
    """Write data files with the given numbers of samples; returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, count in enumerate(counts):
        np.savez_compressed(folder / f"sl_data_{number}.npz", **make_arrays(count, board_size, number))
    return folder
