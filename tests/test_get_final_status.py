"""The result correction: the dead stones that GNU Go names come off, games that are not settled stay as they are."""
from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest
from click.testing import Result

import get_final_status
from board.go_board import GoBoard
from get_final_status import AGREED, CORRECTED, NO_RESULT, TURNED, UNSETTLED, GnuGo, correct_file
from tests.files import write_files
from tests.tools.in_process import ProgramRunner

# Black owns the left, White the right part of 5x5; in DEAD a white stone at A1 makes the left nobody's for our count.
MOVES = ";B[ca];W[da];B[cb];W[db];B[cc];W[dc];B[cd];W[dd];B[ce];W[de]"
LIVE = f"(;FF[4]GM[1]SZ[5]\nAP[x]PB[RE\\[x\\]]PW[y]RE[%s]KM[0.5]{MOVES};B[tt]C[1 pass:1.000e+00];W[tt]C[RE[B+9.0\\]]\n)"
DEAD = f"(;FF[4]GM[1]SZ[5]\nRE[%s]KM[0.5]{MOVES};B[];W[ae];B[];W[]\n)"
EMPTY = "(;FF[4]GM[1]SZ[5]RE[W+0.5]KM[0.5];B[];W[])"
EARLY = "(;FF[4]GM[1]SZ[5]RE[B+24.5]KM[0.5];B[cc];W[dd];B[];W[])"
LONG = f"(;FF[4]GM[1]SZ[5]RE[W+24.5]KM[0.5]{MOVES})"
TRUE_RESULT = "B+4.5"


def run(archive: Path, *options: str) -> Result:
    """Run the program; its exit status is `return_value`."""
    return ProgramRunner().invoke(get_final_status.main, ["--kifu-dir", str(archive), *options])


def make_archive(tmp_path: Path, games: dict[str, str]) -> Path:
    return write_files(tmp_path, {"2/1.sgf": LIVE % "W+1.5"} | {f"10/{name}": text for name, text in games.items()})


def pretend_gnugo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    """Put a gnugo first in the path that does this (shell) when it is asked for dead stones."""
    program = tmp_path / "bin" / "gnugo"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nwhile read line; do\n"
                       f"case $line in final*) echo >>{tmp_path}/asked; {answer};; *) echo '= '; echo;; esac\ndone\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")


def test_dead_stones_come_off_and_we_count(tmp_path: Path, gnugo: str) -> None:
    games = {"1.sgf": LIVE % TRUE_RESULT, "2.sgf": LIVE % "W+1.5", "3.sgf": DEAD % "B+9.5", "4.sgf": LIVE % "W+R",
             "5.sgf": "(;SZ[5];B[aa];W[aa])", "6.sgf": "no game", "7.sgf": "(;SZ[5]RE[B+1];B[aa];W[aa])",
             "8.sgf": EMPTY, "9.sgf": EARLY, "10.sgf": LONG}
    folder = make_archive(tmp_path, games) / "10"
    result = run(tmp_path)
    assert result.exit_code == 0, result.stderr
    texts = {path.name: path.read_text() for path in folder.iterdir()}
    assert texts == {**games, "2.sgf": LIVE % TRUE_RESULT, "3.sgf": DEAD % TRUE_RESULT}
    assert (tmp_path / "2" / "1.sgf").read_text() == LIVE % "W+1.5", "only the newest batch"
    assert result.stdout.count("\n") == 1 and not result.stderr, "a summary, not a line for each game"
    for text in ("10 games: 1 results stand, 2 corrected for dead stones (in 1 another side wins)",
                 "3 not settled and left as they are", "1 resigned", "3 not judged (the first: "):
        assert text in result.stdout
    assert "3 results stand, 0 corrected" in run(tmp_path).stdout


@pytest.mark.parametrize(("answer", "reason"), [
    ("sleep 600", "no reply to 'final_status_list dead'"), ("echo '= hello'; echo", "GNU Go calls 'hello' dead stones"),
    ("echo '= C3 C2 E9'; echo", "GNU Go calls 'C3 C2 E9' dead stones"), ("echo '? no'; echo", "GNU Go refuses"),
    ("echo '= A5'; echo", "GNU Go calls 'A5' dead stones"), ("exit 3", "ended"),
])
def test_a_gnu_go_that_hangs_or_talks_nonsense_is_given_up_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, reason: str
) -> None:
    pretend_gnugo(tmp_path, monkeypatch, answer)
    games = {f"{number}.sgf": LIVE % "W+1.5" for number in range(1, 30)}
    archive = make_archive(tmp_path / "archive", games)
    result = run(archive, "--timeout", "0.3" if "sleep" in answer else "30", "--process", "2")
    assert result.exit_code == 1
    assert reason in result.stdout and "not looked at" in result.stdout
    assert result.stderr.count("\n") == 1 and "failed 3 times in a row and is given up on" in result.stderr
    assert 3 <= len((tmp_path / "asked").read_text()) <= 6
    assert {path.name: path.read_text() for path in (archive / "10").iterdir()} == games


def test_ctrl_c_ends_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend_gnugo(tmp_path, monkeypatch, "sleep 3600")
    archive = make_archive(tmp_path / "archive", {f"{number}.sgf": LIVE % "W+1.5" for number in range(1, 9)})

    def interrupt() -> None:
        while not (tmp_path / "asked").exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    result = run(archive, "--timeout", "3600")
    thread.join()
    assert result.exit_code == 130 and "8 not looked at" in result.stdout and not result.stderr


def test_without_gnu_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(get_final_status.shutil, "which", lambda *_, **__: None)
    result = run(make_archive(tmp_path, {"1.sgf": LIVE % "W+1.5"}))
    assert result.exit_code == 2
    assert result.stderr == ("get_final_status.py: GNU Go is not installed (Debian: apt install gnugo); "
                             "no result was changed\n")


@pytest.mark.parametrize("folders", [[], ["1"], ["x"]])
def test_an_archive_without_games(tmp_path: Path, gnugo: str, folders: list[str]) -> None:
    for name in folders:
        (tmp_path / name).mkdir()
    result = run(tmp_path)
    assert result.exit_code == 2 and result.stderr.count("\n") == 1 and "no games in" in result.stderr


class Oracle(GnuGo):
    """Calls the stones on these points dead."""

    def __init__(self, names: str) -> None:
        super().__init__("none", 1.0)
        self._names = names

    def find_dead_stones(self, board: GoBoard) -> list[int]:
        return [board.coordinate.convert_from_gtp_format(name) for name in self._names.split()]


@pytest.mark.parametrize(("text", "dead", "kind", "after"), [
    (LIVE % "W+1.5", "", TURNED, LIVE % TRUE_RESULT), (DEAD % "B+9.5", "A1", CORRECTED, DEAD % TRUE_RESULT),
    (DEAD % TRUE_RESULT, "A1", AGREED, DEAD % TRUE_RESULT), (DEAD % "B+9.5", "", UNSETTLED, DEAD % "B+9.5"),
    (LIVE.replace("RE[%s]", ""), "", NO_RESULT, LIVE.replace("RE[%s]", "")),
])
def test_what_comes_of_a_game(tmp_path: Path, text: str, dead: str, kind: str, after: str) -> None:
    path = tmp_path / "1.sgf"
    path.write_text(text)
    assert (correct_file(path, Oracle(dead)).kind, path.read_text()) == (kind, after)
