"""Some tests again without compiled code and with checked array bounds: neither may show anything new."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SECONDS = 1700


def run_tests(root: Path, *arguments: str, **environment: str) -> None:
    """Run tests in a process of their own, with other settings of numba; fail with their output."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *arguments]
    result = subprocess.run(
        command, cwd=root, env={**os.environ, **environment}, capture_output=True, text=True, timeout=SECONDS
    )
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-2000:]


@pytest.mark.slow
def test_without_compiled_code(root: Path) -> None:
    run_tests(root, "tests/board", "tests/mcts", "tests/selfplay", "-m", "plain", NUMBA_DISABLE_JIT="1")


@pytest.mark.slow
@pytest.mark.timeout(1800)  # may compile everything anew
def test_with_checked_array_bounds(root: Path) -> None:
    chosen = ("test_small_random_game or test_dead_stones or stones_in_atari"
              " or any_way_of_using or greatest_depth or smallest_memory or full_tree or only_the_pass")
    run_tests(root, "tests/board", "tests/mcts", "-k", chosen, NUMBA_BOUNDSCHECK="1")
