"""What benchmarks take: positions of games as they stood, with the stones that they began with, and several models."""

import random
from itertools import product
from pathlib import Path

import torch

from board.stone import Stone
from nn.network.dual_net import DualNet
from nn.network.weights import save_network
from tests.tools.in_process import ProgramRunner
from tools.bench import main
from tools.benchlib.network_bench import BATCH_SIZES
from tools.benchlib.ownership_bench import STAGES, read_samples
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
