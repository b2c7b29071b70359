"""Positions, rules, parameters, clocks and records: what particular controllers send."""

import json
import os
import re
from pathlib import Path

import pytest

from board.stone import Stone
from gtp.parameters import PARAMETERS
from mcts.time_manager import TimeControl
from program import PROGRAM_NAME
from sgf.game_record import InterruptedWritingError, format_game
from tests.gtp.players import Controller, FakeEvaluator
from tests.mcts.clocks import total_left

RAW_KEYS = ("whiteWin", "whiteLoss", "noResult", "whiteLead", "varTimeLeft", "shorttermWinlossError", "policyPass")


@pytest.fixture
def gtp() -> Controller:
    controller = Controller(visits=6)
    controller.ask("boardsize 5")
    return controller


def stones(gtp: Controller) -> dict[str, int]:
    """Return the colors of the stones on the board by their points."""
    board = gtp.engine.board
    return {board.coordinate.convert_to_gtp_format(pos): int(board.board[pos])
            for pos in board.onboard_pos if board.board[pos]}


# --- positions ------------------------------------------------------------------------------------------------------

def test_set_position_replaces_the_game(gtp: Controller):
    gtp.ask("komi 2.5")
    gtp.ask("play b C3")
    gtp.ask("set_position b A1 W b2 w E5")
    assert stones(gtp) == {"A1": 1, "B2": 2, "E5": 2}
    assert gtp.engine.board.get_to_move() is Stone.BLACK
    assert gtp.fail("undo") == "cannot undo"
    gtp.ask("set_position")
    assert stones(gtp) == {} and gtp.ask("get_komi") == "2.5"
    gtp.ask("set_position b A1")
    assert gtp.engine.board.get_to_move() is Stone.BLACK


@pytest.mark.parametrize("line", [
    "set_position b", "set_position b A1 w A1", "set_position b A1 w pass", "set_position x A1", "set_position b I1",
    "set_position b A1 b B2 w A2 w B1 w C2 w B3", "gogui-setup b A1", "gogui-setup_player b", "gogui-setup_player",
    "gogui-play_sequence b A1 w A1", "gogui-play_sequence b A1 w", "gogui-play_sequence b resign",
    "gogui-play_sequence b C3", "play_sequence w B2 x A1", "kata-set-rules", "kata-set-rules japanese",
    "kata-set-rules stone-scoring", "kata-set-rules aga-button", 'kata-set-rules {"ko":"SIMPLE"', "kata-set-rules [1]",
    "kata-set-rules koSIMPLEscoreTERRITORY", "kata-set-rules koSIMPLEtax", "kata-set-rules koSIMPLE and so on",
    'kata-set-rules {"ko":"POSITIONAL","scoring":"TERRITORY"}', 'kata-set-rules {"foo":1}', "kata-set-rule ko",
    "kata-set-rule ko SITUATIONAL", "kata-set-rule suicide true", "kata-set-rule foo bar", "kgs-rules japanese",
    "kgs-rules", "kata-get-param", "kata-get-param humanSLProfile", "kata-set-param maxVisits 0",
    "kata-set-param maxVisits many", "kata-set-param maxVisits", "kata-set-param foo 1", "kata-set-param maxTime -1",
    "kata-set-param maxTime nan", "kata-set-param resignThreshold 2", "kata-set-param chosenMoveTemperature -1",
    "kata-set-param ponderingEnabled maybe", "kata-set-param playoutDoublingAdvantage 1",
    "kata-set-param wideRootNoise 6", "kata-set-param numSearchThreads 0", "kata-set-param numSearchThreads 1.5",
    "kata-set-param cpuctExploration -1", "kata-set-param level 0",
    "kata-set-param level 21", "kata-set-param level five", "kata-set-params", "kata-set-params [1]",
    'kata-set-params {"maxVisits":5,"foo":1}', 'kata-set-params {"maxVisits":5,"maxTime":"never"}',
    "lz-setoption name Foo value 1", "lz-setoption Visits 5", "lz-setoption name Visits",
    "lz-setoption name Visits value x",
    "kata-raw-nn", "kata-raw-nn 8", "kata-raw-nn b", "kata-raw-nn x 0", "kata-time_settings",
    "kata-time_settings fischer 10", "kata-time_settings fischer 0 0", "kata-time_settings fischer -1 5",
    "kata-time_settings fischer-capped 10 5 20", "kata-time_settings fischery 10 5", "kata-time_settings foo 1",
    "printsgf /there/is/no/such/folder/x.sgf", "kgs-genmove_cleanup", "kgs-genmove_cleanup x",
])
def test_failures_change_nothing(gtp: Controller, line: str):
    gtp.ask("play b C3")
    before, rules = gtp.state(), gtp.ask("kata-get-rules")
    options = gtp.engine.options
    gtp.fail(line)
    assert gtp.state() == before and gtp.ask("kata-get-rules") == rules
    assert gtp.engine.options == options


def test_unknown_parameters_are_named(gtp: Controller):
    assert gtp.fail("kata-get-param humanSLProfile") == "Invalid parameter: humanSLProfile"


def test_gogui_set_up(gtp: Controller):
    gtp.ask("gogui-setup B A1 W B1 B B2")
    assert gtp.engine.board.get_to_move() is Stone.BLACK
    gtp.ask("gogui-setup_player w")
    assert stones(gtp) == {"A1": 1, "B1": 2, "B2": 1}
    assert gtp.engine.board.get_to_move() is Stone.WHITE
    assert gtp.fail("gogui-setup b C3") == "board not empty"


@pytest.mark.parametrize("name", ["gogui-play_sequence", "play_sequence"])
def test_play_sequence(gtp: Controller, name: str):
    gtp.ask("play b C3")
    gtp.ask(f"{name} W D4 B PASS w A1 w A2")
    assert stones(gtp) == {"C3": 1, "D4": 2, "A1": 2, "A2": 2}
    gtp.ask("gg-undo 4")
    assert stones(gtp) == {"C3": 1}
    gtp.ask(name)


def test_printsgf_can_be_loaded_again(gtp: Controller, tmp_path: Path):
    gtp.ask("komi -3.5")
    gtp.ask("set_free_handicap B2 A1")
    gtp.ask("gogui-play_sequence w C3 b pass w D5")
    before = gtp.state()
    record = gtp.ask("printsgf")
    assert record.startswith("(;") and "KM[-3.5]" in record and "HA[2]" in record
    file = tmp_path / "a game.sgf"
    gtp.ask(f"printsgf {file}")
    gtp.ask("clear_board")
    gtp.ask(f"loadsgf {file}")
    assert gtp.state() == before
    gtp.ask("set_position w A1 b E5")
    assert "PL[B]" in gtp.ask("printsgf")
    gtp.ask("clear_board")
    gtp.ask("gogui-setup_player w")
    assert "PL[W]" in gtp.ask("printsgf")


def test_the_reason_why_a_record_is_not_written_goes_to_stderr(gtp: Controller, tmp_path: Path,
                                                               capsys: pytest.CaptureFixture[str]):
    for path, reason in ((tmp_path, ""), (tmp_path / "no" / "x", "no such folder: ")):
        assert gtp.fail(f"printsgf {path}") == "cannot write file"
        said = capsys.readouterr().err
        assert f"cannot write file: {reason}" in said and str(tmp_path) in said


def test_printsgf_of_a_long_game_is_written_once_through_and_can_be_interrupted(gtp: Controller):
    gtp.ask("gogui-play_sequence" + " b pass w pass" * 10_000)
    questions: list[int] = []

    def count() -> bool:
        questions.append(1)
        return False

    record = format_game(gtp.engine.board, count)
    assert record.count(";B[tt];W[tt]") == 10_000
    assert len(questions) < 20_000  # a quadratic writer did not come to its end
    with pytest.raises(InterruptedWritingError):
        format_game(gtp.engine.board, lambda: True)
    gtp.client.session.should_stop = lambda: True  # type: ignore[method-assign]
    assert gtp.fail("printsgf") == "interrupted"


# --- rules and parameters -------------------------------------------------------------------------------------------

@pytest.mark.parametrize("line, ko, friendly", [
    ("kata-set-rules chinese", "SIMPLE", True), ("kata-set-rules Chinese-OGS", "POSITIONAL", True),
    ("kgs-rules chinese", "POSITIONAL", True), ("kata-set-rule friendlyPassOk false", "SIMPLE", False),
    ("kata-set-rule ko POSITIONAL", "POSITIONAL", True), ("kata-set-rules tromp-taylor", "POSITIONAL", False),
    ("kata-set-rules koSIMPLEscoreAREAtaxNONEsui0fpok0", "SIMPLE", False), ("kata-set-rules goe", "POSITIONAL", True),
    ('kata-set-rules {"ko":"SIMPLE","score":"AREA"}', "SIMPLE", True),
    ("kgs-rules new_zealand", "POSITIONAL", True), ("kata-set-rules aga", "POSITIONAL", True),
    ('kata-set-rules {"ko": "POSITIONAL", "scoring":"AREA", "suicide":false, "friendlyPassOk":false}', "POSITIONAL",
     False),
])
def test_rules(gtp: Controller, line: str, ko: str, friendly: bool):
    gtp.ask("play b C3")
    gtp.ask(line)
    rules = json.loads(gtp.ask("kata-get-rules"))
    assert (rules["ko"], rules["friendlyPassOk"], rules["scoring"], rules["suicide"]) == (ko, friendly, "AREA", False)
    board = gtp.engine.board
    assert board.check_superko == (ko == "POSITIONAL") and board.moves == 2
    gtp.ask(f"kata-set-rules {gtp.ask('kata-get-rules')}")
    gtp.ask("boardsize 4")
    assert gtp.engine.board.check_superko == (ko == "POSITIONAL")


def test_parameters(gtp: Controller):
    assert gtp.ask("kata-list-params").split() == list(PARAMETERS)
    for name, value in (("maxVisits", "17"), ("maxTime", "2.5"), ("allowResignation", "false"),
                        ("resignThreshold", "-0.8"), ("chosenMoveTemperature", "0.5"),
                        ("ponderingEnabled", "true"), ("liveGfx", "true"), ("wideRootNoise", "0.25"),
                        ("analysisWideRootNoise", "0.04"), ("cpuctExploration", "1.5"), ("numSearchThreads", "4"),
                        ("playoutDoublingAdvantage", "0"), ("level", "14")):
        gtp.ask(f"kata-set-param {name} {value}")
        assert gtp.ask(f"kata-get-param {name}") == value
    assert json.loads(gtp.ask("kata-get-params"))["maxTime"] == "2.5"
    assert gtp.engine.options.resign_threshold == pytest.approx(0.1)
    gtp.ask("kata-set-param maxTime 1e20")
    gtp.ask("kata-set-param ponderingEnabled false")
    assert gtp.engine.time.limit(Stone.BLACK, 5, 25).visits == 17
    gtp.ask("search_params ponderingEnabled 1")
    lines = gtp.ask("search_params").split("\n")
    assert "[string] maxVisits 17" in lines and "[bool] ponderingEnabled 1" in lines


def test_a_move_that_was_taken_back_is_not_explained(gtp: Controller):
    gtp.ask("genmove b")
    explained = gtp.ask("gomill-explain_last_move")
    gtp.ask("play w pass")
    gtp.ask("undo")
    assert "visits" in explained and gtp.ask("gomill-explain_last_move") == explained
    gtp.ask("undo")
    assert gtp.ask("gomill-explain_last_move") == ""


def test_whether_and_when_to_resign_are_set_apart(gtp: Controller):
    for line, allowed, threshold in (
            ("kata-set-param resignThreshold -0.5", "true", 0.25),
            ("kata-set-param allowResignation false", "false", 0.0),
            ("kata-set-param resignThreshold -0.5", "false", 0.0), ("kata-set-rules aga", "false", 0.0),
            ("kata-set-param allowResignation true", "true", 0.25),
            ('kata-set-params {"allowResignation": false, "resignThreshold": -0.5}', "false", 0.0)):
        gtp.ask(line)
        assert gtp.engine.resign.threshold == threshold
        values = json.loads(gtp.ask("kata-get-params"))
        assert (values["allowResignation"], values["resignThreshold"]) == (allowed, "-0.5")


@pytest.mark.parametrize(("value", "answer"), [("1e3", "1000"), ("20.0", "20")])
def test_whole_numbers_may_be_written_in_any_way(gtp: Controller, value: str, answer: str):
    gtp.ask(f"kata-set-param maxVisits {value}")
    assert gtp.ask("kata-get-param maxVisits") == answer


def test_the_level_of_the_next_move(gtp: Controller):
    gtp.ask("kata-set-param level 3")
    gtp.ask("genmove b")
    assert gtp.engine.board.moves == 2 and not gtp.engine.tree.num_nodes
    gtp.ask("kata-set-param level 20")
    gtp.ask("genmove w")
    assert gtp.engine.tree.num_nodes


def test_several_parameters_at_once(gtp: Controller):
    gtp.ask('kata-set-params {"maxVisits": 21, "maxTime": "3.5", "ponderingEnabled": false, "wideRootNoise": 0.04}')
    values = json.loads(gtp.ask("kata-get-params"))
    assert [values[name] for name in ("maxVisits", "maxTime", "ponderingEnabled", "wideRootNoise")] == [
        "21", "3.5", "false", "0.04"]


def test_a_refused_parameter_says_why(gtp: Controller):
    assert "no difference in strength" in gtp.fail("kata-set-param playoutDoublingAdvantage 2")
    assert "5.5 is not in 0..5" in gtp.fail("kata-set-param wideRootNoise 5.5")


def test_search_parameters_reach_the_search(gtp: Controller):
    gtp.ask("kata-set-param cpuctExploration 3")
    gtp.ask("kata-set-param numSearchThreads 2")
    assert gtp.engine.tree.params.selection.c_puct == 1.5 and gtp.engine.tree.params.batch_size == 2

    def priors(command: str) -> list[float]:
        gtp.ask("clear_cache")
        reply = gtp.ask(command)
        return [float(word) for word in re.findall(r"prior ([0-9.]+)", reply)]

    calls: list[int] = []
    gtp.client.session.is_next_line_here = lambda: calls.append(1) or len(calls) % 9 == 0  # type: ignore
    narrow = {name: max(priors(name)) for name in ("kata-search_analyze b", "kata-analyze b")}
    gtp.ask("kata-set-param wideRootNoise 5")
    gtp.ask("kata-set-param analysisWideRootNoise 5")
    for name, widest in narrow.items():
        assert max(priors(name)) < widest


def test_visits_can_be_changed_under_a_clock(gtp: Controller):
    gtp.ask("time_settings 100 0 0")
    gtp.ask("time_left b 50 0")
    gtp.ask("kata-set-param maxVisits 9")
    manager = gtp.engine.time
    assert manager.mode is TimeControl.TIME_CONTROL
    assert manager.clocks[Stone.BLACK].main_left == 50
    assert manager.limit(Stone.BLACK, 5, 1).visits == 9
    gtp.ask("time_settings 0 1 0")
    assert manager.limit(Stone.BLACK, 5, 1).visits == 9


def test_lz_options(gtp: Controller):
    gtp.ask("lz-setoption name visits value 33")
    gtp.ask("lz-setoption name Resign Percentage value 12")
    gtp.ask("lz-setoption name Lagbuffer value 30")
    engine = gtp.engine
    assert (engine.options.visits, engine.resign.threshold, engine.time.lag) == (33, 0.12, 0.3)
    gtp.ask("lz-setoption name Visits value 0")
    assert engine.options.visits is None
    listed = gtp.ask("lz-setoption").split("\n")
    assert len(listed) == 5 and all(line.startswith("option name ") for line in listed)


def test_fewer_visits_hold_at_once():
    fake = FakeEvaluator(4)
    gtp = Controller(make=lambda size: fake, visits=1000, size=4)
    gtp.ask("kata-set-param maxVisits 3")
    gtp.ask("genmove b")
    assert gtp.engine.tree.root.node_visits <= 3


# --- clocks ---------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("line, mode, left", [
    ("none", TimeControl.CONSTANT_PLAYOUT, None), ("absolute 60", TimeControl.TIME_CONTROL, 60),
    ("byoyomi 60 10 3", TimeControl.TIME_CONTROL, 90), ("canadian 60 10 3", TimeControl.TIME_CONTROL, 70),
    ("fischer 60 5", TimeControl.TIME_CONTROL, 60), ("fischer-capped 60 5 -1 -1", TimeControl.TIME_CONTROL, 60),
    ("fischer-capped 60 5 40 10", TimeControl.TIME_CONTROL, 40), ("fischer 0 5", TimeControl.TIME_CONTROL, 0),
])
def test_kata_time_settings(gtp: Controller, line: str, mode: TimeControl, left: float | None):
    assert line.split()[0] in gtp.ask("kata-list_time_settings").split()
    gtp.ask(f"kata-time_settings {line}")
    manager = gtp.engine.time
    assert manager.mode is mode
    assert [total_left(clock) for clock in manager.clocks.values()] == ([] if left is None else [left, left])


# --- the network ----------------------------------------------------------------------------------------------------

def read_raw(text: str) -> tuple[dict[str, str], dict[str, list[list[str]]]]:
    """Return the single values and the tables of a kata-raw-nn block, read as LizzieYzy does."""
    values, tables = {}, {}
    lines = iter(text.split("\n"))
    for line in lines:
        if line in ("policy", "whiteOwnership"):
            tables[line] = [next(lines).split() for _ in range(5)]
        else:
            key, value = line.split()
            values[key] = value
    return values, tables


def test_raw_network(gtp: Controller):
    gtp.ask("play b C3")
    seen = []
    for sym in range(8):
        values, tables = read_raw(gtp.ask(f"kata-raw-nn {sym}"))
        assert values["symmetry"] == str(sym) and set(RAW_KEYS) <= set(values)
        assert all(len(row) == 5 for table in tables.values() for row in table)
        assert tables["policy"][2][2] == "NAN"
        assert all(-1 <= float(cell) <= 1 for row in tables["whiteOwnership"] for cell in row)
        seen.append(tables["policy"])
    best = [max((float(cell), x, y) for y, row in enumerate(table) for x, cell in enumerate(row) if cell != "NAN")[1:]
            for table in seen]
    assert sorted(set(best)) == [(0, 0), (0, 4), (4, 0), (4, 4)]  # the fake network likes the last cell it is shown
    assert gtp.ask("kata-raw-nn all").count("symmetry") == 8
    models = json.loads(gtp.ask("kata-get-models"))
    assert len(models) == 1 and {"name", "internalName", "maxBatchSize"} <= set(models[0])


@pytest.mark.parametrize("color, white_win", [("b", 0.25), ("w", 0.75)])
def test_raw_network_has_whites_view(color: str, white_win: float):
    gtp = Controller(make=lambda size: FakeEvaluator(size, 0.75), size=5)
    values, _ = read_raw(gtp.ask(f"kata-raw-nn {color} 0"))
    assert float(values["whiteWin"]) == pytest.approx(white_win)
    assert float(values["whiteLoss"]) == pytest.approx(1 - white_win)


# --- others ---------------------------------------------------------------------------------------------------------

def test_commands_that_only_answer(gtp: Controller):
    for line in ("kgs-game_over", "cgos-opponent_name GNU Go", "cgos-opponent_rating 1800", "cgos-gameover B+3.5",
                 "stop", "gogui-version 1.6.0", "gogui-interrupt"):
        assert gtp.ask(line) == ""
    assert gtp.ask("kgs-chat game somebody hi").startswith(f"I am {PROGRAM_NAME}")
    assert gtp.ask("echo a  b # c") == "a b"
    assert gtp.ask("gogui-sigint") == str(os.getpid())


def test_gomill(gtp: Controller):
    assert gtp.ask("gomill-explain_last_move") == ""
    assert float(gtp.ask("gomill-cpu_time")) == 0
    move = gtp.ask("genmove b")
    assert gtp.ask("gomill-explain_last_move").startswith(f"black {move}: win rate 50.0%, 6 visits, {move}")
    assert float(gtp.ask("gomill-cpu_time")) >= 0
    assert "6 visits" in gtp.ask("gomill-describe_engine")
    gtp.ask("clear_board")
    assert gtp.ask("gomill-explain_last_move") == ""


def test_clear_cache(gtp: Controller):
    gtp.ask("genmove b")
    gtp.ask("clear_cache")
    assert gtp.fail("tamago-dump_tree") == "no search tree"


def test_cleanup_captures_dead_stones_before_passing():
    wall = "(;SZ[5]KM[-20]AB[ac][bc][cc][dc][ec][ad][bd][cd][dd][ed]AW[bb])"
    gtp = Controller(visits=6, make=lambda size: FakeEvaluator(size, pass_logit=20.0))
    gtp.ask(f"tamago-readsgf {wall}")
    gtp.engine.board.get_dead_stones = lambda seed=0: [  # type: ignore[method-assign]
        pos for pos in gtp.engine.board.onboard_pos if gtp.engine.board.board[pos] == Stone.WHITE]
    gtp.ask("play w pass")
    assert gtp.ask("kata-search b") == "pass"
    assert gtp.ask("kgs-genmove_cleanup b") != "pass"
    gtp.ask("undo")
    gtp.engine.board.get_dead_stones = lambda seed=0: []  # type: ignore[method-assign]
    assert gtp.ask("kgs-genmove_cleanup b") == "pass"


def test_one_rule_leaves_the_others_alone() -> None:
    gtp = Controller(cgos_mode=True)
    gtp.ask("kata-set-rule ko SIMPLE")
    assert json.loads(gtp.ask("kata-get-rules"))["friendlyPassOk"] is False
    gtp.ask("kata-set-rule friendlyPassOk true")
    gtp.ask("kata-set-rule ko POSITIONAL")
    assert json.loads(gtp.ask("kata-get-rules"))["friendlyPassOk"] is True
