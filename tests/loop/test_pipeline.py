"""pipeline.sh with programs that only pretend: whatever kills it, no generation is lost or made twice."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

import learning_param
from board.constant import BOARD_SIZE, DEFAULT_KOMI
from tests.gtp.players import run_main
from tools.matchlib.command import split_words

GENERATIONS, GAMES = 4, 5

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="pipeline.sh needs bash")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The settings of a short loop in a folder of its own, with the stand-in for Python."""
    program = tmp_path / "stand_in"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "{Path(__file__).with_name("stand_in.py")}" "$@"\n')
    program.chmod(0o755)
    folders = {name: str(tmp_path / name.lower()) for name in ("ARCHIVE", "DATA", "MODEL")}
    return {**os.environ, **folders, "PYTHON": str(program), "GENERATIONS": str(GENERATIONS), "GAMES": str(GAMES),
            "MATCH_GAMES": "2", "EVALUATE_EVERY": "2", "GNUGO": "", "FINAL_STATUS": "false"}


def start(root: Path, environment: dict[str, str], *options: str) -> "subprocess.Popen[str]":
    return subprocess.Popen([str(root / "pipeline.sh"), *options], env=environment, text=True, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)


def finish(root: Path, environment: dict[str, str], *options: str) -> tuple[int, str]:
    process = start(root, environment, *options)
    output, _ = process.communicate(timeout=120)
    return process.returncode, output


def lineage(generation: int) -> str:
    return " ".join(["nothing", *map(str, range(1, generation + 1))])


def assert_complete(environment: dict[str, str], players: list[int], first: str = "nothing") -> None:
    """Check every file of the run: generation g + 1 was played by the network of generation players[g]."""
    archive, model = Path(environment["ARCHIVE"]), Path(environment["MODEL"])
    known = [lineage(number).replace("nothing", first) for number in range(GENERATIONS + 1)]
    assert sorted(path.name for path in archive.iterdir()) == [str(number) for number in range(1, GENERATIONS + 1)]
    for number in range(1, GENERATIONS + 1):
        games = {path.name: path.read_text() for path in (archive / str(number)).iterdir()}
        assert games == {f"{game}.sgf": known[players[number - 1]] for game in range(1, GAMES + 1)}
        assert (model / "generations" / f"{number}.bin").read_text() == known[number]
    assert (model / "rl-state.ckpt").read_text() == known[-1]
    assert (model / "rl-model.bin").read_text() == known[players[-1]]
    assert (model / "generations" / "player").read_text() == f"{players[-1]}\n"
    for played in model.glob("matches/*/games.jsonl"):
        assert len(played.read_text().splitlines()) == 2


@pytest.mark.slow
def test_the_newest_network_plays(root: Path, environment: dict[str, str]) -> None:
    status, output = finish(root, environment)
    assert status == 0, output
    assert_complete(environment, [0, 1, 2, 3, 4])
    matches = sorted(path.name for path in (Path(environment["MODEL"]) / "matches").iterdir())
    assert matches == ["2-0", "4-2"]
    status, again = finish(root, environment)
    assert status == 0 and "self-play of" not in again and "training" not in again and "match" not in again


@pytest.mark.slow
@pytest.mark.parametrize("place", [".venv/bin/python", ".venv/Scripts/python.exe"])
def test_the_python_of_the_environment_is_found_on_any_system(root: Path, tmp_path: Path, environment: dict[str, str],
                                                              place: str) -> None:
    stand_in = Path(environment.pop("PYTHON"))
    (tmp_path / place).parent.mkdir(parents=True)
    (tmp_path / place).write_text(stand_in.read_text().replace("exec", f'echo "{place}" >>found; exec'))
    (tmp_path / place).chmod(0o755)
    shutil.copy(root / "pipeline.sh", tmp_path)
    status, output = finish(tmp_path, {**environment, "GENERATIONS": "1", "MATCH_GAMES": "0"})
    assert status == 0, output
    assert set((tmp_path / "found").read_text().split()) == {place}


def test_a_dry_run_tells_what_a_generation_takes(root: Path, environment: dict[str, str]) -> None:
    for start in ((), ("--start", str(root / "model" / "dual-net.bin"))):
        status, output = finish(root, environment, "--dry-run", *start)
        assert status == 0 and "4 generations are left" in output and "hours of self-play" in output
        assert "once there are games" in output
        assert not any(Path(environment[name]).exists() for name in ("ARCHIVE", "DATA", "MODEL"))
    assert finish(root, {**environment, "GENERATIONS": "1"})[0] == 0
    status, output = finish(root, environment, "--dry-run")
    assert status == 0 and "3 generations are left" in output and "hours of training" in output
    status, output = finish(root, {**environment, "GENERATIONS": "1"}, "--dry-run")
    assert status == 0 and "no generation is left" in output


@pytest.mark.slow
def test_a_run_that_degenerates_stops_and_says_how_to_go_on(root: Path, environment: dict[str, str]) -> None:
    environment = {**environment, "DEGENERATE": "2", "GENERATIONS": "3"}
    for _ in range(2):
        status, output = finish(root, environment)
        assert status == 3 and "stopped after generation 2" in output and "STOP_LENGTH=0" in output
    assert [path.name for path in Path(environment["ARCHIVE"]).iterdir() if path.name == "3"] == []
    status, output = finish(root, {**environment, "STOP_LENGTH": "0"})
    assert status == 0 and "generation 3 is complete" in output


@pytest.mark.slow
def test_the_gate_lets_only_better_networks_play(root: Path, environment: dict[str, str]) -> None:
    status, output = finish(root, environment, "--gate")
    assert status == 0, output
    assert "generation 2 is not better than generation 1" in output
    assert_complete(environment, [0, 1, 1, 3, 4])


@pytest.mark.slow
def test_a_draw_is_half_a_win_for_the_gate(root: Path, environment: dict[str, str]) -> None:
    status, output = finish(root, {**environment, "WINNER": "draw", "GATE_PERCENT": "50"}, "--gate")
    assert status == 0, output
    assert_complete(environment, [0, 1, 2, 3, 4])


@pytest.mark.slow
def test_a_rejected_network_stays_rejected_without_the_gate(root: Path, environment: dict[str, str]) -> None:
    assert finish(root, {**environment, "GENERATIONS": "2"}, "--gate")[0] == 0
    player = Path(environment["MODEL"]) / "generations" / "player"
    assert player.read_text() == "1\n"
    status, output = finish(root, {**environment, "GENERATIONS": "2"})
    assert status == 0 and "generation 2 was not better than generation 1, which plays on" in output
    assert player.read_text() == "1\n"
    assert (Path(environment["MODEL"]) / "rl-model.bin").read_text() == lineage(1)
    assert finish(root, environment)[0] == 0
    assert_complete(environment, [0, 1, 1, 3, 4])


@pytest.mark.slow
def test_it_does_not_play_on_without_the_playing_network(root: Path, environment: dict[str, str]) -> None:
    """It went on with random weights, for as many generations as it had left."""
    assert finish(root, {**environment, "GENERATIONS": "2"}, "--gate")[0] == 0
    networks = Path(environment["MODEL"]) / "generations"
    network = (networks / "1.bin").read_bytes()
    (networks / "1.bin").unlink()
    for options in ((), ("--gate",), ("--dry-run",)):
        status, output = finish(root, environment, *options)
        assert status == 2 and "1.bin is gone, whose generation plays" in output and "self-play" not in output
    (networks / "1.bin").write_bytes(network)
    for text in ("", "last\n", "1 2\n"):
        (networks / "player").write_text(text)
        status, output = finish(root, environment)
        assert status == 2 and "player names no generation" in output
    (networks / "player").write_text("1\n")
    (Path(environment["ARCHIVE"]) / "2" / "batch.json").write_text('{\n "games": 5,\n "size": 19\n}\n')
    status, output = finish(root, environment)
    assert status == 2 and "SIZE=9: " in output and "games of another size" in output
    assert finish(root, {**environment, "SIZE": "19"})[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("gate", [False, True])
def test_sudden_deaths_lose_and_double_nothing(root: Path, environment: dict[str, str], gate: bool) -> None:
    options = ["--gate"] if gate else []
    environment["DEATHS"] = "0.12"
    runs: list[int] = []
    while not runs or runs[-1] != 0:
        environment["DEATH_SEED"] = str(len(runs))
        status, output = finish(root, environment, *options)
        assert status in (0, -signal.SIGKILL), output
        runs.append(status)
        assert len(runs) < 100
    assert len(runs) > 2
    assert_complete(environment, [0, 1, 1, 3, 4] if gate else [0, 1, 2, 3, 4])


@pytest.mark.slow
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_loop_and_its_program(
    root: Path, environment: dict[str, str], number: signal.Signals, status: int
) -> None:
    process = start(root, {**environment, "STEP_SECONDS": "0.3"})
    deadline = time.monotonic() + 30
    while not list(Path(environment["ARCHIVE"]).glob("*/*.sgf")):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(number)
    output, _ = process.communicate(timeout=30)
    assert process.returncode == status and "the same command goes on" in output
    # Nothing holds the lock any more: the program has ended, too.
    again, output = finish(root, environment)
    assert again == 0, output
    assert_complete(environment, [0, 1, 2, 3, 4])


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no /proc")
def test_a_program_that_is_stopped_and_continued_is_waited_for(root: Path, environment: dict[str, str]) -> None:
    process = start(root, {**environment, "STEP_SECONDS": "0.1", "GENERATIONS": "1", "EVALUATE_EVERY": "0"})
    deadline, program = time.monotonic() + 30, 0
    while not program:
        assert time.monotonic() < deadline
        for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
            with suppress(OSError):
                program = int(child) if "selfplay_main" in Path(f"/proc/{child}/cmdline").read_text() else program
    os.kill(program, signal.SIGSTOP)
    time.sleep(0.5)
    os.kill(program, signal.SIGCONT)
    output, _ = process.communicate(timeout=30)
    assert process.returncode == 0 and "failed" not in output


@pytest.mark.slow
def test_a_second_loop_and_what_a_killed_one_leaves_behind_are_noticed(
    root: Path, environment: dict[str, str]
) -> None:
    if shutil.which("flock") is None:
        pytest.skip("flock is not installed")
    process = start(root, {**environment, "STEP_SECONDS": "0.3"})
    deadline = time.monotonic() + 30
    while not list(Path(environment["ARCHIVE"]).glob("*/*.sgf")):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert finish(root, environment)[0] == 2
    process.kill()
    status, output = finish(root, environment)
    assert status == 2 and "let it end first" in output
    while status == 2:
        assert time.monotonic() < deadline
        time.sleep(0.1)
        status, output = finish(root, environment)
    assert status == 0, output
    assert_complete(environment, [0, 1, 2, 3, 4])


@pytest.mark.slow
def test_it_starts_from_a_model_and_from_no_other_one_later(
    root: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    model, other = tmp_path / "a model.bin", tmp_path / "other.bin"
    model.write_text("lessons")
    other.write_text("other lessons")
    assert finish(root, {**environment, "GENERATIONS": "1"}, "--start", str(model))[0] == 0
    status, output = finish(root, environment, "--start", str(other))
    assert status == 2 and "began from another network" in output
    status, output = finish(root, environment, "--start", str(model))
    assert status == 0, output
    assert_complete(environment, [0, 1, 2, 3, 4], "lessons")


@pytest.mark.slow
def test_a_folder_that_other_settings_left_behind_is_passed_over(root: Path, environment: dict[str, str]) -> None:
    archive, model = Path(environment["ARCHIVE"]), Path(environment["MODEL"])
    (archive / "1").mkdir(parents=True)
    (archive / "1" / "1.sgf").write_text("of other settings")
    status, output = finish(root, {**environment, "OTHER_SETTINGS": "", "GENERATIONS": "3"})
    assert status == 0, output
    assert sorted(path.name for path in archive.iterdir()) == ["1", "2", "3"]
    assert sorted(path.name for path in model.glob("generations/*.bin")) == ["2.bin", "3.bin"]
    assert [path.name for path in model.glob("matches/*")] == ["2-0"]
    assert len(list((archive / "1").iterdir())) == 1 and len(list((archive / "2").iterdir())) == GAMES


@pytest.mark.parametrize(("options", "settings", "text"), [
    (["--gates"], {}, "unknown option --gates"), (["--start"], {}, "needs a model"),
    (["--start", "/nowhere"], {}, "no such file"), ([], {"GAMES": "many"}, "GAMES=many is not a whole number"),
    ([], {"USE_GPU": "yes"}, "USE_GPU=yes is neither"), ([], {"KOMI": "abc"}, "KOMI=abc is not a number of points"),
])
def test_bad_options_are_one_line(
    root: Path, environment: dict[str, str], options: list[str], settings: dict[str, str], text: str
) -> None:
    status, output = finish(root, {**environment, **settings}, *options)
    assert status == 2 and text in output and len(output.splitlines()) == 1
    assert not Path(environment["ARCHIVE"]).exists()


@pytest.mark.slow
def test_the_window_grows_slower_than_the_games(root: Path, environment: dict[str, str]) -> None:
    """5 to 20 games: 10 (1 + 0.4 ((N / 10)^0.75 - 1) / 0.75) of them from the tenth on, and never more than WINDOW."""
    _, output = finish(root, {**environment, "WINDOW_START": "10", "WINDOW": "13", "EVALUATE_EVERY": "0"})
    assert re.findall(r"learning from (\d+) games", output) == ["10", "10", "11", "13"]


@pytest.mark.slow
def test_the_playing_network_searches_old_games_again(root: Path, environment: dict[str, str]) -> None:
    """So many for each generation, however often the loop is stopped while it learns; the archive may be a link."""
    environment = {**environment, "BATCH_FILE": "1", "WINDOW": "9"}
    Path(environment["DATA"], "games").mkdir(parents=True)
    Path(environment["ARCHIVE"]).symlink_to(Path(environment["DATA"], "games"))
    status, output = finish(root, {**environment, "REANALYZE": "7", "GENERATIONS": "3"})
    assert status == 0 and re.findall(r"7 of 9 games searched by '(.*)'", output) == [lineage(1), lineage(2)]
    Path(environment["MODEL"], "generations", "3.bin").unlink()  # as if the loop had been stopped while it learnt
    status, output = finish(root, {**environment, "REANALYZE": "7", "GENERATIONS": "3"})
    assert status == 0 and "generation 3: training" in output and "older games again" not in output
    _, output = finish(root, {**environment, "REANALYZE": "8", "GENERATIONS": "4"})
    assert re.findall(r"searches (\d+) older games", output) == ["8"]


@pytest.mark.slow
def test_a_teacher_judges_each_generation_once(root: Path, environment: dict[str, str]) -> None:
    environment = {**environment, "TEACHER": "katago analysis", "EVALUATE_EVERY": "0"}
    for generations in ("2", "3"):
        status, output = finish(root, {**environment, "GENERATIONS": generations})
        assert status == 0, output
    assert re.findall(r"generation (\d): the teacher", output) == ["3"]
    for number in (1, 2, 3):
        assert (Path(environment["ARCHIVE"]) / str(number) / "labels.npz").read_text() == "katago analysis"
    (Path(environment["ARCHIVE"]) / "2" / "labels.npz").unlink()  # such as a damaged file
    status, output = finish(root, {**environment, "GENERATIONS": "4"})
    assert status == 0 and re.findall(r"generation (\d): the teacher", output) == ["4", "2"]


def test_a_program_that_fails_ends_the_loop(root: Path, environment: dict[str, str]) -> None:
    status, output = finish(root, {**environment, "PYTHON": "false"})
    assert status == 1 and "failed with status 1: false selfplay_main.py" in output


@pytest.mark.slow
def test_its_defaults_are_those_of_the_programs(root: Path) -> None:
    found = dict(re.findall(r"^([A-Z_]+)=\$\{\1:-([^}]*)\}", (root / "pipeline.sh").read_text(), re.MULTILINE))
    assert {name: float(found[name]) for name in ("SIZE", "KOMI", "GAMES", "VISITS", "PROCESSES", "WINDOW")} == {
        "SIZE": BOARD_SIZE, "KOMI": DEFAULT_KOMI, "GAMES": learning_param.NUM_SELF_PLAY_GAMES,
        "VISITS": learning_param.SELF_PLAY_VISITS, "PROCESSES": learning_param.NUM_SELF_PLAY_WORKERS,
        "WINDOW": learning_param.WINDOW_SIZE}


def put_first(folder: Path, name: str, script: str) -> str:
    """Make a program of a shell script; return the search path on which it is found first."""
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)
    return os.pathsep.join([str(folder), os.environ["PATH"]])


@pytest.mark.slow
def test_help(root: Path, tmp_path: Path, environment: dict[str, str]) -> None:
    macos = f"""case $2 in *[!\\;\\\\]}}*) echo extra characters at the end of p command; exit 1 ;; esac
                exec {shutil.which("sed")} "$@\""""
    for path in (os.environ["PATH"], put_first(tmp_path, "sed", macos)):
        status, output = finish(root, {**environment, "PATH": path}, "--help")
        assert status == 0 and "--gate" in output and "archive/<g>/<n>.sgf" in output


@pytest.mark.slow
@pytest.mark.parametrize("answer, status", [(1, 2), (65, 0), (71, 0)])  # what flock says of ENOSYS and ENOLCK
def test_only_a_lock_that_another_loop_holds_ends_one(root: Path, tmp_path: Path, environment: dict[str, str],
                                                      answer: int, status: int) -> None:
    path = put_first(tmp_path, "flock", f"exit {answer}")
    assert finish(root, {**environment, "GENERATIONS": "0", "PATH": path})[0] == status


def test_settings_reach_the_programs(root: Path, tmp_path: Path, environment: dict[str, str]) -> None:
    stand_in, called = Path(environment["PYTHON"]), tmp_path / "called"
    stand_in.write_text(stand_in.read_text().replace("exec", f'echo "$@" >>"{called}"; exec'))
    settings = {"SIZE": "5", "KOMI": "0.5", "SEED": "7", "VISITS": "9", "PROCESSES": "2", "USE_GPU": "false",
                "SELF_PLAY_OPTIONS": "--fast-visits 3", "TRAIN_OPTIONS": "--ema 0.5", "MATCH_PARALLEL": "3",
                "STOP_FALLS": "4", "GENERATIONS": "2"}
    assert finish(root, {**environment, **settings})[0] == 0
    calls = called.read_text().splitlines()
    for program, count, options in (
            ("selfplay_main.py", 2, "--num-data 5 --process 2 --size 5 --komi 0.5 --visits 9 --use-gpu false --model"),
            ("selfplay_main.py", 2, "--fast-visits 3"), ("selfplay_main.py", 1, "--seed 8"),
            ("selfplay_main.py", 1, "--seed 9"), ("train.py", 2, "--size 5 --window-size 300000 --use-gpu false"),
            ("train.py", 2, "--ema 0.5"), ("match.py", 1, "--games 2 --size 5 --komi 0.5 --parallel 3"),
            ("match.py", 1, "--size 5 --use-gpu false --strict-visits 100"), ("stop_rule.py", 2, "--elo-falls 4")):
        assert sum(program in call and options in call for call in calls) == count, (program, options)


def test_a_folder_may_have_any_letters_whatever_the_system_speaks(root: Path, tmp_path: Path,
                                                                  environment: dict[str, str]) -> None:
    stand_in, called = Path(environment["PYTHON"]), tmp_path / "called"
    stand_in.write_text(stand_in.read_text().replace("exec", f'printf "%s\\n" "$@" >>"{called}"; exec'))
    model = tmp_path / "モデル it's"
    assert finish(root, {**environment, "MODEL": str(model), "GENERATIONS": "2", "LC_ALL": "C"})[0] == 0
    words = called.read_text(encoding="utf-8").splitlines()
    engines = [split_words(word) for word in words if word.startswith("main.py")]
    assert [engine[2] for engine in engines] == [str(model / "generations" / "2.bin"), "none"]


def test_random_weights_play_their_matches_themselves(root: Path, tmp_path: Path, environment: dict[str, str]) -> None:
    """With the usual options of matches, which are for a network, and without playouts in its place."""
    stand_in, called = Path(environment["PYTHON"]), tmp_path / "called"
    stand_in.write_text(stand_in.read_text().replace("exec", f'printf "%s\\n" "$@" >>"{called}"; exec'))
    settings = {"GENERATIONS": "1", "EVALUATE_EVERY": "1", "SIZE": "4", "USE_GPU": "false"}
    assert finish(root, {**environment, **settings})[0] == 0
    engines = [split_words(line) for line in called.read_text().splitlines() if line.startswith("main.py")]
    options = next(engine[1:] for engine in engines if engine[2] == "none")
    status, _, messages = run_main(*options, text="genmove b\nquit\n")
    assert status == 0 and "raw_value" in messages and "playouts" not in messages


def test_the_gate_asks_for_more_than_half(root: Path, environment: dict[str, str]) -> None:
    _, output = finish(root, {**environment, "GENERATIONS": "1", "WINNER": "draw"}, "--gate")
    assert "generation 1 is not better than generation 0" in output


def test_where_newer_networks_are_taken_away_no_rejected_one_plays(root: Path, environment: dict[str, str]) -> None:
    assert finish(root, {**environment, "GENERATIONS": "3"}, "--gate")[0] == 0
    networks = Path(environment["MODEL"]) / "generations"
    assert (networks / "player").read_text() == "3\n"
    (networks / "3.bin").unlink()
    status, output = finish(root, {**environment, "GENERATIONS": "2"}, "--gate")
    assert status == 0 and "generation 1 plays" in output
    assert (networks / "player").read_text() == "1\n"


def test_the_teacher_judges_no_more_than_the_window_and_its_board(root: Path, environment: dict[str, str]) -> None:
    environment = {**environment, "EVALUATE_EVERY": "0", "OTHER_SETTINGS": ""}
    other = Path(environment["ARCHIVE"]) / "1"
    other.mkdir(parents=True)
    (other / "1.sgf").write_text("(;SZ[19])")
    (other / "batch.json").write_text('{\n "size": 19\n}\n')
    assert finish(root, {**environment, "GENERATIONS": "2"})[0] == 0
    environment["TEACHER"] = "katago analysis"
    judged = []
    for generations, games in (("3", "5"), ("4", "100")):
        _, output = finish(root, {**environment, "GENERATIONS": generations, "WINDOW": games})
        judged += [line.split(":")[1] for line in output.splitlines() if "the teacher judges" in line]
    assert judged == [" generation 3", " generation 4", " generation 2"]
