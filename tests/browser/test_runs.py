"""What the page of the runs is told comes from the files alone, whatever state they are in."""
from __future__ import annotations

import json
import os
import shutil
import threading
import time
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from browser.runs import MAX_ROWS, Watcher, games_per_hour, read_table
from selfplay.archive import BATCH_FILE, BatchSettings, write_settings
from tests.browser.tabs import room, run

GAME = "(;FF[4]GM[1]SZ[5]KM[0.5];B[cc];W[bb])"


SETTINGS = BatchSettings(games=10, size=5, visits=16, komi=0.5, superko=True, resign_threshold=0.05, no_resign_rate=0.1,
                         seed=1)


@pytest.fixture
def folder(root: Path, tmp_path: Path) -> Path:
    """Return the folder of a pipeline that plays its third generation."""
    (tmp_path / "model").mkdir()
    shutil.copy(root / "doc" / "img" / "rl-metrics.csv", tmp_path / "model")
    batch = tmp_path / "archive" / "3"
    batch.mkdir(parents=True)
    (tmp_path / "archive" / "2").mkdir()
    write_settings(batch, SETTINGS)
    for number in range(1, 5):
        (batch / f"{number}.sgf").write_text(GAME, encoding="ascii")
        os.utime(batch / f"{number}.sgf", (time.time() - 60 * (5 - number),) * 2)
    return tmp_path


def test_tables_archive_rate_and_time_left(folder: Path) -> None:
    (told,) = Watcher([folder]).read()
    (table,) = told["tables"]
    assert (table["name"], table["key"]) == ("rl", "generation")
    assert table["columns"]["generation"][:2] == [0, 1] and table["columns"]["games"][:2] == [None, 500]
    assert table["columns"]["elo"][0] == -1625.0
    archive = told["archive"]
    assert (archive["generation"], archive["games"], archive["wanted"], archive["newest"]) == (3, 4, 10, [1, 2, 3, 4])
    assert archive["perHour"] == 60 and archive["secondsLeft"] == 360 and archive["settings"]["visits"] == 16


def test_games_that_end_together_have_taken_all_the_time_since_the_batch_began(folder: Path) -> None:
    batch, end = folder / "archive" / "3", time.time() - 10
    os.utime(batch / BATCH_FILE, (end - 240,) * 2)
    for number in range(1, 5):
        os.utime(batch / f"{number}.sgf", (end,) * 2)
    assert Watcher([folder]).read()[0]["archive"]["perHour"] == 60
    write_settings(batch, replace(SETTINGS, games=4))  # complete: what is written now are results
    assert Watcher([folder]).read()[0]["archive"]["perHour"] is None


def test_a_generation_that_has_only_begun_shows_the_games_of_the_one_before(folder: Path) -> None:
    (folder / "archive" / "4").mkdir()
    archive = Watcher([folder]).read()[0]["archive"]
    assert (archive["generation"], archive["games"]) == (4, 0)
    assert (archive["newestFrom"], archive["newest"]) == (3, [1, 2, 3, 4])
    shutil.rmtree(folder / "archive" / "3")
    archive = Watcher([folder]).read()[0]["archive"]
    assert (archive["generation"], archive["newestFrom"], archive["newest"]) == (4, 4, [])


def test_a_run_that_is_not_there_yet_half_written_or_damaged_tells_less(folder: Path) -> None:
    (folder / "sl-metrics.csv").write_bytes(b"step,epoch\n1000,1\n20\xff")
    (folder / "model" / "x-metrics.csv").write_text("step,train_loss\n1000,nan\n2000,0.5\nfoo,1\n3000")
    (folder / "archive" / "3" / "batch.json").write_text("{", encoding="ascii")
    (told,) = Watcher([folder]).read()
    tables = {table["name"]: table["columns"] for table in told["tables"]}
    assert tables["x"] == {"step": [1000, 2000, 3000], "train_loss": [None, 0.5, None]}
    assert told["archive"]["wanted"] is None and told["archive"]["secondsLeft"] is None
    (folder / "x-metrics.csv").write_text("\ufeffgeneration,elo\n1,5\n" + "9" * 5000 + ",6\n", encoding="utf-8")
    for field, value in (("games", '"20"'), ("komi", "NaN"), ("superko", "1"), ("komi", "1e999"), ("size", "5.5")):
        text = json.dumps({**asdict(SETTINGS), field: "VALUE"}).replace('"VALUE"', value)
        (folder / "archive" / "3" / "batch.json").write_text(text, encoding="ascii")
        (told,) = Watcher([folder]).read()
        assert told["archive"]["settings"] == {} and told["archive"]["wanted"] is None
        json.dumps(told, allow_nan=False)
    (folder / "archive" / "3" / "batch.json").write_text("[" * 20_000, encoding="ascii")
    (told,) = Watcher([folder]).read()
    assert told["archive"]["settings"] == {}
    table = next(table for table in told["tables"] if table["name"] == "x" and table["key"] == "generation")
    assert table["columns"] == {"generation": [1], "elo": [5]}
    (nothing,) = Watcher([folder / "missing"]).read()
    assert nothing["tables"] == [] and nothing["archive"] is None


def test_long_tables_are_thinned_out_but_keep_their_end(tmp_path: Path) -> None:
    path = tmp_path / "sl-metrics.csv"
    path.write_text("step\n" + "".join(f"{step}\n" for step in range(1000)), encoding="ascii")
    table = read_table(path)
    assert table is not None and len(table["columns"]["step"]) <= MAX_ROWS and table["columns"]["step"][-1] == 999


def test_rates() -> None:
    assert games_per_hour([0.0, 60.0, 120.0], 130.0) == 60
    assert games_per_hour([0.0, 60.0], 10_000.0) is None and games_per_hour([5.0], 6.0) is None
    assert games_per_hour([5.0, 5.0], 6.0) is None


def test_the_server_tells_runs_and_their_games_and_nothing_beside(folder: Path) -> None:
    (folder / "secret.sgf").write_text("secret", encoding="ascii")

    async def ask() -> None:
        async with room(watched=[folder]) as here:
            assert (await here.client.get("/runs")).status == 200
            told = await (await here.client.get("/runs/data")).json()
            assert told[0]["archive"]["games"] == 4
            game = await here.client.get("/runs/0/3/2")
            assert await game.text() == GAME and game.content_type == "application/x-go-sgf"
            for path in ("/runs/1/3/2", "/runs/0/3/99", "/runs/0/3/..", "/runs/0/../secret", "/runs/0/3/-1"):
                assert (await here.client.get(path)).status in (403, 404)
    run(ask)


def test_the_rows_of_a_long_table_are_even_and_keep_its_end(tmp_path: Path) -> None:
    path = tmp_path / "sl-metrics.csv"
    for rows in range(3 * MAX_ROWS - 2, 3 * MAX_ROWS + 1):
        path.write_text("step\n" + "".join(f"{step}\n" for step in range(rows)), encoding="ascii")
        table = read_table(path)
        assert table is not None and table["columns"]["step"][-1] == rows - 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names")
def test_what_is_no_file_is_not_waited_for(folder: Path) -> None:
    pipes = folder / "archive" / "3" / "9.sgf", folder / "model" / "a-metrics.csv"
    for pipe in pipes:
        os.mkfifo(pipe)

    def write_later() -> None:
        """Free who has opened a pipe all the same."""
        while not done.wait(0.1):
            for pipe in pipes:
                with suppress(OSError):
                    os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
                    met.append(pipe)

    met, done = list[Path](), threading.Event()
    threading.Thread(target=write_later).start()
    try:
        watcher = Watcher([folder])
        assert watcher.read_game(0, 3, 9) is None and len(watcher.read()[0]["tables"]) == 1
    finally:
        done.set()
    assert not met


@pytest.mark.parametrize("text", ["", "epoch,loss\n1,2\n", "step;loss\n1;2\n"])
def test_what_is_no_table_of_a_run_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "sl-metrics.csv").write_text(text, encoding="ascii")
    assert read_table(tmp_path / "sl-metrics.csv") is None
