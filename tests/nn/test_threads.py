"""How torch's threads wait for each other."""
from __future__ import annotations

import os
import subprocess
import sys

import pytest


@pytest.mark.slow
def test_waiting_threads_sleep() -> None:
    given = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_"))}
    done = subprocess.run([sys.executable, "-c", "import nn, torch"], env={**given, "OMP_DISPLAY_ENV": "verbose"},
                          capture_output=True, text=True, timeout=300, check=True)
    assert "OMP_WAIT_POLICY = 'PASSIVE'" in done.stderr, "what OpenMP itself says it does"
    if "GOMP_SPINCOUNT" in done.stderr:  # GNU's says PASSIVE by default, too, and looks for work 300,000 times
        assert "GOMP_SPINCOUNT = '0'" in done.stderr
