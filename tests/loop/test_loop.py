"""The whole loop on 5x5 with the real programs: self-play, data, training, matches, Elo."""
from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nn.network.weights import load_network

pytestmark = pytest.mark.slow

GAMES = 8


def test_two_generations(root: Path, tmp_path: Path) -> None:
    if not (root / "selfplay_main.py").exists():
        pytest.skip("selfplay_main.py is not there")
    if shutil.which("bash") is None:
        pytest.skip("pipeline.sh needs bash")
    model = tmp_path / "model"
    environment = {
        **os.environ, "PYTHON": sys.executable, "OMP_NUM_THREADS": "1", "ARCHIVE": str(tmp_path / "archive"),
        "DATA": str(tmp_path / "data"), "MODEL": str(model), "SIZE": "5", "KOMI": "0.5", "GAMES": str(GAMES),
        "VISITS": "4", "PROCESSES": "1", "GENERATIONS": "2", "USE_GPU": "false", "EVALUATE_EVERY": "2",
        "MATCH_GAMES": "2", "MATCH_PARALLEL": "1", "ENGINE_OPTIONS": "--strict-visits 2 --cgos-mode true",
        "GNUGO": "", "FINAL_STATUS": "false", "TRAIN_OPTIONS": "--filters 4 --blocks 1 --batch-size 16",
    }
    result = subprocess.run([str(root / "pipeline.sh")], env=environment, capture_output=True, text=True, timeout=550)
    assert result.returncode == 0, result.stdout + result.stderr
    for generation in ("1", "2"):
        games = list((tmp_path / "archive" / generation).glob("*.sgf"))
        assert len(games) == GAMES and (tmp_path / "data" / f"rl_data_{generation}.npz").exists()
    assert load_network(model / "rl-model.bin").board_size == 5
    assert (model / "rl-model.bin").read_bytes() == (model / "generations" / "2.bin").read_bytes()
    with open(model / "rl-metrics.csv") as file:
        rows = {row["generation"]: row for row in csv.DictReader(file)}
    assert list(rows) == ["0", "1", "2"] and rows["2"]["games"] == str(2 * GAMES)
    assert rows["0"]["elo"] and rows["2"]["elo"] and not rows["1"]["elo"]
    again = subprocess.run([str(root / "pipeline.sh")], env=environment, capture_output=True, text=True, timeout=100)
    assert again.returncode == 0 and "training" not in again.stderr and "self-play of" not in again.stderr
