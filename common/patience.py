"""Saying that a start takes long, and why."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from common.print_console import print_err

SLOW_LINE = "Still loading; the first start compiles for a minute or so, later ones take seconds."
SLOW_SECONDS = 8.0


@contextmanager
def say_if_slow(say: Callable[[str], None] = print_err) -> Iterator[None]:
    """Say SLOW_LINE (in a thread of its own) if what is inside takes longer than SLOW_SECONDS."""
    timer = threading.Timer(SLOW_SECONDS, say, (SLOW_LINE,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
