"""What a tab asks for happens at its table, and is told to it alone."""
from __future__ import annotations

import ast
import asyncio
import base64
import math
import re
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from board.go_board import GoBoard
from board.ruleset import Rules
from board.stone import Stone
from browser.describe import describe_branch
from browser.engines import TURN_SECONDS, Thinker
from browser.hall import MAX_LEFT, Hall
from browser.player import MAX_KEPT_NODES, Player
from browser.settings import MAX_SECONDS, MAX_VISITS, PlaySettings
from browser.table import Table
from engine.choosing import MoveChooser
from engine.engine import Engine, EvaluatorSource
from engine.levels import LEVELS
from engine.move_choice import Choice
from engine.options import EngineOptions
from mcts.params import SearchLimit
from mcts.time_manager import StartOptions, TimeManager
from mcts.tree import MCTSTree
from mcts.uct.params import PlayoutParams
from mcts.uct.tree import PlayoutTree
from tests.browser.tabs import SECONDS, SIZE, Tab, make_hall, room, run
from tests.conftest import ROOT
from tests.gtp.players import FakeEvaluator
from tests.mcts.evaluators import TellingEvaluator

PASS = -1


def stones(tab: Tab) -> str:
    """Return the position that the tab saw last."""
    text: str = tab.latest["position"]["stones"]
    return text


async def wait_until(is_so: Callable[[], bool]) -> None:
    """Wait for what other threads do, on a busy machine, too."""
    deadline = time.monotonic() + SECONDS
    while not is_so():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


async def play_out(tab: Tab) -> None:
    """Let the engine play both sides until the game is over and counted."""
    await tab.send("set", side="both", visits=1)
    await tab.send("new", size=3, komi=0, handicap=0)
    await tab.until("score")


@pytest.mark.parametrize("search", ["puct", "gumbel"])
def test_the_engine_answers_a_move(search: str) -> None:
    async def play() -> None:
        async with room(search=search) as here:
            tab = await here.open()
            await tab.send("play", point=12)
            position = await tab.until("position", lambda message: message["number"] == 2)
            assert position["toMove"] == "b"
            assert position["stones"].count("X") == position["stones"].count("O") == 1
            await tab.send("undo")
            assert (await tab.until("position"))["number"] == 0
    run(play)


def test_a_game_of_the_engine_against_itself_ends_and_is_counted() -> None:
    async def play() -> None:
        async with room() as here:
            tab = await here.open()
            await play_out(tab)
            position, score = tab.latest["position"], tab.latest["score"]
            assert position["over"] and score["node"] == position["node"]
            assert tab.latest["game"]["result"] in (f"B+{score['lead']:g}", f"W+{-score['lead']:g}", "0")
    run(play)


def test_analysis_grows_up_to_its_limit() -> None:
    async def analyze() -> None:
        async with room(hall=make_hall(visits=4)) as here:
            tab = await here.open()
            await tab.send("set", side="none", analyze=True, analysisVisits=50)
            last = await tab.until("analysis", lambda message: message["final"])
            assert last["visits"] >= 50 and sum(move["visits"] for move in last["moves"]) <= last["visits"]
            assert len(last["ownership"]) == 25 and len(last["policy"]) == 26
            assert sum(last["policy"]) == pytest.approx(1000, abs=15)
            view = tab.latest["view"]
            assert view["id"] == 0 and view["winrate"] == last["winrate"]
            await tab.send("play", point=0)
            assert (await tab.until("analysis"))["color"] == "w"
    run(analyze)


def test_tabs_play_games_of_their_own_while_both_analyze() -> None:
    async def play() -> None:
        async with room() as here:
            tabs = [await here.open(), await here.open()]
            for number, tab in enumerate(tabs):
                await tab.send("new", size=5 + number, komi=number, handicap=0)
                await tab.send("set", side="none", analyze=True, analysisVisits=50_000)
                await tab.send("play", point=number)
            for number, tab in enumerate(tabs):
                # Both searches grow, although neither comes to its end.
                found = await tab.until("analysis", lambda message: message["visits"] > 300)
                assert len(found["ownership"]) == (5 + number) ** 2
                assert stones(tab).index("X") == number and stones(tab).count("X") == 1
    run(play)


def test_each_board_is_told_the_file_that_plays_it(root: Path) -> None:
    async def ask() -> None:
        async with room(model=str(root / "model" / "model.bin")) as here:
            tab = await here.open()
            assert tab.latest["hello"]["models"] == ["model.bin"] * 6 + ["model-9x9.bin"]
    run(ask)


def test_a_closed_tab_finds_its_game_again_and_a_copied_one_does_not_share_it() -> None:
    async def reload() -> None:
        async with room() as here:
            tab = await here.open()
            name = tab.latest["hello"]["table"]
            await tab.send("set", side="none", analyze=True, analysisVisits=50_000)
            await tab.send("play", point=7)
            await tab.until("position", lambda message: message["number"] == 1)
            copy = await here.open(name)
            assert not copy.latest["hello"]["known"] and stones(copy) == "." * 25
            await tab.socket.close()
            again = await here.open(name)
            assert again.latest["hello"]["known"] and stones(again)[7] == "X"
            assert again.latest["settings"]["side"] == "none"
    run(reload)


def test_records_with_variations_come_back_as_they_were_loaded() -> None:
    sgf = "(;FF[4]GM[1]SZ[5]KM[3.5]PB[Kuro];B[cc](;W[bb]C[solid];B[dd])(;W[dd]N[other]XX[y]))"

    async def load() -> None:
        async with room() as here:
            tab = await here.open()
            await tab.send("load", sgf=sgf, path=[0, 1])
            position = await tab.until("position")
            assert position["number"] == 2 and position["komi"] == 3.5 and position["stones"][18] == "O"
            assert len(tab.latest["nodes"]["nodes"]) == 5
            await tab.send("go", node=2)
            assert (await tab.until("position"))["comment"] == "solid"
            await tab.send("set", side="none")
            await tab.send("play", point=0)
            kept = await tab.until("kept", lambda message: "B[aa]" in message["sgf"])
            flat = kept["sgf"].replace("\n", "")
            assert flat.startswith("(;FF[4]") and "(;C[solid]W[bb](;B[dd])(;B[aa]))(;" in flat
            assert "N[other]W[dd]XX[y]" in flat and "PB[Kuro]" in flat
            await tab.send("remove", node=2)
            gone = await tab.until("nodes")
            assert sorted(gone["removed"]) == [2, 3, 5] and (await tab.until("position"))["number"] == 1
    run(load)


def test_win_rates_and_leads_are_in_the_record_and_come_back() -> None:
    async def review() -> None:
        async with room() as here:
            tab, other = await here.open(), await here.open()
            await tab.send("load", sgf="(;SZ[5];B[cc];W[bb])", path=[])
            await tab.send("review", visits=4)
            await tab.until("progress", lambda message: message["done"] == 3)
            kept = await tab.until("kept")
            seen = {view["id"]: view for view in tab.seen if view["type"] == "view"}
            await other.send("load", sgf=kept["sgf"], path=[])
            nodes = (await other.until("nodes", lambda message: len(message["nodes"]) == 3))["nodes"]
            for node in nodes:
                assert node["lead"] == seen[node["id"]]["lead"]
                assert node["winrate"] == pytest.approx(seen[node["id"]]["winrate"], abs=1e-4)
    run(review)


def test_a_whole_game_is_gone_through_and_can_be_stopped() -> None:
    async def review() -> None:
        async with room() as here:
            tab = await here.open()
            await tab.send("load", sgf="(;SZ[5];B[aa];W[bb];B[cc])")
            await tab.send("review", visits=4)
            await tab.until("progress", lambda message: message["done"] == 4)
            views = {message["id"] for message in tab.seen if message["type"] == "view"}
            assert views == {0, 1, 2, 3}
            await tab.send("review", visits=50_000)
            await tab.send("stop")
            await tab.until("progress", lambda message: message["total"] == 0)
            await tab.send("play", point=24)
            await tab.until("position")
    run(review)


@pytest.mark.parametrize(("name", "fields", "reason"), [
    ("new", {"size": 13}, "this model plays 3 to 9, not 13x13"),
    ("new", {"size": 99}, "size must be a whole number from 2 to 19"),
    ("new", {"size": 5, "handicap": 25}, "25 handicap stones do not fit a 5x5 board"),
    ("new", {"size": 5, "komi": 26}, "komi 26 is more than the board has points"),
    ("new", {"size": 5, "komi": "x"}, "komi must be a number"),
    ("new", {}, "the message has no size"),
    ("play", {"point": 25}, "25 is no point of this board"),
    ("play", {"point": 12.5}, "point must be a whole number"),
    ("undo", {}, "there is no move to take back"),
    ("go", {"node": 77}, "that position is gone"),
    ("remove", {"node": 0}, "that position cannot be taken out"),
    ("set", {"visits": 10**9}, "visits must be a whole number from 1 to"),
    ("set", {"side": "green"}, "side must be one of"),
    ("set", {"level": 21}, "level must be a whole number from 1 to 20"),
    ("load", {"sgf": "hello"}, "this game cannot be read: this is no SGF game"),
    ("load", {"sgf": "(;SZ[13];B[aa])"}, "this model plays 3 to 9, not 13x13"),
    ("load", {"sgf": "(;SZ[5];B[aa];B[aa])"}, "move 2: black A5 is illegal"),
    ("load", {"sgf": "(;SZ[5];B[aa](;W[bb])(;W[zz]))"}, "[zz] is not one point"),
    ("load", {"sgf": "(;SZ[5]" + ";C[x]" * 20_001 + ")"}, "more than 20,000 nodes"),
    ("load", {"sgf": "(;SZ[5]C[" + "x" * 2_000_000 + "])"}, "bytes, 2,000,000 at most"),
    ("load", {"sgf": "(;SZ[3])", "ended": True, "loser": "q"}, "loser must be one of"),
    ("load", {"sgf": "(;SZ[3])", "reply": 1}, "reply must be true or false"),
    ("fly", {}, "'fly' is nothing that can be done"),
    ("__init__", {}, "nothing that can be done"),
])
def test_what_cannot_be_done_is_told_in_one_line_and_changes_nothing(name: str, fields: dict, reason: str) -> None:
    async def ask() -> None:
        async with room() as here:
            tab = await here.open()
            error = await tab.ask(name, **fields)
            assert reason in error["text"] and "\n" not in error["text"]
            await tab.send("set", side="none")
            await tab.send("play", point=3)
            position = await tab.until("position")
            assert position["stones"].count("X") == 1 and position["size"] == SIZE
    run(ask)


def test_the_first_of_several_games_is_opened_and_that_is_said() -> None:
    async def load() -> None:
        async with room() as here:
            tab = await here.open()
            await tab.send("load", sgf="(;SZ[5];B[aa])(;SZ[5];B[bb])(;SZ[5];B[cc])", path=[])
            notice = await tab.until("notice")
            assert notice["sentence"] == "the file has several games; this is the first"
            assert len(tab.latest["nodes"]["nodes"]) == 2
    run(load)


def test_the_page_says_in_japanese_what_the_table_refuses() -> None:
    words = (ROOT / "browser" / "static" / "js" / "text.js").read_text(encoding="utf-8").partition("  ja: {")[2]
    trees = [ast.parse((ROOT / "browser" / f"{name}.py").read_text(encoding="utf-8")) for name in ("table", "session")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    sentences = {str(node.args[0].value) for node in nodes if isinstance(node, ast.Call)
                 and ast.unparse(node.func) == "TableError" and isinstance(node.args[0], ast.Constant)}
    why_not = next(node for node in nodes if isinstance(node, ast.FunctionDef) and node.name == "_why_not")
    sentences |= {f"{{0}} cannot be played: {node.value.value!s}" for node in ast.walk(why_not)
                  if isinstance(node, ast.Return) and isinstance(node.value, ast.Constant)}
    assert len(sentences) >= 18
    for sentence in sentences:
        translated = re.search(f'^ .*"{re.escape(sentence)}": "(.*?)"', words, re.M)
        assert translated, sentence
        assert set(re.findall(r"{\d}", translated[1])) == set(re.findall(r"{\d}", sentence))


def test_what_is_odd_in_a_record_is_no_hindrance() -> None:
    async def load() -> None:
        async with room() as here:
            tab = await here.open()
            await tab.send("load", sgf="(;SZ[5]C[a][b]RE[?][!]PB[x][y]KM[];B[aa]SBKV[no](;W[bb])(;W[aa]))", path=[])
            assert (await tab.until("position"))["comment"] == "a\nb"
            assert tab.latest["game"]["black"] == "x"
            error = await tab.ask("go", node=3)
            assert "this variation cannot be shown: move 2: white A5 is illegal" in error["text"]
    run(load)


def test_a_review_that_meets_an_impossible_move_tells_which() -> None:
    async def review() -> None:
        async with room() as here:
            tab = await here.open()
            await tab.send("load", sgf="(;SZ[5];B[aa](;W[bb])(;W[cc];B[cc]))", path=[0, 1])
            await tab.send("set", side="none")
            error = await tab.ask("review", visits=2)
            assert error["text"] == "this variation cannot be shown: move 3: black C3 is illegal"
            assert tab.latest["progress"]["done"] == 3
            await tab.until("progress", lambda message: message["total"] == 0)
    run(review)


def test_illegal_moves_name_the_rule() -> None:
    async def play() -> None:
        async with room() as here:
            tab = await here.open()
            await tab.send("set", side="none")
            await tab.send("load", sgf="(;SZ[5]AB[ba][ab][bc]AW[ca][db][cc][bb]PL[B];B[cb])", path=[0])
            await tab.send("play", point=7)
            assert "C4 cannot be played: there is a stone" in (await tab.until("error"))["text"]
            await tab.send("play", point=6)
            assert "ko" in (await tab.until("error"))["text"]
            await tab.send("load", sgf="(;SZ[5]AW[ba][ab]PL[B])", path=[])
            await tab.send("play", point=0)
            assert "no liberty" in (await tab.until("error"))["text"]
    run(play)


@pytest.mark.parametrize("text", ["", "{", "[]", "1", '{"do": 1}', '{"do": "play"}', "[" * 50_000, "\x00"])
def test_garbage_is_told_and_harms_nothing(text: str) -> None:
    async def send() -> None:
        async with room() as here:
            tab = await here.open()
            await tab.socket.send_str(text)
            assert "\n" not in (await tab.until("error"))["text"]
    run(send)


def test_a_tab_that_goes_in_the_middle_of_a_search_leaves_the_engine_to_the_others() -> None:
    async def leave() -> None:
        async with room() as here:
            tab = await here.open()
            await tab.send("set", side="both", visits=50_000, analyze=True)
            await tab.send("genmove")
            await tab.until("thinking")
            await tab.socket.close()
            other = await here.open()
            await other.send("play", point=12)
            await other.until("position", lambda message: message["number"] == 2)
    run(leave)


def test_there_is_room_for_so_many_tabs_and_no_more() -> None:
    async def crowd() -> None:
        async with room() as here:
            tabs = await asyncio.gather(*(here.open() for _ in range(32)))
            late = Tab(await here.client.ws_connect("/tab"))
            await late.socket.send_str("-")
            assert "32 tabs are open" in (await late.until("engine"))["text"]
            await tabs[0].socket.close()
            await here.open()
    run(crowd)


def test_the_search_tree_is_shown_as_it_grows_and_when_it_is_done() -> None:
    async def look() -> None:
        async with room() as here:
            tab = await here.open()
            await tab.send("look", on=True, path=[])
            await tab.send("set", side="none", analyze=True, analysisVisits=3000)
            growing = await tab.until("branch")
            assert growing["visits"] > 0 and growing["color"] == "b" and growing["known"]
            if not tab.latest["analysis"]["final"]:
                await tab.until("analysis", lambda message: message["final"])
            # The part that was due with the last report, and may have been sent before.
            await tab.send("look", on=True, path=[])
            done = await tab.until("branch", lambda message: message["visits"] >= 3000)
            best = done["edges"][0]
            assert best["bonus"] == pytest.approx(done["exploration"] * best["prior"] / (1 + best["visits"]), abs=2e-3)
            await tab.send("look", on=True, path=[best["point"]])
            below = await tab.until("branch", lambda message: message["path"] == [best["point"]])
            assert below["color"] == "w" and below["visits"] < best["visits"]
            await tab.send("look", on=True, path=[best["point"]] * 2)
            assert not (await tab.until("branch", lambda message: len(message["path"]) == 2))["known"]
            assert "points of the board" in (await tab.ask("look", on=True, path=[25]))["text"]
    run(look)


def test_what_playouts_search_is_not_shown_as_puct_s_tree() -> None:
    board, trees = GoBoard(3), (PlayoutTree(3, PlayoutParams(threads=1)), MCTSTree(FakeEvaluator(3), 3))
    for tree, is_known in zip(trees, (False, True), strict=True):
        tree.search(board, Stone.BLACK, SearchLimit(20, strict=True))
        message = describe_branch(tree, 0, [])
        assert message["known"] is is_known and message["byPlayouts"] is not is_known


def test_who_runs_out_of_time_loses() -> None:
    async def play() -> None:
        async with room() as here:
            tab = await here.open()
            await tab.send("set", side="none")
            await tab.send("new", size=5, komi=0.5, handicap=0, minutes=0.01)
            position = await tab.until("position", lambda message: message["clock"] is not None)
            assert position["clock"] == {"b": 0.6, "w": 0.6, "running": None}
            await tab.send("play", point=12)
            ended = await tab.until("position", lambda message: message["over"])
            assert ended["loser"] == "w" and ended["onTime"] and ended["clock"] == {"b": 0.6, "w": 0.0, "running": None}
            assert tab.latest["game"]["result"] == "B+T"
    run(play)


def test_nobody_moves_for_the_engine() -> None:
    async def play() -> None:
        async with room(visits=50_000) as here:
            tab = await here.open()
            await tab.send("play", point=12)
            assert (await tab.until("thinking"))["on"]
            assert "it is the engine's turn" in (await tab.ask("play", point=0))["text"]
            await tab.send("undo")  # it may be interrupted
            assert not (await tab.until("thinking"))["on"]
            await tab.send("set", side="none")
            await tab.send("play", point=1)
            await tab.send("play", point=2)
            assert (await tab.until("position", lambda message: message["number"] == 2))["stones"][:3] == ".XO"
            await tab.send("undo")  # of nobody's moves the last one
            assert (await tab.until("position"))["number"] == 1
    run(play)


def test_settings_that_change_while_the_engine_thinks_do_not_cost_its_move() -> None:
    async def play() -> None:
        async with room(visits=50_000) as here:
            tab = await here.open()
            await tab.send("play", point=12)
            await tab.until("thinking")
            await tab.send("set", analyze=True, visits=8)
            await tab.until("position", lambda message: message["number"] == 2)
    run(play)


def watch_limits(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, SearchLimit]]:
    """Let engines play the first empty point; return the list that gets level and limit of each of their moves."""
    limits = []

    def choose(self: MoveChooser, tree: object, rng: object, limit: SearchLimit, watch: object) -> Choice:
        limits.append((self.options.level, limit))
        return Choice(next(pos for pos in self._board.onboard_pos if self._board.board[pos] == Stone.EMPTY), 0.5)

    monkeypatch.setattr(MoveChooser, "choose", choose)
    return limits


def test_a_level_plays_with_the_visits_of_the_level(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = watch_limits(monkeypatch)

    async def play() -> None:
        async with room(visits=5000, level=15) as here:
            tab = await here.open()
            assert tab.latest["settings"]["level"] == 15
            await tab.send("play", point=12)
            await tab.until("position", lambda message: message["number"] == 2)
            await tab.send("set", level=20)
            await tab.send("play", point=13)
            await tab.until("position", lambda message: message["number"] == 4)
    run(play)
    assert [(level, limit.visits) for level, limit in limits] == [(15, LEVELS[15].visits), (20, 5000)]


def test_the_engine_shares_its_time_as_everywhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = watch_limits(monkeypatch)

    async def play() -> None:
        async with room(visits=5000) as here:
            tab = await here.open()
            for minutes in (1, 0):
                await tab.send("new", size=5, minutes=minutes)
                await tab.send("play", point=12)
                await tab.until("position", lambda message: message["number"] == 2)
    run(play)
    (_, timed), (_, free) = limits
    manager = TimeManager(StartOptions(5000))
    manager.report(Stone.WHITE, 60.0, 0)
    assert timed.seconds == pytest.approx(manager.limit(Stone.WHITE, 5, 24).seconds, rel=0.2)
    assert (timed.visits, free.visits, free.seconds) == (5000, 5000, math.inf)


def test_all_games_share_one_network_for_each_size() -> None:
    loaded: list[int | None] = []

    def load(size: int | None) -> FakeEvaluator:
        loaded.append(size)
        return FakeEvaluator(size or 5)

    async def play() -> None:
        hall = Hall(EngineOptions(visits=4, size=5), EvaluatorSource(load, range(3, 10)))
        async with room(hall=hall) as here:
            for size in (5, 6, 5, 6):
                tab = await here.open()
                await tab.send("new", size=size, handicap=0)
                await tab.send("play", point=0)
                await tab.until("position", lambda message: message["number"] == 2)
    run(play)
    assert loaded == [5, 6]


def test_moves_now_when_asked_to_hurry() -> None:
    async def hurry() -> None:
        async with room() as here:
            tab = await here.open()
            await tab.send("set", visits=50_000)
            await tab.send("play", point=12)
            await tab.until("thinking")
            await tab.send("hurry")
            await tab.until("position", lambda message: message["number"] == 2)
    run(hurry)


@pytest.mark.parametrize("ends", ["resigns", "runs out of time", "is counted"])
def test_a_result_is_taken_back_with_what_led_to_it(ends: str) -> None:
    """So the result of the game that is played on is written; one that a record brought stays."""
    table = Table(Rules(), range(3, 10), 5)
    table.play(12)
    if ends == "is counted":
        table.play(PASS)
        table.play(PASS)
        table.count(18.0)
    else:
        table.lose(Stone.WHITE, on_time=ends == "runs out of time")
    assert table.tree.result() == {"resigns": "B+R", "runs out of time": "B+T", "is counted": "B+18"}[ends]
    table.undo(1)
    assert table.tree.result() == "" and table.ending is None
    table.count(-2.5)
    assert table.tree.result() == "W+2.5"
    table.load("(;GM[1]FF[4]SZ[5]RE[W+3];B[cc];W[cd])")
    table.go(list(table.tree)[-1])
    table.undo(1)
    table.count(7.0)
    assert table.tree.result() == "W+3"


def test_who_plays_on_after_the_count_is_counted_anew() -> None:
    table = Table(Rules(), range(3, 10), 5)
    for point in 12, PASS, PASS:
        table.play(point)
    assert table.count(18.0) and not table.count(18.0) and table.tree.result() == "B+18"
    table.play(0)
    assert table.tree.result() == ""
    table.play(PASS)
    table.play(PASS)
    assert table.count(-56.0) and table.tree.result() == "W+56"


def test_who_resigns_does_so_at_one_place() -> None:
    """The end of another line is none of the game, and what is played there leaves the result."""
    table = Table(Rules(), range(3, 10), 5)
    for point in 12, 13, 14:
        table.play(point)
    end = table.here
    table.go(table.tree.line_to(end)[1])
    table.play(0)
    table.lose(Stone.BLACK)
    loss = table.here
    assert table.is_over and table.tree.result() == "W+R"
    table.go(end)
    assert not table.is_over and table.loss is None
    table.play(5)
    assert table.tree.result() == "W+R"
    table.go(loss)
    assert table.is_over
    table.play(6)
    assert not table.is_over and table.tree.result() == ""


@pytest.mark.parametrize(("ends", "result"), [
    ("resigns", "B+R"), ("runs out of time", "B+T"), ("is counted", "B+24.5")])
def test_what_the_page_keeps_brings_all_back(ends: str, result: str) -> None:
    """After a new start of the server a game that was over still is, and its result goes with the moves before."""
    async def play() -> None:
        async with room() as here:
            tab, other = await here.open(), await here.open()
            await tab.send("set", side="none")
            await tab.send("new", size=5, komi=0.5, handicap=0, minutes=0.05 if ends == "runs out of time" else 2.0)
            await tab.send("play", point=12)
            if ends == "resigns":
                await tab.send("resign")
            for _ in range(2 if ends == "is counted" else 0):
                await tab.send("play", point=PASS)
            await tab.until("game", lambda message: message["result"] == result)
            kept = await tab.until("kept")
            position = tab.latest["position"]
            await other.send("set", side="none")
            await other.send("load", **{name: value for name, value in kept.items() if name != "type"}, path=[0] * 3)
            back = await other.until("position", lambda message: message["over"])
            assert [back[name] for name in ("loser", "onTime", "stones")] == [
                position[name] for name in ("loser", "onTime", "stones")]
            assert back["clock"]["b"] == pytest.approx(kept["left"][0] / 1000, abs=0.06)
            assert other.latest["game"]["result"] == result
            await other.send("undo")
            await other.until("game", lambda message: message["result"] == "")
    run(play)


def test_who_has_not_moved_takes_nothing_back() -> None:
    """The engine would only have to move again."""
    async def play() -> None:
        async with room() as here:
            tab = await here.open()
            await tab.send("new", size=5, komi=0.5, handicap=0, side="black")
            await tab.until("position", lambda message: message["number"] == 1)
            assert (await tab.ask("undo"))["text"] == "there is no move of yours to take back"
    run(play)


def test_a_result_that_a_record_brought_comes_back() -> None:
    table = Table(Rules(), range(3, 10), 5)
    table.load("(;GM[1]FF[4]SZ[5]RE[W+3];B[cc];W[cd])")
    table.go(list(table.tree)[-1])
    table.lose(Stone.BLACK)
    assert table.tree.result() == "W+R"
    table.undo(1)
    assert table.tree.result() == "W+3"


def test_after_a_loss_on_time_one_plays_on_without_a_clock() -> None:
    table = Table(Rules(), range(3, 10), 5)
    table.new(5, 0.5, 0, minutes=1.0)
    table.play(12)
    table.lose(Stone.WHITE, on_time=True)
    table.undo(1)
    assert table.clock is None and table.ending is None
    table.play(13)
    assert not table.is_over


def test_who_resigns_while_the_engine_thinks_has_lost() -> None:
    async def play() -> None:
        async with room(visits=50_000) as here:
            tab = await here.open()
            await tab.send("play", point=12)
            await tab.until("thinking")
            await tab.send("resign")
            position = await tab.until("position", lambda message: message["over"])
            assert position["loser"] == "b" and tab.latest["game"]["result"] == "W+R"
            await tab.send("undo")
            assert (await tab.until("game"))["result"] == ""
            await tab.send("set", side="none")  # nobody's side: whoever is to move resigns
            await tab.send("play", point=0)
            await tab.send("resign")
            await tab.until("game", lambda message: message["result"] == "B+R")
    run(play)


def test_a_tab_that_comes_back_gets_the_move_that_the_engine_owes_it() -> None:
    async def play() -> None:
        async with room(visits=50_000) as here:
            tab = await here.open()
            await tab.send("play", point=12)
            await tab.until("thinking")
            await tab.socket.close()
            again = await here.open(tab.latest["hello"]["table"])
            assert (await again.until("thinking"))["on"]
            assert "it is the engine's turn" in (await again.ask("play", point=0))["text"]
            await again.send("hurry")
            await again.until("position", lambda message: message["number"] == 2)
            other = await here.open()  # the server has forgotten the game, its page has not
            await other.send("load", sgf="(;GM[1]FF[4]SZ[5];B[cc])", path=[0], reply=True)
            assert (await other.until("thinking"))["on"]
    run(play)


def test_a_record_too_long_to_be_kept_is_the_server_s_to_give() -> None:
    record = "(;GM[1]FF[4]SZ[5]PB[long]" + "(;B[aa])" * MAX_KEPT_NODES + ")"

    async def play() -> None:
        async with room() as here:
            tab = await here.open()
            await tab.send("play", point=12)
            await tab.until("kept", lambda message: message["sgf"] is not None)
            await tab.send("load", sgf=record)
            await tab.until("kept", lambda message: message["sgf"] is None)
            await tab.send("record", use="save")
            given = await tab.until("record")
            assert given["use"] == "save" and "PB[long]" in given["sgf"]
            assert given["sgf"].count("B[aa]") == MAX_KEPT_NODES
    run(play)


def test_a_game_that_is_refused_changes_nothing() -> None:
    async def play() -> None:
        async with room() as here:
            tab = await here.open()
            before = tab.latest["settings"]
            await tab.send("play", point=12)
            await tab.until("position", lambda message: message["number"] == 2)
            assert "komi 100" in (await tab.ask("new", size=5, komi=100, side="black", level=3))["text"]
            await tab.send("set", analyze=False)
            assert await tab.until("settings") == before and tab.latest["position"]["number"] == 2
            await tab.send("new", size=5, komi=6, side="none", level=3)
            settings = await tab.until("settings")
            assert (settings["side"], settings["level"]) == ("none", 3)
    run(play)


@pytest.mark.parametrize("ends", ["new", "load"])
def test_another_game_ends_the_review_of_the_last_one(ends: str) -> None:
    async def play() -> None:
        async with room(visits=8) as here:
            tab = await here.open()
            await tab.send("set", side="none")
            await tab.send("load", sgf="(;GM[1]FF[4]SZ[5];B[aa];W[bb];B[cc])")
            await tab.send("review", visits=3000)
            await tab.until("progress", lambda message: message["total"] == 4)
            fields = {"size": 5, "komi": 6} if ends == "new" else {"sgf": "(;GM[1]FF[4]SZ[5])"}
            await tab.send(ends, **fields)
            await tab.until("progress", lambda message: message["total"] == 0)
    run(play)


def test_points_are_told_as_people_write_them() -> None:
    """9 - 6.6 is 2.4000000000000004."""
    async def count() -> None:
        async with room() as here:
            tab = await here.open()
            await tab.send("new", size=3, komi=6.6, handicap=0, side="none")
            for point in (4, PASS, PASS):
                await tab.send("play", point=point)
            assert (await tab.until("score"))["lead"] == 2.4
    run(count)


def test_the_lead_before_the_engine_s_move_is_the_one_that_an_analysis_finds() -> None:
    """It was that of the position after the move, with the wrong side to move."""
    async def compare() -> None:
        source = EvaluatorSource(lambda size: TellingEvaluator(size or SIZE), range(3, 10))
        async with room(hall=Hall(EngineOptions(visits=8, size=SIZE), source)) as here:
            tab = await here.open()
            await tab.send("set", side="none", analyze=True, analysisVisits=8)
            analysis = await tab.until("analysis", lambda message: message["final"])
            await tab.send("set", analyze=False)
            await tab.send("new", size=SIZE, komi=7, handicap=0, side="black")
            view = await tab.until("view")
            assert (view["id"], view["visits"], view["lead"]) == (0, 8, analysis["lead"])
    run(compare)


def test_what_an_old_game_s_review_finds_is_not_written_into_a_new_one() -> None:
    async def play() -> None:
        async with room() as here:
            tab = await here.open()
            await tab.send("set", side="none")
            await tab.send("load", sgf="(;GM[1]FF[4]SZ[5];B[aa];W[bb])")
            await tab.send("review", visits=20_000)
            await tab.send("new", size=7, komi=6)
            await tab.send("review", visits=20)
            found = await tab.until("progress", lambda message: message["done"] == message["total"] == 1)
            assert found and tab.latest["view"]["visits"] <= 40
    run(play)


def test_a_policy_is_that_of_the_game_that_is_played() -> None:
    async def play() -> None:
        async with room() as here:
            tab = await here.open()
            await tab.send("set", side="none", analyze=True)
            for size in (9, 5, 7):
                await tab.send("new", size=size, komi=6)
            await tab.until("position", lambda message: message["size"] == 7)
            analysis = await tab.until("analysis")
            assert len(analysis["policy"]) == 7 * 7 + 1
    run(play)


def test_a_tab_that_goes_in_a_review_leaves_the_thinker_to_the_others() -> None:
    async def play() -> None:
        hall = make_hall()
        async with room(hall=hall) as here:
            tab = await here.open()
            await tab.send("set", side="none")
            await tab.send("review", visits=50_000)
            await asyncio.sleep(0.3)
            await tab.socket.close()
            await asyncio.wait_for(hall.thinker.run(lambda: None), 20)
            begin = time.monotonic()
            await hall.thinker.run(lambda: None)
            assert time.monotonic() - begin < TURN_SECONDS, "nobody else thinks any more"
    run(play)


def test_the_clock_of_a_side_that_has_moved_rings_for_nobody() -> None:
    async def play() -> None:
        table, sent = Table(Rules(), range(3, 10), 5), list[dict]()
        table.new(5, 0.5, 0, minutes=1.0)
        hall = make_hall()
        player = Player(table, PlaySettings(side="none"), hall.engines, hall.thinker, sent.append)
        table.play(12)
        table.play(13)
        player._end_by_time(Stone.WHITE)  # an alarm of the move before
        assert table.loss is None
        player._end_by_time(Stone.BLACK)
        assert table.loss is not None and table.loss.loser == Stone.BLACK and table.loss.on_time
        hall.close()
    run(play)


def test_long_searches_take_turns_with_short_ones() -> None:
    """Whoever asks for a long one makes nobody wait until it ends, and loses nothing himself."""
    async def play() -> None:
        async with room() as here:
            patient, quick = await here.open(), await here.open()
            await patient.send("set", seconds=600.0)
            await patient.send("play", point=12)
            await patient.until("thinking")
            for number in (2, 4):
                await quick.send("play", point=number)
                await quick.until("position", lambda message, n=number: message["number"] == n)  # type: ignore[misc]
            await patient.send("hurry")
            await patient.until("position", lambda message: message["number"] == 2)
    run(play)


def test_turns_are_had_one_at_a_time_in_the_order_of_the_queue() -> None:
    async def go() -> None:
        thinker, order, all_have_asked = Thinker(), list[str](), threading.Event()

        def work(name: str, turns: int) -> str:
            for _ in range(turns):
                order.append(name)
                assert all_have_asked.wait(SECONDS)
                begin = time.monotonic()
                while time.monotonic() - begin < TURN_SECONDS + 0.05:
                    time.sleep(0.01)
                assert order[-1] == name, "nobody else works meanwhile"
                thinker.give_way()
            return name

        works = [asyncio.create_task(thinker.run(partial(work, name, turns))) for name, turns in (("a", 3), ("b", 2))]
        await wait_until(lambda: len(thinker._waiting) == 1)
        works.append(asyncio.create_task(thinker.run(partial(work, "c", 1))))
        await wait_until(lambda: len(thinker._waiting) == 2)
        all_have_asked.set()
        assert await asyncio.gather(*works) == ["a", "b", "c"]
        assert order == ["a", "b", "c", "a", "b", "a"] or order == ["b", "a", "c", "b", "a", "a"]
        thinker.close()
    run(go)


def test_who_has_gone_away_waits_no_longer() -> None:
    """Else the others' searches would give way to nobody, all the time."""
    async def go() -> None:
        thinker, is_free = Thinker(), threading.Event()
        busy = asyncio.create_task(thinker.run(is_free.wait))
        await wait_until(lambda: thinker._is_busy)
        gone = asyncio.create_task(thinker.run(lambda: None))
        await wait_until(thinker.turn_is_over)
        gone.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gone
        assert not thinker.turn_is_over()
        is_free.set()
        assert await busy
        thinker.close()
    run(go)


def test_a_tab_begins_with_what_it_may_set() -> None:
    async def play() -> None:
        async with room(hall=make_hall(visits=10**6, const_time=10**4)) as here:
            tab = await here.open()
            await tab.send("set", side="none")
            settings = (await tab.until("settings"))
            assert (settings["visits"], settings["seconds"]) == (MAX_VISITS, MAX_SECONDS)
    run(play)


def test_the_engine_thinks_by_its_own_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = watch_limits(monkeypatch)

    async def play() -> None:
        async with room(visits=5000) as here:
            tab = await here.open()
            await tab.send("load", sgf="(;GM[1]FF[4]SZ[5];B[cc])", path=[0], left=[600_000, 12_000], reply=True)
            await tab.until("position", lambda message: message["number"] == 2)
    run(play)
    manager = TimeManager(StartOptions(5000))
    manager.report(Stone.WHITE, 12.0, 0)
    assert limits[-1][1].seconds == pytest.approx(manager.limit(Stone.WHITE, 5, 24).seconds, rel=0.2)


def test_a_policy_is_that_of_the_position_that_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Engine, "get_policy", lambda engine, _: np.full(26, engine.board.moves / 1000))

    async def play() -> None:
        async with room() as here:
            tab = await here.open()
            await tab.send("set", side="none", analyze=True)
            first = await tab.until("analysis")
            await tab.send("play", point=12)
            second = await tab.until("analysis", lambda message: message["node"] != first["node"])
            await tab.send("go", node=first["node"])
            again = await tab.until("analysis", lambda message: message["node"] == first["node"])
            assert [analysis["policy"][0] for analysis in (first, second, again)] == [1, 2, 1]
    run(play)


def test_only_so_many_tables_are_kept_for_tabs_that_went() -> None:
    async def come_and_go() -> None:
        hall = make_hall()
        names = []
        for _ in range(MAX_LEFT + 1):
            seat, _ = await hall.sit_down("-")
            names.append(seat.name)
            hall.leave(seat)
        assert [(await hall.sit_down(name))[1] for name in (names[0], names[1], names[-1])] == [False, True, True]
    run(come_and_go)


def test_the_clock_of_a_tab_that_went_stands() -> None:
    async def leave() -> None:
        hall = make_hall()
        async with room(hall=hall) as here:
            tab = await here.open()
            await tab.send("new", size=SIZE, komi=0.5, handicap=0, minutes=1, side="none", level=20)
            await tab.send("play", point=3)
            message = await tab.until("position", lambda message: message["number"] == 1)
            assert message["clock"]["running"] == "w"
            await tab.socket.close()
            seat, is_known = await hall.sit_down(tab.latest["hello"]["table"])
            assert is_known and seat.table.clock is not None and seat.table.clock.running is None
    run(leave)


@pytest.mark.parametrize(("declared", "encoding"), [
    ("CA[Shift_JIS]", "cp932"), ("", "cp932"), ("CA[EUC-JP]", "euc-jp"), ("CA[UTF-8]", "utf-8"), ("", "utf-8-sig"),
    ("CA[UTF-8]", "utf-16"),
])
def test_a_file_is_read_in_its_own_letters(declared: str, encoding: str) -> None:
    """木 and 能 have bytes that are a bracket and a backslash of SGF in Shift_JIS."""
    data = f"(;GM[1]SZ[5]{declared}PB[木谷実]PW[可能性];B[cc];W[bb])".encode(encoding)

    async def load() -> None:
        async with room() as here:
            tab = await here.open()
            await tab.send("load", file=base64.b64encode(data).decode())
            kept = await tab.until("kept")
            assert (tab.latest["game"]["black"], tab.latest["game"]["white"]) == ("木谷実", "可能性")
            await tab.send("load", sgf=kept["sgf"])  # a text that tells of what it was written in once
            assert len((await tab.until("nodes"))["nodes"]) == 3 and tab.latest["game"]["white"] == "可能性"
            assert "base64" in (await tab.ask("load", file="?"))["text"]
    run(load)


@pytest.mark.parametrize("side", ["none", "black", "both"])
def test_a_new_table_takes_the_place_of_no_game_that_a_page_keeps(side: str) -> None:
    """The page offers its game again as often as it comes, until somebody plays."""
    async def come() -> None:
        async with room() as here:
            tab = await here.open()
            for _ in range(2):
                assert not tab.latest["hello"]["known"]
                await tab.send("set", side=side, reply=False)
                await tab.ask("load", sgf="(;GM[1]SZ[13];B[cc])")
                assert "kept" not in tab.latest
                await tab.socket.close()
                tab = await here.open(tab.latest["hello"]["table"])
            await tab.send("set", side="none")
            await tab.send("play", point=3)
            assert "B[da]" in (await tab.until("kept"))["sgf"]
            await tab.socket.close()
            assert (await here.open(tab.latest["hello"]["table"])).latest["hello"]["known"]
    run(come)


def test_the_engine_moves_before_it_reviews() -> None:
    """Its clock runs; the review goes on afterwards, and misses no position."""
    async def play() -> None:
        async with room(visits=8) as here:
            tab = await here.open()
            await tab.send("load", sgf="(;GM[1]SZ[5];B[cc];W[bb];B[dd])", path=[])
            await tab.send("review", visits=20_000)
            assert (await tab.until("progress")) == {"type": "progress", "done": 0, "total": 4}
            await tab.send("play", point=3)
            await tab.until("position", lambda message: message["number"] == 2)
            assert tab.latest["progress"]["done"] == 0
            await tab.send("stop")
            await tab.send("review", visits=8)
            done = [(await tab.until("progress", lambda message: message["total"] > 0))["done"] for _ in range(4)]
            assert done == [0, 1, 2, 3] and len(tab.latest["nodes"]["nodes"]) == 1
    run(play)


def test_moves_are_taken_back_at_the_end_and_a_lost_game_only_from_its_loss() -> None:
    async def play() -> None:
        async with room(visits=1) as here:
            tab = await here.open()
            await tab.send("play", point=12)
            await tab.until("position", lambda message: message["number"] == 2)
            await tab.send("go", node=1)
            assert "at the end of a line" in (await tab.ask("undo"))["text"]
            await tab.send("go", node=2)
            await tab.send("resign")
            await tab.until("game", lambda message: message["result"] == "W+R")
            assert "the game is over" in (await tab.ask("genmove"))["text"]
            await tab.send("undo")
            assert "RE[" not in (await tab.until("kept"))["sgf"]
            await tab.until("game", lambda message: not message["result"])
            assert (await tab.until("position"))["number"] == 2
    run(play)


def test_a_variation_that_is_taken_back_leaves_the_record() -> None:
    """The player's move was the record's own, the engine's reply another one."""
    async def play() -> None:
        async with room(visits=1) as here:
            tab = await here.open()
            await tab.send("load", sgf="(;SZ[5];B[cc];W[bb];B[dd];W[db];B[bd])", path=[0, 0])
            await tab.until("position", lambda message: message["number"] == 2)
            await tab.send("play", point=18)
            await tab.until("position", lambda message: message["number"] == 4)
            await tab.send("undo")
            assert (await tab.until("position"))["number"] == 2
            kept = (await tab.until("kept"))["sgf"].replace("\n", "")
            assert kept.endswith(";B[cc];W[bb];B[dd];W[db];B[bd])")
    run(play)


def test_what_is_shown_of_a_search_does_not_begin_it_again() -> None:
    async def play() -> None:
        async with room(visits=50_000) as here:
            tab = await here.open()
            await tab.send("play", point=12)
            await tab.until("thinking")
            await tab.send("set", analyze=True)
            await tab.until("analysis")  # the reply's
            await tab.send("set", visits=1)
            await tab.until("position", lambda message: message["number"] == 2)
            thinking = [message["on"] for message in tab.seen if message["type"] == "thinking"]
            assert thinking == [True, False, True, False]
    run(play)
