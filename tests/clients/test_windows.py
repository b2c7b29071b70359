"""GoGui and KaTrain themselves, with real windows on a screen that nobody sees; skipped where they are not installed.

`HIYOKO_GOGUI` is the path of gogui.jar and `HIYOKO_KATRAIN` that of KaTrain's program where they are not on the PATH.
The engine has the bundled model. With `HIYOKO_PICTURES=doc/img` the pictures of doc/guis.md are written there.
"""
from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.screen import Screen, missing_tools
from tests.conftest import ROOT

# The engine may be compiled before it answers, on a busy machine (seconds).
SLOW_START = 600.0
POLL = 1.0

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3 * SLOW_START)]


@pytest.fixture
def screen() -> Iterator[Screen]:
    """Return a screen, or skip where it cannot be had."""
    if missing := missing_tools():
        pytest.skip(f"{', '.join(missing)} not installed (on Debian: apt-get install xvfb xdotool imagemagick openbox)")
    screen = Screen(1200, 900)
    yield screen
    screen.close()


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Return the folder that pictures are written to."""
    return Path(os.environ.get("HIYOKO_PICTURES") or tmp_path)


def wait_for(log: Path, text: str, count: int = 1) -> str:
    """Wait until a program has said what an expression matches, so many times, and return all that it said."""
    end = time.monotonic() + SLOW_START
    while time.monotonic() < end:
        told = log.read_text(encoding="utf-8", errors="replace")
        if len(re.findall(text, told)) >= count:
            return told
        time.sleep(POLL)
    raise AssertionError(f"{text!r} is not in the last lines: {told[-2000:]}")


def gogui_command() -> list[str]:
    """Return the command that starts GoGui, or skip."""
    jar, program = os.environ.get("HIYOKO_GOGUI"), shutil.which("gogui")
    if jar and shutil.which("java"):
        return ["java", "-jar", jar]
    if program is None:
        pytest.skip("GoGui is not installed (or name its gogui.jar in HIYOKO_GOGUI, and install java)")
    return [program]


def test_gogui(screen: Screen, pictures: Path, tmp_path: Path) -> None:
    """New Program attaches, the engine plays, Interrupt, live graphics, analyze commands: as doc/guis.md tells it."""
    log = tmp_path / "gogui.log"
    environment = home(tmp_path) | {"JAVA_TOOL_OPTIONS": f"-Duser.home={tmp_path}"}
    screen.start([*gogui_command(), "-verbose", "-size", "9"], environment, log)
    window = screen.wait_for("^GoGui")
    screen.place(window, 0, 0, 640, 560)
    screen.settle()
    screen.focus(window)
    screen.press("alt+p", "n")
    screen.wait_for("New Program")
    screen.click(350, 316)  # the field of the command
    screen.press("ctrl+a")
    screen.write(f"{sys.executable} {ROOT / 'main.py'} --visits 1000000 --live-gfx true")
    screen.press("Return")
    wait_for(log, "gogui-analyze_commands")
    screen.settle()
    screen.press("Return")  # the label in the menu
    screen.settle()
    screen.press("F5")  # Play: the program takes Black
    wait_for(log, r"gogui-gfx: VAR|\nVAR |\nLABEL ")
    time.sleep(4 * POLL)
    screen.picture(pictures / "gui-gogui-live.png", "640x584+0+0")
    screen.press("Escape")  # Program > Interrupt
    told = wait_for(log, r"= [A-J][1-9]\b")
    assert "# interrupt" in told
    screen.press("F8")
    commands = screen.wait_for("^Analyze")
    screen.place(commands, 700, 0, 280, 600)
    screen.settle()
    colors = screen.colors()
    for row, name in enumerate(("display_policy_black_color", "display_policy_white_color", "display_policy_black",
                                "display_policy_white")):
        screen.click(790, 30 + 17 * row)
        screen.click(802, 597)  # Run
        wait_for(log, name)
    screen.settle()
    assert screen.colors() != colors
    screen.picture(pictures / "gui-gogui-policy.png", "984x626+0+0")


def home(folder: Path) -> dict[str, str]:
    """Return the environment of a program whose settings are in a folder, while compiled code stays where it was."""
    return {"HOME": str(folder), "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")}


def katrain_program() -> str:
    """Return KaTrain's program, or skip."""
    program = os.environ.get("HIYOKO_KATRAIN") or shutil.which("katrain")
    if program is None:
        pytest.skip("KaTrain is not installed (pip install katrain, or name its program in HIYOKO_KATRAIN)")
    return program


def own_config(program: str) -> Path:
    """Return the configuration that KaTrain brings."""
    python = Path(program).with_name("python")
    command = [str(python), "-c", "import importlib.util; print(importlib.util.find_spec('katrain').origin)"]
    origin = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    return Path(origin).with_name("config.json")


def test_katrain(screen: Screen, pictures: Path, tmp_path: Path) -> None:
    """Moves by clicks are analyzed, with leads, candidates and territory."""
    program = katrain_program()
    config = tmp_path / ".katrain" / "config.json"
    config.parent.mkdir()
    engine = f"exec {sys.executable} {ROOT / 'main.py'} --analysis-json true"
    content = json.loads(own_config(program).read_text(encoding="utf-8"))
    content["general"]["debug_level"] = 1
    content["engine"] |= {"altcommand": engine, "max_visits": 200}
    content["game"] |= {"size": "9", "komi": 7.0, "rules": "chinese"}
    config.write_text(json.dumps(content))
    log = tmp_path / "katrain.log"
    environment = home(tmp_path) | {"LIBGL_ALWAYS_SOFTWARE": "1", "KIVY_NO_ARGS": "1"}
    number = screen.start([program], environment, log)
    wait_for(log, r"Sending query QUERY:1\b")
    screen.settle()
    screen.place(screen.window_of(number), 0, 0, 1040, 800)
    screen.settle()
    for count, (x, y) in enumerate(((385, 393), (251, 527), (519, 259)), start=1):
        screen.click(x, y)
        wait_for(log, r"Sending query QUERY", count + 1)
    for x in (312, 482):  # Top Moves, Expected Territory
        screen.click(x, 45)
    told = wait_for(log, "KataGo analysis received", 4)
    assert "Traceback" not in told.partition("Starting KataGo")[2]
    time.sleep(4 * POLL)
    screen.picture(pictures / "gui-katrain.png", "1042x820+0+0")
