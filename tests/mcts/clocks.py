"""What a clock says to a judge."""

from mcts.clock import Clock, Overtime


def total_left(clock: Clock) -> float:
    """Return the seconds after which the game is lost on time when no further move is played."""
    if clock.settings.overtime is Overtime.BYOYOMI:
        return clock.main_left + clock.period_left + (clock.count_left - 1) * clock.settings.period
    if clock.settings.overtime is Overtime.CANADIAN:
        return clock.main_left + clock.period_left
    return clock.main_left
