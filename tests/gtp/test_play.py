"""genmove: modes, diagnostics, resigning, passing, scoring, thinking time."""

import random
import re
import time
from collections import Counter

import pytest

from board.constant import PASS
from board.go_board import GoBoard
from board.stone import Stone
from engine.levels import LEVELS
from engine.move_choice import ResignPolicy, draw_by_visits
from gtp.reader import InputLine, LineReader
from mcts.time_manager import TimeControl
from tests.gtp.players import Controller, FakeEvaluator
from tests.mcts.clocks import total_left

# Black owns the left five columns of a 9x9 board, White the rest: Black leads by 9 points on the board. A white stone
# on D5 stands in a lane one point wide and cannot live.
WALLS = "(;SZ[9]KM[7]" + "AB" + "".join(f"[{x}{y}]" for x in "ce" for y in "abcdefghi") + "AW" + "".join(
    f"[{x}{y}]" for x in "fh" for y in "abcdefghi") + ")"


SEKI = {"b": "A4 B4 C4 D4 E4 F4 F1 F2 F3 B2 C2 D2 A1 B1 C1", "w": "A3 B3 C3 D3 E3 E2 E1"}


def with_walls(**options) -> Controller:
    gtp = Controller(**options)
    gtp.ask(f"tamago-readsgf {WALLS}")
    return gtp


def with_seki(**options) -> Controller:
    gtp = Controller(**options)
    stones = (f"{color} {point}" for color, points in SEKI.items() for point in points.split())
    gtp.ask(f"gogui-setup {' '.join(stones)}")
    return gtp


def test_diagnostics_go_to_stderr_in_board_order(capfd: pytest.CaptureFixture):
    gtp = Controller(visits=40)
    assert gtp.engine.board.moves == 1
    capfd.readouterr()
    move = gtp.ask("genmove b")
    out, err = capfd.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert lines[0] == "raw_value=0.5000"
    pattern = re.compile(r"pos=(\S+), visits= *(\d+), policy=\d\.\d{4}, value=\d\.\d{4}, raw_value=\d\.\d{4}, pv=(\S+)")
    found = [pattern.fullmatch(line) for line in lines[1:-1]]
    assert all(found) and found
    convert = gtp.engine.board.coordinate.convert_from_gtp_format
    positions = [convert(match.group(1)) for match in found if match]
    assert positions == sorted(positions, key=lambda pos: (pos == PASS, pos))
    assert move in [match.group(1) for match in found if match]
    assert all(match.group(3).split(",")[0] == match.group(1) for match in found if match)
    assert re.fullmatch(r"\d+\.\d\d seconds, \d+\.\d\d visits/s", lines[-1])
    assert not [line for line in lines if re.match(r"[=?]|info|play|komi=", line) or " -> " in line]


@pytest.mark.parametrize("options, calls", [
    ({"policy_move": True, "sequential_halving": True}, 1),
    ({"sequential_halving": True, "strict_visits": 16}, 17),
    ({"strict_visits": 20}, 21),
])
def test_modes_and_their_precedence(options: dict, calls: int):
    fake = FakeEvaluator()
    gtp = Controller(make=lambda size: fake, batch_size=1, **options)
    gtp.ask("genmove b")
    assert fake.calls == calls


def test_temperature_draws_by_visits():
    gtp = Controller(visits=60)
    found = gtp.engine.look(Stone.BLACK)
    rng, count = random.Random(1), 20000
    drawn = Counter(draw_by_visits(found, 0.5, rng) for _ in range(count))
    weights = {move.pos: move.visits ** 2 for move in found.candidates}
    for pos, weight in weights.items():
        assert drawn[pos] / count == pytest.approx(weight / sum(weights.values()), abs=0.02)
    assert {draw_by_visits(found, 0.0, rng) for _ in range(20)} == {found.pos}
    most = max(move.visits for move in found.candidates)
    assert draw_by_visits(found, 1e-6, rng) in [move.pos for move in found.candidates if move.visits == most]


def test_temperature_varies_games_and_the_report_begins_with_the_move_played():
    played = set()
    for seed in range(8):
        gtp = Controller(visits=40, temperature=2.0, seed=seed)
        *lines, move = gtp.ask("kata-genmove_analyze b 100").split("\n")
        assert lines[-1].split()[2] == move.removeprefix("play ")
        played.add(move)
    assert len(played) > 2


def test_a_policy_temperature_above_1_makes_priors_more_alike():
    def largest_prior(temperature: float) -> float:
        gtp = Controller(visits=20, policy_temperature=temperature)
        return max(move.prior for move in gtp.engine.look(Stone.BLACK).candidates)
    assert largest_prior(3.0) < largest_prior(1.0) < largest_prior(0.3)


def test_playouts_correct_the_win_rate_but_not_the_networks_value():
    def win_rates(**options) -> tuple[float, float]:
        """Return the network's and the search's win rate of Black, who leads by 2 if the stone in the lane dies."""
        gtp = with_walls(visits=20, **options)
        gtp.ask("play w D5")
        result = gtp.engine.look(Stone.BLACK)
        return result.raw_value, result.winrate

    assert win_rates(playouts=0)[0] == win_rates(playouts=8)[0] == 0.5
    assert win_rates(playouts=8)[1] > win_rates(playouts=0)[1] + 0.1


def test_policy_moves_follow_the_seed():
    def moves(seed: int) -> list[str]:
        gtp = Controller(policy_move=True, temperature=1.0, seed=seed)
        return [gtp.ask(f"genmove {color}") for color in "bwbwbw"]
    assert moves(1) == moves(1) != moves(2)


def test_genmove_plays_its_move_and_goes_on_after_the_end():
    gtp = Controller()
    for line in ("play b pass", "play w pass", "genmove b", "genmove b", "genmove w"):
        gtp.ask(line)
    assert gtp.engine.board.moves == 6


@pytest.mark.parametrize("options", [{}, {"policy_move": True}, {"sequential_halving": True, "visits": 16}])
def test_reg_genmove_is_deterministic_and_changes_nothing(options: dict):
    gtp = Controller(**options)
    gtp.ask("time_settings 10 0 0")
    gtp.ask("play b E5")
    before = gtp.state()
    assert len({gtp.ask("reg_genmove w") for _ in range(3)}) == 1
    assert gtp.state() == before


def test_reg_genmove_searches_no_more_than_its_level():
    fake = FakeEvaluator()
    gtp = Controller(make=lambda size: fake, batch_size=1, level=14, visits=100)
    gtp.ask("reg_genmove b")
    assert fake.calls == LEVELS[14].visits + 1


def test_resigns_after_a_streak_only():
    gtp = Controller(make=lambda size: FakeEvaluator(size, 0.01), min_resign_move=0, policy_move=True, seed=1)
    assert [gtp.ask("genmove b") == "resign" for _ in range(3)] == [False, False, True]
    assert gtp.engine.board.moves == 3
    assert gtp.ask("genmove b") == "resign"
    gtp.ask("undo")
    assert gtp.ask("genmove b") != "resign"
    gtp.ask("clear_board")
    assert [gtp.ask("genmove w") == "resign" for _ in range(3)] == [False, False, True]


def test_a_streak_is_of_one_game():
    gtp = Controller(make=lambda size: FakeEvaluator(size, 0.01), min_resign_move=0, policy_move=True, seed=1)
    for _ in range(2):
        gtp.ask("genmove b")
        gtp.engine.look_at(gtp.engine.board.copy())
    assert gtp.ask("genmove b") == "resign"
    gtp.engine.look_at(GoBoard())
    assert [gtp.ask("genmove b") == "resign" for _ in range(3)] == [False, False, True]


@pytest.mark.parametrize("options", [{"resign_threshold": 0.0}, {"resign_threshold": -1.0}, {"resign_streak": 99}, {}])
def test_does_not_resign_when_switched_off_or_too_early(options: dict):
    gtp = Controller(make=lambda size: FakeEvaluator(size, 0.01), policy_move=True, seed=1, **options)
    assert all(gtp.ask("genmove b") != "resign" for _ in range(6))


@pytest.mark.parametrize(("handicap", "moves"), [(False, 6), (True, 12)])
def test_who_gave_a_handicap_plays_on_for_longer(handicap: bool, moves: int):
    gtp = Controller()
    gtp.ask("boardsize 5")
    if handicap:
        gtp.ask("set_free_handicap A1 E5")
    policy, board = ResignPolicy(0.05, 1, None), gtp.engine.board
    while not policy.decide(board, Stone.WHITE, 0.01):
        gtp.ask(f"play {'w' if board.moves % 2 else 'b'} pass")
    assert board.moves == moves


@pytest.mark.parametrize("stones", [["b A1", "b E5"], ["b A1", "w pass", "b E5"]])
def test_handicap_stones_may_be_played_one_after_the_other(stones: list[str]):
    gtp = Controller()
    gtp.ask("boardsize 5")
    for stone in stones:
        gtp.ask(f"play {stone}")
    policy, board = ResignPolicy(0.05, 1, None), gtp.engine.board
    while not policy.decide(board, Stone.WHITE, 0.01):
        gtp.ask(f"play {'w' if board.moves % 2 else 'b'} pass")
    assert board.moves == 12


def test_resign_streak_is_broken_by_a_better_move():
    gtp = Controller()
    board = gtp.engine.board
    policy = ResignPolicy(0.05, 2, 0)
    answers = [policy.decide(board, Stone.BLACK, rate) for rate in (0.01, 0.5, 0.01, 0.01)]
    assert answers == [False, False, False, True]
    assert not policy.decide(board, Stone.WHITE, 0.01)
    assert not policy.decide(board, Stone.BLACK, float("nan"))


@pytest.mark.parametrize("options", [{}, {"policy_move": True}, {"cgos_mode": True}, {"sequential_halving": True}])
def test_passes_when_that_wins(options: dict):
    gtp = with_walls(**options)
    gtp.ask("play w pass")
    assert gtp.ask("genmove b") == "pass"


@pytest.mark.parametrize("options", [{}, {"policy_move": True}, {"cgos_mode": True}, {"sequential_halving": True}])
def test_does_not_pass_when_that_loses(options: dict):
    gtp = with_walls(make=lambda size: FakeEvaluator(size, pass_logit=20.0), **options)
    gtp.ask("play b pass")
    assert gtp.ask("genmove w") != "pass"


def test_a_drawn_game_may_be_ended():
    gtp = with_walls(make=lambda size: FakeEvaluator(size, pass_logit=20.0))
    gtp.ask("komi 9")
    gtp.ask("play w pass")
    assert gtp.ask("genmove b") == "pass"


@pytest.mark.parametrize("cgos_mode", [False, True])
def test_a_game_that_dead_stones_would_lose_is_not_ended(cgos_mode: bool):
    """A judge who counts all stones as alive gave such games to the other side: B+18 became W+17."""
    gtp = with_walls(cgos_mode=cgos_mode, make=lambda size: FakeEvaluator(size, pass_logit=20.0))
    gtp.ask("play w D5")
    gtp.ask("play w pass")
    assert gtp.ask("final_score").startswith("W" if cgos_mode else "B") and gtp.ask("genmove b") != "pass"


def test_scores():
    gtp = Controller()
    assert gtp.ask("final_score") == "W+7.0"
    gtp.ask("komi 0")
    assert gtp.ask("final_score") == "0"
    for komi, score in (("-6.5", "B+6.5"), ("0.25", "W+0.25"), ("-18", "B+18.0")):  # GNU Go writes B+18.0, too
        gtp.ask(f"komi {komi}")
        assert gtp.ask("final_score") == score
    assert with_walls().ask("final_score") == "B+2.0"


def test_a_seki_is_listed_string_by_string_and_is_neither_alive_nor_dead():
    gtp, white = with_seki(), set(SEKI["w"].split())
    seki = [set(line.split()) for line in gtp.ask("final_status_list seki").split("\n")]
    assert sorted(seki, key=len) == [{"B2", "C2", "D2", "A1", "B1", "C1"}, white] or seki == [
        white, {"B2", "C2", "D2", "A1", "B1", "C1"}]
    assert gtp.ask("final_status_list dead") == ""
    assert "A4" in gtp.ask("final_status_list alive") and "B2" not in gtp.ask("final_status_list alive")
    cgos = with_seki(cgos_mode=True)
    assert cgos.ask("final_status_list seki") == "" and "B2" in cgos.ask("final_status_list alive")


def test_final_status_lists_every_string_once():
    gtp = with_walls()
    gtp.ask("play w D5")
    assert gtp.ask("final_status_list dead") == "D5"
    assert gtp.ask("final_status_list seki") == ""
    assert len(gtp.ask("final_status_list black_territory").split()) == 26  # without D5, where a dead stone stands
    assert len(gtp.ask("final_status_list white_territory").split()) == 18
    assert gtp.ask("final_status_list dame") == ""
    alive = gtp.ask("final_status_list alive").split("\n")
    assert [len(line.split()) for line in alive] == [9, 9, 9, 9]
    assert gtp.ask("final_score") == "B+2.0"
    cgos = with_walls(cgos_mode=True)
    cgos.ask("play w D5")
    assert cgos.ask("final_status_list dead") == ""
    assert len(cgos.ask("final_status_list alive").split("\n")) == 5
    assert cgos.ask("final_score") == "W+8.0"


@pytest.mark.parametrize("line, mode, left", [
    ("time_settings 300 0 0", TimeControl.TIME_CONTROL, 300),
    ("time_settings 300 30 5", TimeControl.TIME_CONTROL, 330),
    ("time_settings 1.5 0.5 1", TimeControl.TIME_CONTROL, 2),
    ("time_settings 0 5 1", TimeControl.TIME_CONTROL, 5),
    ("time_settings 60", TimeControl.TIME_CONTROL, 60),
    ("time_settings 0 1 0", TimeControl.CONSTANT_PLAYOUT, None),
    ("kgs-time_settings none", TimeControl.CONSTANT_PLAYOUT, None),
    ("kgs-time_settings absolute 300", TimeControl.TIME_CONTROL, 300),
    ("kgs-time_settings byoyomi 300 30 5", TimeControl.TIME_CONTROL, 450),
    ("kgs-time_settings canadian 300 30 5", TimeControl.TIME_CONTROL, 330),
])
def test_time_settings(line: str, mode: TimeControl, left: float | None):
    gtp = Controller()
    gtp.ask(line)
    manager = gtp.engine.time
    assert manager.mode is mode
    assert [total_left(clock) for clock in manager.clocks.values()] == ([] if left is None else [left, left])


def test_own_clock_runs_when_the_controller_tells_nothing():
    gtp = Controller(visits=None)
    gtp.ask("time_settings 3 0 0")
    gtp.ask("genmove b")
    left = gtp.engine.time.clocks
    assert 2 < total_left(left[Stone.BLACK]) < 3
    assert total_left(left[Stone.WHITE]) == 3
    gtp.ask("time_left b -1.5 0")
    assert gtp.ask("genmove b")


@pytest.mark.parametrize("command", ["genmove b", "kata-search b", "display_best_moves b", "display_pv"])
def test_an_interruption_ends_the_search_that_is_running(command: str):
    gtp = Controller(visits=1_000_000, tree_size=1000)
    reader = LineReader(lambda: b"")
    gtp.client.session.reader = reader
    reader.interrupted_at = 5
    assert gtp.client.execute(InputLine(command, number=4)) is not None
    assert gtp.engine.tree.root.node_visits < 10_000
    gtp.client.session.line = InputLine(command, number=6)
    assert not gtp.client.session.should_stop()


def test_moves_asked_for_in_a_row_are_charged_one_by_one():
    gtp = Controller(visits=2)
    gtp.ask("time_settings 100 0 0")
    past = time.monotonic() - 50
    for number, color in enumerate("bwbw", start=1):
        gtp.client.execute(InputLine(f"genmove {color}", number, past))
    left = [total_left(clock) for clock in gtp.engine.time.clocks.values()]
    assert left[0] < 51 and left[1] > 90
