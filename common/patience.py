"""Saying that a start takes long, and why."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from common.print_console import print_err

SLOW_LINE = "Still loading; the first start compiles for half a minute or so, later ones take seconds."
SLOW_SECONDS = 3.0
REPEAT_SECONDS = 10.0


@contextmanager
def say_if_slow(say: Callable[[str], None] = print_err) -> Iterator[None]:
    """Say SLOW_LINE if what is inside takes longer than SLOW_SECONDS, and every REPEAT_SECONDS how long it takes."""
    done = threading.Event()
    begin = time.monotonic()

    def watch() -> None:
        if done.wait(SLOW_SECONDS):
            return
        say(SLOW_LINE)
        while not done.wait(REPEAT_SECONDS):
            say(f"Still loading after {time.monotonic() - begin:.0f} s.")

    threading.Thread(target=watch, name="patience", daemon=True).start()
    try:
        yield
    finally:
        done.set()
