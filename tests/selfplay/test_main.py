"""The self-play program as a user runs it: its files, its words, and that nothing finished is ever lost."""
from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest

import selfplay_main
from board.coordinate import Coordinate
from selfplay.archive import BATCH_FILE, LOG_FILE, BatchSettings, open_batch
from selfplay.estimate import estimate_batch
from selfplay.game import EndReason
from selfplay.progress import BatchProgress, GameSummary, format_duration
from selfplay.worker_pool import SelfPlayError
from sgf.match_result import MatchResult
from sgf.reader import SGFReader
from sgf.selfplay_record import decode_policy_comment
from tests.marks import unix_only

SECONDS = 300
SMALL = ["--size", "4", "--visits", "2", "--model", "none", "--use-gpu", "false", "--batch-size", "16"]


def command(root: Path, archive: Path, *arguments: str) -> list[str]:
    return [sys.executable, str(root / "selfplay_main.py"), "--save-dir", str(archive), *SMALL, *arguments]


def run(root: Path, archive: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(root, archive, *arguments), capture_output=True, text=True, timeout=SECONDS)


def games(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.sgf")}


def check_batch(folder: Path, count: int) -> None:
    """Every game is there, whole and with a result, and nothing else is."""
    for number in range(1, count + 1):
        reader = SGFReader(folder / f"{number}.sgf", 4)
        assert reader.result != MatchResult.UNKNOWN and reader.event.startswith("self-play, ")
        for move in range(reader.get_n_moves()):
            policy = decode_policy_comment(reader.get_comment(move), Coordinate(4))
            assert reader.get_move_data(move) in policy and sum(policy.values()) == pytest.approx(1, abs=0.01)
    assert {path.name for path in folder.iterdir()} == {
        BATCH_FILE, LOG_FILE, *(f"{number}.sgf" for number in range(1, count + 1))}


@unix_only
@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no /proc")
def test_batches_follow_one_another_and_a_worker_that_dies_is_replaced(root: Path, tmp_path: Path) -> None:
    archive = tmp_path / "new" / "archive"
    first = run(root, archive, "--num-data", "30", "--seed", "5", "--process", "2", "--komi", "0.5")
    assert first.returncode == 0, first.stderr
    check_batch(archive / "1", 30)
    assert first.stdout.startswith("Self play visits : 2\n") and "Generating    30/   30 games" in first.stdout
    for word in ("games/hour", "moves/s", "moves a game", "Black wins", "resignation", "errors 0", "time left 0:00:00"):
        assert word in first.stdout
    assert "Generating    30/   30 games" in (archive / "1" / LOG_FILE).read_text()
    assert b"KM[0.5]" in games(archive / "1")["1.sgf"]

    (archive / "notes").mkdir()
    second = command(root, archive, "--num-data", "6", "--seed", "5", "--process", "1", "--komi", "0.5")
    again, err = lose_a_worker(second)
    assert "a worker ended with status -9" in err and "errors 1" in again
    check_batch(archive / "2", 6)
    texts = [games(archive / str(number))["1.sgf"] for number in (1, 2)]
    assert texts[0] != texts[1], "the same seed in another batch means other games"


def lose_a_worker(program: list[str]) -> tuple[str, str]:
    """Kill the first worker while it still starts, so that no machine is too busy for it to be met at work."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(program, start_new_session=True, stdout=pipe, stderr=pipe, text=True)
    workers: list[int] = []
    while not workers:
        time.sleep(0.01)
        assert process.poll() is None
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        workers = [int(child) for child in children if "spawn_main" in Path(f"/proc/{child}/cmdline").read_text()]
    os.kill(workers[0], signal.SIGKILL)
    out, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, err
    return out, err


@unix_only
@pytest.mark.slow
def test_killed_at_random_moments(root: Path, tmp_path: Path) -> None:
    """A single parent and a whole group are killed outright; what was written stays, and the batch is finished."""
    archive, rng = tmp_path / "archive", random.Random(int(os.environ.get("KILL_SEED", "0")))
    start = command(root, archive, "--num-data", "1500", "--process", "1", "--seed", "1")
    folder = archive / "1"
    before: dict[str, bytes] = {}
    for kill in range(2):
        process = subprocess.Popen(start, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + SECONDS
        while len(games(folder)) <= len(before) and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(rng.uniform(0, 0.5))
        if kill == 0:
            process.kill()  # the worker must notice for itself
            process.wait()
            wait_for_quiet(folder)
        else:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        after = games(folder)
        assert len(after) > len(before)
        assert {name: after[name] for name in before} == before
        assert all(text.endswith(b"\n)") and text.startswith(b"(;") for text in after.values())
        before = after
    last = run(root, archive, "--num-data", str(len(before) + 20), "--process", "1", "--seed", "1")
    assert last.returncode == 0, last.stderr
    assert f"going on with {folder}" in last.stderr
    after = games(folder)
    assert {name: after[name] for name in before} == before
    assert [path.name for path in archive.iterdir() if path.is_dir()] == ["1"]
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def wait_for_quiet(folder: Path) -> None:
    """Wait until nobody writes to a folder any more."""
    count = -1
    while count != len(games(folder)):
        count = len(games(folder))
        time.sleep(1.0)


@unix_only
@pytest.mark.slow
@pytest.mark.parametrize(("number", "times"), [(signal.SIGINT, 2), (signal.SIGTERM, 1)])
def test_stopped_by_a_signal(root: Path, tmp_path: Path, number: signal.Signals, times: int) -> None:
    archive = tmp_path / "archive"
    process = subprocess.Popen(command(root, archive, "--num-data", "5000", "--process", "1"), start_new_session=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while len(games(archive / "1")) < 3:
        time.sleep(0.05)
        assert process.poll() is None
    for _ in range(times):
        os.killpg(process.pid, number)  # as a terminal does for Ctrl-C
        time.sleep(0.1)
    out, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 128 + number
    assert f"stopped by {number.name}: the same command goes on with {archive / '1'}" in err
    assert "Traceback" not in err
    done = games(archive / "1")
    assert f"Generating {len(done):5d}/ 5000 games" in out or number == signal.SIGTERM
    assert all(text.endswith(b"\n)") for text in done.values())


@unix_only
@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.0, 0.6])
def test_ctrl_c_while_a_worker_still_imports(root: Path, tmp_path: Path, seconds: float) -> None:
    archive = tmp_path / "archive"
    process = subprocess.Popen(command(root, archive, "--num-data", "5000", "--process", "1"), start_new_session=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (archive / "1" / LOG_FILE).exists():
        time.sleep(0.01)
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 130 and err.splitlines()[-1].startswith("stopped by SIGINT")
    assert "Traceback" not in err


@pytest.mark.parametrize(("arguments", "complaint"), [
    (["--visits", "1"], "--visits"), *(([name, str(2**70)], name) for name in (
        "--visits", "--fast-visits", "--opening-moves", "--num-data", "--batch-size", "--cache-mb")),
    (["--komi", "nan"], "--komi"), (["--komi", "400"], "--komi"),
    (["--no-resign-rate", "2"], "--no-resign-rate"),
    (["--model", "no-such-model.bin"], "no-such-model.bin"),
    (["--save-dir", __file__], "--save-dir"), (["--process", "0"], "--process"),
    (["--opening-moves", "-1"], "--opening-moves"), (["--opening-temperature", "0"], "--opening-temperature"),
    (["--opening-temperature", "nan"], "--opening-temperature"),
    (["--policy-temperature", "nan"], "--policy-temperature"), (["--resign-threshold", "nan"], "--resign-threshold"),
    (["--no-resign-rate", "nan"], "--no-resign-rate"),
    (["--target-scale", "0"], "--target-scale"), (["--target-scale", "inf"], "--target-scale"),
    (["--save-dir", "/proc/archive"], "/proc/archive"),
    (["--opening-temperature", "1.5"], "--opening-temperature is that of the --opening-moves: give --opening-moves N"),
    (["--root-noise", "0.1"], "--root-noise is for --search puct"),
    (["--target", "visits", "--target-scale", "0.3"], "--target-scale is for --target improved"),
    (["--fast-visits", "3"], "--fast-visits needs moves that have less than all --visits"),
    (["--resign-threshold", "0", "--no-resign-rate", "0.5"], "--no-resign-rate means nothing where nobody resigns"),
    (["--resign-threshold", "0", "--soft-resign", "true"], "--soft-resign means nothing where nobody resigns"),
])
def test_bad_options_give_one_line(
    root: Path, tmp_path: Path, arguments: list[str], complaint: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", command(root, tmp_path, "--num-data", "1", *arguments)[1:])
    assert selfplay_main.start() == 2
    check_one_line(capsys.readouterr().err, complaint, tmp_path)


@pytest.mark.parametrize("arguments", [
    ["--opening-temperature", "1.5", "--opening-moves", "3"], ["--root-noise", "0.1", "--search", "puct"],
    ["--target-scale", "0.3"], ["--fast-visits", "3", "--full-share", "0.5"],
    ["--fast-visits", "3", "--soft-resign", "true"], ["--no-resign-rate", "0.5"],
    ["--resign-threshold", "0", "--soft-resign", "false"],
])
def test_options_that_count_are_taken(arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selfplay_main, "estimate", lambda *_: 0)
    options = ["--save-dir", str(tmp_path), *SMALL, "--dry-run", "true", *arguments]
    assert selfplay_main.main(options, standalone_mode=False) == 0


@pytest.mark.slow
@pytest.mark.parametrize(("option", "value", "complaint"), [
    ("--model", __file__, "damaged or no model file"), ("--cache-mb", str(10**8), "no memory for --cache-mb 100000000"),
])
def test_what_a_worker_refuses_gives_one_line(root: Path, tmp_path: Path, option: str, value: str,
                                              complaint: str) -> None:
    result = run(root, tmp_path, "--num-data", "1", option, value)
    assert result.returncode == 2
    check_one_line(result.stderr, complaint, tmp_path)


def check_one_line(error: str, complaint: str, archive: Path) -> None:
    """What is wrong is said, and no batch is begun."""
    lines = error.strip().splitlines()
    assert len(lines) == 1 and complaint in lines[0] and lines[0].startswith("selfplay_main.py: ")
    assert not [path for path in archive.iterdir() if path.is_dir()]


def test_other_settings_begin_another_batch(tmp_path: Path) -> None:
    from selfplay.archive import BatchSettings, open_batch

    wanted = BatchSettings(10, 9, 16, 7.0, True, 0.05, 0.1, 77)
    first = open_batch(tmp_path, wanted, False)
    assert (first.number, first.missing, first.note) == (1, list(range(1, 11)), "")
    for number in (2, 5, 12):
        (first.folder / f"{number}.sgf").write_text("(;)")
    (first.folder / ".7.sgf.abc").write_text("(;")
    more = BatchSettings(12, 9, 16, 7.0, True, 0.05, 0.1, 78)
    second = open_batch(tmp_path, more, False)
    assert (second.number, second.missing) == (1, [1, 3, 4, 6, 7, 8, 9, 10, 11])
    assert second.settings.seed == 77 and second.settings.games == 12 and second.done == 3
    assert json.loads((second.folder / BATCH_FILE).read_text())["games"] == 12
    assert not list(second.folder.glob(".7*"))
    third = open_batch(tmp_path, more, True)
    assert third.number == 2 and "1 keeps its 3 of 12 games: it was begun with --seed 77" in third.note
    fourth = open_batch(tmp_path, BatchSettings(12, 9, 32, 7.0, True, 0.05, 0.1, 78), False)
    assert fourth.number == 3 and "--visits 16" in fourth.note
    fifth = open_batch(tmp_path, BatchSettings(12, 9, 32, 7.0, True, 0.05, 0.1, 78, target_scale=0.1), False)
    assert fifth.number == 4 and "--target-scale 1.0" in fifth.note


def test_a_batch_without_a_game_leaves_no_folder(tmp_path: Path) -> None:
    from selfplay.archive import BatchSettings, open_batch

    wanted = BatchSettings(10, 9, 16, 7.0, True, 0.05, 0.1, 77)
    open_batch(tmp_path, wanted, False)
    open_batch(tmp_path, wanted, False).discard_if_empty()  # of an earlier run
    assert (tmp_path / "1").exists()
    other = open_batch(tmp_path, wanted, True)
    assert other.number == 1
    changed = open_batch(tmp_path, BatchSettings(10, 9, 32, 7.0, True, 0.05, 0.1, 77), False)
    changed.discard_if_empty()
    assert changed.number == 2 and not changed.folder.exists()
    begun = open_batch(tmp_path, BatchSettings(10, 9, 32, 7.0, True, 0.05, 0.1, 77), False)
    (begun.folder / "1.sgf").write_text("(;)")
    begun.discard_if_empty()
    assert begun.folder.exists()


def test_a_batch_from_before_its_newest_settings_goes_on(tmp_path: Path) -> None:
    from selfplay.archive import BatchSettings, open_batch

    wanted = BatchSettings(10, 9, 16, 7.0, True, 0.05, 0.1, 77)
    settings = tmp_path / "1" / BATCH_FILE
    assert open_batch(tmp_path, wanted, False).number == 1
    old = json.loads(settings.read_text())
    assert old.pop("target_scale") == 1.0 and old.pop("opening_moves") == 0
    assert old.pop("opening_temperature") == 1.0 and old.pop("policy_temperature") == 1.0
    settings.write_text(json.dumps(old))
    assert open_batch(tmp_path, wanted, False).number == 1


def test_archives_of_tamago_are_left_alone(tmp_path: Path) -> None:
    from selfplay.archive import BatchSettings, open_batch

    for number in (1, 2, 10):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "1.sgf").write_text("(;)")
    (tmp_path / "readme.txt").write_text("")
    assert open_batch(tmp_path, BatchSettings(5, 9, 16, 7.0, True, 0.05, 0.1, 1), False).number == 11


def test_two_runs_do_not_share_an_archive(tmp_path: Path) -> None:
    from selfplay.archive import ArchiveError, lock_archive

    with lock_archive(tmp_path / "archive"), pytest.raises(ArchiveError, match="another self-play is running"):
        lock_archive(tmp_path / "archive")
    lock_archive(tmp_path / "archive").close()


@pytest.mark.parametrize(("asked", "on_gpu", "processes", "speed"), [
    ("1", True, 1, "138462"), ("4", True, 4, "553846"), ("4", False, 1, "138462"),
])
def test_a_dry_run_tells_positions_and_hours_and_writes_nothing(
    asked: str, on_gpu: bool, processes: int, speed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of several processes that were asked for a machine without a GPU starts no more than it has cores."""
    from tests.tools.in_process import run_in_process

    monkeypatch.setattr("selfplay.estimate.measure_play", lambda *_: 1000.0)
    monkeypatch.setattr("selfplay.estimate.find_gpu", lambda: on_gpu)
    monkeypatch.setattr("selfplay.estimate.count_usable_cores", lambda: 1)
    options = ["--save-dir", str(tmp_path / "games"), *SMALL, "--dry-run", "true", "--use-gpu", "true"]
    done = run_in_process(selfplay_main.main, *options, "--num-data", "900", "--process", asked)
    first, second = done.stdout.splitlines()
    # 0.8 * 16 points are 13 moves, and 900 games of 13 moves at 2 visits take 23.4 seconds.
    assert "900 games of about 13 moves" in first and "11700 positions" in first and "asked 23400 times" in first
    assert f"in one process of {processes}: {speed} games/hour" in second and not list(tmp_path.iterdir())


def test_a_cluster_on_which_nobody_can_play_leaves_no_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selfplay_main, "connect", lambda _: Mock(side_effect=SelfPlayError("nobody can play")))
    with pytest.raises(SelfPlayError):
        selfplay_main.main(["--save-dir", str(tmp_path), *SMALL, "--ray", "auto"], standalone_mode=False)
    assert not (tmp_path / "1").exists()


def test_a_batch_that_has_all_its_games_is_followed_by_another_one(tmp_path: Path) -> None:
    wanted = BatchSettings(2, 4, 16, 7.0, True, 0.05, 0.1, 77)
    first = open_batch(tmp_path, wanted, seed_given=False)
    for number in first.missing:
        (first.folder / f"{number}.sgf").write_text("(;)")
    more = open_batch(tmp_path, replace(wanted, games=4), seed_given=False)
    assert (more.number, more.missing) == (2, [1, 2, 3, 4])


def test_a_draw_is_half_a_win() -> None:
    progress = BatchProgress(2)
    progress.add(GameSummary(1, 10, MatchResult.DRAW, EndReason.TWO_PASSES, None))
    assert "Black wins 50.0 %" in progress.line()


def test_a_line_tells_where_the_run_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("selfplay.progress.time.monotonic", lambda: 7200.0)
    progress = BatchProgress(16, before=2, start=0.0)
    for number, played_on in enumerate((True, True, False, None)):
        progress.add(GameSummary(number, 900, MatchResult.BLACK_WIN, EndReason.RESIGNATION, played_on))
    line = progress.line()
    assert line.startswith("Generating     6/   16 games (2.0000 games/hour), 0.5 moves/s, 900.0 moves a game, ")
    assert "resignation 4, " in line and "wrong to resign 1 of 3 played on, " in line
    assert line.endswith("time left 5:00:00.") and format_duration(3725.0) == "1:02:05"


def test_an_estimate_counts_what_is_learnt_and_all_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("selfplay.estimate.measure_play", lambda *_: 1000.0)
    monkeypatch.setattr("selfplay.estimate.find_gpu", lambda: True)
    settings = BatchSettings(900, 4, 20, 7.0, True, 0.05, 0.1, 77, full_share=0.25, fast_visits=4)
    first, second = estimate_batch(settings, "none", True, 3, None)
    assert "2925 positions, for which the network is asked 93600 times" in first
    assert "in one process of 3: 103846 games/hour" in second
