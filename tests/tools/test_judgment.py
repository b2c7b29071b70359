"""How well a network judges games: against the slow way, position by position."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from board.geometry import get_geometry
from board.go_board import GoBoard
from board.stone import Stone
from nn.data.labels import pack_policies, read_all_labels
from nn.feature import generate_input_planes
from nn.inference.loading import load_evaluator
from nn.network.kinds import make_pooled_net
from nn.network.weights import save_network
from sgf.reader import SGFReader
from tests.files import write_files
from tests.tools.in_process import ProgramRunner
from tools.bench import main
from tools.benchlib.judgment_bench import judge, judge_by_teacher, read_last_games, show_games

SIZE = 5
GAMES = {
    "a.sgf": "(;SZ[5]KM[2.5];B[cc]C[0.1 0.9 0.0 -3.0 v=8];W[cd]C[0.3 0.7 0.0 -3.0 v=8];B[dc];W[dd])",
    "b.sgf": "(;SZ[5]KM[0.5];B[cb]C[0.8 0.2 0.0 3.0 v=8];W[bc];B[dc];W[cd];B[])",
    "illegal.sgf": "(;SZ[5];B[cc];W[cc])",
    "wide.sgf": "(;SZ[9];B[cc])",
}


@pytest.fixture
def games(tmp_path: Path) -> Path:
    """A folder of games, two of which can be judged."""
    return write_files(tmp_path / "games", GAMES)


@pytest.fixture
def model(tmp_path: Path) -> str:
    """A random network."""
    torch.manual_seed(4)
    save_network(make_pooled_net({"filters": 8, "blocks": 2}), tmp_path / "x.bin")
    return str(tmp_path / "x.bin")


def test_moves_and_win_rates_are_compared(games: Path, model: str) -> None:
    """Both numbers are those of one position after the other."""
    evaluator = load_evaluator(model, SIZE)
    index, found, errors = get_geometry(SIZE).policy_index, [], []
    for name in ("a.sgf", "b.sgf"):
        game, board = SGFReader(games / name, SIZE), GoBoard(SIZE)
        board.set_komi(game.komi)
        for n, (pos, number) in enumerate(zip(game.moves, game.colors, strict=True)):
            color = Stone(number)
            logits, chances, *_ = evaluator(generate_input_planes(board, color, 0, evaluator.plane_set)[None])
            found.append(int(np.argmax(logits[0])) == index[pos])
            if (rate := game.get_win_rate(n)) is not None:
                errors.append(chances[0, 2] + 0.5 * chances[0, 1] - rate)
            board.put_stone(pos, color)
    assert len(found) == 9 and len(errors) == 3
    samples = show_games(read_last_games(games, 2, SIZE), evaluator)
    share, error = judge(samples, evaluator)
    assert share == pytest.approx(np.mean(found))
    assert error == pytest.approx(np.sqrt(np.mean(np.square(errors))), abs=1e-3)  # recorded in half precision


def write_labels(path: Path) -> None:
    """Write labels of the four positions of a.sgf: each has one move, and a win rate and a lead of its own."""
    policy = np.zeros((4, SIZE**2 + 1), dtype=np.float32)
    policy[np.arange(4), [3, 9, 20, 25]] = 1.0
    count, index, value = pack_policies(policy)
    np.savez(path, names=np.array(["a.sgf"]), offset=np.array([0, 4]), policy_count=count, policy_index=index,
             policy_value=value, win_rate=np.array([0.125, 0.25, 0.5, 1.0], np.float16),
             lead=np.array([-8, -2, 0, 16], np.float16), ownership=np.zeros((4, SIZE**2), np.uint8))


def test_a_teacher_is_compared_with(games: Path, model: str, tmp_path: Path) -> None:
    """Not with the moves played, nor with the win rates recorded beside them."""
    write_labels(tmp_path / "labels.npz")
    evaluator, (game, _) = load_evaluator(model, SIZE), read_last_games(games, 2, SIZE)
    teacher = read_all_labels([tmp_path / "labels.npz"]).of_game(game.name, SIZE, 4)
    assert teacher is not None
    samples = show_games([game], evaluator, [teacher])
    logits, chances, lead, _ = evaluator(next(iter(samples.batches(np.arange(4), np.zeros(4, np.int64))))[0].planes)
    assert lead is not None
    share, rate, points = judge_by_teacher(samples, evaluator)
    assert share == np.mean(np.argmax(logits, axis=1) == [3, 9, 20, 25])
    errors = chances[:, 2] + 0.5 * chances[:, 1] - [0.125, 0.25, 0.5, 1.0]
    assert rate == pytest.approx(np.sqrt(np.mean(np.square(errors))))
    assert points == pytest.approx(np.mean(np.abs(lead - [-8, -2, 0, 16])))


def test_the_command_compares_with_labels(games: Path, model: str, tmp_path: Path) -> None:
    """Games that have none are left out; where none has any it says so in one line."""
    write_labels(tmp_path / "labels.npz")
    options = ["judgment", "--kifu-dir", str(games), "--model", model, "--size", str(SIZE), "--labels",
               str(tmp_path / "labels.npz")]
    done = ProgramRunner().invoke(main, options)
    assert done.exit_code == 0 and "judgment: 4 positions of 1 games with labels" in done.output, done.output
    assert [done.output.count(f"{what} off the teacher's") for what in ("win rate", "lead")] == [2, 2]
    none = ProgramRunner().invoke(main, [*options, "--games", "1"])
    assert none.exit_code == 2 and "none of its last 1 games has labels" in none.output and none.output.count("\n") == 1


def test_the_last_games_are_read_in_order(games: Path) -> None:
    """Those that cannot be played, or are of another size, do not count."""
    assert [Path(game.name).name for game in read_last_games(games, 5, SIZE)] == ["a.sgf", "b.sgf"]
    assert [Path(game.name).name for game in read_last_games(games, 1, SIZE)] == ["b.sgf"]


def test_the_command_prints_both_looks(games: Path, model: str) -> None:
    """Once for one look at each position, once for the mean of eight; a folder without games is one line."""
    options = ["--kifu-dir", str(games), "--model", model, "--size"]
    done = ProgramRunner().invoke(main, ["judgment", *options, str(SIZE)])
    assert done.exit_code == 0 and "judgment: 9 positions of 2 games" in done.output, done.output
    assert done.output.count("first choice, ") == 2 and done.output.count("win rate off") == 2
    none = ProgramRunner().invoke(main, ["judgment", *options, "7"])
    assert none.exit_code == 2 and "no game on 7x7" in none.output and none.output.count("\n") == 1
