"""The types of the options: numbers that are numbers."""

import ast
import importlib
import math
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest
from tqdm import tqdm

from common.command_line import FiniteFloat, FiniteRange, run_command
from common.interrupt import Terminated
from common.print_console import print_out

COMMANDS = ["main", "train", "selfplay_main", "get_final_status", "tools.match", "tools.bench", "tools.elo_curve",
            "tools.plot_tree", "tools.verdict"]
PROGRAMS = ["main", "web", "train", "selfplay_main", "get_final_status"]


@pytest.mark.parametrize("kind", [FiniteFloat(), FiniteRange(0, 1), FiniteRange(0, min_open=True)])
@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e999", "x", ""])
def test_what_is_no_finite_number_is_refused(kind: click.ParamType, text: str) -> None:
    with pytest.raises(click.BadParameter):
        kind.convert(text, None, None)


def test_numbers_pass_within_their_bounds() -> None:
    assert FiniteFloat().convert("-1e3", None, None) == -1000.0
    assert FiniteRange(0, 1).convert("1", None, None) == 1.0
    assert math.isclose(FiniteRange(0, min_open=True).convert("0.25", None, None), 0.25)
    for kind, text in ((FiniteRange(0, 1), "1.01"), (FiniteRange(0, min_open=True), "0")):
        with pytest.raises(click.BadParameter, match="not in the range"):
            kind.convert(text, None, None)


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such signal")
@pytest.mark.parametrize("name", PROGRAMS)
def test_an_interruption_while_a_program_imports_is_no_traceback(name: str, tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n", encoding="utf-8")
    ended = subprocess.run([sys.executable, f"{name}.py"], cwd=Path(__file__).parents[2],
                           env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (-signal.SIGINT, "")


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_imports_nothing_before_that(name: str) -> None:
    source = (Path(__file__).parents[2] / f"{name}.py").read_text(encoding="utf-8")
    first = next(node for node in ast.parse(source).body if isinstance(node, ast.Import | ast.ImportFrom))
    assert ast.unparse(first) == "import signal"
    assert re.search(r"^import signal\n\nif .*\n    signal\.signal\(", source, re.MULTILINE)


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_takes_nan(name: str) -> None:
    command = importlib.import_module(name).main
    commands = [command, *getattr(command, "commands", {}).values()]
    for option in (option for command in commands for option in command.params):
        if isinstance(option.type, click.types.FloatParamType):
            assert isinstance(option.type, FiniteFloat | FiniteRange), f"{name} {option.name}"


@pytest.mark.parametrize(("name", "most"), [
    ("main", 400), ("web", 361), ("selfplay_main", 361), ("tools.match", 361), ("tools.tournament", 361),
    ("tools.tune", 361), ("tools.book", 361), ("tools.draw_games", 361),
])
def test_no_command_takes_a_komi_that_no_game_has(name: str, most: int) -> None:
    """main.py takes what KataGo's protocol does, the others what a record of their games tells again."""
    command = importlib.import_module(name).main
    komi = next(option for option in command.params if option.name == "komi")
    assert komi.type.convert(str(-most), None, None) == -most
    with pytest.raises(click.BadParameter, match="not in the range"):
        komi.type.convert(str(most + 1), None, None)


@pytest.mark.parametrize(("stop", "status"), [(KeyboardInterrupt, 130), (Terminated, 143)])
def test_a_command_that_is_stopped_ends_with_the_status_of_its_signal(stop: type[BaseException], status: int) -> None:
    def work() -> None:
        raise stop

    assert run_command(click.Command("name", callback=work), "name", []) == status


def test_a_name_that_a_japanese_terminal_cannot_write_does_not_end_a_program(root: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "cp932"}
    result = subprocess.run([sys.executable, "-m", "tests.common.test_command_line"], cwd=root, env=environment,
                            capture_output=True, timeout=60, check=False)
    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout.strip() == "José 碁".encode("cp932", "backslashreplace")


@pytest.mark.skipif(os.name == "nt", reason="no shell to close it")
def test_a_program_without_a_stderr_shows_its_progress_to_nobody(root: Path) -> None:
    result = subprocess.run(["sh", "-c", 'exec "$0" -m tests.common.test_command_line --bar 2>&-', sys.executable],
                            cwd=root, capture_output=True, timeout=60, check=False)
    assert (result.returncode, result.stdout) == (0, b"3\n")


def count_with_bar(bar: bool) -> None:
    """Print how far was counted, or a name."""
    print_out(len(list(tqdm(range(3), file=sys.stderr))) if bar else "José 碁")


if __name__ == "__main__":
    bar = click.Option(["--bar"], is_flag=True)
    sys.exit(run_command(click.Command("name", params=[bar], callback=count_with_bar), "name"))
