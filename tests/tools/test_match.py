"""Matches between fake engines: who plays what, who is to blame, what is kept."""

import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from sgfmill import sgf

from board.stone import Stone
from gtp import engine_process
from gtp.engine_process import EngineCrashError, EngineTimeoutError, GtpProcess
from sgf.match_result import format_score
from tests.marks import unix_only
from tests.tools.matches import fake, make_config, play_match
from tools.matchlib.command import split_words
from tools.matchlib.config import MatchConfig
from tools.matchlib.engine import MatchEngine
from tools.matchlib.errors import IllegalPlayError, MatchError
from tools.matchlib.game_sgf import format_sgf
from tools.matchlib.record import MatchRecord
from tools.matchlib.referee import Referee
from tools.matchlib.runner import MatchPool, run_match

GNU_GO_OPTIONS = "--mode gtp --level 1 --chinese-rules --positional-superko --capture-all-dead"


@pytest.mark.slow
@pytest.mark.parametrize(("options", "reason", "suffix", "detail"), [
    ("--crash-at 3", "crash", "F", "exit status 3: fake: out of luck"),
    ("--hang-at 2", "timeout", "F", "no reply to 'genmove"),
    ("--illegal-at 2", "illegal", "F", "I99"),
    ("--error-at 2", "error", "F", "cannot think"),
    ("--resign-at 2", "resign", "R", "resigned"),
    ("--refuse-play", "error", "F", "refused the legal move"),
])
def test_fault_costs_the_engine_at_fault(
    tmp_path: Path, options: str, reason: str, suffix: str, detail: str
) -> None:
    """The engine that fails loses, as Black and as White, and the next game is played all the same."""
    records = play_match(tmp_path, second=f"{options} --each-game", hang_limit=0.7 if reason == "timeout" else 20.0)
    assert [record.winner for record in records] == ["first", "first"]
    assert [record.reason for record in records] == [reason, reason]
    assert [record.result for record in records] == [f"B+{suffix}", f"W+{suffix}"]
    assert all(detail in record.detail and "second engine" in record.detail for record in records)


@pytest.mark.slow
def test_who_hangs_with_time_left_has_not_lost_on_time(tmp_path: Path) -> None:
    records = play_match(tmp_path, second="--hang-at 2 --each-game", hang_limit=0.7, time_seconds=60)
    assert [(record.reason, record.result) for record in records] == [("timeout", "B+F"), ("timeout", "W+F")]


@pytest.mark.slow
def test_loss_on_time(tmp_path: Path) -> None:
    """The referee's own clock decides, and an engine that answers late stays in the match."""
    records = play_match(tmp_path, first="--slow 0.35", time_seconds=1)
    assert [record.result for record in records] == ["W+T", "B+T"]
    assert [record.winner for record in records] == ["second", "second"]
    assert all(record.times["first"].moves == 3 and record.times["first"].max_seconds >= 0.35 for record in records)
    sent = (tmp_path / "logs" / "worker0-first.log").read_text().splitlines()
    assert [line for line in sent if line.startswith("time_settings")] == [
        "time_settings 0 1 1", "time_settings 1 0 0", "time_settings 1 0 0",
    ]
    assert "time_left b 1 0" in sent and "time_left w 0 0" in sent and "komi 0.5" in sent
    game = sgf.Sgf_game.from_bytes((tmp_path / "sgf" / "game00001.sgf").read_bytes())
    assert game.get_root().get("TM") == 1.0
    assert any(node.has_property("BL") for node in game.get_main_sequence())


def test_time_left_can_be_left_out(tmp_path: Path) -> None:
    """--no-time-left sends none."""
    play_match(tmp_path, "--pass-from 1", "--pass-from 1", time_seconds=5, sends_time_left=False)
    assert "time_left" not in (tmp_path / "logs" / "worker0-first.log").read_text()


def test_engines_hear_of_the_very_komi_that_the_referee_counts(tmp_path: Path) -> None:
    for komi, said in ((0.00001, "0.00001"), (1234567.5, "1234567.5"), (-7.0, "-7")):
        play_match(tmp_path / said, "--pass-from 1", "--pass-from 1", games=1, komi=komi)
        assert f"komi {said}" in (tmp_path / said / "logs" / "worker0-first.log").read_text().splitlines()


def test_engines_without_komi_and_clock_commands(tmp_path: Path) -> None:
    """Nothing but the indispensable commands goes to an engine that lists no others."""
    records = play_match(tmp_path, "--bare --each-game --pass-from 4", "--bare --each-game --pass-from 4",
                         time_seconds=30)
    assert [record.reason for record in records] == ["score", "score"]
    assert (tmp_path / "logs" / "worker0-first.log").read_text() == ""


def test_games_alternate_and_sgf_agrees(tmp_path: Path) -> None:
    """Colors alternate, a pair of games shares its opening, and the SGF files say what the records say."""
    records = play_match(tmp_path, games=6, parallel=2, names=("Éins]", "Zwei"), komi=7.0)
    assert [record.black for record in records] == ["first", "second"] * 3
    openings = [tuple(record.opening) for record in records]
    assert openings[0::2] == openings[1::2] and len(set(openings)) == 3
    for record in records:
        game = sgf.Sgf_game.from_bytes((tmp_path / "sgf" / f"game{record.index + 1:05d}.sgf").read_bytes())
        names = ("Éins]", "Zwei") if record.black == "first" else ("Zwei", "Éins]")
        assert (game.get_player_name("b"), game.get_player_name("w")) == names
        assert game.get_root().get("RE") == record.result and game.get_komi() == 7.0
        moves = [node.get_move() for node in game.get_main_sequence()[1:]]
        assert len(moves) == record.moves
        assert [color for color, _ in moves] == ["bw"[i % 2] for i in range(len(moves))]
        columns = "ABCDE"
        assert [f"{columns[point[1]]}{point[0] + 1}" for _, point in moves[:2]] == record.opening
        assert record.detail in game.get_last_node().get("C")
        winner = {"b": record.black, "w": "second" if record.black == "first" else "first", None: "draw"}
        assert winner[game.get_winner()] == record.winner
        assert record.reason == "score" and record.area_score is not None


def test_score_of_an_empty_board_and_a_draw(tmp_path: Path) -> None:
    """Komi alone decides when both pass at once, and zero is a draw."""
    records = play_match(tmp_path / "komi", "--pass-from 1", "--pass-from 1", openings="none", komi=7.0)
    assert [(record.result, record.winner, record.moves) for record in records] == [("W+7", "second", 2),
                                                                                   ("W+7", "first", 2)]
    records = play_match(tmp_path / "draw", "--pass-from 1", "--pass-from 1", openings="none", komi=0.0)
    assert [(record.result, record.winner) for record in records] == [("0", "draw"), ("0", "draw")]


def test_move_limit(tmp_path: Path) -> None:
    """A long game is scored as it stands."""
    records = play_match(tmp_path, max_moves=7)
    assert [(record.moves, record.reason) for record in records] == [(7, "max-moves")] * 2


def test_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The table counts by color and reason, and a finished match only prints it again."""
    options = "--resign-at 1 --each-game"
    play_match(tmp_path, second=options, games=3)
    table = capsys.readouterr().out.split("\n\n", 1)[1]
    rows = {cells[0]: cells[1:] for cells in (re.split(r"\s{2,}", line) for line in table.splitlines())}
    assert table.startswith("A 1.0 against B 1.0: 3 games, 5x5, komi 0.5, area scoring\n")
    assert rows["wins"] == ["3", "0"] and rows["won by resignation"] == ["3", "0"] and rows["draws"] == ["0", "0"]
    assert rows["wins as Black"] == ["2 of 2", "0 of 1"] and rows["wins as White"] == ["1 of 1", "0 of 2"]
    assert "A 1.0: 3-0-0, 100.0 % [43.9, 100.0], Elo above -43" in table
    run_match(make_config(tmp_path, second=options, games=3))
    assert capsys.readouterr().out == "\n" + table
    play_match(tmp_path, second=options, games=4)
    assert "[4/4] game 4, B 1.0 Black: W+R" in capsys.readouterr().out


def test_engine_that_cannot_play_stops_the_match(tmp_path: Path) -> None:
    """A match is not lost by engines that do not start or do not know the board size."""
    with pytest.raises(MatchError, match="does not play on size 13"):
        play_match(tmp_path / "size", size=13)
    with pytest.raises(MatchError, match="unrecognized arguments"):
        play_match(tmp_path / "start", second="--nonsense")
    with pytest.raises(MatchError, match="command not found: no-such-engine"):
        run_match(MatchConfig("no-such-engine --mode gtp", fake(), tmp_path / "none"))
    with pytest.raises(MatchError, match="cannot split"):
        run_match(MatchConfig("'", fake(), tmp_path / "none"))
    assert not (tmp_path / "none").exists()


@unix_only
def test_deaf_engine_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that does not quit is gone after close, with the shell that started it."""
    monkeypatch.setattr(engine_process, "QUIT_SECONDS", 0.3)
    process = GtpProcess(["/bin/sh", "-c", f"{fake('--deaf')}; true"], tmp_path / "log")
    assert process.ask("name", 20.0).text == "Fake"
    process.close()
    assert process._process.poll() is not None and not process._reader.is_alive()


@unix_only
def test_stray_and_late_lines_do_not_shift_replies(tmp_path: Path) -> None:
    """Lines that are no reply, CRLF, ids and unasked replies are survived."""
    script = (
        r"read a; printf 'noise\r\n\r\n=1 one\r\nmore\r\n\r\n= unasked\n\n'; "
        r"read b; sleep 0.1; printf '?2  bad\n\n'; read c"
    )
    process = GtpProcess(["/bin/sh", "-c", script], tmp_path / "log")
    first = process.ask("a", 20.0)
    assert first.is_success and first.text == "one\nmore"
    process._reader.join(0.2)
    second = process.ask("b", 20.0)
    assert not second.is_success and second.text == "bad" and second.seconds >= 0.05
    process.kill()


def test_a_log_that_cannot_be_written_is_no_fault_of_the_engine(tmp_path: Path) -> None:
    with pytest.raises(EngineCrashError, match=r"^cannot write .*missing.log: No such file or directory$"):
        GtpProcess([sys.executable], tmp_path / "missing" / "missing.log")
    with pytest.raises(EngineCrashError, match=r"^cannot start no-such-engine: "):
        GtpProcess(["no-such-engine"], tmp_path / "log")


def test_an_engine_is_killed_where_no_groups_are_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows, whose own way to end a process with its children is not there."""
    monkeypatch.delattr(os, "killpg", raising=False)
    process = GtpProcess([sys.executable, "-c", "import time; time.sleep(600)"], tmp_path / "log")
    with pytest.raises(EngineTimeoutError):
        process.ask("name", 0.1)
    process.kill()
    assert process._process.poll() is not None and not process._reader.is_alive()


@pytest.mark.parametrize(("text", "windows", "words"), [
    ("C:\\Go\\katago.exe gtp -model \"D:\\my nets\\m.bin.gz\"", True,
     ["C:\\Go\\katago.exe", "gtp", "-model", "D:\\my nets\\m.bin.gz"]),
    ("a\\ b 'c d' # e", False, ["a b", "c d", "#", "e"]),
    ("a # b", True, ["a", "#", "b"]),
])
def test_an_engines_command_is_split_as_the_system_would(text: str, windows: bool, words: list[str]) -> None:
    assert split_words(text, windows) == words


def replay(referee: Referee, moves: str) -> None:
    """Play vertices, Black first."""
    for number, vertex in enumerate(moves.split()):
        referee.play(Stone.WHITE if number % 2 else Stone.BLACK, vertex)


def test_referee_rules() -> None:
    """Occupied points, suicide and ko are told apart, and nothing is played."""
    referee = Referee(5, 0.0)
    replay(referee, "A1 D1 B2 C2 A4 B1 B5 pass C1")
    for color, vertex, why in [
        (Stone.WHITE, "C2", "occupied"), (Stone.WHITE, "A5", "suicide"), (Stone.WHITE, "b1", "ko"),
        (Stone.BLACK, "I3", "not a point"), (Stone.BLACK, "resign", "not a move"),
    ]:
        with pytest.raises(IllegalPlayError, match=why):
            referee.play(color, vertex)
    assert len(referee.moves) == 9 and not referee.is_over
    replay(referee, "PASS pass")
    assert referee.is_over
    assert [format_score(score, 0) for score in (3.5, -2.0, 0.0)] == ["B+3.5", "W+2", "0"]


def test_referee_forbids_repetition() -> None:
    """Sending three stones back to an earlier position is no simple ko, and forbidden."""
    referee = Referee(2, 0.0)
    replay(referee, "A1 B2 A2 B1 A1 A2")
    with pytest.raises(IllegalPlayError, match="superko"):
        referee.play(Stone.BLACK, "A1")


def test_dead_stones_change_the_friendly_score_only() -> None:
    """A hopeless stone spoils the area around it until it is removed."""
    referee = Referee(5, 0.5)
    for number in range(1, 6):
        for column in "BD":
            referee.play(Stone.BLACK, f"{column}{number}")
    referee.play(Stone.WHITE, "A1")
    assert (referee.get_area_score(), referee.get_friendly_score()) == (18.5, 24.5)


@pytest.mark.slow
def test_gnu_go_can_play(tmp_path: Path, gnugo: str) -> None:
    """GNU Go plays a game to the end under its recommended options and loses none by rules."""
    run_match(MatchConfig(f"gnugo {GNU_GO_OPTIONS}", fake(), tmp_path, games=2, size=5, komi=0.5))
    engine = MatchEngine([gnugo, *GNU_GO_OPTIONS.split()], tmp_path / "log", 20.0)
    engine.start(5, has_clock=False)
    assert engine.get_name().startswith("GNU Go") and engine.knows("time_left")
    engine.close()
    assert all(f'"reason": "{reason}"' not in (tmp_path / "games.jsonl").read_text()
               for reason in ("crash", "timeout", "error", "illegal"))


def test_the_record_has_names_komi_and_the_clock_of_each_side() -> None:
    referee = Referee(5, 6.5)
    for color, vertex in ((Stone.BLACK, "C3"), (Stone.WHITE, "B2"), (Stone.BLACK, "pass")):
        referee.play(color, vertex)
    game = SimpleNamespace(
        config=MatchConfig("a", "b", Path(), size=5, komi=6.5, time_seconds=60), referee=referee,
        sides={Stone.BLACK: "second", Stone.WHITE: "first"}, clocks_after=[None, 50.25, 48.0], analyses=["", "{}", ""])
    record = MatchRecord(1, ["C3"], "second", "first", "W+R", "resign", "Black resigned", 3)
    read = sgf.Sgf_game.from_bytes(format_sgf(game, record, ("one", "two")))  # type: ignore[arg-type]
    root, *nodes = read.get_main_sequence()
    assert [root.get(name) for name in ("PB", "PW", "KM", "RE", "RO", "TM")] == ["two", "one", 6.5, "W+R", "2", 60.0]
    assert [node.get_move() for node in nodes] == [("b", (2, 2)), ("w", (1, 1)), ("b", None)]
    clocks = [{name: node.get(name) for name in ("BL", "WL") if node.has_property(name)} for node in nodes]
    assert clocks == [{}, {"WL": 50.25}, {"BL": 48.0}] and nodes[1].get("CC") == "{}"
    assert nodes[2].get("C") == "W+R (resign): Black resigned"


def test_a_name_of_bytes_that_are_no_text_costs_no_game(tmp_path: Path) -> None:
    play_match(tmp_path, "--pass-from 1", "--pass-from 1", games=1, names=("\udcffa", "b"))
    game = sgf.Sgf_game.from_bytes((tmp_path / "sgf" / "game00001.sgf").read_bytes())
    assert (game.get_player_name("b"), game.get_player_name("w")) == ("?a", "b")


@pytest.mark.parametrize(("own", "given", "names"), [
    (["GNU Go 3.8", "Pachi"], None, ("GNU Go 3.8", "Pachi")), (["", ""], None, ("first", "second")),
    (["Hiyoko 1", "Hiyoko 1"], None, ("Hiyoko 1 (first)", "Hiyoko 1 (second)")),
    (["Hiyoko 1", "Hiyoko 1"], ("old", "new"), ("old", "new")),
])
def test_engines_of_one_name_are_told_apart(own: list[str], given: tuple[str, str] | None, names: tuple[str, str],
                                            tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MatchEngine, "start", lambda *_: None)
    monkeypatch.setattr(MatchEngine, "get_name", lambda engine: own[engine.command == ["b"]])
    store = SimpleNamespace(log_directory=tmp_path, save_names=lambda _: None)
    pool = MatchPool(make_config(tmp_path, names=given), store,  # type: ignore[arg-type]
                     {"first": ["a"], "second": ["b"]}, [[]], [0])
    pool._greet()
    assert pool.names == names


def test_a_game_is_set_up_as_the_match_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []

    def ask(_: MatchEngine, command: str, timeout: float | None = None) -> SimpleNamespace:
        sent.append(command)
        return SimpleNamespace(is_success=True, text="")

    monkeypatch.setattr(MatchEngine, "ask", ask)
    engine = MatchEngine(["a"], tmp_path / "log", 1.0)
    engine.prepare(5, 6.5, 60, ["hello"])
    assert sent == ["boardsize 5", "komi 6.5", "time_settings 60 0 0", "hello", "clear_board"]
