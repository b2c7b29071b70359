"""How many cores there are to use."""

import os


def count_usable_cores() -> int:
    """Return how many cores this process may run on (fewer than the machine has where it was pinned to some)."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
