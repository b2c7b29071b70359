"""Which of two ways to do the same is faster here."""

import sys
import time
from collections.abc import Callable

# Time of the processor, which other programs do not lengthen; Windows counts that by its ticks, too long ones.
clock = time.perf_counter if sys.platform == "win32" else time.process_time


def measure_gain(new: Callable[[], object], old: Callable[[], object], rounds: int) -> float:
    """Return how many times as fast `new` is as `old`: the best of so many rounds each, in turn, after one unmeasured.

    The best, not the mean: what else goes on only makes a round longer.
    """
    least = dict.fromkeys((new, old), float("inf"))
    for way in least:
        way()
    for _ in range(rounds):
        for way in least:
            begin = clock()
            way()
            least[way] = min(least[way], clock() - begin)
    return least[old] / least[new]
