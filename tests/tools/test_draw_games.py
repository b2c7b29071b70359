"""Games drawn from a policy: every label is what the teacher says of the position, and every move could be drawn."""
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from board.constant import PASS
from board.geometry import get_geometry
from board.go_board import GoBoard
from board.handicap import get_fixed_handicap
from board.random_state import new_random_state
from board.stone import Stone
from common.lock_file import take_lock
from nn.data.data_generator import generate_game_data
from nn.data.labels import LabelFile, read_labels
from nn.evaluation import Answers
from nn.feature import Positions
from nn.inference.loading import load_evaluator
from nn.network.dual_net import DualNet
from nn.network.kinds import make_pooled_net
from nn.network.weights import save_network
from sgf.collection import Kifu, cut_into_pieces, read_pieces
from tests.tools.in_process import ProgramRunner
from tests.tools.labels import compare_with_teacher
from tools.draw_games import LOCK_FILE, main, name_network
from tools.labellib import drawing
from tools.labellib.drawing import CUTOFF, HANDICAP_KOMI, STRANGE, STRANGE_CUTOFF, Drawer, DrawSettings, Shard
from tools.labellib.judging import new_judged
from tools.labellib.walks import Walks, draw_move

SIZE, GAMES = 5, 12


@pytest.fixture(autouse=True)
def few_games(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shards are small here, and what is judged is judged anew in each test."""
    monkeypatch.setattr(drawing, "SHARD_GAMES", GAMES)
    monkeypatch.setattr("tools.draw_games.SHARD_GAMES", GAMES)
    drawing.load_judge.cache_clear()


@pytest.fixture
def models(tmp_path: Path) -> tuple[str, str]:
    """A teacher and a student, whose networks are random and see different planes."""
    paths = []
    for seed, features in ((1, "rich"), (2, "basic")):
        torch.manual_seed(seed)
        path = tmp_path / f"{features}.bin"
        save_network(make_pooled_net({"filters": 8, "blocks": 2, "features": features}), path)
        paths.append(str(path))
    return paths[0], paths[1]


def run(folder: Path, *options: str) -> tuple[int, str]:
    """Return exit status and what was said of drawing into a folder, in this process."""
    words = ["--out-dir", str(folder), "--size", str(SIZE), "--komi", "2.5", "--process", "1", "--use-gpu", "false",
             *options]
    result = ProgramRunner().invoke(main, words)
    return result.exit_code, result.output


def list_games(folder: Path) -> Iterator[tuple[Kifu, LabelFile, int]]:
    """Yield each game of a folder, its file of labels, and the number of its first position there."""
    for path in sorted(folder.glob("*.sgfs")):
        games, skipped = read_pieces(cut_into_pieces(str(path)), [SIZE])
        assert not skipped and len(games) == GAMES
        file = read_labels(path.with_suffix(".npz"), SIZE)
        for game in games:
            first, count = file.place[Path(game.name).name]
            assert count == len(game.pos)
            yield game, file, first


@pytest.mark.slow
def test_labels_are_what_the_teacher_says(tmp_path: Path, models: tuple[str, str]) -> None:
    """With a student beside it, whose policy draws some of the moves and labels nothing."""
    status, said = run(tmp_path / "drawn", "--teacher", models[0], "--model", models[1], "--num-data", "20",
                       "--keep-decided", "1")
    assert status == 0 and f"{2 * GAMES} games in" in said
    teacher, games = load_evaluator(models[0], SIZE), list(list_games(tmp_path / "drawn"))
    assert len(games) == 2 * GAMES and len({game.pos.tobytes() for game, _, _ in games}) > GAMES
    assert {game.komi for game, _, _ in games} - {2.5}, "some games have another komi"
    for game, file, first in games[::5]:
        for board, pos, color in compare_with_teacher(teacher, game, file, first):
            assert pos == PASS or board.is_legal_not_eye(pos, color)
    generate_game_data(tmp_path / "drawn", [tmp_path / "drawn"], [SIZE], 1, tmp_path / "data")
    assert len(list((tmp_path / "data").glob("games_*.npz"))) == 1


@pytest.mark.slow
def test_an_interrupted_run_goes_on(tmp_path: Path, models: tuple[str, str]) -> None:
    """A file whose labels are missing is drawn again, as it was; the others are left alone."""
    options = ("--teacher", models[0], "--num-data", str(2 * GAMES))
    assert run(tmp_path / "drawn", *options)[0] == 0
    first, second = sorted((tmp_path / "drawn").glob("*.npz"))
    text, before = second.with_suffix(".sgfs").read_bytes(), first.stat().st_mtime_ns
    second.unlink()
    second.with_suffix(".sgfs").write_bytes(b"half of it")
    assert run(tmp_path / "drawn", *options)[0] == 0
    assert second.with_suffix(".sgfs").read_bytes() == text and second.exists()
    assert first.stat().st_mtime_ns == before
    assert "0 positions of them new" in run(tmp_path / "drawn", *options)[1]
    status, said = run(tmp_path / "drawn", *options, "--seed", "5")
    assert status == 2 and "other settings" in said and ": seed)" in said and said.count("\n") == 1
    elsewhere = str(Path(models[0]).parent / "no-such-folder" / ".." / Path(models[0]).name)
    assert name_network(elsewhere) == name_network(models[0])
    (tmp_path / "drawn" / "settings.json").write_bytes(b"\xff\xfe")
    status, said = run(tmp_path / "drawn", *options)
    assert status == 2 and "it cannot be read" in said and said.count("\n") == 1


def test_no_game_is_called_as_one_of_another_run(tmp_path: Path) -> None:
    """Files of games of several runs can lie in one folder: labels find each by its name."""
    runs = [DrawSettings("teacher", "", SIZE, 7.0, 0.3, seed) for seed in (0, 1)]
    shards = [Shard(settings, tmp_path, number, False) for settings in runs for number in range(3)]
    names = {path.name for shard in shards for path in (shard.games, shard.labels)}
    assert len(names) == 2 * 3 * 2


def test_two_runs_do_not_share_a_folder(tmp_path: Path, models: tuple[str, str]) -> None:
    """The second one says so in a line, and leaves the games alone."""
    lock = take_lock(tmp_path / "drawn" / LOCK_FILE)
    assert lock is not None
    with lock:
        status, said = run(tmp_path / "drawn", "--teacher", models[0])
    assert status == 2 and "another run draws games" in said and said.count("\n") == 1
    assert not list(tmp_path.glob("drawn/drawn-*"))


def test_games_that_are_decided_end(tmp_path: Path, models: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where every game counts as decided, each has the few moves that it takes to see that."""
    monkeypatch.setattr(drawing, "DECIDED", 0.0)
    assert run(tmp_path / "drawn", "--teacher", models[0], "--num-data", "1", "--keep-decided", "0")[0] == 0
    assert {len(game.pos) for game, _, _ in list_games(tmp_path / "drawn")} <= set(range(drawing.DECIDED_MOVES + 2))


@pytest.mark.slow
def test_handicap_games(tmp_path: Path, models: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Stones stand at the usual places or a point beside them, and White moves first: with labels of what stands."""
    monkeypatch.setattr(f"{__name__}.SIZE", 7)
    assert run(tmp_path / "drawn", "--teacher", models[0], "--num-data", "1", "--handicap", "1")[0] == 0
    games, usual = list(list_games(tmp_path / "drawn")), set(get_fixed_handicap(7, 4))
    assert {len(game.setup_pos) for game, _, _ in games} == {2, 3, 4}
    assert all((game.setup_color == Stone.BLACK.value).all() for game, _, _ in games)
    places = {int(pos) for game, _, _ in games for pos in game.setup_pos}
    assert usual < places <= {pos + step for pos in usual for step in (0, -1, 1, -9, 9)}
    assert {game.color[0] for game, _, _ in games} == {Stone.WHITE.value}
    assert GAMES / 2 < sum(game.komi == HANDICAP_KOMI for game, _, _ in games) < GAMES
    teacher = load_evaluator(models[0], 7)
    for game, file, first in games[::4]:
        for board, pos, color in compare_with_teacher(teacher, game, file, first):
            assert pos == PASS or board.is_legal_not_eye(pos, color)
    status, said = run(tmp_path / "small", "--teacher", models[0], "--handicap", "0.5", "--size", "6")
    assert status == 2 and "--handicap 0.5: a board of 6x6 has no handicap points" in said and said.count("\n") == 1


def test_a_handicap_game_has_an_opening_before_it_is_decided(tmp_path: Path, models: tuple[str, str]) -> None:
    """Most are, from the first move; a quarter of the board's moves are played all the same."""
    drawer, rows = Drawer(Shard(DrawSettings(*models, 7, 7.0, 0.0, 0, 0.5), tmp_path, 0, False)), np.arange(GAMES)
    drawer._judged = new_judged(GAMES, drawer._longest, 7)
    with_handicap = np.array([len(stones) > 0 for stones in drawer._handicap])
    assert 0 < with_handicap.sum() < GAMES
    assert (drawer._is_settled(rows, 11) == ~with_handicap).all() and drawer._is_settled(rows, 12).all()


def test_a_komi_that_no_record_has_is_refused(tmp_path: Path) -> None:
    """Whoever reads the games would take it for unknown, and the usual one in its place."""
    status, said = run(tmp_path / "drawn", "--teacher", "none.bin", "--komi", "362")
    assert status == 2 and "--komi" in said and not (tmp_path / "drawn").exists()


def test_a_teacher_that_tells_no_lead_is_refused(tmp_path: Path) -> None:
    """And one that is not there, each in one line."""
    torch.manual_seed(1)
    save_network(DualNet(torch.device("cpu"), SIZE, 8, 1), tmp_path / "dual.bin")
    for teacher, reason in ((str(tmp_path / "dual.bin"), "tells no lead"), (str(tmp_path / "none.bin"), "not found")):
        status, said = run(tmp_path / "drawn", "--teacher", teacher)
        assert status == 2 and said.startswith("draw_games.py: ") and said.count("\n") == 1, said
        assert reason in said or "no model file" in said
    assert not list(tmp_path.glob("drawn/*.sgfs"))


@pytest.mark.plain
@pytest.mark.parametrize(("temperature", "cutoff"), [(1.0, 0.0), (0.5, 0.0), (2.0, 0.3)])
def test_moves_are_drawn_by_their_weights(temperature: float, cutoff: float) -> None:
    """The frequencies of 3,000 draws are policy ** (1 / temperature) above the cutoff; the pass keeps its weight."""
    board, geometry = GoBoard(2), get_geometry(2)
    policy = np.array([0.5, 0.25, 0.1, 0.0, 0.15], dtype=np.float32)
    random_state, weight = new_random_state(np.random.default_rng(3)), np.zeros(5)
    counts = np.zeros(5)
    for _ in range(3000):
        pos = draw_move(board.state, policy, temperature, cutoff, geometry.policy_pos, random_state, weight)
        counts[geometry.policy_index[pos]] += 1
    expected = np.where(policy >= cutoff * 0.5, (policy / 0.5) ** (1.0 / temperature), 0.0)
    expected[4] = 0.3 if cutoff <= 0.3 else 0.0
    np.testing.assert_allclose(counts / 3000, expected / expected.sum(), atol=0.03)


@pytest.mark.plain
def test_own_eyes_are_not_filled() -> None:
    """Even where the policy wants nothing else, a complete eye is left, and the player passes."""
    board, geometry = GoBoard(3), get_geometry(3)
    coordinate = board.coordinate.convert_from_gtp_format
    board.set_up([coordinate(name) for name in ("A2", "B2", "B1", "B3", "C2", "C1", "A3")], [], Stone.BLACK)
    policy = np.zeros(10, dtype=np.float32)
    policy[geometry.policy_index[coordinate("A1")]] = 1.0
    random_state = new_random_state(np.random.default_rng(1))
    assert draw_move(board.state, policy, 1.0, 0.0, geometry.policy_pos, random_state, np.zeros(10)) == PASS


@pytest.fixture
def drawer(tmp_path: Path, models: tuple[str, str]) -> Drawer:
    """Games of a teacher and a student that have just begun."""
    begun = Drawer(Shard(DrawSettings(*models, SIZE, 2.5, 0.5, 0), tmp_path, 0, False))
    begun._judged = new_judged(GAMES, begun._longest, SIZE)
    return begun


@pytest.mark.parametrize("komi", [361.0, -361.0])
def test_no_game_has_a_komi_beyond_those_of_records(komi: float, tmp_path: Path, models: tuple[str, str]) -> None:
    drawer = Drawer(Shard(DrawSettings(*models, SIZE, komi, 0.5, 0), tmp_path, 0, False))
    assert np.abs(drawer._komi).max() == 361.0


def test_the_student_is_asked_for_its_own_moves_and_each_game_is_told_how_it_stands(
    drawer: Drawer, monkeypatch: pytest.MonkeyPatch,
) -> None:
    student, asked, draws, rows = drawer._student, [], [], np.arange(GAMES)
    assert student is not None
    answer = student.ask

    def ask(walks: Walks, rows: np.ndarray, positions: Positions, komi: np.ndarray) -> tuple[np.ndarray, Answers]:
        asked.append((rows, komi))
        return answer(walks, rows, positions, komi)

    def walk_on(_: Walks, rows: np.ndarray, *rest: Any) -> None:
        draws.append(rest[1])
        rest[-1][:] = rows == 3

    drawer._komi[:] = np.arange(GAMES)
    monkeypatch.setattr(student, "ask", ask)
    monkeypatch.setattr(drawing, "walk_on", walk_on)
    for move, strange in ((0, 0.0), (1, 1.0)):
        drawer._strange[:] = strange
        assert list(np.flatnonzero(drawer._step(rows, move))) == [3]
    for move, (some, komi) in enumerate(asked):
        assert list(some) == list(np.flatnonzero(drawer._of_student[:, move])) and (komi == drawer._komi[some]).all()
    assert (draws[0].cutoff == CUTOFF).all() and (draws[0].temperature != STRANGE).all()
    assert (draws[1].cutoff == STRANGE_CUTOFF).all() and (draws[1].temperature == STRANGE).all()


@pytest.mark.parametrize("win_rate", [0.0, 1.0])
def test_decided_games_end_but_those_that_are_kept(drawer: Drawer, win_rate: float) -> None:
    rows = np.arange(GAMES)
    drawer._judged.win_rate[:] = win_rate
    drawer._judged.win_rate[0, 5] = 0.5
    ended = drawer._is_settled(rows, 7)
    assert not ended[0] and 0 < ended.sum() < GAMES and (ended == ~drawer._plays_on)[1:].all()
