"""The doctor's sessions with the program: what goes wrong in them is named."""
from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

from engine.finding import FAIL, OK
from gtp import self_check
from program import PROGRAM_NAME
from tests.engine.test_doctor import make_patient, only

REPLIES = "\n\n".join(("=1 2", f"=2 {PROGRAM_NAME}", "=3 ", "=4 ", "=5 ", "=6 ", "?7 illegal move", "=8 C3", "=9 B+3.0",
                       "?10 unknown command", "=11 ", ""))


def run_as(stdout: str, returncode: int = 0, stderr: str = "") -> Callable:
    """Return a stand-in for the program."""
    return lambda *_: subprocess.CompletedProcess([], returncode, stdout, stderr)


@pytest.mark.parametrize("stdout, returncode, named", [
    (REPLIES, 0, ""), (REPLIES.replace("=8 C3", "=8 c3"), 0, "8 genmove white"), ("", 2, "1 protocol_version"),
    (REPLIES.replace("\n\n?7", "\n?7"), 0, "6 play black B2"), (REPLIES[:-1], 0, "11 quit"),
    (REPLIES + "more\n\n", 0, "last reply"), (REPLIES, 3, "last reply"),
])
def test_a_session_that_goes_wrong(monkeypatch: pytest.MonkeyPatch, stdout: str, returncode: int, named: str):
    monkeypatch.setattr(self_check, "run_program", run_as(stdout, returncode, "a\nlast words"))
    finding = only(self_check.check_gtp(make_patient()))
    assert finding.level == (FAIL if named else OK) and named in finding.text
    assert not named or "last words" in finding.text


@pytest.mark.parametrize("stdout", ["", "{}", "[1]", '{"error":"x","id":"doctor"}'])
def test_an_analysis_that_goes_wrong(monkeypatch: pytest.MonkeyPatch, stdout: str):
    monkeypatch.setattr(self_check, "run_program", run_as(stdout))
    assert only(self_check.check_json(make_patient())).level == FAIL


def test_a_program_that_hangs(monkeypatch: pytest.MonkeyPatch):
    def hang(*_):
        raise subprocess.TimeoutExpired("main.py", 1)

    monkeypatch.setattr(self_check, "run_program", hang)
    for check in (self_check.check_gtp, self_check.check_json):
        assert only(check(make_patient())).level == FAIL
