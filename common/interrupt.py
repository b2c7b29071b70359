"""Stopping a long run between two steps instead of in the middle of one."""

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StopRequest:
    """Inside this context, the first SIGINT or SIGTERM only sets `name`; a second one acts as it always does."""

    def __init__(self) -> None:
        """Nobody has asked yet."""
        self.name = ""
        self._old: dict[int, Any] = {}

    @property
    def number(self) -> int:
        """The signal's number, 0 as long as nobody has asked."""
        return signal.Signals[self.name] if self.name else 0

    def __enter__(self) -> "StopRequest":
        """Take over the signals (only the main thread of a program may)."""
        if threading.current_thread() is threading.main_thread():
            self._old = {number: signal.signal(number, self._note) for number in SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the signals back."""
        self._restore()

    def _note(self, number: int, frame: FrameType | None) -> None:
        """Remember the signal."""
        self.name = signal.Signals(number).name
        self._restore()

    def _restore(self) -> None:
        """Put the old handlers back."""
        for number, handler in self._old.items():
            signal.signal(number, handler)
        self._old = {}
