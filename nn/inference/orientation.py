"""One of the eight ways a position can lie: the network sees a position and its mirror images alike.

A network does not quite say the same of a position that is turned. Here each position is turned to the way in which
its key is the smallest before the network sees it, and the answers are turned back. So all eight get one answer, the
errors of different positions have nothing to do with each other, and it costs next to nothing. (Where the stones are
symmetrical, and only the moves before are not, the images may still differ.)

Letters: N positions, P planes, S board size, A = S*S + 1 policy entries.
"""

import numpy as np

from board.geometry import SYMMETRIES, make_symmetry_index
from common.kernel import kernel

SEED = 20261122
HASHED_PLANES = 3  # the first of a plane set are the stones, which tell how a position lies


@kernel
def orient(planes: np.ndarray, order: np.ndarray, inverse: np.ndarray, weight: np.ndarray, keys: np.ndarray,
           chosen: np.ndarray, turned: np.ndarray) -> None:
    """Turn positions to the way of their smallest key. Modifies keys, chosen and turned.

    Args:
        planes: float32 [N, P, S*S].
        order: int64 [8, A], the point that is read for each point; see make_symmetry_index.
        inverse: int64 [8, A], the other way round.
        weight: int64 [at most P, S*S], random bits of the entries that are not zero.
        keys: int64 [8], work space.
        chosen: int64 [N], the symmetry of each position.
        turned: float32 [N, P, S*S].
    """
    for n in range(planes.shape[0]):
        for k in range(SYMMETRIES):
            keys[k] = 0
        for p in range(weight.shape[0]):
            for point in range(planes.shape[2]):
                if planes[n, p, point] != 0.0:
                    for k in range(SYMMETRIES):
                        keys[k] ^= weight[p, inverse[k, point]]
        best = 0
        for k in range(1, SYMMETRIES):
            if keys[k] < keys[best]:
                best = k
        chosen[n] = best
        for p in range(planes.shape[1]):
            for point in range(planes.shape[2]):
                turned[n, p, point] = planes[n, p, order[best, point]]


@kernel
def turn_back(values: np.ndarray, order: np.ndarray, chosen: np.ndarray, result: np.ndarray) -> None:
    """Lay values by point, float32 [N, A or S*S], as the positions lay before `orient`. Modifies result."""
    for n in range(values.shape[0]):
        for point in range(values.shape[1]):
            result[n, order[chosen[n], point]] = values[n, point]


class Orientation:
    """Turns positions of one board size and plane set, and what the network says of them back.

    Attributes:
        order, inverse: int64 [8, A], the entry read for each entry under each symmetry, and the other way round.
    """

    def __init__(self, board_size: int, planes: int) -> None:
        """Make the tables."""
        self.order = make_symmetry_index(board_size)
        self.inverse = np.argsort(self.order, axis=1)
        rng = np.random.default_rng(SEED)
        self._weight = rng.integers(0, 2**63 - 1, (min(planes, HASHED_PLANES), board_size**2), dtype=np.int64)

    def turn(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return planes [N, P, S, S] turned, and the symmetry int64 [N] of each position."""
        points = np.ascontiguousarray(planes, dtype=np.float32).reshape(*planes.shape[:2], -1)
        turned, chosen = np.empty_like(points), np.empty(len(points), dtype=np.int64)
        orient(points, self.order, self.inverse, self._weight, np.empty(SYMMETRIES, dtype=np.int64), chosen, turned)
        return turned.reshape(planes.shape), chosen

    def turn_back(self, values: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """Return values by point [N, A or S*S] as the positions lay."""
        result = np.empty_like(values)
        turn_back(values, self.order, chosen, result)
        return result
