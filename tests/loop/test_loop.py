"""The whole loop on 5x5 with the real programs: self-play, data, training, matches, Elo."""
from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from nn.inference.steps.cache import find_table
from nn.model_file import read_model_file
from nn.network.dual_net import DualNet
from nn.network.weights import load_network, save_network

pytestmark = pytest.mark.slow

GAMES = 8


def test_a_generation_of_a_model(root: Path, tmp_path: Path) -> None:
    """What each program writes the next one reads; test_pipeline.py sees generations follow one another."""
    if shutil.which("bash") is None:
        pytest.skip("pipeline.sh needs bash")
    model, first = tmp_path / "model", tmp_path / "first.bin"
    save_network(DualNet(torch.device("cpu"), 5, 4, 1), first)
    find_table(read_model_file(first), 5)  # else self-play loads torch to make it; for generation 1 a player does
    environment = {
        **os.environ, "PYTHON": sys.executable, "OMP_NUM_THREADS": "1", "ARCHIVE": str(tmp_path / "archive"),
        "DATA": str(tmp_path / "data"), "MODEL": str(model), "SIZE": "5", "KOMI": "0.5", "GAMES": str(GAMES),
        "VISITS": "4", "PROCESSES": "1", "GENERATIONS": "1", "USE_GPU": "false", "EVALUATE_EVERY": "1",
        "MATCH_GAMES": "2", "MATCH_PARALLEL": "1", "ENGINE_OPTIONS": "--strict-visits 2 --cgos-mode true",
        "GNUGO": "", "FINAL_STATUS": "false", "TRAIN_OPTIONS": "--batch-size 16",
    }
    command = [str(root / "pipeline.sh"), "--start", str(first)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=550)
    assert result.returncode == 0, result.stdout + result.stderr
    assert len(list((tmp_path / "archive" / "1").glob("*.sgf"))) == GAMES
    assert (tmp_path / "data" / "rl_data_1.npz").exists()
    assert load_network(model / "rl-model.bin").shape["filters"] == 4
    assert (model / "rl-model.bin").read_bytes() == (model / "generations" / "1.bin").read_bytes() != first.read_bytes()
    with open(model / "rl-metrics.csv") as file:
        rows = {row["generation"]: row for row in csv.DictReader(file)}
    assert list(rows) == ["0", "1"] and rows["1"]["games"] == str(GAMES) and rows["0"]["elo"] and rows["1"]["elo"]
    again = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100)
    assert again.returncode == 0 and "training" not in again.stderr and "self-play of" not in again.stderr
