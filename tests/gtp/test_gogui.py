"""GoGui's analyze commands and live graphics."""

import re

import pytest

from board.stone import Stone
from engine.engine import Engine
from gtp.commands.gogui import ANALYZE_COMMANDS, format_percent
from tests.gtp.players import Controller, FakeEvaluator
from tests.mcts.evaluators import TellingEvaluator


@pytest.fixture
def gtp() -> Controller:
    controller = Controller(visits=12, make=lambda size: FakeEvaluator(size, 0.75))
    controller.ask("boardsize 5")
    return controller


def test_every_analyze_command_can_be_sent(gtp: Controller):
    gtp.ask("play b C3")
    listed = gtp.ask("list_commands").split("\n")
    for line in ANALYZE_COMMANDS:
        kind, label, command = line.split("/")
        assert label and command.split()[0] in listed
        assert kind in ("string", "cboard", "sboard", "dboard", "gfx", "var", "plist", "param", "hstring")
        gtp.ask(command.replace("%m", "w").replace("%p", "C3"))


def test_value(gtp: Controller):
    assert gtp.ask("display_value") == "black wins with 75.0%"
    gtp.ask("play b C3")
    assert gtp.ask("display_value") == gtp.ask("display_value w") == "white wins with 75.0%"
    assert gtp.fail("display_value x") == "invalid color"


@pytest.mark.parametrize("probability, text", [
    (0.0, "0"), (0.0004, "0"), (0.0005, ".1"), (0.0094, ".9"), (0.0096, "1.0"), (0.0994, "9.9"), (0.0996, "10"),
    (0.274, "27"), (1.0, "100"),
])
def test_percents_are_short(probability: float, text: str):
    assert format_percent(probability) == text


def test_ownership(gtp: Controller):
    gtp.ask("set_position b A4 b B4 b C4 b D4 b E4 b A3 b B3 b C3 b D3 b E3 b A2 b B2 b C2 b D2 b E2")
    rows = [row.split() for row in gtp.ask("display_ownership").split("\n")]
    assert [len(row) for row in rows] == [5] * 5
    assert all(-1 <= float(cell) <= 1 for row in rows for cell in row)
    assert float(rows[2][2]) == 1.0


def test_what_the_network_tells_is_turned_to_the_side_that_asks():
    engine = Controller(make=TellingEvaluator, size=3, any_size=False).engine
    own, other = (engine.estimate_position(color, Stone.WHITE, 0, 1) for color in (Stone.WHITE, Stone.BLACK))
    assert own.lead == -other.lead != 0.0 and (own.ownership == -other.ownership).all()


def test_best_moves_and_variation(gtp: Controller):
    gtp.ask("play w C3")
    lines = gtp.ask("display_best_moves b").split("\n")
    assert [line.split()[0] for line in lines] == ["COLOR", "COLOR", "LABEL", "TEXT"]
    words = lines[2].split()[1:]
    assert len(words) == 20 and 10 <= sum(map(int, words[1::2])) <= 12
    best = lines[0].split()[2]
    assert best == words[0]
    variation = gtp.ask("display_pv b").split()
    assert variation[1] == best and variation[::2] == ["b", "w", "b", "w"][:len(variation) // 2]
    assert len(gtp.engine.board.get_move_history()) == 1
    assert gtp.ask("kata-search b") == best


def test_points_that_pruning_keeps(gtp: Controller):
    gtp.ask("play w C3")
    assert gtp.ask("display_kept_moves b").split("\n")[1] == "TEXT 24 moves are kept"
    pruning = Controller(visits=2, size=5, prune=0.2)  # about a move that is as likely as all others
    pruning.ask("play w C3")
    kept, number = pruning.ask("display_kept_moves b").split("\n")
    assert number == "TEXT 12 moves are kept" and "C3" not in kept and "E1" in kept and "A5" not in kept


def test_dead_stones(gtp: Controller):
    assert gtp.ask("display_dead_stones") == ""
    assert Controller(cgos_mode=True, size=5).ask("display_dead_stones") == ""


def test_live_graphics_are_off_unless_asked_for(gtp: Controller, capfd: pytest.CaptureFixture):
    gtp.ask("genmove b")
    assert "gogui-gfx" not in capfd.readouterr().err
    gtp.ask("kata-set-param liveGfx true")
    move = gtp.ask("genmove w")
    out, err = capfd.readouterr()
    assert out == ""
    picture = re.search(r"^gogui-gfx:\nVAR w (\S+)[^\n]*\n(?:[A-Z]+ [^\n]+\n)+\n", err, flags=re.MULTILINE)
    assert picture and picture.group(1) == move
    variation, labels = (set(re.findall(rf"^{word} (.*)", picture.group(), flags=re.MULTILINE)[0].split()[place::2])
                         for word, place in (("VAR", 1), ("LABEL", 0)))
    assert variation and labels and not variation & labels  # a label would hide the number of the move
    assert err.rindex("gogui-gfx: CLEAR") > picture.end()


def test_kept_moves_are_those_of_the_color_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Stone] = []

    def find_kept_moves(_: Engine, color: Stone) -> list[int]:
        asked.append(color)
        return []

    monkeypatch.setattr(Engine, "find_kept_moves", find_kept_moves)
    gtp = Controller()
    for color in ("w", "b", "%m"):
        gtp.raw(f"display_kept_moves {color}".removesuffix(" %m"))
    assert asked == [Stone.WHITE, Stone.BLACK, Stone.BLACK]
