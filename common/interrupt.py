"""Stopping a long run: between two steps instead of in the middle of one, and without leaving anything behind."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from types import FrameType, TracebackType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Terminated(KeyboardInterrupt):
    """SIGTERM, where it ends work as Ctrl-C does."""


def interrupt_once() -> None:
    """From now on let the first SIGINT raise KeyboardInterrupt, and no further one, in a program that ends then.

    A second one (`timeout` sends two) would break off what the first one has Python's locks do on the way: what they
    raise in its place is a traceback.
    """
    def interrupt(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt

    is_main = threading.current_thread() is threading.main_thread()
    if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupt)


@contextmanager
def raise_on_sigterm() -> Iterator[None]:
    """Inside this context, the first SIGTERM raises Terminated, so that what is open is cleared away."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, old)
        raise Terminated

    old = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, old)


@contextmanager
def finish_first() -> Iterator[None]:
    """Let handlers of SIGINT and SIGTERM run when this context is left, for work that would lose what they raise."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    held = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number in held:
        signal.signal(number, lambda number, frame: came.append(number))
    try:
        yield
    finally:
        for number, handler in held.items():
            signal.signal(number, handler)
        for one in came:
            signal.raise_signal(one)


@contextmanager
def block_interrupts() -> Iterator[None]:
    """Let processes that are started inside inherit a blocked SIGINT; one that comes meanwhile acts afterwards.

    Ctrl-C reaches a whole group of processes: those that still import would end with a traceback.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # started with the first process, it would lift the block
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


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
