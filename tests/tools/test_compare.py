"""The comparison of ways to train: what is chosen, what is run, what the table says, and that nothing is done twice."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from common.lock_file import take_lock
from tests.marks import unix_only
from tests.tools.in_process import run_in_process
from tools.compare import LOCK_FILE, main
from tools.comparelib import runs
from tools.comparelib.runs import CompareConfig, play_base, run_training
from tools.comparelib.ways import WAYS, choose_ways, read_way
from tools.matchlib.config import MatchConfig
from tools.matchlib.standing import Standing


def compare(tmp_path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the program on an empty folder of data."""
    return run_in_process(main, "--data-dir", str(tmp_path), "--dir", str(tmp_path / "ways"), "--out",
                          str(tmp_path / "ways.md"), "--minutes", "3", *options)


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The trainings that are started; they write their table and nothing else, and sgd fails."""
    started: list[list[str]] = []

    def run(command: list[str], **_: Any) -> SimpleNamespace:
        started.append(command)
        model = Path(command[command.index("--output") + 1])
        model.write_text(" ".join(command))
        model.with_name(f"{model.stem}-metrics.csv").write_text(
            "step,test_policy_loss,test_move_top1,test_lead_error\n1000,,,\n1234,1.5,0.6543,0\n")
        return SimpleNamespace(returncode=3 * ("sgd" in command))

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(runs, "measure_speed", lambda _: 4321.0)
    monkeypatch.setattr(runs, "play_games", lambda config: Standing(30, 0, 10))
    return started


def test_a_table_has_a_row_for_each_way(tmp_path: Path, commands: list[list[str]]) -> None:
    own = ("--way", "wide=--filters 64", "--base", "--head pooled")
    done = compare(tmp_path, "--ways", "block-se", *own, "--games", "40")
    assert done.returncode == 0, done.stderr
    assert [command[2:6] for command in commands][1:] == [
        ["--head", "pooled", "--block", "se"], ["--head", "pooled", "--filters", "64"]]
    page = (tmp_path / "ways.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    assert page in done.stdout and [row.split(" | ")[0] for row in rows] == ["| way", "| base", "| block-se", "| wide"]
    assert rows[1].endswith("| 4,321 | 0 |") and "| 1234 | 1.500 | – | 65.4% | – | – | – | – | 4,321 |" in rows[1]
    assert "| `--filters 64` |" in rows[3] and rows[3].endswith("| +191 [+69, +313], 40 games |")


def test_networks_that_have_learnt_on_play_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    matches: list[MatchConfig] = []
    monkeypatch.setattr(runs, "play_games", matches.append)
    config = CompareConfig(tmp_path, tmp_path, 1.0, "", games=2)
    for numbers in ("00", "00", "10", "11"):
        for way, number in zip(WAYS[:2], numbers, strict=True):
            config.model_of(way).parent.mkdir(exist_ok=True)
            config.model_of(way).write_text(number)
        play_base(config, WAYS[1], WAYS[0])
    assert matches[0] == matches[1] and len({match.directory for match in matches}) == 3


@pytest.mark.parametrize(("base", "size"), [
    ("--head pooled", 9), ("--head pooled --size 13", 13), ("--size=13 --size 7 --blocks 2", 7),
])
def test_networks_play_on_the_board_that_they_learn(
    base: str, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    matches: list[MatchConfig] = []
    monkeypatch.setattr(runs, "play_games", matches.append)
    play_base(CompareConfig(tmp_path, tmp_path, 1.0, base, games=2), WAYS[1], WAYS[0])
    assert [match.size for match in matches] == [size]


def test_a_training_that_fails_ends_the_comparison_with_its_status(tmp_path: Path, commands: list[list[str]]) -> None:
    done = compare(tmp_path, "--ways", "optimizer-sgd")
    assert done.returncode == 3
    assert done.stderr == "compare.py: the training of optimizer-sgd ended with status 3; the same command goes on\n"
    assert "| base |" in (tmp_path / "ways.md").read_text(), "what is done stands in the table"


# Takes its time when it is stopped, as training does over its step and its checkpoint.
SLOW_TO_STOP = """
import os, pathlib, signal, sys, time
folder = pathlib.Path(sys.argv[1])
def stop(*_):
    time.sleep(0.6)
    (folder / "kept").touch()
    sys.exit(130)
signal.signal(signal.SIGINT, stop)
(folder / "written").write_text(str(os.getpid()))
(folder / "written").rename(folder / "begun")
time.sleep(60.0)
"""


@unix_only
def test_a_training_that_is_stopped_keeps_what_it_has_done(tmp_path: Path) -> None:
    def press_ctrl_c() -> None:
        while not (tmp_path / "begun").exists():
            time.sleep(0.02)
        for process in (os.getpid(), int((tmp_path / "begun").read_text())):
            os.kill(process, signal.SIGINT)

    thread = threading.Thread(target=press_ctrl_c, daemon=True)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        run_training([sys.executable, "-S", "-c", SLOW_TO_STOP, str(tmp_path)])
    thread.join()
    assert (tmp_path / "kept").exists() and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert run_training([sys.executable, "-S", "-c", "import os; os.kill(os.getpid(), 9)"]) == 137


@unix_only
def test_two_runs_do_not_train_in_one_folder(tmp_path: Path, commands: list[list[str]]) -> None:
    lock = take_lock(tmp_path / "ways" / LOCK_FILE)
    assert lock is not None
    with lock:
        done = compare(tmp_path, "--ways", "base")
        assert done.returncode == 2 and "another compare.py" in done.stderr and not commands
    assert compare(tmp_path, "--ways", "base").returncode == 0


@unix_only
def test_a_training_holds_the_lock_too(tmp_path: Path) -> None:
    lock = take_lock(tmp_path / LOCK_FILE)
    assert lock is not None
    with lock:
        os.set_inheritable(lock.fileno(), True)
        look = "import os, sys; os.fstat(int(sys.argv[1]))"
        assert run_training([sys.executable, "-S", "-c", look, str(lock.fileno())]) == 0


@pytest.mark.parametrize(("options", "complaint"), [
    (["--ways", "block-sea"], "there is no way 'block-sea': choose from base, block-res"),
    (["--way", "wide"], "'wide' is not NAME=OPTIONS"), (["--way", "../x=--filters 8"], "is not NAME=OPTIONS"),
    (["--way", "wide=--filters '8"], "--way wide: No closing quotation: --filters '8"),
    (["--base", '--head "pooled'], '--base: No closing quotation: --head "pooled'),
    (["--ways", "block-se", "--way", "block-se=--block se"], "block-se is given twice"),
])
def test_a_bad_option_is_one_line(
    tmp_path: Path, options: list[str], complaint: str, commands: list[list[str]],
) -> None:
    done = compare(tmp_path, *options)
    assert done.returncode == 2 and complaint in done.stderr and done.stderr.count("\n") == 1 and not commands


def test_the_base_is_always_there_and_own_ways_stand_alone() -> None:
    assert choose_ways("", []) == list(WAYS)
    own = read_way("wide= --filters 64 ")
    assert own == ("wide", "--filters 64") and choose_ways("", [own]) == [WAYS[0], own]
    assert [way.name for way in choose_ways("block-se,base", [])] == ["base", "block-se"]
