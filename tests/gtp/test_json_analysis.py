"""KataGo's analysis protocol in this process: queries, answers, errors, order."""

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.options import EngineOptions
from gtp.analysis.query import read_query
from gtp.analysis.report import share_pairs
from mcts.analysis import CandidateMove
from tests.gtp.analysts import BARE, Analyst, Answer, make_query, to_lines
from tests.gtp.players import FakeEvaluator

POINTS = 25


def ask(**fields: Any) -> Answer:
    """Return the only answer to a query."""
    answers = Analyst().ask(make_query(**fields))
    assert len(answers) == 1, answers
    return answers[0]


def fail(**fields: Any) -> tuple[str, str]:
    """Return field and text of the error that answers a query."""
    answer = ask(**fields)
    assert answer.keys() == {"error", "field", "id"} and answer["id"] == "q", answer
    return answer["field"], answer["error"]


def test_the_answer_has_all_fields():
    answer = ask(moves=[["B", "C3"]], maxVisits=40, includeOwnership=True, includeMovesOwnership=True,
                 includePolicy=True, includePVVisits=True, includeOwnershipStdev=True)
    assert answer.keys() == {"id", "turnNumber", "isDuringSearch", "moveInfos", "rootInfo", "policy", "ownership",
                             "ownershipStdev"}
    assert (answer["id"], answer["turnNumber"], answer["isDuringSearch"]) == ("q", 1, False)
    assert answer["rootInfo"].keys() >= {"visits", "winrate", "scoreLead", "scoreSelfplay", "scoreStdev", "utility",
                                         "thisHash", "symHash", "currentPlayer", "rawWinrate", "weight"}
    assert answer["rootInfo"]["visits"] == sum(info["visits"] for info in answer["moveInfos"]) == 40
    for order, info in enumerate(answer["moveInfos"]):
        assert info.keys() >= {"move", "visits", "winrate", "scoreLead", "scoreMean", "scoreStdev", "prior", "order",
                               "pv", "lcb", "utility", "utilityLcb", "weight", "edgeVisits"}
        assert info["order"] == order and info["pv"][0] == info["move"]
        assert len(info["pvVisits"]) == len(info["pv"]) and info["pvVisits"][0] == info["visits"]
        assert len(info["ownership"]) == POINTS
    assert len(answer["ownership"]) == len(answer["ownershipStdev"]) == POINTS
    policy = answer["policy"]
    assert len(policy) == POINTS + 1 and policy[12] == -1
    assert math.isclose(sum(value for value in policy if value >= 0), 1.0, abs_tol=1e-4)
    assert sum(value < 0 for value in policy) == 1


def test_lists_are_given_only_when_asked_for():
    answer = ask(includeOwnership=False)
    assert answer.keys() == {"id", "turnNumber", "isDuringSearch", "moveInfos", "rootInfo"}
    assert not answer["moveInfos"][0].keys() & {"ownership", "pvVisits", "noResultValue"}


def test_perspectives():
    def look(whose: str) -> Answer:
        return ask(moves=[["B", "C3"]], maxVisits=30, includeOwnership=True, komi=3.5,
                   overrideSettings={"reportAnalysisWinratesAs": whose})

    black, white, mover = (look(whose) for whose in ("BLACK", "white", "SIDETOMOVE"))
    assert white == mover  # White is to move
    for one, two in zip([black["rootInfo"], *black["moveInfos"]], [white["rootInfo"], *white["moveInfos"]],
                        strict=True):
        assert one["winrate"] == pytest.approx(1 - two["winrate"])
        assert one["scoreLead"] == -two["scoreLead"] and one["utility"] == -two["utility"]
        assert one["visits"] == two["visits"] and one["scoreStdev"] == two["scoreStdev"]
    assert black["ownership"] == [-value for value in white["ownership"]]
    assert black == ask(moves=[["B", "C3"]], maxVisits=30, includeOwnership=True, komi=3.5)  # the default


def test_a_won_board_belongs_to_its_owner():
    stones = [["B", f"{column}3"] for column in "ABCDE"] + [["B", "A5"], ["B", "C5"], ["B", "B4"]]
    answer = ask(initialStones=stones, initialPlayer="W", maxVisits=20, includeOwnership=True, komi=0.5,
                 whiteHandicapBonus="0")
    assert answer["rootInfo"]["currentPlayer"] == "W"
    assert answer["rootInfo"]["scoreLead"] > 5 and sum(answer["ownership"]) > 5
    assert answer["rootInfo"]["scoreLead"] == pytest.approx(sum(answer["ownership"]) - 0.5, abs=1e-3)


def test_leads_of_moves_with_more_visits_rest_on_more_random_games():
    moves = [CandidateMove(pos, visits, 0.5, 0.1, 0.4, pos) for pos, visits in enumerate([300, 100, 0])]
    assert share_pairs(moves) == [1200, 400, 8]
    assert share_pairs(moves[2:]) == [8]
    assert share_pairs([replace(moves[0], visits=10)]) == [256]
    assert share_pairs([replace(moves[0], visits=10**9)]) == [2048]


def test_one_query_for_several_turns():
    moves = [["B", "C3"], ["W", "B2"], ["B", "D2"]]
    analyst = Analyst()
    answers = analyst.ask(make_query(moves=moves, analyzeTurns=[3, 0, 2]))
    assert [answer["turnNumber"] for answer in answers] == [0, 2, 3]
    assert [answer["rootInfo"]["currentPlayer"] for answer in answers] == ["B", "B", "W"]
    hashes = {answer["rootInfo"]["thisHash"] for answer in answers}
    assert len(hashes) == 3


def test_the_same_query_gets_the_same_answer():
    first, second = Analyst().ask(make_query(maxVisits=50), make_query(maxVisits=50))
    assert first == second


def test_hashes_of_symmetric_positions():
    def root(point: str, player: str = "B") -> dict[str, str]:
        return ask(initialStones=[[player, point]], initialPlayer="W", maxVisits=1)["rootInfo"]

    assert root("A1")["thisHash"] != root("E5")["thisHash"]
    assert root("A1")["symHash"] == root("E5")["symHash"] != root("B1")["symHash"]
    assert root("A1")["symHash"] != root("A1", "W")["symHash"]


def test_komi_and_the_bonus_for_handicap():
    def komi(**fields: Any) -> float:
        query = read_query("q", make_query(**fields))
        return query.make_board(len(query.moves), 7.0).get_komi()

    stones = [["B", "B2"], ["B", "D4"]]
    assert komi() == 7.0 and komi(komi=-3) == -3.0 and komi(komi=0.5) == 0.5
    assert komi(komi=0.5, initialStones=stones) == 2.5  # Chinese rules: a point for each stone
    for name in "aga", "AGA Button", "aga_button":
        assert komi(komi=0.5, initialStones=stones, rules=name) == 1.5
    for name in "New Zealand", "nz", "tromptaylor":
        assert komi(komi=0.5, initialStones=stones, rules=name) == 0.5
    assert komi(komi=0.5, initialStones=stones, rules="japanese") == 0.5
    assert komi(komi=0.5, initialStones=stones, whiteHandicapBonus="0") == 0.5
    assert komi(komi=0.5, initialStones=[*stones, ["W", "C3"]]) == 0.5
    assert komi(komi=0.5, moves=[["B", "B2"], ["B", "D4"], ["W", "C3"]]) == 2.5
    assert komi(komi=0.5, moves=[["B", "B2"], ["W", "pass"], ["B", "D4"], ["W", "C3"]]) == 2.5
    assert komi(komi=0.5, moves=[["B", "B2"], ["W", "C3"], ["B", "D4"]]) == 0.5
    assert komi(komi=0.5, moves=[["B", "B2"], ["W", "D4"], ["B", "C3"]]) == 0.5


@pytest.mark.parametrize("rules, unsupported", [
    ("chinese", ""), ("Chinese-OGS", ""), ("japanese", "scoring TERRITORY, tax SEKI"), ("stone_scoring", "tax ALL"),
    ("tromp-taylor", "suicide True"), ("aga", "ko SITUATIONAL"), ({"scoring": "TERRITORY"}, "scoring TERRITORY"),
    ({"ko": "POSITIONAL", "scoring": "AREA", "suicide": False, "friendlyPassOk": False}, ""), ({}, ""),
])
def test_rules_that_cannot_be_played_are_a_warning(rules: Any, unsupported: str):
    *warnings, answer = Analyst().ask(make_query(rules=rules))
    assert answer["rootInfo"]["visits"] == 8
    assert len(warnings) == bool(unsupported)
    for warning in warnings:
        assert warning.keys() == {"warning", "field", "id"} and warning["field"] == "rules"
        assert f"Rules {unsupported} not supported" in warning["warning"]


def test_rules_reach_the_engine():
    analyst = Analyst()
    analyst.ask(make_query(rules="tromp-taylor"))
    assert analyst.engine.options.superko and analyst.engine.options.cgos_mode and analyst.engine.board.check_superko
    analyst = Analyst(superko=True, cgos_mode=True)
    analyst.ask(make_query(rules="chinese"))
    assert not analyst.engine.options.superko and not analyst.engine.options.cgos_mode


def test_unknown_fields_and_settings_are_warnings():
    answers = Analyst().ask(make_query(maxVistis=3, overrideSettings={"humanSLProfile": "rank_9k", "maxTime": 5}))
    assert answers[:2] == [
        {"field": "overrideSettings", "id": "q", "warning": "Unknown config params: humanSLProfile"},
        {"field": "maxVistis", "id": "q", "warning": "Unexpected or unused field"},
    ]
    assert len(answers) == 3 and "moveInfos" in answers[2]


def test_restrictions():
    everything = [f"{column}{row}" for column in "ABCDE" for row in range(1, 6)]
    avoid = [{"player": "B", "moves": everything[:-1], "untilDepth": 1}, {"player": "W", "moves": [], "untilDepth": 3}]
    infos = ask(avoidMoves=avoid)["moveInfos"]
    assert {info["move"] for info in infos} <= {"E5", "pass"}
    infos = ask(allowMoves=[{"player": "b", "moves": ["A1", "(1,4)"], "untilDepth": 2}])["moveInfos"]
    assert {info["move"] for info in infos} == {"A1", "B1"}


def test_visits_come_from_the_query_its_settings_or_the_options():
    def visits(**fields: Any) -> int:
        query = make_query(**fields)
        if fields.get("maxVisits", 0) is None:
            del query["maxVisits"]
        return Analyst(visits=11).ask(query)[0]["rootInfo"]["visits"]

    assert visits() == 8 and visits(maxVisits=1) == 1 and visits(maxVisits=None) == 11
    assert visits(maxVisits=None, overrideSettings={"maxVisits": 5}) == 5
    assert visits(overrideSettings={"maxVisits": "5"}) == 8


def test_time_ends_a_search():
    ask(maxVisits=1)  # loads the kernels, which may take longer
    answer = ask(maxVisits=10**9, overrideSettings={"maxTime": 0.05})
    assert 0 < answer["rootInfo"]["visits"] < 10**9
    assert ask(overrideSettings={"maxTime": 0})["moveInfos"][0]["visits"] == 0


def test_a_wider_root():
    plain, wide = ask(maxVisits=200), ask(maxVisits=200, overrideSettings={"wideRootNoise": 1.0})
    priors = {info["move"]: info["prior"] for info in plain["moveInfos"]}
    for info in wide["moveInfos"]:  # the answer tells the network's priors
        assert info["prior"] == pytest.approx(priors.get(info["move"], info["prior"]), abs=1e-5)

    def spread(answer: Answer) -> float:
        shares = [info["visits"] / 200 for info in answer["moveInfos"] if info["visits"]]
        return -sum(share * math.log(share) for share in shares)

    assert spread(wide) > spread(plain)


def test_pv_length():
    answer = ask(maxVisits=300, analysisPVLen=1, includePVVisits=True)
    assert max(len(info["pv"]) for info in answer["moveInfos"]) == 2
    assert max(len(info["pvVisits"]) for info in answer["moveInfos"]) == 2


@pytest.mark.parametrize("fields, field", [
    ({"boardXSize": 1}, "boardXSize"), ({"boardXSize": "5"}, "boardXSize"), ({"boardXSize": True}, "boardXSize"),
    ({"boardYSize": 20}, "boardYSize"), ({"boardYSize": 6}, "boardYSize"), ({"boardYSize": None}, "boardYSize"),
    ({"boardXSize": 9, "boardYSize": 9}, "boardXSize"), ({"moves": None}, "moves"), ({"moves": [["B"]]}, "moves"),
    ({"moves": [["B", "F1"]]}, "moves"), ({"moves": [["X", "A1"]]}, "moves"), ({"moves": [["B", 3]]}, "moves"),
    ({"moves": [["B", "resign"]]}, "moves"), ({"moves": [["B", "A1"], ["W", "A1"]]}, "moves"),
    ({"initialStones": [["B", "pass"]]}, "initialStones"), ({"initialStones": "A1"}, "initialStones"),
    ({"initialStones": [["B", "A1"], ["W", "A2"], ["W", "B1"]]}, "initialStones"),
    ({"initialPlayer": "green"}, "initialPlayer"), ({"analyzeTurns": [1]}, "analyzeTurns"),
    ({"analyzeTurns": 0}, "analyzeTurns"), ({"analyzeTurns": []}, "analyzeTurns"),
    ({"analyzeTurns": [True]}, "analyzeTurns"),
    ({"priority": 0.5}, "priority"), ({"priority": 2**63}, "priority"), ({"priorities": [1]}, "priorities"),
    ({"analyzeTurns": [0], "priorities": [1, 2]}, "priorities"),
    ({"analyzeTurns": [0], "priorities": [1], "priority": 1}, "priority"),
    ({"rules": "draughts"}, "rules"), ({"rules": 3}, "rules"), ({"rules": {"ko": "x"}}, "rules"),
    ({"whiteHandicapBonus": "M"}, "whiteHandicapBonus"), ({"komi": 0.25}, "komi"), ({"komi": 401}, "komi"),
    ({"komi": "7"}, "komi"), ({"maxVisits": 0}, "maxVisits"), ({"maxVisits": 2.5}, "maxVisits"),
    ({"includePolicy": 1}, "includePolicy"), ({"includeOwnership": "true"}, "includeOwnership"),
    ({"reportDuringSearchEvery": 0}, "reportDuringSearchEvery"), ({"analysisPVLen": 0}, "analysisPVLen"),
    ({"rootPolicyTemperature": 0}, "rootPolicyTemperature"), ({"avoidMoves": {}}, "avoidMoves"),
    ({"avoidMoves": [{"player": "B", "moves": ["A1"]}]}, "avoidMoves"),
    ({"avoidMoves": [{"player": "B", "moves": ["A9"], "untilDepth": 1}]}, "avoidMoves"),
    ({"avoidMoves": [], "allowMoves": []}, "allowMoves"),
    ({"allowMoves": [{"player": "B", "moves": [], "untilDepth": 1}] * 2}, "allowMoves"),
    ({"overrideSettings": []}, "overrideSettings"), ({"overrideSettings": {"maxTime": "soon"}}, "overrideSettings"),
    ({"initialStones": [["B", "C3"], ["W", "C3"]]}, "initialStones"),
    ({"overrideSettings": {"reportAnalysisWinratesAs": "GREEN"}}, "overrideSettings"),
    ({"overrideSettings": {"level": 21}}, "overrideSettings"),
])
def test_a_wrong_field_is_named(fields: dict[str, Any], field: str):
    assert fail(**fields)[0] == field


def test_moves_may_be_allowed_for_both_players():
    allow = [{"player": color, "moves": [point], "untilDepth": 2} for color, point in (("B", "C3"), ("W", "D2"))]
    (info,) = ask(allowMoves=allow, maxVisits=30)["moveInfos"]
    assert info["move"] == "C3" and info["pv"][:2] == ["C3", "D2"]


def test_who_asks_for_no_perspective_gets_that_of_the_options():
    shown = {whose: Analyst(winrates_as=whose).ask(make_query(komi=30))[0]["rootInfo"]["scoreLead"]
             for whose in ("BLACK", "WHITE", "SIDETOMOVE")}
    assert shown["BLACK"] == shown["SIDETOMOVE"] == -shown["WHITE"] != 0
    (answer,) = Analyst(winrates_as="WHITE").ask(
        make_query(komi=30, overrideSettings={"reportAnalysisWinratesAs": "BLACK"}))
    assert answer["rootInfo"]["scoreLead"] == shown["BLACK"]


def test_visits_count_beside_a_limit_of_time():
    query = make_query()
    del query["maxVisits"]
    assert Analyst(visits=7, const_time=100.0).ask(query)[0]["rootInfo"]["visits"] == 7


def test_a_missing_field_is_named():
    for name in ("boardXSize", "boardYSize", "moves", "rules"):
        query = {key: value for key, value in BARE.items() if key != name}
        assert Analyst().ask(query)[0]["field"] == name


def test_the_size_of_the_model_is_told():
    assert "for 5x5 boards, not 9x9" in fail(boardXSize=9, boardYSize=9)[1]
    assert "moveInfos" in Analyst(any_size=True).ask(make_query(boardXSize=3, boardYSize=3))[0]


def test_illegal_moves_are_counted_from_zero():
    assert fail(moves=[["B", "A1"], ["W", "A1"]]) == ("moves", "Illegal move 1: A1")


def test_a_byte_order_mark_before_the_first_line_is_left_out():
    version = to_lines({"id": "v", "action": "query_version"})
    assert [answer.get("id") for answer in Analyst().serve(b"\xef\xbb\xbf" + version + version)] == ["v", "v"]


@pytest.mark.parametrize("line", [
    b"{", b"[]", b"3", b"null", b'"text"', b"\xff\xfe", b'{"id":3}', b"{}", b'{"id":"q","komi":NaN}', b"[" * 100_000,
    b'{"id":"q","komi":1e999}', b'{"id":"' + b"x" * 5_000_000 + b'"}', b"1" * 5000, b"# interrupt",
])
def test_a_line_that_is_no_query_is_one_error_without_id(line: bytes):
    analyst = Analyst()
    answers = analyst.serve(line + b"\n\n  \r\n", to_lines({"id": "v", "action": "query_version"}))
    assert len(answers) == 2 and answers[0].keys() == {"error"} and answers[1]["id"] == "v"
    assert analyst.status == 0


def test_actions_are_answered_with_themselves():
    analyst = Analyst(override_version="1.2.3")
    version, cache, models, unknown, stop, everything = analyst.ask(
        {"id": "a", "action": "query_version", "extra": [1]}, {"id": "b", "action": "clear_cache"},
        {"id": "c", "action": "query_models"}, {"id": "d", "action": "dance"},
        {"id": "e", "action": "terminate", "terminateId": "x"}, {"id": "f", "action": "terminate_all"})
    assert version == {"id": "a", "action": "query_version", "extra": [1], "version": "1.2.3", "git_hash": "<omitted>"}
    assert cache == {"id": "b", "action": "clear_cache"}
    assert models["models"][0]["name"] == EngineOptions().model
    assert type(models["models"][0]["version"]) is int
    assert unknown["field"] == "action" and "terminate_all" in unknown["error"]
    assert stop == {"id": "e", "action": "terminate", "terminateId": "x"}
    assert everything == {"id": "f", "action": "terminate_all"}


def test_an_id_that_is_no_valid_utf8_comes_back_valid():
    answers = Analyst().serve(b'{"id":"caf\xe9","action":"query_version"}\n')
    assert answers[0]["id"] == "caf\ufffd"


@pytest.mark.parametrize("fields, field", [
    ({"action": "terminate"}, "terminateId"), ({"action": "terminate", "terminateId": 3}, "terminateId"),
    ({"action": "terminate_all", "turnNumbers": "all"}, "turnNumbers"),
])
def test_wrong_actions(fields: Answer, field: str):
    answers = Analyst().ask({"id": "t"} | fields)
    assert len(answers) == 1 and answers[0]["field"] == field and answers[0]["id"] == "t"


def test_higher_priority_comes_first_then_the_earlier_query():
    wanted = {"low": -1, "first": 0, "high": 9, "second": 0}
    queries = [make_query(id=name, priority=priority) for name, priority in wanted.items()]
    queries.append(make_query(id="turns", moves=[["B", "A1"]], analyzeTurns=[0, 1], priorities=[-5, 10]))
    answers = Analyst().ask(*queries)
    assert [(answer["id"], answer["turnNumber"]) for answer in answers] == [
        ("turns", 1), ("high", 0), ("first", 0), ("second", 0), ("low", 0), ("turns", 0)]


LONG = make_query(id="long", maxVisits=10**9)


def test_a_running_search_is_terminated():
    analyst = Analyst()
    stop = to_lines({"id": "t", "action": "terminate", "terminateId": "long"})
    analyst.serve(to_lines(LONG), analyst.when(20, stop))
    acknowledged, answer = analyst.answers
    assert acknowledged["terminateId"] == "long"
    assert answer["id"] == "long" and not answer["isDuringSearch"] and 0 < answer["rootInfo"]["visits"] < 10**9


def test_waiting_positions_are_terminated_without_results():
    analyst = Analyst()
    waiting = make_query(id="waits", moves=[["B", "A1"], ["W", "B1"]], analyzeTurns=[0, 1, 2], priority=-1)
    lines: list[Answer] = [
        {"id": "s", "action": "terminate", "terminateId": "waits", "turnNumbers": [0, 2, 7]},
        {"id": "t", "action": "terminate", "terminateId": "long"}]
    analyst.serve(to_lines(LONG, waiting), analyst.when(20, to_lines(*lines)))
    assert analyst.answers[:2] == [
        {"id": "waits", "turnNumber": turn, "isDuringSearch": False, "noResults": True} for turn in (0, 2)]
    assert [answer["id"] for answer in analyst.answers[2:]] == ["s", "t", "long", "waits"]
    assert analyst.answers[-1]["turnNumber"] == 1


def test_everything_is_terminated():
    analyst = Analyst()
    lines = to_lines(LONG, LONG | {"id": "other"})
    stop = to_lines({"id": "t", "action": "terminate_all"})
    analyst.serve(lines, analyst.when(20, stop))
    assert [answer["id"] for answer in analyst.answers] == ["other", "t", "long"]
    assert analyst.answers[0]["noResults"] and "moveInfos" in analyst.answers[2]


def test_an_urgent_query_overtakes_those_that_wait():
    analyst = Analyst()
    urgent = to_lines(make_query(id="urgent", priority=5), {"id": "t", "action": "terminate", "terminateId": "long"})
    later = make_query(id="later", priority=-1)
    analyst.serve(to_lines(LONG, later), analyst.when(20, urgent))
    assert [answer["id"] for answer in analyst.answers] == ["t", "long", "urgent", "later"]


@pytest.mark.slow
def test_reports_while_the_search_runs():
    analyst = Analyst()
    query = LONG | {"reportDuringSearchEvery": 0.001, "includeOwnership": True}
    stop = to_lines({"id": "t", "action": "terminate", "terminateId": "long"})
    analyst.serve(to_lines(query), analyst.when(300, stop))
    reports = [answer for answer in analyst.answers if answer.get("isDuringSearch")]
    assert len(reports) > 1 and all(len(report["ownership"]) == POINTS for report in reports)
    visits = [report["rootInfo"]["visits"] for report in reports]
    assert visits == sorted(visits)
    assert len(analyst.find(id="long", isDuringSearch=False)) == 1


def test_a_first_report_while_the_search_runs():
    analyst = Analyst()
    stop = to_lines({"id": "t", "action": "terminate", "terminateId": "long"})
    analyst.serve(to_lines(LONG | {"firstReportDuringSearchAfter": 0.001}), analyst.when(300, stop))
    assert len(analyst.find(id="long", isDuringSearch=True)) == 1


def test_the_end_of_the_input_finishes_what_waits():
    analyst = Analyst()
    answers = analyst.serve(to_lines(*(make_query(id=str(number)) for number in range(5))).rstrip(b"\n"))
    assert [answer["id"] for answer in answers] == list("01234") and analyst.status == 0


def test_a_failing_search_is_an_error_and_the_next_query_is_answered(capfd: pytest.CaptureFixture):
    class Broken(FakeEvaluator):
        def __call__(self, planes):
            if self.calls == 1:
                self.calls = 2
                raise RuntimeError("no\nmemory")
            return super().__call__(planes)

    first, second = Analyst(evaluator=Broken(5)).ask(make_query(id="a"), make_query(id="b"))
    assert first == {"error": "internal error: RuntimeError: no memory", "id": "a"}
    assert second["id"] == "b" and "moveInfos" in second
    assert "Traceback" not in capfd.readouterr().err


def test_a_model_that_cannot_be_loaded_ends_the_program(capfd: pytest.CaptureFixture):
    analyst = Analyst()

    def load():
        raise ValueError("the model is broken")

    analyst.client._loader._make = load
    assert analyst.ask(make_query()) == [] and analyst.status == 2
    assert capfd.readouterr().err == "the model is broken\n"


values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 30) | st.text(max_size=4)
    | st.floats(allow_nan=False, allow_infinity=False, width=16)
    | st.sampled_from(["B", "W", "A1", "E5", "pass", "chinese", "terminate", "BLACK", 2**70, -1, 1e300]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["player", "moves", "untilDepth", "maxTime", "ko", "x"]), inner, max_size=3), max_leaves=6)
NAMES = ("id", "action", "moves", "rules", "komi", "boardXSize", "boardYSize", "initialStones", "initialPlayer",
         "analyzeTurns", "priority", "priorities", "includePolicy", "includeOwnership", "includePVVisits", "avoidMoves",
         "allowMoves", "overrideSettings", "whiteHandicapBonus", "analysisPVLen", "rootPolicyTemperature",
         "terminateId", "turnNumbers", "", "unknown")
changes = st.dictionaries(st.sampled_from(NAMES), values, min_size=1, max_size=4)
SHAPES = ({"error"}, {"error", "field", "id"}, {"warning", "field", "id"})


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(changes, min_size=1, max_size=3), st.binary(max_size=20).filter(lambda text: b"\n" not in text))
def test_malformed_queries_get_well_formed_answers(wrong: list[dict[str, Any]], garbage: bytes):
    analyst = Analyst()
    lines = b"".join(to_lines(make_query(id=f"q{number}", maxVisits=2) | fields) + garbage + b"\n"
                     for number, fields in enumerate(wrong))
    analyst.serve(lines, to_lines({"id": "last", "action": "query_version"}))
    assert analyst.status == 0 and len(analyst.find(id="last")) >= 1
    for answer in analyst.answers:
        assert "internal error" not in str(answer.get("error"))
        assert answer.keys() in SHAPES or "action" in answer or answer.keys() >= {"id", "turnNumber", "rootInfo"}
    for number, fields in enumerate(wrong):
        if "id" not in fields:
            finals = [answer for answer in analyst.find(id=f"q{number}") if "warning" not in answer]
            assert finals, json.dumps(fields)


def test_a_level_answers_its_move_beside_the_full_analysis():
    plain, weak = ask(), ask(overrideSettings={"level": 1})
    assert "levelMove" not in plain and weak.pop("levelMove") in {f"{x}{y}" for x in "ABCDE" for y in range(1, 6)}
    assert weak == plain
    answers = Analyst(level=2).ask(make_query(id="a"), make_query(id="b", overrideSettings={"level": 20}))
    assert ["levelMove" in answer for answer in answers] == [True, False]
    only = [{"player": "B", "moves": ["C3"], "untilDepth": 1}]
    assert ask(overrideSettings={"level": 1}, allowMoves=only)["levelMove"] == "C3"


@pytest.mark.parametrize(("settings", "factor"), [({}, 1.0), ({"maxVisits": 5}, 1.0), ({"wideRootNoise": 0.5}, 3.0)])
def test_settings_widen_what_the_query_widens(settings: dict[str, float], factor: float) -> None:
    query = make_query(rootPolicyTemperature=2.0, overrideSettings=settings)
    assert read_query("id", query).root_temperature == 2.0 * factor


def test_priorities_go_to_the_turns_as_they_are_named() -> None:
    query = make_query(moves=[["b", "A1"], ["w", "B1"]], analyzeTurns=[2, 0], priorities=[5, -1])
    assert read_query("id", query).turns == {2: 5, 0: -1}
