"""The verdict tool: what it asks, what it calls a disagreement, and what it does with bad games and engines."""
from __future__ import annotations

import csv
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from board.go_board import GoBoard
from gtp.engine_process import EngineError
from tests.tools.in_process import run_in_process
from tools.verdict import EnginePair, main
from tools.verdictlib.position import NotFinishedError, list_plays, read_finished_game
from tools.verdictlib.report import draw_board, format_disagreement, format_summary
from tools.verdictlib.verdict import Comparison, Verdict, parse_points, parse_score

# Black has row 4, White row 2; White E5 stands in Black's area.
GAME = ("(;GM[1]SZ[5]KM[0.5];B[ab];W[ad];B[bb];W[bd];B[cb];W[cd];B[db];W[dd];B[eb];W[ed];B[cc];W[ea];B[];W[])")
# Answers every command, and the questions about the end as its arguments say.
ENGINE = """
import sys
dead, score, log = sys.argv[1:4]
with open(log, "w") as told:
    for line in sys.stdin:
        told.write(line)
        told.flush()
        words = line.split()
        answer = {"list_commands": "boardsize clear_board komi play genmove", "final_score": score}.get(words[0], "")
        if words[0] == "final_status_list" and words[1] == "dead":
            answer = dead
        print("= " + answer + "\\n", flush=True)
        if words[0] == "quit":
            break
"""


def engine(folder: Path, name: str, dead: str, score: str) -> str:
    script = folder / "engine.py"
    script.write_text(ENGINE)
    return shlex.join([sys.executable, str(script), dead, score, str(folder / f"{name}.log")])


def verdict(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_in_process(main, *arguments)


def compare(board: GoBoard, theirs: str, ours: str) -> Comparison:
    verdicts = []
    for dead in (theirs, ours):
        points = parse_points(board, dead.split())
        verdicts.append(Verdict(points, frozenset(), board.final_score(sorted(points))))
    return Comparison("game", board, *verdicts)


@pytest.fixture
def game(tmp_path: Path) -> Path:
    (tmp_path / "games").mkdir()
    path = tmp_path / "games" / "one.sgf"
    path.write_text(GAME)
    return path


def test_a_disagreement_is_printed_with_the_board_and_kept(game: Path, tmp_path: Path) -> None:
    (game.parent / "two.sgf").write_text("(;GM[1]SZ[5];B[aa])")
    table = tmp_path / "table.csv"
    done = verdict(str(game.parent), "--csv", str(table), "--names", "A", "B",
                   "--theirs", engine(tmp_path, "theirs", "E5", "B+0.5"),
                   "--ours", engine(tmp_path, "ours", "", "W+4.5"))
    assert done.returncode == 0, done.stderr
    assert "A: B+0.5, dead E5" in done.stdout and "B: W+4.5, dead nothing" in done.stdout
    assert " 5 .* .* .* .* O*" in done.stdout and "the same winner: 0 of 1" in done.stdout
    assert "two.sgf left out: does not end with two passes" in done.stderr
    rows = list(csv.DictReader(table.open()))
    assert [row["game"] for row in rows] == ["one.sgf"]
    assert (rows[0]["their_dead"], rows[0]["our_dead"], rows[0]["differing_points"]) == ("E5", "", "A5 B5 C5 D5 E5")
    told = (tmp_path / "ours.log").read_text().splitlines()
    assert told[1:5] == ["boardsize 5", "boardsize 5", "komi 0.5", "clear_board"]
    assert told[5:7] == ["play black A4", "play white A2"] and "play white pass" in told


@pytest.mark.parametrize(("name", "status"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_what_was_found_is_kept_when_it_is_stopped(
    game: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, status: int,
) -> None:
    old = signal.signal(signal.SIGTERM, lambda *_: None)
    monkeypatch.setattr(EnginePair, "compare", lambda *_: signal.raise_signal(getattr(signal, name)))
    try:
        done = verdict(str(game.parent), "--csv", str(tmp_path / "table.csv"), "--theirs", "python", "--ours", "python")
    finally:
        signal.signal(signal.SIGTERM, old)
    assert done.returncode == status and "on 0 finished games" in done.stdout and (tmp_path / "table.csv").exists()


def test_agreement_is_silent(game: Path, tmp_path: Path) -> None:
    done = verdict(str(game.parent), "--theirs", engine(tmp_path, "theirs", "E5", "B+0.5"),
                   "--ours", engine(tmp_path, "ours", "E5", "B+0.5"))
    assert done.returncode == 0 and "*" not in done.stdout and "the same winner: 1 of 1" in done.stdout


@pytest.mark.parametrize("answer", ["what", "B+", "+3", "B+x"])
def test_a_foreign_score_ends_with_one_line(game: Path, tmp_path: Path, answer: str) -> None:
    with pytest.raises(EngineError):
        parse_score(answer)


def test_bad_folders_and_engines_give_one_line(game: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    good = engine(tmp_path, "good", "", "0")
    for arguments in ((str(tmp_path / "empty"), "--theirs", good, "--ours", good),
                      (str(game.parent), "--theirs", "no-such-engine", "--ours", good),
                      (str(tmp_path / "missing"),)):
        done = verdict(*arguments)
        assert done.returncode == 2 and len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("asked", ["list_commands", "final_status_list"])
def test_the_messages_of_an_engine_that_fails_are_where_it_says(
        game: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str) -> None:
    """And nothing else stays behind, nor anything where no engine failed."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    good, bad = engine(tmp_path, "good", "", "0"), tmp_path / "bad.py"
    bad.write_text(ENGINE.replace("told.write(line)", f"""
        if line.startswith("{asked}"):
            print("out of", "memory", file=sys.stderr)
            sys.exit(1)"""))
    done = verdict(str(game.parent), "--theirs", good,
                   "--ours", shlex.join([sys.executable, str(bad), "", "0", str(tmp_path / "bad.log")]))
    assert done.returncode != 0 and len(done.stderr.strip().splitlines()) == 1
    path = Path(done.stderr.rpartition("(its messages: ")[2].strip().rstrip(")"))
    assert "out of memory" in path.read_text() and list((tmp_path / "temporary").iterdir()) == [path.parent]
    shutil.rmtree(path.parent)
    assert verdict(str(game.parent), "--theirs", good, "--ours", good).returncode == 0
    assert verdict(str(game.parent), "--theirs", "no-such-engine", "--ours", good).returncode == 2
    assert not list((tmp_path / "temporary").iterdir())


def test_set_up_stones_are_played_before_the_moves(tmp_path: Path) -> None:
    path = tmp_path / "a.sgf"
    path.write_text("(;GM[1]SZ[5]KM[0]AB[aa][cc]AW[dd]PL[W];W[ee];B[];W[])")
    plays = list(list_plays(read_finished_game(path)))
    assert plays == ["play black A5", "play black C3", "play white D2", "play white E1", "play black pass",
                     "play white pass"]


@pytest.mark.parametrize("text", [
    "nothing", "(;GM[1]SZ[5];B[aa];W[aa];B[];W[])", "(;GM[1]SZ[5];B[aa];W[])", "(;SZ[99])",
])
def test_what_is_no_finished_game_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.sgf"
    path.write_text(text)
    with pytest.raises(NotFinishedError) as raised:
        read_finished_game(path)
    assert "\n" not in str(raised.value)


def test_what_counts_as_a_difference(game: Path) -> None:
    board = read_finished_game(game)
    same, other = compare(board, "E5", "E5"), compare(board, "E5", "")
    assert same.same_dead and same.same_score and same.same_winner and same.differing == []
    assert not (other.same_dead or other.same_score or other.same_winner)
    assert other.differing == [board.POS(x, 1) for x in range(1, 6)]
    assert "5 points differ" in format_disagreement(other, ("A", "B"))
    assert "A and B on 2 finished games, 2 of them with dead stones" in format_summary([same, other], ("A", "B"))
    assert draw_board(board, []).count("*") == 0
