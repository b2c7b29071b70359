"""Training data from SGF against a replay that is slow and plain."""
from __future__ import annotations

import os
import random
import re
import signal
from pathlib import Path

import numpy as np
import pytest
from sgfmill import sgf

import learning_param
from nn.data.data_file import DataError, hold_data_folder
from nn.data.data_generator import NoTrainingDataError, generate_supervised_learning_data
from nn.data.game_encoder import GameEncoder
from nn.data.game_report import MOST_NAMED
from tests.files import write_files
from tests.nn.samples import write_data
from tests.reference.slow_board import SlowBoard
from tests.tools.in_process import ProgramRunner
from train import main

SIZE = 5
RESULTS = {"B+3": 2, "W+R": 0, "0": 1, "?": -1}
KOMI = 2


def random_game(seed: int, size: int = SIZE) -> str:
    """Return a random legal game with set-up stones, uneven turns, passes, some search comments, some true results."""
    rng = random.Random(seed)
    board = SlowBoard(size)
    letters = "abcdefghijklmnopqrs"
    name = lambda point: letters[point[0] - 1] + letters[point[1] - 1]  # noqa: E731
    text = f"(;GM[1]SZ[{size}]KM[{KOMI}]RE[{rng.choice(list(RESULTS))}]"
    if seed % 3 == 0:
        stones = rng.sample(board.points, 3)
        text += f"AB[{name(stones[0])}][{name(stones[1])}]AW[{name(stones[2])}]"
        board.set_stones(stones[:2], stones[2:])
        if not board.legal_position():
            return random_game(seed + 1000, size)
    color = "b"
    for _ in range(rng.randint(1, 60)):
        moves = [point for point in board.points if board.is_legal(point, color)]
        move = rng.choice(moves) if moves and rng.random() < 0.9 else None
        board.play(move, color)
        text += f";{color.upper()}[{'' if move is None else name(move)}]"
        if rng.random() < 0.5:
            text += f"C[{rng.random():.2f} 0.40 0.00 1.0 v=4]" if rng.random() < 0.2 else "C[0.35 0.55 0.10 -1.0 v=4]"
        if rng.random() < 0.85:
            color = "w" if color == "b" else "b"
    lead = board.area_score() - KOMI + rng.choice([-2, -1, 0, 0, 0, 1, 2])
    if rng.random() < 0.5:
        text = re.sub(r"RE\[[^]]*\]", f"RE[{f'B+{lead}' if lead > 0 else f'W+{-lead}' if lead < 0 else '0'}]", text)
    return text + ")"


def slow_label(result: str) -> int:
    """Return Black's value class of a result of these games."""
    return RESULTS.get(result, 2 if result[0] == "B" else 0)


def set_up(game: sgf.Sgf_game) -> SlowBoard:
    """Return the position before the first move."""
    size = game.get_size()
    black, white, _ = game.get_root().get_setup_stones()
    board = SlowBoard(size)
    board.set_stones(*([(column + 1, size - row) for row, column in points] for points in (black, white)))
    return board


def slow_ownership(text: str) -> np.ndarray:
    """Return who owns each point in the end, seen by the mover of each move, all 0 where the score is another."""
    game = sgf.Sgf_game.from_string(text)
    size, result = game.get_size(), game.get_root().get("RE")
    board = set_up(game)
    moves = [node.get_move() for node in game.get_main_sequence()[1:]]
    for color, point in moves:
        board.play(None if point is None else (point[1] + 1, size - point[0]), color)
    known = result not in ("?", "W+R")
    margin = float(result[1:]) * (1 if result[0] == "B" else -1) if known and result != "0" else 0.0
    known = known and abs(board.area_score() - margin - KOMI) <= 1
    owners = board.owners()
    return np.array([[(owners[x, y] != ".") * (1 if owners[x, y] == color else -1) * known
                      for y in range(1, size + 1) for x in range(1, size + 1)] for color, _ in moves])


def slow_samples(text: str) -> list[tuple[np.ndarray, int, int, float]]:
    """Return planes, policy index, value and win rate of every move, found through sgfmill and the slow board."""
    game = sgf.Sgf_game.from_string(text)
    size, label = game.get_size(), slow_label(game.get_root().get("RE"))
    board = set_up(game)
    samples: list[tuple[np.ndarray, int, int, float]] = []
    previous: object = "none"
    for node in game.get_main_sequence()[1:]:
        color, point = node.get_move()
        move = None if point is None else (point[1] + 1, size - point[0])
        planes = np.zeros((6, size, size), dtype=np.int8)
        for (x, y), stone in board.grid.items():
            planes[0 if stone == "." else 1 if stone == color else 2, y - 1, x - 1] = 1
        if isinstance(previous, tuple):
            planes[3, previous[1] - 1, previous[0] - 1] = 1
        planes[4] = previous is None
        planes[5] = 1 if color == "b" else -1
        index = size * size if move is None else (move[1] - 1) * size + move[0] - 1
        value = label if label < 0 or color == "b" else 2 - label
        samples.append((planes, index, value, slow_win_rate(node, color)))
        board.play(move, color)
        previous = move
    return samples


def slow_win_rate(node: sgf.Tree_node, color: str) -> float:
    """Return the mover's win rate in a comment, NaN for none or one whose chances do not add up."""
    if not node.has_property("C"):
        return float("nan")
    win, loss, none = map(float, node.get("C").split()[:3])
    if abs(win + loss + none - 1) > 0.025:
        return float("nan")
    return (win if color == "w" else loss) + none / 2


def write_games(folder: Path, texts: list[str]) -> None:
    """Write one numbered file per game."""
    write_files(folder, {f"{number:03}.sgf": text for number, text in enumerate(texts)})


def generate(tmp_path: Path, workers: int = 1) -> list[str]:
    """Generate from tmp_path/kifu."""
    return generate_supervised_learning_data(tmp_path, tmp_path / "kifu", SIZE, workers)


def load(path: str) -> dict[str, np.ndarray]:
    """Return the arrays of one file."""
    with np.load(path) as data:
        return {name: data[name] for name in data.files}


def assert_same(data: dict[str, np.ndarray], samples: list[tuple[np.ndarray, int, int, float]]) -> None:
    """Compare a file with the slow samples, dtypes and shapes included."""
    shapes = {name: (array.dtype.name, array.shape) for name, array in data.items()}
    n = len(samples)
    assert shapes == {
        "input": ("int8", (n, 6, SIZE, SIZE)), "policy": ("uint8", (n, SIZE * SIZE + 1)), "value": ("int32", (n,)),
        "win_rate": ("float32", (n,)), "ownership": ("int8", (n, SIZE * SIZE)), "kifu_count": ("int64", ()),
    }
    planes, policy, value, win_rate = zip(*samples, strict=True)
    np.testing.assert_array_equal(data["input"], np.stack(planes))
    np.testing.assert_array_equal(data["policy"], np.eye(SIZE * SIZE + 1)[list(policy)])
    np.testing.assert_array_equal(data["value"], value)
    np.testing.assert_allclose(data["win_rate"], np.array(win_rate, dtype=np.float32), rtol=1e-6)


def test_every_sample_equals_the_slow_replay(tmp_path: Path) -> None:
    texts = [random_game(seed) for seed in range(60)]
    write_games(tmp_path / "kifu", texts)
    paths = generate(tmp_path)
    assert paths == [str(tmp_path / "data" / "sl_data_0.npz")]
    data = load(paths[0])
    assert data["kifu_count"] == len(texts)
    assert set(data["value"]) == {-1, 0, 1, 2} and np.isnan(data["win_rate"]).any()
    assert_same(data, [sample for text in texts for sample in slow_samples(text)])
    known = [bool(slow_ownership(text).any()) for text in texts]
    assert 10 < sum(known) < 40
    np.testing.assert_array_equal(data["ownership"], np.concatenate([slow_ownership(text) for text in texts]))


def test_files_are_filled_in_order_and_stale_ones_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [random_game(seed) for seed in range(30)]
    write_games(tmp_path / "kifu", texts)
    lengths = [len(slow_samples(text)) for text in texts]
    limit = 200
    monkeypatch.setattr(learning_param, "DATA_SET_SIZE", limit)
    (tmp_path / "data").mkdir()
    for name in ("sl_data_0.npz", "sl_data_99.npz", "rl_data_0.npz"):
        (tmp_path / "data" / name).write_text("old")
    paths = generate(tmp_path)
    files = [load(path) for path in paths]
    assert len(files) >= 3
    assert sum(len(data["value"]) for data in files) == sum(lengths)
    game = 0
    for number, data in enumerate(files):
        count = int(data["kifu_count"])
        assert len(data["value"]) == sum(lengths[game:game + count]) <= limit
        if number + 1 < len(files):
            assert len(data["value"]) + lengths[game + count] > limit
        game += count
    assert game == len(texts)
    left = sorted(path.name for path in (tmp_path / "data").glob("[!.]*"))
    assert left == sorted([Path(path).name for path in paths] + ["rl_data_0.npz"])


@pytest.mark.slow
def test_worker_processes_give_the_same_files(tmp_path: Path) -> None:
    write_games(tmp_path / "kifu", [random_game(seed) for seed in range(70)])
    one = load(generate(tmp_path)[0])
    two = load(generate(tmp_path, workers=2)[0])
    assert one.keys() == two.keys()
    assert all(np.array_equal(one[name], two[name], equal_nan=name == "win_rate") for name in one)


def test_bad_games_are_named_and_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head = f"(;GM[1]SZ[{SIZE}]RE[B+1]"
    write_games(tmp_path / "kifu", [
        head + ";B[aa];W[bb])",
        head + ";B[aa];W[aa])",  # occupied
        head + "AB[ba][ab];W[aa])",  # suicide
        head + "AB[ba][ab][bc]AW[ca][bb][cc][db];W[ac];B[cb];W[bb])",  # not a ko: two stones and one are in atari
        head + "AB[ba][ab][bc]AW[ca][cc][db]AW[bb];B[cb];W[bb])",  # ko retaken at once
        head + "AB[aa]AW[ba][ab];B[cc])",  # no liberty
        "(;GM[1]SZ[9];B[aa])",
        "(;GM[1",
        head + ")",
    ])
    data = load(generate(tmp_path)[0])
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = [line for line in captured.err.splitlines() if "(skipped)" in line]
    for number, reason in [(1, "move 2, white A5, is illegal"), (2, "move 1, white A5"), (4, "move 2, white B4"),
                           (5, "without a liberty"), (6, "board size 9"), (7, "cannot read on"), (8, "no moves")]:
        assert [line for line in lines if f"{number:03}.sgf: " in line and reason in line], (number, lines)
    good = int(data["kifu_count"])
    assert good + len(lines) == 9
    assert f"{good} games" in captured.err and "illegal move" in captured.err.splitlines()[-1]


def test_many_games_that_are_odd_alike_are_counted_not_all_named(tmp_path: Path,
                                                                capsys: pytest.CaptureFixture[str]) -> None:
    write_games(tmp_path / "kifu", ["(;GM[1]SZ[9];B[aa])"] * (MOST_NAMED + 30) + [
        "(;GM[1", f"(;GM[1]SZ[{SIZE}]RE[B+3];B[aa])"])
    generate(tmp_path)
    lines = capsys.readouterr().err.splitlines()
    assert sum("board size 9" in line for line in lines) == MOST_NAMED + 1
    assert sum("cannot read on" in line for line in lines) == 1
    assert f"{MOST_NAMED + 30} other board size" in lines[-1] and "1 malformed" in lines[-1]


def test_two_black_moves_in_a_row_and_handicap(tmp_path: Path) -> None:
    texts = [f"(;GM[1]SZ[{SIZE}]RE[B+3];B[aa];B[bb];W[cc])",
             f"(;GM[1]SZ[{SIZE}]RE[W+R]HA[2]AB[bb][dd];W[cc];B[aa])"]
    write_games(tmp_path / "kifu", texts)
    data = load(generate(tmp_path)[0])
    assert list(data["value"]) == [2, 2, 0, 2, 0]
    assert list(data["input"][:, 5, 0, 0]) == [1, 1, -1, -1, 1]
    assert data["input"][3, 2].sum() == 2 and not data["input"][3, 3].any()
    assert_same(data, [sample for text in texts for sample in slow_samples(text)])


def test_nothing_usable_keeps_the_old_data(tmp_path: Path) -> None:
    write_games(tmp_path / "kifu", ["(;GM[1"])
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "sl_data_0.npz").write_text("old")
    with pytest.raises(NoTrainingDataError, match="no usable 5x5 game in 1 SGF file"):
        generate(tmp_path)
    assert [path.name for path in (tmp_path / "data").glob("[!.]*")] == ["sl_data_0.npz"]
    with pytest.raises(OSError):
        generate_supervised_learning_data(tmp_path, tmp_path / "nowhere", SIZE)


def test_what_is_left_out_or_odd_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_games(tmp_path / "kifu" / "sub", [f"(;SZ[{SIZE}];B[aa])"])
    with pytest.raises(NoTrainingDataError, match="in 0 SGF files; sub-folders are not read: name one"):
        generate(tmp_path)
    write_games(tmp_path / "kifu", [f"(;SZ[{SIZE}]KM[375];B[aa])"])
    generate(tmp_path)
    said = capsys.readouterr().err
    assert f"{tmp_path / 'kifu'}: not read: 1 sub-folders (sub)" in said
    assert "KM[375] is no komi" in said and "komi unknown in 1" in said


def test_line_collections_and_another_size(tmp_path: Path) -> None:
    (tmp_path / "kifu").mkdir()
    texts = ["(;SZ[19]RE[W+1];B[pd];W[dp])", "(;SZ[19]RE[B+R];B[ss];W[tt])"]
    (tmp_path / "kifu" / "games.sgfs").write_text("\n".join(texts))
    paths = generate_supervised_learning_data(tmp_path, tmp_path / "kifu", 19, 1, tmp_path / "elsewhere")
    assert paths == [str(tmp_path / "elsewhere" / "sl_data_0.npz")]
    data = load(paths[0])
    assert data["input"].shape == (4, 6, 19, 19)
    assert list(data["policy"].argmax(1)) == [3 * 19 + 15, 15 * 19 + 3, 360, 361]
    assert list(data["value"]) == [0, 2, 2, 0]


def test_sigterm_while_games_are_read_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "games").mkdir()
    for number in range(5):
        (tmp_path / "games" / f"{number}.sgf").write_text(random_game(number))
    data = write_data(tmp_path / "data", [10])
    before = (data / "sl_data_0.npz").read_bytes()
    monkeypatch.setattr(GameEncoder, "check", lambda self, game: os.kill(os.getpid(), signal.SIGTERM))
    result = ProgramRunner().invoke(main, [
        "--kifu-dir", str(tmp_path / "games"), "--data-dir", str(data), "--size", "5",
        "--output", str(tmp_path / "model.bin"), "--workers", "1", "--use-gpu", "false"])
    assert result.exit_code == 128 + signal.SIGTERM and "the same command" in result.stderr
    assert [path.name for path in data.glob("[!.]*")] == ["sl_data_0.npz"] and not list(data.glob(".new_*"))
    assert (data / "sl_data_0.npz").read_bytes() == before


def test_what_a_killed_maker_left_behind_goes_and_a_living_one_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "data" / ".new_sl_data_x").mkdir(parents=True)
    (tmp_path / "data" / ".new_sl_data_x" / "sl_data_0.npz").write_bytes(b"half")
    (tmp_path / "data" / ".new_rl_data_1.npz").write_bytes(b"half")
    with hold_data_folder(tmp_path / "data"):
        assert not list((tmp_path / "data").glob(".new_*"))
        with pytest.raises(DataError, match="another program makes data in .*--data-dir"):
            generate_supervised_learning_data(tmp_path, tmp_path, SIZE, 1)
