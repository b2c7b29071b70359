"""How long to think: from the options at the start or from the clock of the game to the limit of one search.

The wall clock decides when a search ends; the visits per second measured so far are only information.
"""

import math
from dataclasses import dataclass
from enum import Enum

from board.stone import Stone
from mcts.clock import Clock, Overtime, TimeSettings
from mcts.constant import CONST_VISITS, DEFAULT_LAG
from mcts.params import SearchLimit

# "As many as fit into the time."
UNLIMITED_VISITS = 1_000_000_000
# "The network's first choice."
NO_SEARCH_VISITS = 1

# A game is expected to end with this share of the points empty, and never within fewer own moves per point.
FINAL_EMPTY_SHARE = 0.3
MIN_COMING_PER_POINT = 0.1
# Own moves per point for which the cost beyond the search is kept in reserve: a game may last very long.
RESERVED_MOVES_PER_POINT = 1.6

# Searches that are settled end early, so a move is given more than its share: as much as uses the share on the average.
# First guess of the part that is used, weight of the newest search in it, and the least that is believed.
USED_SHARE = 0.5
USED_SHARE_WEIGHT = 0.2
MIN_USED_SHARE = 0.3
# A search whose best move is not clear gets so much of its time again; no move gets more than MOST_SHARE of the clock.
EXTRA_SHARE = 1.0
MOST_SHARE = 0.3

# First guess of what a move costs beyond the time the search was given, seconds; then it is measured.
MOVE_COST = 0.02
# Weight of the newest measurement, and how fast the memory of the worst one fades.
COST_WEIGHT = 0.05
WORST_COST_DECAY = 0.8
# Share of an overtime period that is left unused besides the lag, for stalls of the machine.
PERIOD_MARGIN = 0.05
# One stall of the machine (swapping, another program starting) must not rule the rest of the game: the mean takes so
# many seconds of it. The margin takes more, since stalls come in groups, but no more than MOST_MARGIN of what there is.
MAX_COST = 0.5
MAX_WORST_COST = 3.0
MOST_MARGIN = 0.3

# With less than this for a move (seconds) the move is the network's first choice.
MIN_SEARCH_TIME = 0.02

# Visits per second until the first measurement; a search that must plan its visits ahead starts from it.
FIRST_SPEED = 100.0
MIN_PLANNED_VISITS = 2


def coming_moves(board_size: int, empties: int) -> float:
    """Return how many own moves are expected on a board with so many empty points."""
    points = board_size * board_size
    return max((empties - FINAL_EMPTY_SHARE * points) / 2, MIN_COMING_PER_POINT * points, 1.0)


class TimeControl(Enum):
    """What ends a search."""

    CONSTANT_PLAYOUT = "visits"
    STRICT_PLAYOUT = "strict visits"
    CONSTANT_TIME = "seconds per move"
    TIME_CONTROL = "clock"


@dataclass(frozen=True)
class StartOptions:
    """Thinking time as asked for on the command line; None where an option was not given.

    The strongest given one holds: main_time, then const_time, then strict_visits, then visits.
    """

    visits: int | None = None
    strict_visits: int | None = None
    const_time: float | None = None
    main_time: float | None = None

    @property
    def mode(self) -> TimeControl:
        """Return the mode that these options ask for."""
        if self.main_time is not None:
            return TimeControl.TIME_CONTROL
        if self.const_time is not None:
            return TimeControl.CONSTANT_TIME
        if self.strict_visits is not None:
            return TimeControl.STRICT_PLAYOUT
        return TimeControl.CONSTANT_PLAYOUT

    def limit(self) -> SearchLimit:
        """Return the limit of each search; in TIME_CONTROL mode the one that holds besides the clock (none)."""
        if self.mode is TimeControl.TIME_CONTROL:
            return SearchLimit(UNLIMITED_VISITS)
        if self.const_time is not None:
            return SearchLimit(UNLIMITED_VISITS, self.const_time, strict=True)
        if self.strict_visits is not None:
            return SearchLimit(self.strict_visits, strict=True)
        return SearchLimit(CONST_VISITS if self.visits is None else self.visits)

    def is_asked_for(self) -> bool:
        """Tell whether any option was given, so that it goes on limiting searches under a controller's clock."""
        return any(option is not None for option in (self.visits, self.strict_visits, self.const_time))


class TimeManager:
    """Clocks of both players and the limit of the next search."""

    def __init__(self, start: StartOptions, lag: float = DEFAULT_LAG) -> None:
        """Begin with the options of the command line; `lag` seconds always stay on a clock."""
        self.start = start
        self.lag = lag
        self.speed = FIRST_SPEED
        self._cost = self._worst_cost = MOVE_COST
        self._used_share = USED_SHARE
        self.clear_settings()

    def change_start(self, start: StartOptions) -> None:
        """Take over other options of the command line; a controller's clock goes on."""
        by_clock = self.mode is TimeControl.TIME_CONTROL
        self.start = start
        if not by_clock:
            self.clear_settings()

    def clear_settings(self) -> None:
        """Go back to the options of the command line (a controller that says "no limit")."""
        self.mode = self.start.mode
        self.clocks: dict[Stone, Clock] = {}
        if self.start.main_time is not None:
            self._set_clocks(TimeSettings(self.start.main_time))

    def apply_settings(self, settings: TimeSettings) -> None:
        """Play by the clock from now on, with full time for both players."""
        self.mode = TimeControl.TIME_CONTROL
        self._set_clocks(settings)

    def _set_clocks(self, settings: TimeSettings) -> None:
        """Put full clocks on the table."""
        self.clocks = {color: Clock(settings) for color in (Stone.BLACK, Stone.WHITE)}

    def report(self, color: Stone, seconds: float, count: int) -> None:
        """Take over what a controller says is left, also when it never told the time settings: then 0 is no clock."""
        if self.mode is not TimeControl.TIME_CONTROL:
            if seconds <= 0:
                return
            canadian = TimeSettings(0.0, Overtime.CANADIAN, seconds, count)
            self.apply_settings(canadian if count > 0 else TimeSettings(seconds))
        self.clocks[color].report(seconds, count)

    def new_game(self) -> None:
        """Keep the settings and refill the clocks, except one that the controller has set since the last search."""
        for clock in self.clocks.values():
            if not clock.reported:
                clock.restart()

    def limit(self, color: Stone, board_size: int, empties: int, spent: float = 0.0) -> SearchLimit:
        """Return the limit for a search, `spent` seconds after it was asked for, with so many empty points."""
        asked = self.start.limit()
        if self.mode is not TimeControl.TIME_CONTROL:
            return asked
        clock = self.clocks[color]
        most = clock.settings.move_cap - spent - self._margin(clock, clock.settings.move_cap)
        seconds, extra = self._allot(clock, coming_moves(board_size, empties), board_size, spent)
        seconds, extra = min(seconds, most), max(min(extra, most - seconds), 0.0)
        if seconds < MIN_SEARCH_TIME:
            return SearchLimit(NO_SEARCH_VISITS, MIN_SEARCH_TIME)
        strict = seconds == most or clock.loses_rest()
        if not self.start.is_asked_for() or self.start.mode is TimeControl.TIME_CONTROL:
            return SearchLimit(UNLIMITED_VISITS, seconds, strict, extra)
        strict = asked.strict if math.isinf(asked.seconds) else strict or asked.seconds <= seconds
        extra = min(extra, max(asked.seconds - seconds, 0.0))
        return SearchLimit(asked.visits, min(seconds, asked.seconds), strict, extra)

    def _margin(self, clock: Clock, seconds: float) -> float:
        """Return how much of `seconds` to leave unused at the end of a period, an added time, or a capped move."""
        worst = min(self._worst_cost, max(MOST_MARGIN * seconds, MAX_COST))
        return self.lag + max(worst, min(PERIOD_MARGIN * clock.settings.period, MAX_COST))

    def _allot(self, clock: Clock, coming: float, board_size: int, spent: float) -> tuple[float, float]:
        """Return the seconds to search now, and those to add where the best move is not clear.

        `coming` own moves are expected. Less than MIN_SEARCH_TIME when the time is nearly gone.
        """
        settings = clock.settings
        margin = self._margin(clock, clock.period_left if clock.in_overtime() else clock.main_left)
        if clock.in_overtime():
            stones = max(clock.count_left, 1) if settings.overtime is Overtime.CANADIAN else 1
            return (clock.period_left - spent - margin - (stones - 1) * self._cost) / stones, 0.0
        usable = clock.main_left
        if settings.overtime is Overtime.NONE:
            usable -= spent + self.lag + RESERVED_MOVES_PER_POINT * board_size * board_size * self._cost
        share = usable * min(1.0 / (coming * self._used_share), MOST_SHARE)
        extra = min(EXTRA_SHARE * share, MOST_SHARE * usable - share)
        if settings.overtime is Overtime.NONE:
            return share - min(self._worst_cost, share / 2), extra
        seconds = share + settings.per_move - spent - margin
        if settings.overtime is Overtime.FISCHER:
            left = clock.main_left - spent - margin
            seconds = min(seconds, left)
            extra = min(extra, left - seconds)
        return seconds, extra

    def plan_visits(self, limit: SearchLimit) -> SearchLimit:
        """Return `limit` with visits that should fit into its seconds, for a search that divides them up beforehand."""
        if not math.isfinite(limit.seconds):
            return limit
        visits = int(min(self.speed * limit.seconds, limit.visits))
        return SearchLimit(max(visits, MIN_PLANNED_VISITS), limit.seconds, limit.strict)

    def finish(self, color: Stone, elapsed: float, visits: int, limit: SearchLimit, allowed: float,
               slowest: float = 0.0) -> None:
        """Charge a move of `elapsed` seconds with `visits` visits that was given `limit`.

        `allowed` is when its search had to end, with what it was given of the extra time, infinite if at no time. One
        batch took `slowest` seconds: the last one of the next search may, too.
        """
        for side, clock in self.clocks.items():
            clock.reported = False
            if side == color:
                clock.spend(elapsed)
        if visits > 0 and elapsed > 0:
            self.speed = visits / elapsed
        if limit.visits == NO_SEARCH_VISITS:
            allowed = 0.0
        elif visits > 0 and math.isfinite(limit.seconds) and not limit.strict:
            used = min(elapsed, allowed) / limit.seconds
            self._used_share += USED_SHARE_WEIGHT * (max(used, MIN_USED_SHARE) - self._used_share)
        cost = elapsed - allowed
        if cost >= 0:  # else the search ended early, or had no limit
            self._cost += COST_WEIGHT * (min(cost, MAX_COST) - self._cost)
        faded = WORST_COST_DECAY * self._worst_cost + (1 - WORST_COST_DECAY) * self._cost
        self._worst_cost = max(min(max(cost, slowest), MAX_WORST_COST), faded)
