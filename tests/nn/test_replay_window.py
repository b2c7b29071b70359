"""The window: exactly the newest games, a few positions of each, the same for the same seed."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import learning_param
from nn.data.data_file import GameTable, read_game_table
from nn.data.dataset import DataError, Samples, load_samples
from nn.data.game_file import GameFile, read_game_file
from nn.data.game_samples import GameSamples, NamedGames
from nn.data.replay_window import GameWindow, ReplayWindow, WindowFile, is_held_out
from nn.data.selfplay_data import LABELS_FILE, generate_reinforcement_learning_data
from nn.plane_sets import BASIC
from tests.nn.samples import make_arrays
from tests.nn.selfplay_games import SIZE, write_games


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data of three folders of ten games, one of them unusable."""
    root = tmp_path_factory.mktemp("window")
    for number in (1, 2, 10):
        write_games(root / "archive" / str(number), range(1, 11))
    (root / "archive" / "2" / "9.sgf").write_text("(;SZ[9];B[aa])")
    generate_reinforcement_learning_data(root, root / "archive", SIZE, 1000, 1)
    return root / "data"


def make_window(
    folder: Path, size: int = 1000, share: float = 0.0, seed: int = 0, batch_size: int = 16
) -> ReplayWindow:
    return ReplayWindow(folder, SIZE, batch_size, seed, size, share)


def games(window: ReplayWindow, kind: str) -> list[tuple[int, int]]:
    """Return folder and number of the chosen games."""
    return [(file.number, int(number)) for file in window.files for number in file.table.number[getattr(file, kind)]]


def keys(window: ReplayWindow, epoch: int = 0) -> list[bytes]:
    """Return what tells the training samples of an epoch apart, in their order."""
    return [policy.tobytes() for samples, _ in window.training_batches(epoch) for policy in samples.policy]


@pytest.mark.parametrize(("size", "expected"), [
    (1, [(10, 10)]), (10, [(10, n) for n in range(1, 11)]), (12, [(2, 8), (2, 10), *((10, n) for n in range(1, 11))]),
    (20, [(1, 10), *((2, n) for n in range(1, 11) if n != 9), *((10, n) for n in range(1, 11))]),
])
def test_exactly_the_newest_usable_games(folder: Path, size: int, expected: list[tuple[int, int]]) -> None:
    window = make_window(folder, size)
    assert games(window, "train") == expected and games(window, "test") == []
    assert window.generation == 10 and window.columns()["games"] == str(size)


def test_positions_are_drawn_without_repetition(folder: Path) -> None:
    window = make_window(folder, batch_size=1)
    drawn = keys(window)
    owner: dict[bytes, tuple[int, int]] = {}
    for file in window.files:
        policy, row = load_samples(file.path, SIZE).policy, 0
        for number, count in zip(file.table.number, file.table.samples, strict=True):
            owner |= {policy[n].tobytes(): (file.number, int(number)) for n in range(row, row + count)}
            row += count
    counts = {(file.number, int(number)): int(count) for file in window.files
              for number, count in zip(file.table.number, file.table.samples, strict=True) if count}
    assert len(set(drawn)) == len(drawn) == window.train_count
    found = [owner[key] for key in drawn]
    assert {game: found.count(game) for game in counts} == {
        game: min(count, learning_param.POSITIONS_PER_GAME) for game, count in counts.items()}
    assert max(counts.values()) > learning_param.POSITIONS_PER_GAME > min(counts.values())
    assert found != sorted(found)


def test_draws_follow_from_seed_and_epoch(folder: Path) -> None:
    orders = [keys(make_window(folder, seed=seed), epoch) for seed, epoch in ((0, 0), (0, 0), (0, 1), (1, 0))]
    assert orders[0] == orders[1]
    window = make_window(folder)
    assert [keys(window, epoch) for epoch in (0, 1)] == [orders[0], orders[2]]
    assert len({tuple(sorted(order)) for order in orders}) == 3


@pytest.mark.parametrize("skip", [0, 1, 5, 100])
def test_skipping_gives_the_rest_of_the_epoch(folder: Path, skip: int) -> None:
    whole = list(make_window(folder).training_batches(2))
    rest = list(make_window(folder).training_batches(2, skip))
    assert len(whole) == make_window(folder).batches_per_epoch > 5
    for (samples, symmetries), (other, others) in zip(whole[skip:], rest, strict=True):
        np.testing.assert_array_equal(samples.planes, other.planes)
        np.testing.assert_array_equal(symmetries, others)


def test_held_out_games_stay_out_of_every_window(folder: Path) -> None:
    for size in (5, 12, 29):
        window = make_window(folder, size, share=0.3)
        assert all(is_held_out(*game, 0.3) for game in games(window, "test"))
        assert not any(is_held_out(*game, 0.3) for game in games(window, "train"))
        assert len(games(window, "train")) + len(games(window, "test")) == size
    tests = [samples for samples, _ in window.test_batches()]
    assert sum(len(samples.value) for samples in tests) == window.test_count > 0
    again = [samples for samples, _ in make_window(folder, 29, share=0.3).test_batches()]
    for one, two in zip(tests, again, strict=True):
        np.testing.assert_array_equal(one.policy, two.policy)
    assert 0.25 < np.mean([is_held_out(1, number, 0.3) for number in range(10000)]) < 0.35


def test_one_game_is_for_learning(folder: Path) -> None:
    assert is_held_out(10, 10, 0.999)
    window = make_window(folder, 1, share=0.999)
    assert window.train_count > 0 and window.test_count == 0 and window.batches_per_epoch == 1


def test_files_of_other_programs_and_sizes_are_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="rl_data_10.npz is no file of self-play games of board size 9"):
        ReplayWindow(folder, 9, 16, 0, 100, 0.0)
    (tmp_path / "rl_data_old.npz").write_bytes((folder / "rl_data_1.npz").read_bytes())
    with pytest.raises(DataError, match="rl_data_old.npz is no file of self-play"):
        make_window(tmp_path)
    (tmp_path / "rl_data_old.npz").unlink()
    np.savez(tmp_path / "rl_data_0.npz", **make_arrays(8, SIZE))
    with pytest.raises(DataError, match="--kifu-dir"):
        make_window(tmp_path)


def test_files_of_games_give_the_same_samples_as_files_of_planes(folder: Path) -> None:
    """Twins: one window reads planes, policies and values from disk, the other one moves."""
    archive = folder.parent / "archive"
    generate_reinforcement_learning_data(folder.parent, archive, SIZE, 1000, 1, as_games=True)
    window, twin = make_window(folder, 15, 0.3), GameWindow(folder, BASIC, SIZE, 16, 0, 15, 0.3)
    assert window.train_count == twin.train_count and window.test_count == twin.test_count > 0
    for batches, others in ((window.training_batches(1, 2), twin.training_batches(1, 2)),
                            (window.test_batches(), twin.test_batches())):
        for (one, turned), (other, again) in zip(batches, others, strict=True):
            assert np.array_equal(one.planes, other.planes) and np.array_equal(turned, again)
            assert np.array_equal(one.value, other.value) and np.allclose(one.policy, other.policy, atol=4e-4)
            assert np.allclose(one.win_rate, other.win_rate, atol=1e-3, equal_nan=True)


def test_a_folder_of_games_is_read_again_where_it_has_changed(tmp_path: Path) -> None:
    write_games(tmp_path / "archive" / "1", range(1, 5))
    made = [Path(generate_reinforcement_learning_data(tmp_path, tmp_path / "archive", SIZE, 9, 1, as_games=True)[0])
            .stat().st_mtime_ns for _ in range(2)]
    assert made[0] == made[1]
    write_games(tmp_path / "archive" / "1", range(5, 7))
    generate_reinforcement_learning_data(tmp_path, tmp_path / "archive", SIZE, 9, 1, as_games=True)
    assert GameWindow(tmp_path / "data", BASIC, SIZE, 4, 0, 9, 0.0).columns()["games"] == "6"


def test_a_teacher_judges_what_the_search_has_chosen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """labels.npz beside the games: leads and owners are the teacher's, win rates half his, policies the search's; and
    positions that were not searched are learnt by his word alone"""
    archive = tmp_path / "archive"
    folder = write_games(archive / "1", range(1, 4), length=(4, 9))

    def read() -> tuple[GameFile, np.ndarray, Samples]:
        [path] = generate_reinforcement_learning_data(tmp_path, archive, SIZE, 9, 1, as_games=True)
        games = read_game_file(Path(path), [SIZE])
        rows = np.flatnonzero(games.labels.policy_count)
        data = GameSamples([NamedGames("x", games)], BASIC, SIZE, len(rows), 0, 0.0, 1.0)
        assert read_game_table(Path(path), SIZE).total() == len(rows)  # type: ignore[union-attr]
        return games, rows, next(data.batches(rows, np.zeros(len(rows), dtype=np.int64)))[0]

    games, searched, alone = read()
    moves = np.diff(games.start)
    rng = np.random.default_rng(1)
    total = moves[:2].sum()  # the third game is unknown to him
    labels = {"names": np.array(["1.sgf", "2.sgf"]), "offset": np.array([0, *np.cumsum(moves[:2])]),
              "policy": rng.random((total, SIZE**2 + 1)).astype(np.float16),
              "win_rate": rng.random(total).astype(np.float16),
              "lead": rng.normal(0, 9, total).astype(np.float16),
              "ownership": rng.integers(0, 16, (total, SIZE**2)).astype(np.uint8)}
    np.savez(folder / LABELS_FILE, **labels)
    games, rows, taught = read()
    assert f"{LABELS_FILE}: a teacher's judgment of 2 of the 3 games\n" in capsys.readouterr().err
    assert set(searched) < set(rows) and set(rows) - set(searched) == set(range(total)) - set(searched)
    known, row = rows < total, rows[rows < total]
    assert np.allclose(taught.lead[known], labels["lead"][row])
    assert np.allclose(taught.ownership[known], labels["ownership"][row] / 7.5 - 1.0)
    new = ~np.isin(rows, searched)
    policy = labels["policy"][rows[new]].astype(np.float32)
    assert np.allclose(taught.policy[new], policy / policy.sum(axis=1, keepdims=True), atol=2e-3)
    assert np.allclose(taught.win_rate[new], labels["win_rate"][rows[new]], atol=1e-3)
    taught, known, row = taught.take(~new), known[~new], searched[searched < total]
    assert np.array_equal(taught.policy, alone.policy) and np.array_equal(taught.value, alone.value)
    own = np.where(np.isnan(alone.win_rate[known]), labels["win_rate"][row], alone.win_rate[known])
    assert np.allclose(taught.win_rate[known], (own + labels["win_rate"][row]) / 2, atol=1e-3)
    for name in ("lead", "ownership", "win_rate"):
        assert np.array_equal(getattr(taught, name)[~known], getattr(alone, name)[~known], equal_nan=True)
    (folder / LABELS_FILE).rename(tmp_path / "kept.npz")
    assert set(read()[1]) == set(searched), "who has taken the labels away learns without them"
    (tmp_path / "kept.npz").rename(folder / LABELS_FILE)  # an old file again
    assert set(read()[1]) == set(rows)
    (folder / LABELS_FILE).write_bytes(b"nothing")
    with pytest.raises(DataError, match=f"cannot read the labels .*{LABELS_FILE}"):
        read()


def test_games_without_a_result_are_nobody_s_win() -> None:
    table = GameTable(np.arange(1, 5), np.zeros((4, 2), np.int64), np.array([5, 5, 0, 5]), np.array([9, 9, 9, 9]),
                      np.array([2, -1, 0, 0], dtype=np.int8), np.zeros(2, np.int64))
    window = ReplayWindow.__new__(ReplayWindow)
    window.files = [WindowFile(Path("rl_data_1.npz"), 1, table, table.samples > 0, np.zeros(4, np.bool_))]
    assert window.columns() == {"games": "3", "game_length": "9.00", "black_win_rate": "0.5000"}


def test_games_are_counted_in_all_folders_and_their_length_in_the_newest() -> None:
    window, everybody = ReplayWindow.__new__(ReplayWindow), np.ones(2, np.bool_)
    tables = [GameTable(np.arange(2), np.zeros((2, 2), np.int64), np.array([5, 5]), np.array(moves),
                        np.array([label, 2], dtype=np.int8), np.zeros(2, np.int64))
              for moves, label in (([9, 9], 2), ([4, 6], 0))]
    window.files = [WindowFile(Path(), number, table, everybody, ~everybody)
                    for number, table in enumerate(tables, 1)]
    assert window.columns() == {"games": "4", "game_length": "5.00", "black_win_rate": "0.5000"}
    before = window.identity()
    tables[1].label[0] = 2
    assert (results := window.identity()) != before, "another result is another lesson"
    tables[0].judged[:] = 900, 1
    assert window.identity() != results, "so is what a teacher says"
