"""What benchmarks take: positions of games as they stood, with the stones that they began with, and several models."""

import json
import random
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from board.stone import Stone
from common.kernel import without_compiler
from nn.network.dual_net import DualNet
from nn.network.weights import save_network
from tests.mcts.test_pruning import made_up_classifier
from tests.tools.in_process import ProgramRunner
from tools.bench import main
from tools.benchlib import bad_moves_bench, ownership_bench, training_bench
from tools.benchlib.cluster_bench import measure_play
from tools.benchlib.evaluators import HashEvaluator
from tools.benchlib.measure import BenchSettings, Figure
from tools.benchlib.network_bench import BATCH_SIZES
from tools.benchlib.ownership_bench import STAGES, read_samples
from tools.benchlib.positions import copy_games
from tools.benchlib.target_bench import draw_positions

MOVES = "".join(f";{color}[{x}{y}]" for color, (y, x) in
                zip("WB" * 31, [*product("acegi", "abcdefghijklm")][:62], strict=True))


def test_handicap_stones_stand_on_the_board(tmp_path: Path) -> None:
    path = tmp_path / "handicap.sgf"
    path.write_text(f"(;GM[1]SZ[13]KM[0.5]HA[2]AB[dd][jj]PL[W]{MOVES};W[];B[])")
    [board] = draw_positions(path, 13, random.Random(1), 1)
    stones = [board.coordinate.convert_from_sgf_format(point) for point in ("dd", "jj")]
    assert all(board.board[pos] == Stone.BLACK for pos in stones)
    samples = read_samples(path, 13)
    assert [(sample.stage, sample.board.moves - 1) for sample in samples] == [(stage, stage) for stage in STAGES]
    assert all(sample.board.board[pos] == Stone.BLACK for sample in samples for pos in stones)


def test_games_without_a_move_to_judge(tmp_path: Path) -> None:
    for n in range(20):
        (tmp_path / f"{n:02}.sgf").write_text("(;GM[1]SZ[4];B[];W[])")
    done = ProgramRunner().invoke(main, ["bad-moves", "--kifu-dir", str(tmp_path), "--size", "4", "--model", "none"])
    assert done.exit_code == 2 and done.output.count("\n") == 1 and "no move to judge" in done.output


def test_an_ensemble_is_measured_alone(tmp_path: Path) -> None:
    for name in "ab":
        save_network(DualNet(torch.device("cpu"), 3, 4, 1), tmp_path / name)
    model = f"{tmp_path / 'a'},{tmp_path / 'b'}"
    done = ProgramRunner().invoke(main, ["network", "--model", model, "--seconds", "0.001", "--runs", "1"])
    assert done.exit_code == 0, done.output
    assert f"network, batch {BATCH_SIZES[-1]}" in done.output and "torch, batch" not in done.output


def test_games_of_one_name_are_copied_beside_each_other(tmp_path: Path) -> None:
    """An archive has a 1.sgf in each of its folders: training was told of 500 games and learnt from one folder's."""
    for folder in ("1", "2", "copies"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "1.sgf").write_text(folder)
    (tmp_path / "copies" / "1.sgf").unlink()
    copies = copy_games(tmp_path, 500, tmp_path / "copies")
    assert sorted(path.read_text() for path in copies) == ["1", "2"] and len(set(copies)) == 2


def test_short_games_are_not_all_that_are_looked_at() -> None:
    """Those that end first are short: in three seconds they told of 56 moves a game instead of 77."""
    records = measure_play(BenchSettings(board_size=3, selfplay_visits=2, seconds=1e-9))[1]
    assert len(records) >= 100 and [record.number for record in records] == list(range(1, len(records) + 1))


def test_only_what_one_thread_does_is_told_by_its_processor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made_up_classifier(tmp_path / "net.npz")
    for n in range(20):
        (tmp_path / f"{n:02}.sgf").write_text("(;GM[1]SZ[4];B[bb];W[cb];B[bc])")
    monkeypatch.setattr(bad_moves_bench, "load_evaluator", lambda *_, **__: HashEvaluator(4))
    with without_compiler():
        done = ProgramRunner().invoke(main, [
            "bad-moves", "--kifu-dir", str(tmp_path), "--size", "4", "--model", "none", "--seconds", "0.01",
            "--classifier", str(tmp_path / "net.npz"), "--json", str(tmp_path / "figures.json")])
    assert done.exit_code == 0, done.output
    classifier, network = json.loads((tmp_path / "figures.json").read_text())["figures"]
    assert classifier["per_cpu_second"] > 0.0 and network["per_cpu_second"] is None


def test_what_a_way_compiles_is_no_part_of_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "game.sgf").write_text("(;GM[1]SZ[5];B[bb];W[cb];B[];W[])")
    clock, first_calls = [0.0], {"slow": 9.0, "quick": 5.0}

    def make_way(name: str) -> ownership_bench.Way:
        def way(*_: object) -> np.ndarray:
            clock[0] += first_calls.pop(name, 0.25)
            return np.zeros(25)
        return way

    monkeypatch.setattr(ownership_bench, "STAGES", (1, 2))
    monkeypatch.setattr(ownership_bench, "load_evaluator", lambda *_, **__: HashEvaluator(5))
    monkeypatch.setattr(ownership_bench, "list_ways", lambda *_: {name: make_way(name) for name in first_calls})
    monkeypatch.setattr(ownership_bench, "time", SimpleNamespace(perf_counter=lambda: clock[0]))
    settings = BenchSettings(kifu_dir=tmp_path, board_size=5, games=1, engine_visits=2)
    with without_compiler():
        figures = [item for item in ownership_bench.measure_ownership(settings) if isinstance(item, Figure)]
    assert [(figure.name, figure.value) for figure in figures] == [("slow", 250.0), ("quick", 250.0)]


def test_the_first_batch_is_not_what_training_waits_for(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, waits = [0.0], [9.0]

    def batches(_: int) -> Iterator[tuple[None, range]]:
        clock[0] += waits.pop() if waits else 1.0
        yield None, range(4)

    def learn(*_: object) -> None:
        clock[0] += 3.0

    def make_trainer(*_: object) -> Any:
        return SimpleNamespace(
            network=SimpleNamespace(train=lambda: None), device=SimpleNamespace(type="cpu"), step=learn,
            progress=SimpleNamespace(epoch=0), data=SimpleNamespace(training_batches=batches))

    monkeypatch.setattr(training_bench, "Trainer", make_trainer)
    monkeypatch.setattr(training_bench, "make_bare_step", lambda _: lambda: 4)
    monkeypatch.setattr(training_bench, "time", SimpleNamespace(perf_counter=lambda: clock[0]))
    config: Any = None
    *_, waiting = training_bench.measure_kind("net", config, BenchSettings(seconds=1e-9, runs=2))
    assert waiting.value == 25.0
