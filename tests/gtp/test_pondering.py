"""Pondering: when the tree grows between commands, and that the work is kept."""

import time

import pytest

from tests.gtp.players import Controller, FakeEvaluator
from tests.gtp.test_analyze import Session


def test_the_tree_grows_after_an_own_move_and_is_kept():
    session = Session(ponder=True, visits=4, make=lambda size: FakeEvaluator(size))
    engine = session.gtp.engine
    session.send("1 genmove b\n")
    session.wait(lambda text: text.count("\n\n") == 1)
    session.wait(lambda _: engine.tree.root.node_visits > 40)
    session.send("2 time_left b 100 0\n")  # no reason to stop for good
    session.wait(lambda text: "=2" in text)
    before = engine.tree.root.node_visits
    session.wait(lambda _: engine.tree.root.node_visits > before + 10)
    reply = engine.board.coordinate.convert_to_gtp_format(engine.tree.result().pos)
    session.send(f"3 play w {reply}\n4 genmove b\n")
    session.wait(lambda text: "=4" in text and text.endswith("\n\n"))
    assert engine.board.moves == 4
    session.send("5 undo\n")
    session.wait(lambda text: "=5 \n\n" in text)
    time.sleep(0.2)
    visits = engine.tree.root.node_visits
    time.sleep(0.2)
    assert engine.tree.root.node_visits == visits
    session.close()
    assert engine.explanation.split(", ")[1] == "0 visits"  # all the visits came from pondering


@pytest.mark.parametrize("options", [
    {}, {"ponder": True, "policy_move": True},
    {"ponder": True, "resign_threshold": 2.0, "resign_streak": 1, "min_resign_move": 0},
])
def test_no_pondering_when_it_is_off_or_the_game_is_over(options: dict):
    session = Session(visits=4, make=lambda size: FakeEvaluator(size), **options)
    session.send("1 genmove b\n2 name\n")
    session.wait(lambda text: "=2" in text)
    time.sleep(0.2)
    visits = session.gtp.engine.tree.root.node_visits
    time.sleep(0.2)
    assert session.gtp.engine.tree.root.node_visits == visits
    assert not session.gtp.engine.wants_to_ponder()
    session.close()


def test_no_pondering_after_the_pass_that_ends_the_game():
    gtp = Controller(ponder=True)
    gtp.ask("play b pass")
    assert gtp.ask("genmove w") == "pass" and not gtp.engine.wants_to_ponder()
