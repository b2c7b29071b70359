"""The rule that stops a run: it sees collapsed games and a falling Elo, and no fault in chance."""
from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.in_process import run_in_process
from tools.stop_rule import main


def judge(folder: Path, lengths: list[float], elos: list[float], error: float = 20.0, *options: str) -> tuple[int, str]:
    """Return status and message for a run of these generations; every second one has an Elo."""
    rows = ["generation,game_length,elo,elo_low,elo_high", "0,,-500,-600,-400"]
    for i, length in enumerate(lengths):
        elo = elos[i // 2] if i % 2 and i // 2 < len(elos) else None
        rows.append(f"{i + 1},{length}," + (",," if elo is None else f"{elo},{elo - error},{elo + error}"))
    path = folder / "rl-metrics.csv"
    path.write_text("\n".join(rows) + "\n")
    done = run_in_process(main, "--metrics", str(path), *options)
    return done.returncode, done.stderr


@pytest.mark.parametrize(("lengths", "elos", "error", "options", "complaint"), [
    ([75, 60, 58, 61], [], 20.0, [], ""),
    ([75, 60, 58, 20], [], 20.0, [], "generation 4 have 20.0 moves on the average, less than 50 % of the 60.0"),
    ([75, 60, 58, 20], [], 20.0, ["--length-percent", "0"], ""),
    ([75, 60, 20], [], 20.0, [], ""),  # too early to tell
    ([60] * 8, [0, 90, 40, -30], 20.0, [], ""),  # two falls
    ([60] * 8, [120, 90, 40, -30], 20.0, [], "3 times in a row, from +120 at generation 2 to -30 at generation 8"),
    ([60] * 8, [120, 90, 40, -30], 90.0, [], ""),  # chance explains it
    ([60] * 8, [120, 90, 40, -30], 20.0, ["--elo-falls", "0"], ""),
    ([60] * 8, [120, 90, 90, -30], 20.0, [], ""),
])
def test_it_stops_what_degenerates(
    tmp_path: Path, lengths: list[float], elos: list[float], error: float, options: list[str], complaint: str,
) -> None:
    status, message = judge(tmp_path, lengths, elos, error, *options)
    assert status == (3 if complaint else 0) and complaint in message and message.count("\n") == bool(complaint)


def test_a_run_without_a_table_goes_on(tmp_path: Path) -> None:
    done = run_in_process(main, "--metrics", str(tmp_path / "none.csv"))
    assert done.returncode == 0 and "there is no" in done.stderr and "none.csv" in done.stderr
    path = tmp_path / "bad.csv"
    for content in (b"generation,game_length\n1,long\n", b"generation,game_length\n1,9\n2,9\n3,9\n4,nan\n", b"",
                    b"generation,elo,elo_low,elo_high\n1,90,80,99\n2,60,,\n3,30,,\n4,0,-9,nan\n", bytes(range(256))):
        path.write_bytes(content)
        done = run_in_process(main, "--metrics", str(path))
        assert done.returncode == 2 and "bad.csv is not the table of a run" in done.stderr
