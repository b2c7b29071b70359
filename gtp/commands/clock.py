"""Commands about thinking time."""

import math
from typing import TYPE_CHECKING

from gtp.arguments import get_argument, get_color, get_float
from gtp.commands.command_group import CommandGroup
from gtp.protocol import Command, GtpError

if TYPE_CHECKING:
    from mcts.clock import TimeSettings

BAD_SETTINGS = "not three integers"
BAD_KGS_SETTINGS = "invalid time settings"
KATA_SETTINGS = ("none", "absolute", "byoyomi", "canadian", "fischer", "fischer-capped")


class ClockCommands(CommandGroup):
    """Commands about thinking time."""

    def cmd_time_settings(self, command: Command) -> str:
        """Set main time, Canadian overtime and its stones (GTP 2, section 4.2)."""
        main, period, stones = get_float(command, 0, BAD_SETTINGS), 0.0, 0
        if len(command.args) > 1:  # the main time alone is taken for all; two numbers have lost one
            period, stones = get_float(command, 1, BAD_SETTINGS), self._get_count(command, 2, BAD_SETTINGS)
        if min(main, period) < 0:
            raise GtpError(BAD_SETTINGS)
        self._apply(self._canadian(main, period, stones))
        return ""

    def cmd_kgs__time_settings(self, command: Command) -> str:
        """Set the time as `none`, `absolute M`, `byoyomi M P N` or `canadian M P S`."""
        kind = get_argument(command, 0, BAD_KGS_SETTINGS).lower()
        if kind == "none":
            self._apply(None)
            return ""
        main = get_float(command, 1, BAD_KGS_SETTINGS)
        period, count = 0.0, 0
        if kind in ("byoyomi", "canadian"):
            period, count = get_float(command, 2, BAD_KGS_SETTINGS), self._get_count(command, 3, BAD_KGS_SETTINGS)
        elif kind != "absolute":
            raise GtpError(BAD_KGS_SETTINGS)
        if min(main, period) < 0:
            raise GtpError(BAD_KGS_SETTINGS)
        self._apply(self._byoyomi(main, period, count) if kind == "byoyomi" else self._canadian(main, period, count))
        return ""

    def cmd_kata__list_time_settings(self, _: Command) -> str:
        """Answer the kinds of time settings that kata-time_settings knows."""
        return " ".join(KATA_SETTINGS)

    def cmd_kata__time_settings(self, command: Command) -> str:
        """Set the time as kgs-time_settings does, or as `fischer M I`, `fischer-capped M I MAX_CLOCK MAX_MOVE`.

        A negative maximum means none.
        """
        if not command.args or not command.args[0].lower().startswith("fischer"):
            return self.cmd_kgs__time_settings(command)
        kind = command.args[0].lower()
        if kind not in KATA_SETTINGS:
            raise GtpError(BAD_KGS_SETTINGS)
        capped = kind == "fischer-capped"
        values = [get_float(command, index, BAD_KGS_SETTINGS) for index in range(1, 5 if capped else 3)]
        main, increment = values[:2]
        caps = [value if value >= 0 else math.inf for value in values[2:]] or [math.inf, math.inf]
        if min(main, increment) < 0 or main + increment <= 0:
            raise GtpError(BAD_KGS_SETTINGS)
        from mcts.clock import Overtime, TimeSettings
        self._apply(TimeSettings(min(main, caps[0]), Overtime.FISCHER, increment, 0, *caps))
        return ""

    def cmd_time_left(self, command: Command) -> str:
        """Take over the time left of one color; the third number is 0 in main time."""
        color = get_color(command)
        seconds = get_float(command, 1, "invalid time")
        count = self._get_whole(command, 2, "invalid time") if len(command.args) > 2 else 0
        self.game.time.report(color, seconds, max(count, 0))
        return ""

    def _get_whole(self, command: Command, index: int, message: str) -> int:
        """Return a whole number; some controllers write it with a decimal point."""
        value = get_float(command, index, message)
        if value != int(value):
            raise GtpError(message)
        return int(value)

    def _get_count(self, command: Command, index: int, message: str) -> int:
        """Return a number of stones or periods."""
        value = self._get_whole(command, index, message)
        if value < 0:
            raise GtpError(message)
        return value

    def _apply(self, settings: "TimeSettings | None") -> None:
        """Play by these settings, None for no limit: then the options of the command line hold again."""
        if settings is None:
            self.game.time.clear_settings()
        else:
            self.game.time.apply_settings(settings)

    def _canadian(self, main: float, period: float, stones: int) -> "TimeSettings | None":
        """Return Canadian or absolute time; a period for no stones, and no time at all, mean no limit."""
        from mcts.clock import Overtime, TimeSettings
        if period > 0:
            return TimeSettings(main, Overtime.CANADIAN, period, stones) if stones > 0 else None
        return TimeSettings(main) if main > 0 else None

    def _byoyomi(self, main: float, period: float, periods: int) -> "TimeSettings | None":
        """Return time with byo-yomi; no periods leave main time alone."""
        from mcts.clock import Overtime, TimeSettings
        if period > 0 and periods > 0:
            return TimeSettings(main, Overtime.BYOYOMI, period, periods)
        return TimeSettings(main) if main > 0 else None
