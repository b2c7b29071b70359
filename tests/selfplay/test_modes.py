"""Some of the tests of self-play without compiled code."""
from __future__ import annotations

from pathlib import Path

import pytest

from tests.subprocess_tests import run_tests


@pytest.mark.slow
def test_without_compiled_code(root: Path) -> None:
    run_tests(root, "tests/selfplay", "-m", "plain", NUMBA_DISABLE_JIT="1")
