"""How many cores there are to use, and how busy they are."""

import os


def count_usable_cores() -> int:
    """Return how many cores this process may run on (fewer than the machine has where it was pinned to some)."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def count_free_cores() -> int:
    """Return count_usable_cores(), or less where OMP_NUM_THREADS leaves some to others."""
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    return min(count_usable_cores(), max(1, int(wanted))) if wanted.isdecimal() else count_usable_cores()


def get_load() -> float | None:
    """Return the load average of the last minute, None where the system has none."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None
