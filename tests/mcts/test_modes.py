"""Some of the search's tests without compiled code, and with checked array bounds."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


def run_tests(root: Path, *arguments: str, **environment: str) -> None:
    """Run search tests in a process of their own; fail with their output."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "tests/mcts", *arguments]
    result = subprocess.run(
        command, cwd=root, env={**os.environ, **environment}, capture_output=True, text=True, timeout=1700
    )
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-2000:]


@pytest.mark.slow
def test_without_compiled_code(root: Path) -> None:
    run_tests(root, "-m", "plain", NUMBA_DISABLE_JIT="1")


@pytest.mark.slow
@pytest.mark.timeout(1800)  # compiles everything anew
def test_with_checked_array_bounds(root: Path, tmp_path: Path) -> None:
    chosen = "any_way_of_using or greatest_depth or smallest_memory or full_tree or only_the_pass"
    run_tests(root, "-k", chosen, NUMBA_BOUNDSCHECK="1", NUMBA_CACHE_DIR=str(tmp_path))
