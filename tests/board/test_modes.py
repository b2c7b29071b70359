"""The same tests without compiled code and with checked array bounds: neither may show anything new."""
from __future__ import annotations

from pathlib import Path

import pytest

from tests.subprocess_tests import run_tests


@pytest.mark.slow
def test_without_compiled_code(root: Path) -> None:
    run_tests(root, "tests/board", "-m", "plain", NUMBA_DISABLE_JIT="1")


@pytest.mark.slow
def test_with_checked_array_bounds(root: Path, tmp_path: Path) -> None:
    chosen = "test_small_random_game or test_dead_stones"
    run_tests(root, "tests/board", "-k", chosen, NUMBA_BOUNDSCHECK="1", NUMBA_CACHE_DIR=str(tmp_path))
