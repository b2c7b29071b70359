"""How well a network judges games: against the slow way, position by position."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from board.geometry import get_geometry
from board.go_board import GoBoard
from board.stone import Stone
from nn.feature import generate_input_planes
from nn.inference.loading import load_evaluator
from nn.network.kinds import make_pooled_net
from nn.network.weights import save_network
from sgf.reader import SGFReader
from tests.files import write_files
from tests.tools.in_process import ProgramRunner
from tools.bench import main
from tools.benchlib.judgment_bench import judge, read_last_games, show_games

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
