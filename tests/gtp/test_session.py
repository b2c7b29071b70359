"""Whole sessions: through the loop in this process, and through main.py as a controller starts it."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest

from board.stone import Stone
from engine.loader import EngineLoader
from engine.options import EngineOptions, describe_time_conflict, find_model
from gtp import session
from gtp.analysis.server import run_analysis
from gtp.client import GtpClient, run_gtp
from gtp.reader import LineReader
from gtp.session import SEARCH_AFTER_END
from nn.model_file import ModelFileError
from program import PROGRAM_NAME, VERSION
from tests.gtp.players import ROOT, Controller, FakeEvaluator, run_main, start_main
from tests.marks import unix_only


def test_pipelined_session_with_ids_comments_and_crlf():
    text = (b"1 name\r\n# a comment\r\n\r\n  2 version # why not\r\n3\tplay\tb\te5\r\n4play w e5\r\n5\r\nfoo\r\n"
            b"6 known_command foo\r\n7 quit\r\n8 name\r\n")
    status, output = Controller().serve(text[:20], text[20:21], text[21:])
    assert status == 0
    assert output == (f"=1 {PROGRAM_NAME}\n\n=2 {VERSION}\n\n=3 \n\n?4 illegal move\n\n? unknown command\n\n"
                      "=6 false\n\n=7 \n\n")


def test_end_of_input_without_newline_or_quit():
    assert Controller().serve(b"name") == (0, f"= {PROGRAM_NAME}\n\n")
    assert Controller().serve() == (0, "")


def test_the_last_search_of_a_piped_input_gets_its_time(monkeypatch: pytest.MonkeyPatch):
    """Counted from its begin, or from when its engine is there, and no longer."""
    now = [0.0]

    def pass_time(seconds: float) -> None:
        now[0] += seconds

    class SlowEvaluator(FakeEvaluator):
        def __init__(self, size: int) -> None:
            super().__init__(size)
            pass_time(60.0)

        def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            pass_time(0.1)
            return super().__call__(planes)

    monkeypatch.setattr(session, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=pass_time))
    gtp = Controller(size=5, visits=1_000_000, batch_size=1, make=SlowEvaluator)
    gtp.client.session.reader = reader = LineReader(lambda: b"")
    reader.ended_at = 0.0
    for command in ("genmove b", "lz-genmove_analyze w", "kata-search b"):
        begun_at = now[0]
        assert (gtp.raw(command) or "").startswith("=")
        spent = now[0] - begun_at - (60.0 if begun_at == 0.0 else 0.0)
        assert SEARCH_AFTER_END < spent < SEARCH_AFTER_END + 1.0
    assert gtp.ask("printsgf").startswith("(;")


def test_garbage_gets_failures_and_the_session_goes_on():
    garbage = bytes(range(256)) + b"\n" + b"\xff\xfe play \x80\n" + b"play " * 100_000 + b"\n" + b"\x00\n"
    status, output = Controller().serve(garbage, b"9 name\n")
    assert status == 0
    assert output.endswith(f"=9 {PROGRAM_NAME}\n\n")
    frames = output.split("\n\n")
    assert all(frame.startswith(("= ", "=9", "? ")) for frame in frames[:-1])


def test_overlong_line_is_refused():
    status, output = Controller().serve(b"5 name " + b"x" * 5_000_000 + b"\n6 name\n")
    assert (status, output) == (0, f"?5 line too long\n\n=6 {PROGRAM_NAME}\n\n")


def test_an_unexpected_error_is_one_failure_line(capfd: pytest.CaptureFixture):
    gtp = Controller()
    gtp.engine.board = None  # type: ignore[assignment]
    reply = gtp.raw("3 showboard")
    assert reply is not None and reply.startswith("?3 internal error: AttributeError") and reply.count("\n") == 2
    assert "showboard: internal error" in capfd.readouterr().err


def test_a_network_that_fails_within_an_open_reply_does_not_begin_a_second_one(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture,
) -> None:
    controller = Controller()
    monkeypatch.setattr(controller.engine, "analyze", Mock(side_effect=ModelFileError("x.bin", "it is damaged", "")))
    assert controller.raw("3 lz-analyze 10") == "=3\n\n"
    assert "Error in lz-analyze: cannot use model x.bin: it is damaged" in capfd.readouterr().err


def test_questions_are_answered_without_the_engine():
    loads = []
    replies: list[str] = []

    def load(options: EngineOptions):
        loads.append(options)
        raise ValueError("the model is broken")

    client = GtpClient(EngineOptions(), load, replies.append)
    data = iter([b"name\nversion\nprotocol_version\nlist_commands\nknown_command play\nfoo\nquit\n", b""])
    assert client.run(LineReader(lambda: next(data))) == 0
    assert len(replies) == 7 and not loads


@pytest.mark.parametrize("text", [b"", b"showboard\n"])
def test_a_model_that_cannot_be_loaded_ends_the_program(text: bytes, capfd: pytest.CaptureFixture):
    def load(options: EngineOptions):
        raise ValueError("the model\nis broken")

    replies: list[str] = []
    client = GtpClient(EngineOptions(), load, replies.append)
    chunks = [text] if text else []

    def read() -> bytes:
        if chunks:
            return chunks.pop()
        time.sleep(60)
        return b""

    assert client.run(LineReader(read)) == 2
    assert replies == []
    assert capfd.readouterr().err == "the model is broken\n"


def test_nobody_reads_the_replies():
    def write(_: str) -> None:
        raise BrokenPipeError

    client = GtpClient(EngineOptions(), lambda options: None, write)  # type: ignore[arg-type, return-value]
    data = iter([b"name\n", b""])
    assert client.run(LineReader(lambda: next(data))) == 0


def test_model_lookup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    beside, here = tmp_path / "program", tmp_path / "here"
    for folder in (beside, here):
        (folder / "model").mkdir(parents=True)
    monkeypatch.chdir(here)
    (beside / "model" / "a.bin").touch()
    assert find_model("model/a.bin", folder=beside) == str(beside / "model" / "a.bin")
    (here / "model" / "a.bin").touch()
    assert find_model("model/a.bin", folder=beside) == "model/a.bin"
    assert find_model("None", folder=beside) == "none"
    with pytest.raises(FileNotFoundError, match="here/b.bin and .*program/b.bin"):
        find_model("b.bin", folder=beside)


def test_options_from_another_folder_are_those_of_the_bundled_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """As main.py finds it; what is nowhere is told where it is loaded."""
    expected = EngineOptions().for_model().search_params()
    monkeypatch.chdir(tmp_path)
    assert EngineOptions().for_model().search_params() == expected and expected.selection.playouts == 0
    options = EngineOptions(model="none", value_model="model/model.bin")
    assert options.for_model().search_params().selection.playouts == 0
    assert EngineOptions(model="missing.bin").for_model() == EngineOptions(model="missing.bin")


def test_models_of_an_ensemble_are_looked_up_one_by_one(tmp_path: Path):
    for name in ("a.bin", "b.bin", "c,d.bin"):
        (tmp_path / name).touch()
    assert find_model("a.bin, b.bin", folder=tmp_path) == f"{tmp_path}/a.bin,{tmp_path}/b.bin"
    assert find_model("c,d.bin", folder=tmp_path) == f"{tmp_path}/c,d.bin"
    with pytest.raises(FileNotFoundError, match="program/e.bin|e.bin; give its path"):
        find_model("a.bin,e.bin", folder=tmp_path)


def test_note_on_conflicting_times():
    assert describe_time_conflict(EngineOptions(visits=5)) is None
    note = describe_time_conflict(EngineOptions(visits=5, strict_visits=6, time=7.0))
    assert note == "Note: --time takes precedence, --strict-visits and --visits ignored"


@pytest.mark.parametrize("options, named", [
    (["--size", "1"], "--size"), (["--size", "20"], "--size"), (["--visits", "0"], "--visits"),
    (["--time", "0"], "--time"), (["--time", "nan"], "--time"), (["--komi", "nan"], "--komi"),
    (["--const-time", "-1"], "--const-time"), (["--const-time", "inf"], "--const-time"),
    (["--strict-visits", "x"], "--strict-visits"), (["--batch-size", "0"], "--batch-size"),
    (["--tree-size", "0"], "--tree-size"), (["--superko", "perhaps"], "--superko"), (["--lag", "-1"], "--lag"),
    (["--model", "there/is/none.bin"], "there/is/none.bin"), (["--no-such-option"], "--no-such-option"),
    (["argument"], "argument"), (["--override-version", ""], "--override-version"),
    (["--resign-streak", "0"], "--resign-streak"), (["--policy-temperature", "0"], "--policy-temperature"),
    (["--gpus", "0,x"], "--gpus"), (["--gpus", "1,1"], "1,1"), (["--threads", "0"], "--threads"),
    (["--model", "model/model.bin,there/is/none.bin"], "there/is/none.bin"),
    (["--playouts", "-1"], "--playouts"), (["--playouts", "10001"], "--playouts"),
    (["--model", "model/model.bin,"], "a name is missing beside the comma"),
    (["--playout-share", "0.5"], "--playout-share needs games that are played out"),
    (["--model", "model/dual-net.bin", "--rollout", "patterns", "--playouts", "0"], "--rollout needs games"),
    (["--model", "model/dual-net.bin", "--lead-weight", "0.1"], "--lead-weight is for a network that tells leads"),
    (["--value-model", "model/dual-net.bin", "--lead-weight", "0.1"], "--lead-weight is for a network that tells"),
    (["--resign-threshold", "5"], "--resign-threshold"),
    (["--solve", "true", "--prune", "0.9"], "--solve proves by all moves"),
])
def test_bad_options_are_one_line_and_exit_2(options: list[str], named: str):
    from click.testing import CliRunner  # only here: click belongs to the entry scripts

    import main
    result = CliRunner().invoke(main.main, options, standalone_mode=False)
    assert result.exception is not None and result.stdout == ""
    assert named in str(getattr(result.exception, "format_message", lambda: "")())


@pytest.mark.slow
def test_main_reports_errors_in_one_line(tmp_path: Path):
    for options in (["--size", "1"], ["--model", "nothing.bin"], ["--frobnicate"]):
        status, out, err = run_main(*options, cwd=tmp_path)
        assert (status, out) == (2, "")
        assert err.startswith("main.py: ") and err.count("\n") == 1


def test_main_answers_name_at_once_and_leaves_at_the_end_of_input():
    process = start_main("--model", "none")
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(b"name\n")
    process.stdin.flush()
    reply = process.stdout.readline() + process.stdout.readline()
    assert reply == f"= {PROGRAM_NAME}\n\n".encode()
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, b"")


@unix_only
def test_main_without_a_stdout_says_so_in_one_line():
    for options in ("", "--analysis-json true"):
        shell = f'exec "$0" main.py --model none {options} >&-'
        result = subprocess.run(["sh", "-c", shell, sys.executable], cwd=ROOT, input="name\n", capture_output=True,
                                text=True, timeout=60, check=False)
        assert result.returncode == 2
        assert result.stderr == "main.py: stdout is closed, and the answers are to go there\n"


@pytest.mark.slow
def test_main_plays_a_game(tmp_path: Path):
    commands = ("name", "boardsize 5", "komi 0.5", "play b c3", "genmove w", "genmove b", "final_score", "quit")
    text = "".join(f"{number} {command}\r\n" for number, command in enumerate(commands, start=1))
    status, out, err = run_main("--model", "none", "--size", "5", "--visits", "20", text=text, cwd=tmp_path)
    assert status == 0
    frames = out.split("\n\n")
    assert [frame[:2] for frame in frames] == ["=1", "=2", "=3", "=4", "=5", "=6", "=7", "=8", ""]
    assert "GTP ready" in err.splitlines()
    assert "Traceback" not in err and "Error" not in err


@pytest.mark.slow
def test_main_with_a_damaged_model(tmp_path: Path):
    (tmp_path / "broken.bin").write_bytes(b"not a model")
    process = start_main("--model", "broken.bin", cwd=tmp_path)
    out, err = b"", b""
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    status = process.wait(timeout=120)  # stdin stays open and silent
    out, err = process.stdout.read(), process.stderr.read()
    assert (status, out) == (2, b"")
    lines = [line for line in err.splitlines() if not line.startswith(b"Still loading")]
    assert len(lines) == 1 and b"broken.bin" in lines[0]


@pytest.mark.slow
@unix_only
def test_main_ends_quietly_on_ctrl_c():
    process = start_main("--model", "none", "--const-time", "600")
    assert process.stdin is not None and process.stderr is not None
    process.stdin.write(b"genmove b\n")
    process.stdin.flush()
    while process.stderr.readline() not in (b"GTP ready\n", b""):
        continue
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, b"")
    assert b"Traceback" not in err


@pytest.mark.slow
@unix_only
def test_an_analysis_ends_by_the_signal_that_gogui_sends():
    process = start_main("--model", "none", "--size", "5")
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(b"1 gogui-sigint\n2 kata-analyze b 20\n")
    process.stdin.flush()
    while not (line := process.stdout.readline()).startswith(b"info"):
        assert line
    process.send_signal(signal.SIGINT)
    while (line := process.stdout.readline()).startswith(b"info"):
        continue
    assert line == b"\n" and process.communicate(b"3 name\n4 quit\n", 60)[0].startswith(b"=3 ")


@pytest.mark.slow
def test_main_answers_when_interrupted():
    process = start_main("--model", "none", "--const-time", "600", "--size", "5")
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(b"1 genmove b\n# interrupt\n2 name\n3 quit\n")
    process.stdin.flush()
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert [frame[:2] for frame in out.decode().split("\n\n")] == ["=1", "=2", "=3", ""]


@pytest.mark.parametrize("run", [run_gtp, run_analysis])
def test_a_second_interruption_does_not_disturb_the_end(
    run: Callable[[EngineOptions], int], monkeypatch: pytest.MonkeyPatch,
):
    def get(reader: LineReader, timeout: float | None = None) -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        finally:  # what Python's queues do then; when that is broken off they let go of a lock that they do not have
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                raise RuntimeError("release unlocked lock") from None

    monkeypatch.setattr(LineReader, "start", lambda reader: None)
    monkeypatch.setattr(LineReader, "get", get)
    monkeypatch.setattr(EngineLoader, "start", lambda loader: None)
    assert run(EngineOptions()) == 0


def test_visits_that_are_set_take_the_place_of_those_a_search_must_make():
    gtp = Controller(strict_visits=50)
    assert gtp.ask("kata-get-param maxVisits") == "50"
    gtp.ask("kata-set-param maxVisits 9")
    assert gtp.ask("kata-get-param maxVisits") == "9" and gtp.engine.time.limit(Stone.BLACK, 5, 1).visits == 9


def test_who_never_resigns_says_so():
    assert Controller(resign_threshold=0.0).ask("kata-get-param allowResignation") == "false"
