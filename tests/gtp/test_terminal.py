"""Who starts main.py in a terminal is told what it is; a program behind a pipe is not."""
from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.gtp.players import ROOT, SLOW_START, run_main

pty = pytest.importorskip("pty", reason="a pseudo-terminal needs a Unix system")


def test_a_terminal_is_greeted() -> None:
    screen, terminal = pty.openpty()
    with subprocess.Popen([sys.executable, str(ROOT / "main.py"), "--model", "none", "--size", "5"], stdin=terminal,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        os.close(terminal)
        os.write(screen, b"quit\n")
        out, err = process.communicate(timeout=SLOW_START)
    os.close(screen)
    assert process.returncode == 0 and out == b"= \n\n"
    lines = err.decode().splitlines()
    assert "genmove b" in lines[0] and f"{ROOT / 'web.py'}" in lines[1] and f"{ROOT / 'main.py'}" in lines[2]
    assert len(lines) == 3


def test_a_pipe_is_not() -> None:
    assert run_main("--model", "none", "--size", "5", text="quit\n") == (0, "= \n\n", "")
