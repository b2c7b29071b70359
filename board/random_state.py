"""Random numbers inside kernels: one uint64 in an array.

Kernels do not take a numpy Generator: numba counts references to it, and kernels do without reference counts. A
Generator gives the first state instead, so that a seed still decides everything.
"""

import numpy as np

from common.kernel import kernel


def new_random_state(rng: np.random.Generator) -> np.ndarray:
    """Return a state, uint64 [1] and not 0, drawn from `rng`."""
    return rng.integers(1, np.iinfo(np.uint64).max, size=1, dtype=np.uint64)


@kernel
def next_random(random_state: np.ndarray) -> float:
    """Return a random float in [0, 1). Modifies random_state.

    Xorshift with the shifts 13, 7, 17 (G. Marsaglia, Journal of Statistical Software 8(14), 2003).
    """
    x = random_state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    random_state[0] = x
    return float(x >> np.uint64(11)) * 2.0**-53
