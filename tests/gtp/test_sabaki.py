"""Sabaki's own client (npm package @sabaki/gtp) drives the engine; skipped where node or the package is absent."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from program import PROGRAM_NAME, VERSION

CLIENTS = Path(__file__).resolve().parents[1] / "clients"
ENGINE = Path(__file__).with_name("fake_main.py")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    """Return what the client saw."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    probe = [node, "-e", "require.resolve('@sabaki/gtp')"]
    if subprocess.run(probe, cwd=CLIENTS, capture_output=True).returncode:
        pytest.skip("@sabaki/gtp is not installed (npm install in tests/clients)")
    result = subprocess.run([node, "sabaki.js", sys.executable, str(ENGINE)], cwd=CLIENTS, capture_output=True,
                            text=True, timeout=400)
    assert result.returncode == 0, result.stderr[-2000:]
    return json.loads(result.stdout)


def test_questions_in_a_row(report: dict[str, Any]):
    name, version, protocol, commands = report["hello"]
    assert (name, version, protocol) == (PROGRAM_NAME, VERSION, "2")
    assert {"kata-genmove_analyze", "kata-analyze", "set_free_handicap", "undo"} <= set(commands.split("\n"))


def test_synchronisation_with_undo_and_handicap(report: dict[str, Any]):
    def moves(record: str) -> str:
        return record.partition("\n")[2]

    assert moves(report["moves"]).startswith(";B[cc];W[db];B[bd];W[")
    assert report["moves"].count(";") == 6
    assert report["afterUndo"].count(";") == 5 and "W[ae]" in report["afterUndo"]
    assert "AB[db][bd]" in report["handicap"] and "HA[2]" in report["handicap"] and "KM[0.5]" in report["handicap"]


def test_analysis_as_sabaki_reads_it(report: dict[str, Any]):
    for name, seen in report["analysis"].items():
        scale = 1 if name.startswith("kata") else 10000
        assert len(seen["lines"]) >= 3
        for line in seen["lines"]:
            assert [move["order"] for move in line] == [str(order) for order in range(len(line))]
            for move in line:
                assert move["pv"][0] == move["move"] and int(move["visits"]) >= 0
                assert 0 <= float(move["winrate"]) <= scale
                assert ("." in move["winrate"]) == (scale == 1)


def test_a_whole_game(report: dict[str, Any]):
    game = report["game"]
    assert len(game) > 10 and None not in game
    assert report["tracked"] == len(game) - (game[-1] == "resign")
    assert report["illegal"]["error"] and report["illegal"]["content"] == "invalid color or coordinate"
