"""What ends a program: one line and a status, wherever it comes from."""
from __future__ import annotations

import errno
import importlib
import os
import pickle
import signal
import sys
from pathlib import Path
from types import SimpleNamespace

import click
import pytest

from common.command_line import run_command
from common.exit_status import ProgramError, leave, status_of_stop, tell_failures
from common.interrupt import Terminated
from nn.model_file import ModelFileError
from selfplay.worker_pool import SelfPlayError
from tools.comparelib.runs import TrainingFailed
from tools.comparelib.ways import WAYS
from tools.matchlib.errors import MatchError


@pytest.mark.parametrize(("error", "status"), [
    (ProgramError("text"), 2), (ProgramError("text", 1), 1), (ModelFileError("a.bin", "it is none", "find one"), 2),
    (SelfPlayError("text"), 1), (MatchError("text", 130), 130), (TrainingFailed(WAYS[0], 3), 3),
])
def test_an_error_is_the_same_in_another_process(error: ProgramError, status: int) -> None:
    """A pool whose worker sends one that cannot be read waits for ever."""
    back = pickle.loads(pickle.dumps(error))
    assert (type(back), str(back), vars(back)) == (type(error), str(error), vars(error)) and back.status == status


def run(error: BaseException, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Return how a program ends in which an error is raised, and what it says."""
    def fail() -> None:
        with tell_failures("folder", "all is kept", "stopped: go on"):
            raise error

    return run_command(click.Command("main", callback=fail), "program.py", []), capsys.readouterr().err


@pytest.mark.parametrize(("error", "status", "said"), [
    (ProgramError("no such game", 3), 3, "no such game"),
    (OSError(errno.ENOSPC, "No space left on device"), 1, "No space left on device: folder; all is kept"),
    (OSError(errno.EACCES, "Permission denied", "file"), 2, "Permission denied: file; all is kept"),
    (BrokenPipeError(errno.EPIPE, "Broken pipe"), 1,
     "nobody reads what is printed any more (Broken pipe); all is kept"),
    (FileNotFoundError("model file not found"), 2, "model file not found; all is kept"),
    (KeyboardInterrupt(), 130, "stopped: go on"), (Terminated(), 143, "stopped: go on"),
])
def test_a_program_ends_with_one_line(error: BaseException, status: int, said: str,
                                      capsys: pytest.CaptureFixture[str]) -> None:
    assert run(error, capsys) == (status, f"program.py: {said}\n")


def test_one_of_several_processes_speaks(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    command = click.Command("main", params=[click.Option(["--file"], type=click.Path(exists=True))])
    for speaks in True, False:
        assert run_command(command, "program.py", ["--file", str(tmp_path / "none")], speaks=speaks) == 2
        assert bool(capsys.readouterr().err) == speaks
    assert status_of_stop(KeyboardInterrupt()) == 130


def test_an_interruption_while_a_program_ends_is_too_late(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[int] = []
    monkeypatch.setattr(os, "_exit", ended.append)
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(flush=lambda: signal.raise_signal(signal.SIGINT)))
    leave(130)
    assert ended == [130]


@pytest.mark.parametrize("name", ["main", "web"])
def test_a_program_that_ends_imports_nothing_for_that(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes a while, in which a second Ctrl-C was a traceback and then waited for all threads."""
    program, ended = importlib.import_module(name), list[int]()
    monkeypatch.setattr(program, "leave", ended.append)
    monkeypatch.setattr(program, "run_command", lambda *_: 130)
    monkeypatch.setattr(sys, "argv", [name])
    program.run() if name == "main" else program.start()
    assert ended == [130]
