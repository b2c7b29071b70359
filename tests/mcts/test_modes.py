"""Some of the search's tests without compiled code, and with checked array bounds."""
from __future__ import annotations

from pathlib import Path

import pytest

from tests.subprocess_tests import run_tests


@pytest.mark.slow
def test_without_compiled_code(root: Path) -> None:
    run_tests(root, "tests/mcts", "-m", "plain", NUMBA_DISABLE_JIT="1")


@pytest.mark.slow
@pytest.mark.timeout(1800)  # compiles everything anew
def test_with_checked_array_bounds(root: Path, tmp_path: Path) -> None:
    chosen = "any_way_of_using or greatest_depth or smallest_memory or full_tree or only_the_pass"
    run_tests(root, "tests/mcts", "-k", chosen, NUMBA_BOUNDSCHECK="1", NUMBA_CACHE_DIR=str(tmp_path))
