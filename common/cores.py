"""How many cores there are to use, and how busy they are."""

import math
import os
from contextlib import suppress
from pathlib import Path

# Microseconds of processor time that a container gets (or `max`) in so many.
CONTAINER_SHARE = Path("/sys/fs/cgroup/cpu.max")


def count_own_cores() -> int:
    """Return how many cores this process may run on, whatever share of their time it gets."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def count_usable_cores() -> int:
    """Return how many cores this process may use: fewer than there are where it is pinned, or its container limited."""
    cores = count_own_cores()
    with suppress(OSError, ValueError):
        share, period = map(int, CONTAINER_SHARE.read_text(encoding="ascii").split())
        cores = min(cores, max(1, math.ceil(share / period)))
    return cores


def count_free_cores() -> int:
    """Return count_usable_cores(), or less where OMP_NUM_THREADS leaves some to others."""
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    return min(count_usable_cores(), max(1, int(wanted))) if wanted.isdecimal() else count_usable_cores()


def get_load() -> float | None:
    """Return the load average of the last minute, None where the system has none."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None
