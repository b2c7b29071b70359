"""The match directory survives kill -9, Ctrl-C, cut lines and other options."""

import errno
import io
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.marks import unix_only
from tests.tools.matches import fake, make_config, play_match, read_records
from tools.matchlib.config import MatchConfig
from tools.matchlib.engine import MatchEngine
from tools.matchlib.errors import MatchError
from tools.matchlib.record import MatchRecord
from tools.matchlib.runner import run_match
from tools.matchlib.standing import play_games
from tools.matchlib.store import CONFIG_FILE, GAMES_FILE, TAIL_BYTES, MatchStore, find_end_of_lines

GAMES = 8


def start_match(root: Path, directory: Path, *options: str) -> subprocess.Popen[str]:
    """Start the program itself from another directory, with engines that are not too fast."""
    command = [sys.executable, str(root / "tools" / "match.py"), "--first", fake("--slow 0.01"), "--second",
               fake("--seed 3"), "--dir", str(directory), "--games", str(GAMES), "--size", "5", "--parallel", "2",
               *options]
    return subprocess.Popen(command, cwd=directory.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for_games(directory: Path, number: int) -> None:
    """Wait until the directory holds so many games."""
    deadline = time.monotonic() + 60.0
    while len(read_records(directory)) < number:
        assert time.monotonic() < deadline, "no games are played"
        time.sleep(0.02)


@unix_only
@pytest.mark.slow
@pytest.mark.parametrize("name", ["SIGKILL", "SIGINT"])
def test_match_goes_on_after_a_signal(root: Path, tmp_path: Path, name: str) -> None:
    """Finished games are kept, the others are played once, and a different match is refused."""
    number = getattr(signal, name)
    directory = tmp_path / "match"
    process = start_match(root, directory)
    wait_for_games(directory, 2)
    process.send_signal(number)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == (-signal.SIGKILL if number == signal.SIGKILL else 130), errors
    assert "Traceback" not in errors
    kept = (directory / GAMES_FILE).read_text()
    assert 2 <= kept.count("\n") < GAMES
    process = start_match(root, directory)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert (directory / GAMES_FILE).read_text().startswith(kept)
    assert sorted(record.index for record in read_records(directory)) == list(range(GAMES))
    assert len(list((directory / "sgf").glob("*.sgf"))) == GAMES and f"{GAMES} games, 5x5" in output


@pytest.mark.slow
def test_bad_options_give_one_line(root: Path, tmp_path: Path) -> None:
    """A missing command and another match's directory end with status 2 and name the trouble."""
    process = start_match(root, tmp_path / "missing", "--second", "no-such-engine --gtp")
    said = process.communicate(timeout=30)[1]
    assert (said, process.returncode) == ("match.py: command not found: no-such-engine\n", 2)
    directory = tmp_path / "other"
    MatchStore(make_config(directory)).close()
    process = start_match(root, directory)
    errors = process.communicate(timeout=30)[1]
    assert process.returncode == 2 and errors.count("\n") == 1 and "another --dir" in errors


def test_a_command_that_does_not_start_can_be_mended(tmp_path: Path) -> None:
    wrong = make_config(tmp_path / "match", first=f"{sys.executable} -c pass", games=2)
    with pytest.raises(MatchError):
        run_match(wrong)
    play_match(tmp_path / "match", games=2)
    assert len(read_records(tmp_path / "match")) == 2


def test_a_command_that_starts_no_more_costs_no_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise MatchError("it does not start")

    play_match(tmp_path)
    with monkeypatch.context() as patch, pytest.raises(MatchError, match="does not start"):
        patch.setattr(MatchEngine, "start", fail)
        play_match(tmp_path, games=4)
    assert len(play_match(tmp_path, games=4)) == 4
    assert play_games(make_config(tmp_path, games=2)).games == 2, "of more that are there"


@pytest.mark.parametrize(("name", "value"), [
    ("komi", 6.5), ("openings", "random"), ("seed", 5), ("scoring", "friendly"),
])
def test_other_options_are_refused_by_name(tmp_path: Path, name: str, value: Any) -> None:
    """The message names the option that differs."""
    MatchStore(make_config(tmp_path)).close()
    with pytest.raises(MatchError, match=f"--{name} "):
        MatchStore(make_config(tmp_path, **{name: value}))
    MatchStore(make_config(tmp_path, games=500, parallel=3)).close()


def test_games_of_another_version_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                           capsys: pytest.CaptureFixture[str]) -> None:
    """The table has one name for an engine, whatever version played which game."""
    play_match(tmp_path)
    monkeypatch.setattr(MatchEngine, "get_name", lambda engine: f"{engine.log_path.stem} 2.0")
    capsys.readouterr()
    play_match(tmp_path, games=4, names=("x", "y"))
    assert "those that follow" not in capsys.readouterr().err, "these names have no versions"
    play_match(tmp_path, games=6)
    told = f"4 games in {tmp_path} are of x and y, those that follow of worker0-first 2.0 and worker0-second 2.0, "
    assert told in capsys.readouterr().err
    play_match(tmp_path, games=8)
    assert "those that follow" not in capsys.readouterr().err


def test_directory_in_use(tmp_path: Path) -> None:
    """Two matches never share a directory."""
    store = MatchStore(make_config(tmp_path))
    with pytest.raises(MatchError, match="another match is running"):
        MatchStore(make_config(tmp_path))
    store.close()


def test_cut_and_broken_lines(tmp_path: Path) -> None:
    """A line cut short is played again; a line that is no game is an error."""
    played = play_match(tmp_path)
    path = tmp_path / GAMES_FILE
    whole = path.read_text()
    path.write_text(whole[:-20])
    assert [record.opening for record in play_match(tmp_path)] == [record.opening for record in played]
    assert len(path.read_text().splitlines()) == 2
    for line in (b"nonsense", b"\xff\xff", b"null", b'{"times": []}'):
        path.write_bytes(line + b"\n" + whole.encode())
        with pytest.raises(MatchError, match=r"games.jsonl:1 is not a game"):
            play_match(tmp_path)
    path.write_text(whole)
    (tmp_path / CONFIG_FILE).write_text("5")
    with pytest.raises(MatchError, match=r"match.json cannot be read"):
        play_match(tmp_path)


def test_a_part_of_a_game_spoils_no_other_one(tmp_path: Path) -> None:
    """A full disk takes a part of one worker's game; then there is room for another worker's."""
    config, path = make_config(tmp_path), tmp_path / GAMES_FILE
    store = MatchStore(config)
    for index in (0, 2):
        store.add(MatchRecord(index, [], "first", "first", "B+R", "resign", "", 3), b"")
        with path.open("ab") as file:
            file.write(b'{"index": 1, "op')
    store.close()
    store = MatchStore(config)
    assert list(store.records) == [0, 2]
    store.close()


class CountingFile(io.BytesIO):
    """A file that counts what is read of it."""

    count = 0

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        self.count += len(data)
        return data


@pytest.mark.parametrize("part", [0, 1, TAIL_BYTES - 1, TAIL_BYTES, TAIL_BYTES + 1, 3 * TAIL_BYTES])
@pytest.mark.parametrize("lines", [0, 1, 20 * TAIL_BYTES])
def test_a_game_costs_no_more_after_many_others(lines: int, part: int) -> None:
    file = CountingFile(b"\n" * lines + b"x" * part)
    assert find_end_of_lines(file) == lines
    assert file.count <= part + TAIL_BYTES


def test_games_of_another_match_stay_where_no_lock_keeps_it_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(MatchStore, "_take_directory", lambda _: None)
    stores = [MatchStore(make_config(tmp_path)) for _ in range(2)]
    for index, store in enumerate((stores[0], stores[0], stores[1], stores[0])):
        store.add(MatchRecord(index, [], "first", "first", "B+R", "resign", "", 3), b"")
    assert list(MatchStore(make_config(tmp_path)).records) == [0, 1, 2, 3]


def test_a_disk_that_was_full_at_the_first_game_costs_no_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(store: MatchStore, *_: object) -> None:
        (store.directory / GAMES_FILE).write_bytes(b'{"index": 0')
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch, pytest.raises(MatchError, match="the same command goes on"):
        patch.setattr(MatchStore, "add", fail)
        play_match(tmp_path)
    assert len(play_match(tmp_path)) == 2


def test_unusable_directory(tmp_path: Path) -> None:
    """A file in place of the directory is one clear error."""
    (tmp_path / "file").write_text("")
    with pytest.raises(MatchError, match="cannot use the directory"):
        run_match(MatchConfig(fake(), fake(), tmp_path / "file"))
