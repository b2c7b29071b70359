"""One player's clock: main time, then Canadian or Japanese (byo-yomi) overtime; or Fischer's added seconds."""

import math
from dataclasses import dataclass
from enum import Enum

# A reported time this much over the length of an overtime period (seconds) can only be main time.
PERIOD_TOLERANCE = 0.5


class Overtime(Enum):
    """What comes after main time."""

    NONE = "absolute"
    CANADIAN = "canadian"
    BYOYOMI = "byoyomi"
    FISCHER = "fischer"  # each move adds `period` seconds to the clock; there is no overtime


@dataclass(frozen=True)
class TimeSettings:
    """The time system of a game, the same for both players.

    Attributes:
        main: main time, seconds.
        overtime: kind of overtime.
        period: length of an overtime period, or what a move adds (Fischer), seconds.
        count: stones to play in each period (Canadian) or number of periods (byo-yomi).
        main_cap: the most that can stand on a clock (Fischer), seconds.
        move_cap: the most that one move may take, seconds.
    """

    main: float
    overtime: Overtime = Overtime.NONE
    period: float = 0.0
    count: int = 0
    main_cap: float = math.inf
    move_cap: float = math.inf

    @property
    def has_periods(self) -> bool:
        """Tell whether overtime periods follow main time."""
        return self.overtime in (Overtime.CANADIAN, Overtime.BYOYOMI)

    @property
    def per_move(self) -> float:
        """Seconds of overtime that one more move brings."""
        if self.overtime is Overtime.CANADIAN:
            return self.period / self.count
        return self.period if self.overtime in (Overtime.BYOYOMI, Overtime.FISCHER) else 0.0


class Clock:
    """Time left of one player."""

    def __init__(self, settings: TimeSettings) -> None:
        """Start with the full time of `settings`."""
        self.settings = settings
        self.restart()

    def restart(self) -> None:
        """Put the full time on the clock."""
        self.main_left = self.settings.main
        self.count_left = self.settings.count
        self.period_left = self.settings.period
        # Whether the controller has told the time since the last search.
        self.reported = False

    def in_overtime(self) -> bool:
        """Tell whether main time is used up and overtime runs."""
        return self.main_left <= 0 and self.settings.has_periods

    def loses_rest(self) -> bool:
        """Tell whether no later move has the time that the next one leaves: in byo-yomi, at the end of a period."""
        byoyomi = self.settings.overtime is Overtime.BYOYOMI
        return self.in_overtime() and (byoyomi or self.count_left <= 1)

    def report(self, seconds: float, count: int) -> None:
        """Take over the time a controller tells (GTP `time_left`).

        `count` 0 means main time; otherwise stones (Canadian) or periods (byo-yomi) left. Without overtime in the
        settings, and when `seconds` is longer than a period, it is main time whatever the count says.
        """
        self.reported = True
        seconds = max(seconds, 0.0)
        settings = self.settings
        main = not settings.has_periods or seconds > settings.period + PERIOD_TOLERANCE
        if main or (count == 0 and seconds > 0):
            self.main_left = seconds
            self.count_left, self.period_left = settings.count, settings.period
            return
        self.main_left = 0.0
        self.count_left = count if count > 0 else settings.count
        self.period_left = seconds if count > 0 else settings.period

    def spend(self, seconds: float) -> None:
        """Charge one move that took `seconds`."""
        overtime_now = self.in_overtime()
        if not overtime_now:
            self.main_left -= seconds
            if self.settings.overtime is Overtime.FISCHER:
                self.main_left = min(self.main_left + self.settings.period, self.settings.main_cap)
            if self.main_left > 0 or not self.settings.has_periods:
                return
            seconds, self.main_left = -self.main_left, 0.0
        if self.settings.overtime is Overtime.CANADIAN:
            self._spend_canadian(seconds)
        else:
            self._spend_byoyomi(seconds)

    def _spend_canadian(self, seconds: float) -> None:
        """Charge overtime; the period is renewed when its stones are played."""
        self.period_left -= seconds
        self.count_left -= 1
        if self.count_left <= 0:
            self.count_left, self.period_left = self.settings.count, self.settings.period

    def _spend_byoyomi(self, seconds: float) -> None:
        """Charge overtime; each period used up is lost, and a move restores the current one."""
        over = seconds - self.period_left
        if over >= 0 and self.settings.period > 0:
            self.count_left -= 1 + math.floor(min(over / self.settings.period, max(self.count_left, 0)))
        self.period_left = self.settings.period
