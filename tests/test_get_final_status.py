"""The result correction: GNU Go's verdict in the files, and the comparison with our own count."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

# Black owns the left, White the right part of 5x5; in DEAD a white stone at A1 makes the left nobody's for our count.
MOVES = ";B[ca];W[da];B[cb];W[db];B[cc];W[dc];B[cd];W[dd];B[ce];W[de]"
LIVE = f"(;FF[4]GM[1]SZ[5]\nAP[x]PB[RE\\[x\\]]PW[y]RE[%s]KM[0.5]{MOVES};B[tt]C[1 pass:1.000e+00];W[tt]C[RE[B+9.0\\]]\n)"
DEAD = f"(;FF[4]GM[1]SZ[5]\nRE[%s]KM[0.5]{MOVES};B[];W[ae];B[];W[]\n)"
TRUE_RESULT = "B+4.5"


def run(root: Path, archive: Path, *options: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = os.environ if path is None else {**os.environ, "PATH": path}
    return subprocess.run([sys.executable, str(root / "get_final_status.py"), "--kifu-dir", str(archive), *options],
                          capture_output=True, text=True, timeout=300, env=environment)


def make_archive(tmp_path: Path, games: dict[str, str]) -> Path:
    for number in ("2", "10"):
        (tmp_path / number).mkdir()
    (tmp_path / "2" / "1.sgf").write_text(LIVE % "W+1.5")
    for name, text in games.items():
        (tmp_path / "10" / name).write_text(text)
    return tmp_path


def test_results_become_those_of_gnu_go(root: Path, tmp_path: Path, gnugo: str) -> None:
    games = {"1.sgf": LIVE % TRUE_RESULT, "2.sgf": LIVE % "W+1.5", "3.sgf": DEAD % "B+9.5", "4.sgf": LIVE % "W+R",
             "5.sgf": "(;SZ[5];B[aa];W[aa])", "6.sgf": "no game", "7.sgf": "(;SZ[5]RE[B+1];B[aa];W[aa])"}
    folder = make_archive(tmp_path, games) / "10"
    result = run(root, tmp_path, path="/usr/bin:/bin")  # /usr/games is looked into all the same
    assert result.returncode == 0, result.stderr
    texts = {path.name: path.read_text() for path in folder.iterdir()}
    assert texts == {**games, "2.sgf": LIVE % TRUE_RESULT, "3.sgf": DEAD % TRUE_RESULT}
    assert (tmp_path / "2" / "1.sgf").read_text() == LIVE % "W+1.5", "only the newest batch"
    assert "3 games judged by GNU Go, 1 resigned, 3 not judged" in result.stdout
    assert "it disagrees with our count in 1 (33.3 %), on the winner in 1; 1 because of dead stones" in result.stdout
    assert "2 files changed" in result.stdout
    assert "A1 dead" in result.stdout and "W+6.5 by our count" in result.stdout
    assert result.stderr.count("left as it is") == 3 and "7.sgf: move 2 is illegal" in result.stderr
    again = run(root, tmp_path)
    assert "0 files changed" in again.stdout


def test_a_gnu_go_that_does_not_answer(root: Path, tmp_path: Path) -> None:
    """A time-out leaves the file alone; a new process is started for the next game."""
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    program = bin_folder / "gnugo"
    program.write_text("#!/bin/sh\nwhile read line; do\n"
                       "case $line in final_score) sleep 60;; *) echo '= '; echo;; esac\ndone\n")
    program.chmod(0o755)
    archive = tmp_path / "archive"
    archive.mkdir()
    make_archive(archive, {"1.sgf": LIVE % "W+1.5", "2.sgf": LIVE % "W+1.5"})
    result = run(root, archive, "--timeout", "0.5", path=f"{bin_folder}:/usr/bin:/bin")
    assert result.returncode == 1
    assert result.stderr.count("no reply to 'final_score'") == 2
    assert (archive / "10" / "1.sgf").read_text() == LIVE % "W+1.5"


def test_without_gnu_go(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    import get_final_status

    monkeypatch.setattr(get_final_status.shutil, "which", lambda *_, **__: None)
    archive = make_archive(tmp_path, {"1.sgf": LIVE % "W+1.5"})
    result = CliRunner().invoke(get_final_status.main, ["--kifu-dir", str(archive)], standalone_mode=False)
    assert result.return_value == 2
    assert result.stderr == ("get_final_status.py: GNU Go is not installed (Debian: apt install gnugo); "
                             "no result was changed\n")


@pytest.mark.parametrize("folders", [[], ["1"], ["x"]])
def test_an_archive_without_games(root: Path, tmp_path: Path, gnugo: str, folders: list[str]) -> None:
    for name in folders:
        (tmp_path / name).mkdir()
    result = run(root, tmp_path)
    assert result.returncode == 2 and result.stderr.count("\n") == 1 and "no games in" in result.stderr
