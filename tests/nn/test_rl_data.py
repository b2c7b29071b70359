"""Data files of self-play: right, and made again only where something changed."""
from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import nn.data.selfplay_data
from board.coordinate import Coordinate
from board.geometry import get_geometry
from nn.data.data_generator import NoTrainingDataError
from nn.data.selfplay_data import generate_reinforcement_learning_data
from nn.data.sources import Sources
from nn.data.value_choice import ALL_VALUES
from sgf.reader import SGFReader
from sgf.selfplay_record import decode_policy_comment
from tests.files import write_files
from tests.nn.selfplay_games import SIZE, write_games
from tests.nn.test_data_generator import load, slow_samples


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Two folders of five games."""
    for number in (1, 2):
        write_games(tmp_path / "archive" / str(number), range(1, 6))
    return tmp_path / "archive"


@pytest.fixture
def read_paths(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The games that were read, as folder/name."""
    names: list[str] = []
    original = nn.data.selfplay_data.read_selfplay_games

    def note(paths, board_size):
        names.extend("/".join(Path(path).parts[-2:]) for path in paths)
        return original(paths, board_size)

    monkeypatch.setattr(nn.data.selfplay_data, "read_selfplay_games", note)
    return names


def generate(archive: Path, window: int = 100, size: int = SIZE) -> list[str]:
    return [Path(path).name for path in
            generate_reinforcement_learning_data(archive.parent, archive, size, window, workers=1)]


def assert_right(path: str | Path, folder: Path, numbers: list[int]) -> None:
    """Compare a file with the slow replay of its games."""
    data, row = load(str(path)), 0
    assert list(data["game_number"]) == numbers and data["kifu_count"] == np.count_nonzero(data["game_samples"])
    for game, number in enumerate(numbers):
        text = (folder / f"{number}.sgf").read_text()
        if not data["game_samples"][game]:
            continue
        reader, coordinate = SGFReader(text, SIZE, literal=True), Coordinate(SIZE)
        plain = re.sub(r"C\[[^]]*\]", "", text).replace("RE[B+3.0]", "RE[B+3]").replace("RE[W+3.0]", "RE[W+R]")
        samples = slow_samples(plain)
        assert data["game_moves"][game] == len(samples)
        for ply, (planes, _, value, _) in enumerate(samples):
            if not reader.get_comment(ply):
                continue
            policy = np.zeros(SIZE * SIZE + 1)
            for pos, share in decode_policy_comment(reader.get_comment(ply), coordinate).items():
                policy[get_geometry(SIZE).policy_index[pos]] = share
            np.testing.assert_array_equal(data["input"][row], planes)
            np.testing.assert_allclose(data["policy"][row], policy / policy.sum(), rtol=1e-5)
            assert data["value"][row] == value
            rate = reader.get_win_rate(ply)
            assert np.isnan(data["win_rate"][row]) if rate is None else data["win_rate"][row] == np.float32(rate)
            row += 1
    assert row == len(data["value"]) and row > 0


def test_every_position_equals_the_slow_replay(archive: Path) -> None:
    assert generate(archive) == ["rl_data_1.npz", "rl_data_2.npz"]
    for number in (1, 2):
        path = archive.parent / "data" / f"rl_data_{number}.npz"
        assert_right(path, archive / str(number), [1, 2, 3, 4, 5])
        types = {name: array.dtype.name for name, array in load(str(path)).items() if not name.startswith("game")}
        assert types == {"input": "int8", "policy": "float32", "value": "int32", "win_rate": "float32",
                         "kifu_count": "int64", "board_size": "int32"}


def test_only_new_and_changed_games_are_read(archive: Path, read_paths: list[str]) -> None:
    generate(archive)
    assert len(read_paths) == 10
    read_paths.clear()
    generate(archive)
    assert read_paths == []
    write_games(archive / "2", [6, 7])
    path = archive / "2" / "3.sgf"
    path.write_text(re.sub(r"RE\[[^]]*\]", "RE[W+3.0]", path.read_text()))
    (archive / "1" / "2.sgf").unlink()
    write_games(archive / "3", [1])
    assert generate(archive) == ["rl_data_1.npz", "rl_data_2.npz", "rl_data_3.npz"]
    assert sorted(read_paths) == ["2/3.sgf", "2/6.sgf", "2/7.sgf", "3/1.sgf"]
    data = archive.parent / "data"
    assert_right(data / "rl_data_1.npz", archive / "1", [1, 3, 4, 5])
    assert_right(data / "rl_data_2.npz", archive / "2", [1, 2, 3, 4, 5, 6, 7])
    assert_right(data / "rl_data_3.npz", archive / "3", [1])


def test_a_touched_game_of_the_same_size_is_read_again(archive: Path, read_paths: list[str]) -> None:
    generate(archive)
    read_paths.clear()
    path = archive / "1" / "4.sgf"
    os.utime(path, ns=(1, path.stat().st_mtime_ns + 1))
    generate(archive)
    assert read_paths == ["1/4.sgf"]


def test_unusable_games_are_named_once(archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (archive / "2" / "8.sgf").write_text(f"(;SZ[{SIZE}];B[aa]C[1 A5:1.0];W[aa]C[1 A5:1.0])")
    (archive / "2" / "9.sgf").write_text("(;SZ[9];B[aa])")
    generate(archive)
    lines = [line for line in capsys.readouterr().err.splitlines() if "(skipped)" in line]
    assert len(lines) == 2 and "move 2, white A5, is illegal" in lines[0] and "board size 9" in lines[1]
    write_games(archive / "2", [10])
    generate(archive)
    assert "(skipped)" not in capsys.readouterr().err
    assert_right(archive.parent / "data" / "rl_data_2.npz", archive / "2", [1, 2, 3, 4, 5, 8, 9, 10])


def test_folders_beyond_the_window_lose_their_files(archive: Path, read_paths: list[str]) -> None:
    (archive.parent / "data").mkdir()
    (archive.parent / "data" / "rl_data_0.npz").write_text("of another program")
    (archive.parent / "data" / "rl_data_2.npz").write_text("broken")
    assert generate(archive, window=6) == ["rl_data_1.npz", "rl_data_2.npz"]
    assert generate(archive, window=5) == ["rl_data_2.npz"]
    assert [path.name for path in (archive.parent / "data").glob("[!.]*")] == ["rl_data_2.npz"]
    write_games(archive / "3", range(1, 4))
    read_paths.clear()
    assert generate(archive, window=5) == ["rl_data_2.npz", "rl_data_3.npz"]
    assert sorted(read_paths) == ["3/1.sgf", "3/2.sgf", "3/3.sgf"]


@pytest.mark.slow
def test_worker_processes_give_the_same_files(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generate(archive)
    monkeypatch.setattr(nn.data.selfplay_data, "PIECES_PER_TASK", 2)
    generate_reinforcement_learning_data(archive.parent, archive, SIZE, 100, 2, archive.parent / "other")
    for name in ("rl_data_1.npz", "rl_data_2.npz"):
        one, two = (load(str(archive.parent / folder / name)) for folder in ("data", "other"))
        assert one.keys() == two.keys()
        assert all(np.array_equal(one[key], two[key], equal_nan=key == "win_rate") for key in one)


def test_no_games_are_said(archive: Path, tmp_path: Path) -> None:
    with pytest.raises(NoTrainingDataError, match="no usable 9x9 game"):
        generate(archive, size=9)
    shutil.rmtree(archive)
    with pytest.raises(OSError):
        generate(archive)
    archive.mkdir()
    (archive / "1").mkdir()
    with pytest.raises(NoTrainingDataError, match="numbered folders"):
        generate(archive)


@pytest.mark.parametrize("rl", [True, False])
def test_the_window_bounds_the_files_of_self_play(tmp_path: Path, rl: bool) -> None:
    for number in (1, 2):
        write_games(tmp_path / "archive" / str(number), range(1, 4))
    write_files(tmp_path / "games", {"a.sgf": f"(;SZ[{SIZE}]KM[0.5]RE[B+R];B[aa];W[bb])"})
    archive = str(tmp_path / "archive")
    sources = Sources(archive if rl else str(tmp_path / "games"), rl, True, (SIZE,), (), None if rl else archive, 3,
                      ALL_VALUES, 1)
    sources.make_data(tmp_path / "data")
    assert [path.name for path in (tmp_path / "data").glob("rl_games_*.npz")] == ["rl_games_2.npz"]
