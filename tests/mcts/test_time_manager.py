"""Thinking time: limits by options and clocks, and simulated games that must not be lost on time."""

import random
from collections.abc import Iterable

import pytest

from board.stone import Stone
from mcts.clock import Clock, Overtime, TimeSettings
from mcts.params import SearchLimit
from mcts.time_manager import UNLIMITED_VISITS, StartOptions, TimeControl, TimeManager
from tests.mcts.clocks import total_left

BLACK, WHITE = Stone.BLACK, Stone.WHITE


def limit(manager: TimeManager, moves: int = 1, color: Stone = BLACK, size: int = 9) -> SearchLimit:
    """Return the limit of a move in a game without captures and passes."""
    return manager.limit(color, size, max(size * size - moves + 1, 0))


def use_up(manager: TimeManager, moves: int, cost: float = 0.02) -> SearchLimit:
    """Let Black search for the whole time of a move; return what it was given."""
    now = limit(manager, moves)
    manager.finish(BLACK, now.seconds + cost, 100, now, now.seconds)
    return now


def test_options_in_order_of_precedence():
    everything = StartOptions(visits=7, strict_visits=8, const_time=2.5, main_time=60.0)
    assert everything.mode is TimeControl.TIME_CONTROL
    assert limit(TimeManager(everything)).visits == UNLIMITED_VISITS
    assert limit(TimeManager(everything)).seconds < 6
    assert limit(TimeManager(StartOptions(7, 8, 2.5))) == SearchLimit(UNLIMITED_VISITS, 2.5, strict=True)
    assert limit(TimeManager(StartOptions(7, 8))) == SearchLimit(8, strict=True)
    assert limit(TimeManager(StartOptions(7))) == SearchLimit(7)
    assert limit(TimeManager(StartOptions())) == SearchLimit(1000)


def test_what_is_asked_for_stays_the_limit_under_a_clock():
    manager = TimeManager(StartOptions(visits=50))
    manager.apply_settings(TimeSettings(300.0))
    assert limit(manager).visits == 50
    assert limit(manager).seconds < 30
    manager = TimeManager(StartOptions())
    manager.apply_settings(TimeSettings(300.0))
    assert limit(manager).visits == UNLIMITED_VISITS
    manager = TimeManager(StartOptions(const_time=5.0))
    manager.apply_settings(TimeSettings(60.0))
    assert limit(manager).seconds < limit(manager).seconds + limit(manager).extra <= 5.0


def test_no_limit_goes_back_to_the_options():
    manager = TimeManager(StartOptions(visits=50))
    manager.apply_settings(TimeSettings(300.0))
    manager.clear_settings()
    assert limit(manager) == SearchLimit(50)


def test_byoyomi_is_used_fully_and_never_exceeded():
    manager = TimeManager(StartOptions(), lag=0.1)
    manager.apply_settings(TimeSettings(0.0, Overtime.BYOYOMI, 5.0, 3))
    for moves in range(1, 100, 2):
        assert 4.5 < use_up(manager, moves).seconds < 4.9
    assert manager.clocks[BLACK].count_left == 3


@pytest.mark.parametrize(("settings", "start", "lost"), [
    (TimeSettings(300.0), StartOptions(), False),
    (TimeSettings(300.0), StartOptions(const_time=1.0), True),
    (TimeSettings(10.0), StartOptions(const_time=5.0), False),
    (TimeSettings(300.0), StartOptions(visits=50), False),
    (TimeSettings(300.0), StartOptions(strict_visits=50), True),
    (TimeSettings(300.0, Overtime.BYOYOMI, 5.0, 3), StartOptions(), False),
    (TimeSettings(0.0, Overtime.BYOYOMI, 5.0, 3), StartOptions(), True),
    (TimeSettings(0.0, Overtime.BYOYOMI, 5.0, 3), StartOptions(visits=50), False),
    (TimeSettings(0.0, Overtime.CANADIAN, 30.0, 2), StartOptions(), False),
    (TimeSettings(0.0, Overtime.CANADIAN, 30.0, 1), StartOptions(), True),
    (TimeSettings(30.0, Overtime.FISCHER, 5.0), StartOptions(), False),
    (TimeSettings(300.0, Overtime.FISCHER, 5.0, move_cap=6.0), StartOptions(), True),
])
def test_searches_end_early_where_later_moves_have_the_rest(settings: TimeSettings, start: StartOptions, lost: bool):
    """Constant time, visits that are asked for as many, byo-yomi, the last stone of a period and a cap are used up."""
    manager = TimeManager(start)
    manager.apply_settings(settings)
    assert limit(manager).strict is lost


def test_moves_that_use_their_time_up_do_not_tell_how_much_of_it_searches_need():
    manager = TimeManager(StartOptions(const_time=1.0))
    manager.apply_settings(TimeSettings(600.0))
    for n in range(20):
        use_up(manager, 2 * n + 1)
    manager.change_start(StartOptions())
    manager.apply_settings(TimeSettings(600.0))
    assert limit(manager).seconds > 0.95 * limit(TimeManager(StartOptions(main_time=600.0))).seconds


def test_canadian_overtime_is_shared_out():
    manager = TimeManager(StartOptions(), lag=0.1)
    manager.apply_settings(TimeSettings(0.0, Overtime.CANADIAN, 20.0, 10))
    used = []
    for moves in range(1, 60, 2):
        clock = manager.clocks[BLACK]
        left = clock.period_left
        used.append(use_up(manager, moves, cost=0.01).seconds)
        assert used[-1] < left
        assert clock.period_left > 0
    assert all(1.5 < seconds < 2.6 for seconds in used)


def test_main_time_before_overtime_gets_the_overtime_on_top():
    absolute, byoyomi = TimeManager(StartOptions()), TimeManager(StartOptions())
    absolute.apply_settings(TimeSettings(60.0))
    byoyomi.apply_settings(TimeSettings(60.0, Overtime.BYOYOMI, 10.0, 1))
    assert limit(byoyomi).seconds > limit(absolute).seconds + 9
    byoyomi.report(BLACK, 0.5, 0)
    assert 9 < limit(byoyomi, 51).seconds < 10.5


@pytest.mark.parametrize("settings, report, left", [
    (TimeSettings(300.0), (120.0, 0), 120.0),
    (TimeSettings(300.0), (1917.0, 1), 1917.0),  # no overtime: the count means nothing
    (TimeSettings(300.0), (-2.0, 0), 0.0),
    (TimeSettings(300.0, Overtime.BYOYOMI, 30.0, 5), (0.0, 0), 150.0),  # main time has just ended
    (TimeSettings(300.0, Overtime.BYOYOMI, 30.0, 5), (12.5, 2), 42.5),
    (TimeSettings(300.0, Overtime.BYOYOMI, 30.0, 5), (100.0, 0), 250.0),
    (TimeSettings(300.0, Overtime.CANADIAN, 30.0, 5), (12.0, 3), 12.0),
    (TimeSettings(300.0, Overtime.CANADIAN, 30.0, 5), (1917.0, 1), 1947.0),  # longer than a period: main time
])
def test_reported_time(settings: TimeSettings, report: tuple[float, int], left: float):
    clock = Clock(settings)
    clock.report(*report)
    assert total_left(clock) == pytest.approx(left)


def test_clocks_count_down_by_themselves():
    clock = Clock(TimeSettings(10.0, Overtime.BYOYOMI, 5.0, 3))
    clock.spend(8.0)
    assert (clock.main_left, clock.in_overtime()) == (2.0, False)
    clock.spend(4.0)
    assert (clock.in_overtime(), clock.count_left) == (True, 3)
    clock.spend(11.0)
    assert clock.count_left == 1
    clock = Clock(TimeSettings(0.0, Overtime.BYOYOMI, 1e-320, 3))  # over by more periods than there are numbers
    clock.spend(8.0)
    assert clock.count_left < 0
    clock = Clock(TimeSettings(1.0, Overtime.CANADIAN, 10.0, 2))
    clock.spend(3.0)
    assert (clock.period_left, clock.count_left) == (8.0, 1)
    clock.spend(3.0)
    assert (clock.period_left, clock.count_left) == (10.0, 2)


def test_time_left_without_settings_starts_a_clock():
    manager = TimeManager(StartOptions(visits=100_000))
    manager.report(WHITE, 3.0, 0)
    assert limit(manager, color=WHITE).seconds < 0.3
    manager = TimeManager(StartOptions())
    manager.report(WHITE, 30.0, 10)
    assert 2 < limit(manager, color=WHITE).seconds < 3


def test_new_game_refills_own_clocks_but_keeps_what_was_reported():
    manager = TimeManager(StartOptions(main_time=100.0))
    manager.finish(BLACK, 40.0, 10, SearchLimit(10), 40.0)
    manager.report(WHITE, 50.0, 0)
    manager.new_game()
    assert total_left(manager.clocks[BLACK]) == 100.0
    assert total_left(manager.clocks[WHITE]) == 50.0


def test_what_was_reported_of_the_opponent_does_not_last_for_the_next_game():
    manager = TimeManager(StartOptions(main_time=100.0))
    manager.report(BLACK, 60.0, 0)
    manager.report(WHITE, 5.0, 0)
    manager.finish(BLACK, 1.0, 10, SearchLimit(10), 1.0)
    manager.new_game()
    assert total_left(manager.clocks[WHITE]) == 100.0


def test_nearly_out_of_time_plays_at_once():
    manager = TimeManager(StartOptions(main_time=600.0))
    manager.report(BLACK, 0.3, 0)
    now = limit(manager, 200)
    assert now.visits == 1 and now.seconds < 0.05


def test_time_waited_before_the_search_counts():
    manager = TimeManager(StartOptions(main_time=10.0))
    assert manager.limit(BLACK, 9, 81, spent=9.9).visits == 1
    manager.apply_settings(TimeSettings(0.0, Overtime.BYOYOMI, 5.0, 1))
    assert manager.limit(BLACK, 9, 81, spent=3.0).seconds < 2.0


def test_visits_are_planned_from_the_speed():
    manager = TimeManager(StartOptions(const_time=2.0))
    manager.finish(BLACK, 2.0, 1000, limit(manager), 2.0)
    assert manager.plan_visits(limit(manager)).visits == 1000
    assert manager.plan_visits(SearchLimit(16)) == SearchLimit(16)
    assert manager.plan_visits(SearchLimit(1, 0.0001)).visits == 2
    assert manager.plan_visits(SearchLimit(1000, 1e307)).visits == 1000


def play_simulated_game(rng: random.Random, settings: TimeSettings, own_moves: int, size: int) -> float:
    """Return the least time left while playing on a slow machine whose controller charges more than we measure."""
    manager = TimeManager(StartOptions())
    manager.apply_settings(settings)
    truth = Clock(settings)
    least = total_left(truth)
    for n in range(own_moves):
        if rng.random() < 0.5:
            manager.report(BLACK, truth.main_left if not truth.in_overtime() else truth.period_left,
                           truth.count_left if truth.in_overtime() else 0)
        now = limit(manager, 2 * n + 1, size=size)
        allowed = now.seconds + rng.choice([0.0, now.extra])
        searched = 0.0 if now.visits == 1 else allowed * rng.choice([1.0, 1.0, 0.3])
        elapsed = searched + rng.uniform(0.003, 0.03) + (rng.uniform(0.05, 0.12) if rng.random() < 0.02 else 0.0)
        manager.finish(BLACK, elapsed, 10, now, allowed)
        truth.spend(elapsed + rng.uniform(0.0, 0.005))
        least = min(least, total_left(truth))
    return least


@pytest.mark.parametrize("settings, own_moves, size", [
    (TimeSettings(10.0), 60, 9),
    (TimeSettings(10.0), 130, 9),
    (TimeSettings(5.0), 60, 9),
    (TimeSettings(60.0), 300, 19),
    (TimeSettings(10.0, Overtime.BYOYOMI, 1.0, 1), 150, 9),
    (TimeSettings(10.0, Overtime.CANADIAN, 5.0, 10), 150, 9),
    (TimeSettings(0.0, Overtime.CANADIAN, 3.0, 10), 150, 9),
])
def test_simulated_games_are_not_lost_on_time(settings: TimeSettings, own_moves: int, size: int):
    rng = random.Random(5)
    assert min(play_simulated_game(rng, settings, own_moves, size) for _ in range(200)) > 0


@pytest.mark.parametrize("settings", [
    TimeSettings(0.0, Overtime.BYOYOMI, 5.0, 1),
    TimeSettings(0.0, Overtime.CANADIAN, 50.0, 10),
    TimeSettings(0.0, Overtime.BYOYOMI, 5.0, 1, move_cap=5.0),
    TimeSettings(5.0, Overtime.FISCHER, 4.0),
    TimeSettings(30.0),
])
def test_a_call_that_takes_a_second_costs_no_game(settings: TimeSettings):
    # On a crowded machine some call of the network takes a second in every search; in every third it is the last one.
    manager = TimeManager(StartOptions(), lag=0.1)
    manager.apply_settings(settings)
    clock = manager.clocks[BLACK]
    for n in range(30):
        now, left = limit(manager, 2 * n + 1), clock.main_left + clock.period_left
        late = 1.0 if n % 3 == 1 and now.visits > 1 else 0.02
        assert now.seconds + late < left, n
        manager.finish(BLACK, now.seconds + late, 10, now, now.seconds, slowest=1.0)


def test_a_stall_is_not_held_against_the_rest_of_the_game():
    manager = TimeManager(StartOptions(), lag=0.1)
    manager.apply_settings(TimeSettings(0.0, Overtime.BYOYOMI, 10.0, 1))
    seconds = []
    for n in range(30):
        now = limit(manager, 2 * n + 1)
        seconds.append(now.seconds)
        manager.finish(BLACK, now.seconds, 10, now, now.seconds, slowest=60.0 if n == 0 else 0.02)
    assert 6.5 < seconds[1] < 7.5, "no more than three tenths are held back"
    assert seconds[20] > 9.0


def share_used(seconds: float, parts: Iterable[float], size: int = 9, captured: int = 0) -> float:
    """Return the share of the clock that a game's searches use, each one such a part of its time.

    `captured` stones leave the board with every own move.
    """
    manager, empties = TimeManager(StartOptions(main_time=seconds)), size * size
    for part in parts:
        now = manager.limit(BLACK, size, empties)
        searched = part * now.seconds if part <= 1.0 else now.seconds + (part - 1.0) * now.extra
        manager.finish(BLACK, searched + 0.02, 1000, now, max(searched, now.seconds))
        empties += captured - 2
    return 1.0 - total_left(manager.clocks[BLACK]) / seconds


@pytest.mark.parametrize("parts", [
    [1.0] * 30, [0.5] * 30, [0.35] * 30, [0.2, 0.9] * 15, [0.3, 0.3, 0.3, 0.3, 1.0] * 6, [1.0, 1.5, 2.0] * 10,
    [0.3] * 10 + [1.0] * 10 + [0.5] * 10,
])
@pytest.mark.parametrize("seconds", [120.0, 600.0])
def test_a_game_of_normal_length_uses_most_of_the_time(parts: list[float], seconds: float):
    assert 0.85 < share_used(seconds, parts) < 0.98


def test_time_is_left_for_games_that_last_longer():
    # Stones that are captured leave points to play on: as many moves as on an empty board are still to come.
    assert share_used(600.0, [1.0] * 30, captured=2) < 0.75
    assert share_used(600.0, [1.0] * 100, captured=2) < 0.995


def test_saved_time_goes_to_the_moves_that_need_it():
    def limit_after(part: float) -> SearchLimit:
        manager = TimeManager(StartOptions(main_time=600.0))
        for n in range(10):
            now = limit(manager, 2 * n + 1)
            manager.finish(BLACK, part * now.seconds, 1000, now, now.seconds)
        later = limit(manager, 21)
        assert later.seconds + later.extra < 0.31 * total_left(manager.clocks[BLACK])
        return later

    assert limit_after(0.4).seconds > 1.8 * limit_after(1.0).seconds
    assert limit_after(0.4).extra > 0.8 * limit_after(0.4).seconds


def test_fischer_adds_time_up_to_the_cap():
    clock = Clock(TimeSettings(30.0, Overtime.FISCHER, 5.0, main_cap=32.0))
    clock.spend(4.0)
    assert total_left(clock) == 31.0
    clock.spend(1.0)
    assert total_left(clock) == 32.0
    clock.report(7.5, 0)
    clock.spend(7.0)
    assert total_left(clock) == 5.5 and not clock.in_overtime()
    clock.restart()
    assert total_left(clock) == 30.0


def test_fischer_games_are_not_lost_and_use_the_added_time():
    manager = TimeManager(StartOptions(), lag=0.1)
    manager.apply_settings(TimeSettings(20.0, Overtime.FISCHER, 3.0))
    used = []
    for moves in range(1, 161, 2):
        left = total_left(manager.clocks[BLACK])
        used.append(use_up(manager, moves).seconds)
        assert 0 < used[-1] < left
        assert total_left(manager.clocks[BLACK]) > 0
    assert used[0] > 3.0 and min(used) > 2.0


def test_nothing_is_searched_on_an_empty_fischer_clock():
    manager = TimeManager(StartOptions())
    manager.apply_settings(TimeSettings(0.0, Overtime.FISCHER, 5.0))
    assert limit(manager).visits == 1


def test_a_move_never_takes_longer_than_its_cap():
    manager = TimeManager(StartOptions(), lag=0.1)
    manager.apply_settings(TimeSettings(600.0, Overtime.FISCHER, 30.0, move_cap=4.0))
    assert 2.0 < limit(manager).seconds < 4.0
    assert manager.limit(BLACK, 9, 81, spent=1.5).seconds == pytest.approx(limit(manager).seconds - 1.5)


def test_options_may_change_while_a_controllers_clock_runs():
    manager = TimeManager(StartOptions(visits=50))
    manager.change_start(StartOptions(visits=60))
    assert limit(manager) == SearchLimit(60)
    manager.change_start(StartOptions(const_time=2.0))
    assert (manager.mode, limit(manager).seconds) == (TimeControl.CONSTANT_TIME, 2.0)
    manager.apply_settings(TimeSettings(300.0))
    manager.report(BLACK, 100.0, 0)
    manager.change_start(StartOptions(visits=70))
    assert manager.mode is TimeControl.TIME_CONTROL and manager.clocks[BLACK].main_left == 100.0
    assert limit(manager).visits == 70


def test_seconds_asked_for_are_the_most_under_a_long_clock() -> None:
    manager = TimeManager(StartOptions(const_time=1.0))
    manager.apply_settings(TimeSettings(3600.0))
    assert (limit(manager).seconds, limit(manager).extra) == (1.0, 0.0)


def test_planned_visits_are_no_more_than_were_asked_for() -> None:
    manager = TimeManager(StartOptions())
    manager.speed = 1000.0
    assert manager.plan_visits(SearchLimit(50, 10.0)).visits == 50
    assert manager.plan_visits(SearchLimit(50000, 10.0)).visits == 10000


def test_no_time_left_without_time_settings_is_no_clock() -> None:
    manager = TimeManager(StartOptions(visits=50))
    manager.report(BLACK, 0.0, 0)
    assert limit(manager) == SearchLimit(50)


def test_extra_time_is_no_more_than_the_clock_has_before_seconds_are_added() -> None:
    manager = TimeManager(StartOptions())
    manager.apply_settings(TimeSettings(600.0, Overtime.FISCHER, 60.0))
    manager.report(BLACK, 5.0, 0)
    now = limit(manager, 35)
    assert 3.0 < now.seconds <= now.seconds + now.extra < 5.0


def test_a_period_of_many_stones_is_shared_out_in_main_time() -> None:
    manager = TimeManager(StartOptions())
    manager.apply_settings(TimeSettings(10.0, Overtime.CANADIAN, 300.0, 25))
    assert limit(manager).seconds < 10.0 + 300.0 / 25


def test_time_waited_counts_in_main_time_before_periods() -> None:
    manager = TimeManager(StartOptions())
    manager.apply_settings(TimeSettings(60.0, Overtime.BYOYOMI, 5.0, 3))
    assert manager.limit(BLACK, 9, 81, 2.0).seconds == pytest.approx(limit(manager).seconds - 2.0)


def test_main_time_that_is_reported_brings_the_periods_back() -> None:
    clock = Clock(TimeSettings(60.0, Overtime.CANADIAN, 30.0, 5))
    clock.report(10.0, 2)
    clock.report(20.0, 0)
    clock.spend(25.0)
    assert (clock.main_left, clock.period_left, clock.count_left) == (0.0, 25.0, 4)
