"""All tables, the engines that play at them, and which tab sits where."""

import asyncio
import secrets
from collections import OrderedDict
from dataclasses import dataclass, field

from browser.engines import Engines, Thinker
from browser.settings import MAX_SECONDS, MAX_VISITS, PlaySettings
from browser.table import Table
from engine.engine import EvaluatorSource
from engine.loader import make_source
from engine.options import EngineOptions

# Tabs that may be open at a time, and tables that are kept for tabs that were closed or are being reloaded.
MAX_SEATS = 32
MAX_LEFT = 32
# A page that is loaded anew may be back before its old connection is gone: so long a seat is waited for (seconds).
PATIENCE = 1.0
POLL = 0.02


class HallFullError(Exception):
    """There is no room for another tab; the text is one line."""


@dataclass
class Seat:
    """A tab's table, with what it has set; `name` is known to the tab alone.

    `awaits_reply` tells that the engine was about to move when the tab went.
    """

    table: Table
    settings: PlaySettings
    awaits_reply: bool = False
    name: str = field(default_factory=lambda: secrets.token_urlsafe(12))


class Hall:
    """Gives every tab a table of its own."""

    def __init__(self, options: EngineOptions, source: EvaluatorSource) -> None:
        """Prepare for games with an engine that has these options and a network from `source`."""
        self.options = options
        self.engines = Engines(options, source)
        self.thinker = Thinker()
        self._taken: dict[str, Seat] = {}
        self._left: OrderedDict[str, Seat] = OrderedDict()

    @classmethod
    def open(cls, options: EngineOptions) -> "Hall":
        """Return a hall whose engine is about to be loaded."""
        hall = cls(options, make_source(options))
        hall.engines.loader.start()
        return hall

    @property
    def first_settings(self) -> PlaySettings:
        """What a new tab begins with: what the options ask for, as far as a tab may set it."""
        visits = self.options.strict_visits or self.options.visits or PlaySettings.visits
        seconds = self.options.const_time or 0.0
        return PlaySettings(visits=min(visits, MAX_VISITS), seconds=min(seconds, MAX_SECONDS), level=self.options.level)

    async def sit_down(self, name: str) -> tuple[Seat, bool]:
        """Return the seat that was left under a name, or else a new one, and whether it is the former.

        A name whose seat stays taken (the tab was copied) gives a new seat. Raises HallFullError and LoadError.
        """
        for _ in range(round(PATIENCE / POLL)):
            if name not in self._taken:
                break
            await asyncio.sleep(POLL)
        if len(self._taken) >= MAX_SEATS:
            raise HallFullError(f"{MAX_SEATS} tabs are open, close one of them first")
        seat = self._left.pop(name, None)
        is_known = seat is not None
        if seat is None:
            with self.engines.loader.at_once():
                table = Table(self.options.rules, self.engines.sizes, self.engines.first_size)
            seat = Seat(table, self.first_settings)
        self._taken[seat.name] = seat
        return seat, is_known

    def leave(self, seat: Seat) -> None:
        """Keep a seat for the tab's return."""
        del self._taken[seat.name]
        self._left[seat.name] = seat
        while len(self._left) > MAX_LEFT:
            self._left.popitem(last=False)

    def close(self) -> None:
        """End all searches that wait."""
        self.thinker.close()
