"""Running some tests again in a process with other settings of numba."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SECONDS = 1700


def run_tests(root: Path, folder: str, *arguments: str, **environment: str) -> None:
    """Run tests of a folder in a process of their own; fail with their output."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", folder, *arguments]
    result = subprocess.run(
        command, cwd=root, env={**os.environ, **environment}, capture_output=True, text=True, timeout=SECONDS
    )
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-2000:]
