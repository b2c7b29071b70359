"""Some tests again without compiled code, which may show nothing new.

There an index out of bounds is an error, while compiled code reads and writes whatever lies there.
"""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_without_compiled_code(root: Path) -> None:
    files = [str(path) for path in (root / "tests").glob("*/test_*.py") if "pytest.mark.plain" in path.read_text()]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *files, "-m", "plain"]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    result = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=500)
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-2000:]
