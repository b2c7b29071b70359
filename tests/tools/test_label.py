"""Labels by an engine: complete, resumable, and a clear line where it fails."""
from __future__ import annotations

import errno
import io
import json
import shlex
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from board.state import new_state
from common.kernel import without_compiler
from common.lock_file import take_lock
from common.print_console import Heedless
from nn.data.labels import read_labels, unpack_policies
from nn.inference.loading import load_evaluator
from nn.network.kinds import make_pooled_net
from nn.network.weights import save_network
from nn.plane_sets import BASIC
from sgf.collection import Kifu, cut_into_pieces, read_folder, read_pieces, to_kifu
from sgf.reader import SGFReader
from tests.files import write_files
from tests.tools.in_process import ProgramRunner
from tests.tools.labels import compare_with_teacher
from tools import label
from tools.label import main
from tools.labellib import network_teacher
from tools.labellib.network_teacher import GAMES_AT_ONCE, NetworkTeacher
from tools.labellib.teacher import Question, Teacher, make_query

FAKE = Path(__file__).with_name("fake_teacher.py")
GAMES = {
    "a.sgf": "(;SZ[5]KM[2.5]RE[B+1];B[cc];W[cd];B[])",
    "b.sgf": "(;SZ[5]KM[0.5]RE[B+1]HA[2]AB[bb][dd];W[cc];B[cd])",
    "c.sgf": "(;SZ[5]KM[0.5];B[cc];W[dd];B[ee];W[aa])",
    "twice.sgf": "(;SZ[5];B[cc];B[dd])",
    "wide.sgf": "(;SZ[9];B[cc])",
    "occupied.sgf": "(;SZ[5];B[aa];W[bb];B[aa])",
    "endless.sgf": "(;SZ[5];B[ba];W[aa];B[ab];W[aa];B[ba];W[ab];B[bb];W[aa];B[ab];W[ba])",  # in a string of one point
}


@pytest.fixture
def games(tmp_path: Path) -> Path:
    """A folder of games; three can be labelled."""
    return write_files(tmp_path / "games", GAMES)


def run(games: Path, *words: str, visits: int = 1) -> tuple[int, str]:
    """Return exit status and what was said."""
    return label_by(shlex.join([sys.executable, str(FAKE), *words]), games, "--visits", str(visits))


def label_by(teacher: str, games: Path, *options: str) -> tuple[int, str]:
    """Return exit status and what was said of labels by a teacher."""
    out = str(games.parent / "labels.npz")
    result = ProgramRunner().invoke(main, ["--kifu-dir", str(games), "--out", out, "--size", "5", "--teacher", teacher,
                                       *options])
    return result.exit_code, result.output


def test_every_position_is_labelled(games: Path) -> None:
    status, said = run(games)
    assert status == 0 and "3 games labelled" in said
    assert "twice.sgf: a player moves twice" in said and "wide.sgf: board size 9" in said
    assert "occupied.sgf: move 3, black A5, is illegal" in said and "endless.sgf: move " in said
    file = read_labels(games.parent / "labels.npz", 5)
    assert list(file.place) == ["a.sgf", "b.sgf", "c.sgf"] and len(file.labels.win_rate) == 9
    labels = file.of_game("c.sgf", 4)
    assert labels is not None
    assert np.allclose(labels.win_rate, [0.0, 0.1, 0.2, 0.3], atol=1e-3)
    assert np.allclose(labels.lead, np.arange(4) - 0.5)
    assert list(labels.ownership[3][:4]) == [3, 4, 5, 6]
    policy = unpack_policies(labels, labels.policy_start, np.array([2]), 26)[0]
    expected = np.array([0.0 if point == 2 else 1 + (2 + point) % 7 for point in range(26)])
    assert np.allclose(policy, expected / expected.sum(), atol=1e-4)
    assert not (games.parent / "labels.npz.parts").exists()


def test_progress_that_cannot_be_written_ends_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """A log on a full disk costs its lines, not the labels."""
    class FullDisk(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(sys, "stderr", FullDisk())
    assert Heedless() == sys.stderr != io.StringIO()  # by which tqdm knows the terminal, and whose bars to clear
    kept: list[str] = []
    store: Any = SimpleNamespace(done=set(), add=kept.extend)
    teacher: Any = SimpleNamespace(label=lambda left: ((name, game) for name, game in left))
    games: Any = {"a.sgf": None}
    label.label(games, teacher, store)
    assert kept == ["a.sgf"]


def test_games_of_collections_have_labels_by_the_names_that_training_looks_for(games: Path) -> None:
    (games / "d.sgf").write_text(f"{GAMES['wide.sgf']}\n{GAMES['a.sgf']}\n{GAMES['c.sgf']}\n")
    (games / "e.sgfs").write_text(GAMES["a.sgf"] + "\n")
    assert run(games)[0] == 0
    file = read_labels(games.parent / "labels.npz", 5)
    for game in read_folder(games, 5, lambda _: None):
        labels = file.of_game(game.name, len(game.pos))
        assert (labels is None) == (Path(game.name).name in ("twice.sgf", "occupied.sgf", "endless.sgf")), game.name
    assert {"d.sgf line 2", "d.sgf line 3", "e.sgfs line 1"} < file.place.keys()


def test_a_folder_without_a_game_starts_no_teacher(games: Path) -> None:
    empty = games.parent / "empty"
    empty.mkdir()
    status, said = run(empty, "die", "0")
    assert status == 2 and "no SGF files in" in said and not (games.parent / "labels.npz.parts").exists()


def test_more_visits_teach_their_shares(games: Path) -> None:
    assert run(games, visits=4)[0] == 0
    labels = read_labels(games.parent / "labels.npz", 5).of_game("a.sgf", 3)
    assert labels is not None
    policy = unpack_policies(labels, labels.policy_start, np.array([0]), 26)[0]
    assert policy[20] == pytest.approx(0.75, abs=1e-3) and policy[25] == pytest.approx(0.25, abs=1e-3)


def test_a_run_that_dies_goes_on(games: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(label, "GAMES_PER_PART", 1)
    status, said = run(games, "die", "4")
    assert status == 2 and "ended (3), its last words: out of memory" in said
    parts = games.parent / "labels.npz.parts"
    assert len(list(parts.glob("part-*.npz"))) == 1 and not (games.parent / "labels.npz").exists()
    status, said = run(games)
    assert status == 2 and "made with other settings" in said
    settings = parts / "settings.json"
    settings.write_text(settings.read_text().replace(" die 4", ""))
    assert run(games)[0] == 0
    assert list(read_labels(games.parent / "labels.npz", 5).place) == ["a.sgf", "b.sgf", "c.sgf"]
    assert "is there already" in run(games)[1]


def test_what_was_labelled_before_a_part_was_full_is_kept(games: Path) -> None:
    assert run(games, "die", "4")[0] == 2
    [part] = (games.parent / "labels.npz.parts").glob("part-*.npz")
    assert list(read_labels(part, 5).place) == ["a.sgf"]


def test_what_another_folder_was_labelled_with_is_not_taken_for_its_namesakes(
        games: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(label, "GAMES_PER_PART", 1)
    assert run(games, "die", "4")[0] == 2
    settings = games.parent / "labels.npz.parts" / "settings.json"
    settings.write_text(settings.read_text().replace(" die 4", ""))
    other = write_files(games.parent / "other", {"a.sgf": "(;SZ[5];B[ee];W[ed];B[ec])"})
    status, said = run(other)
    assert status == 2 and "made with other settings" in said
    for name in ("a.sgf", "b.sgf", "c.sgf"):
        (games / name).unlink()
    status, said = run(games)
    assert status == 2 and "no 5x5 game in" in said


def test_an_unfinished_run_of_a_version_that_kept_no_folder_goes_on(
        games: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(label, "GAMES_PER_PART", 1)
    assert run(games, "die", "4")[0] == 2
    settings = games.parent / "labels.npz.parts" / "settings.json"
    kept = json.loads(settings.read_text().replace(" die 4", ""))
    del kept["games"]
    settings.write_text(json.dumps(kept))
    assert run(games)[0] == 0


def test_parts_are_written_by_the_clock_too(games: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(label, "PART_SECONDS", 0.0)
    written: list[list[str]] = []
    monkeypatch.setattr(label.LabelStore, "add", lambda _, part: written.append(list(part)))
    monkeypatch.setattr(label.LabelStore, "finish", lambda *_: None)
    run(games)
    assert written == [["a.sgf"], ["b.sgf"], ["c.sgf"]]


def test_a_mistyped_teacher_holds_up_nobody_and_two_runs_are_kept_apart(games: Path) -> None:
    assert run(games, "die", "0")[0] == 2
    lock = take_lock(games.parent / ".labels.npz.lock")
    assert lock is not None
    status, said = run(games)
    assert status == 2 and "another run makes" in said
    lock.close()
    assert run(games)[0] == 0


@pytest.mark.parametrize(("words", "complaint"), [
    (("babble",), "an answer that cannot be used"), (("spoil", "percent"), "cannot be used (ValueError: win rate 55.3"),
    (("spoil", "lead"), "an answer that cannot be used"), (("spoil", "policy"), "an answer that cannot be used"),
    (("spoil", "owner"), "an answer that cannot be used"), (("spoil", "number"), "an answer that cannot be used"),
    (("spoil", "id"), "an answer that nobody asked for"),
    (("die", "0"), "its last words: out of memory"), (("gtp",), "speaks GTP, not KataGo's analysis protocol"),
])
def test_an_engine_that_fails_is_said_in_one_line(games: Path, words: tuple[str, ...], complaint: str) -> None:
    status, said = run(games, *words)
    assert status == 2 and complaint in said


def test_a_program_that_is_not_there(games: Path) -> None:
    result = ProgramRunner().invoke(main, ["--kifu-dir", str(games), "--out", str(games.parent / "x.npz"),
                                       "--teacher", "no-such-program analysis"])
    assert result.exit_code == 2 and "no-such-program" in result.output


@pytest.mark.slow
def test_a_network_alone_judges_positions(games: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its labels are what it says of each position, of games of any length, with stones set up or not."""
    torch.manual_seed(1)
    model = games.parent / "teacher.bin"
    save_network(make_pooled_net({"filters": 8, "blocks": 2, "features": "rich"}), model)
    monkeypatch.setattr(network_teacher, "GAMES_AT_ONCE", 2)
    status, said = label_by(str(model), games)
    assert status == 0 and "3 games labelled" in said and "twice.sgf: a player moves twice" in said
    file, teacher = read_labels(games.parent / "labels.npz", 5), load_evaluator(str(model), 5)
    for name, (first, count) in file.place.items():
        [game], _ = read_pieces(cut_into_pieces(str(games / name)), [5])
        assert sum(1 for _ in compare_with_teacher(teacher, game, file, first)) == count == len(game.pos)


@pytest.mark.parametrize(("teacher", "options", "complaint"), [
    ("no-such.bin", [], "model file not found: tried"),
    ("no-such.bin.gz", ["--visits", "2"], "--visits 2 wants a search"),
    ("no-such.bin.gz", ["--rules", "japanese"], "--rules japanese is for an engine"),
    ("model/dual-net.bin", ["--size", "9"], "tells no lead and no ownership"),
])
def test_a_network_that_cannot_judge_is_one_line(games: Path, teacher: str, options: list[str], complaint: str) -> None:
    status, said = label_by(teacher, games, "--use-gpu", "false", *options)
    assert status == 2 and complaint in said and said.count("\n") == 1


def read_game(text: str) -> Kifu:
    return to_kifu("game", SGFReader(text.encode()))


def test_a_query_tells_the_game_as_it_is() -> None:
    game = read_game("(;SZ[5]KM[0.5]HA[2]AB[bb][dd];W[cc];B[cd];W[])")
    query = make_query(game, "b.sgf", Question(5, 1, "chinese"))
    assert (query["komi"], query["initialPlayer"], query["analyzeTurns"]) == (0.5, "W", [0, 1, 2])
    assert query["initialStones"] == [["B", "B4"], ["B", "D2"]]
    assert query["moves"] == [["W", "C3"], ["B", "C2"], ["W", "pass"]]
    assert query["overrideSettings"]["reportAnalysisWinratesAs"] == "SIDETOMOVE"


def test_what_is_said_during_a_search_is_no_answer() -> None:
    answer = {"id": "a", "turnNumber": 0, "policy": [0.2] * 5, "ownership": [0.0] * 4,
              "rootInfo": {"winrate": 0.75, "scoreLead": 1.0}, "isDuringSearch": False}
    early = answer | {"isDuringSearch": True, "rootInfo": {"winrate": 0.25, "scoreLead": 0.0}}
    lines = ["KataGo greets", json.dumps(early), json.dumps({"id": "a", "warning": "odd"}), json.dumps(answer), ""]
    teacher = Teacher.__new__(Teacher)
    teacher._question = Question(2, 1, "chinese")
    teacher._process = SimpleNamespace(stdout=io.BytesIO("\n".join(lines).encode()))  # type: ignore[assignment]
    name, turn, judgment = teacher._read({"a": [None]})
    assert (name, turn, judgment.win_rate, judgment.lead) == ("a", 0, 0.75, 1.0)


def test_games_that_go_on_keep_their_komi() -> None:
    asked: list[list[float]] = []

    class Judge:
        def ask(self, walks, rows, positions, komi):  # noqa: ANN001, ANN202
            asked.append(komi.tolist())
            count = len(rows)
            return np.zeros((count, 26)), (None, np.zeros((count, 3)), komi, np.zeros((count, 25)))

    teacher = NetworkTeacher.__new__(NetworkTeacher)
    teacher._size, teacher._plane_set, teacher._judge = 5, BASIC, Judge()  # type: ignore[assignment]
    teacher._positions, teacher._state = BASIC.new_positions(5, GAMES_AT_ONCE), new_state(5)
    games = [read_game(f"(;SZ[5]KM[{komi}]{moves})") for komi, moves in
             ((2.5, ";B[aa]"), (0.5, ";B[aa];W[bb];B[cc]"), (6.5, ";B[aa];W[bb]"))]
    with without_compiler():
        labels = dict(teacher.label(zip("abc", games, strict=True)))
    assert asked == [[2.5, 0.5, 6.5], [0.5, 6.5], [0.5]]
    assert [labels[name].lead.tolist() for name in "abc"] == [[2.5], [0.5] * 3, [6.5] * 2]
