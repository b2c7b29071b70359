"""What pip installs is whole: the programs start from an empty folder, with the bundled model and the pages."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from engine.doctor import read_requirements

LEFT_OUT = shutil.ignore_patterns(".*", "venv", "env", "build", "dist", "archive", "data", "tests", "doc",
                                  "__pycache__", "node_modules", "*.egg-info")
PROGRAMS = ("hiyoko", "hiyoko-train", "hiyoko-selfplay", "hiyoko-match", "hiyoko-web")


@pytest.mark.slow
def test_a_wheel_works_from_an_empty_folder(root: Path, tmp_path: Path) -> None:
    pytest.importorskip("build", reason="the package build is not installed")
    source, wheels, site, empty = (tmp_path / name for name in ("source", "wheels", "site", "empty"))
    shutil.copytree(root, source, ignore=LEFT_OUT)
    empty.mkdir()

    def call(*command: str | Path, text: str = "") -> str:
        """Run a command of this Python in the empty folder and return what it says."""
        result = subprocess.run([sys.executable, *map(str, command)], cwd=empty, input=text, capture_output=True,
                                text=True, env={**os.environ, "PYTHONPATH": str(site)})
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    call("-m", "build", "--wheel", "--no-isolation", "--outdir", wheels, source)
    (wheel,) = wheels.glob("*.whl")
    call("-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", site, wheel)
    assert sorted(path.name for path in (site / "bin").iterdir() if path.stem.startswith("hiyoko")) == sorted(PROGRAMS)
    board = call(site / "bin" / "hiyoko", text="1 showboard\n2 quit\n")
    assert "J9" not in board and "A B C D E F G H J" in board  # the size of the bundled model
    for program in PROGRAMS[1:]:
        assert "--help" in call(site / "bin" / program, "--help")
    assert {"torch", "numpy", "numba"} <= read_requirements(root).keys()
    told = call("-c", "from pathlib import Path; import browser.server; from engine.doctor import read_requirements; "
                      "print(browser.server.__file__, browser.server.page_policy(), read_requirements(Path()))")
    assert str(site) in told and "sha256" in told and "'torch': '2.4'" in told and "aiohttp" not in told
