"""One of the eight ways a position can lie: the network sees a position and its mirror images alike.

A network does not quite say the same of a position that is turned. Here each position is turned to the way in which
its key is the smallest before the network sees it, and the answers are turned back. So all eight get one answer, the
errors of different positions have nothing to do with each other, and it costs next to nothing. (Where the stones are
symmetrical, and only the moves before are not, the images may still differ.)

Letters: N positions, P planes, S board size, A = S*S + 1 policy entries.
"""

from typing import NamedTuple

import numpy as np

from board.geometry import SYMMETRIES, make_symmetry_index
from common.kernel import kernel

SEED = 20261122
HASHED_PLANES = 3  # the first of a plane set are the stones, which tell how a position lies


class Turns(NamedTuple):
    """How positions of one board size and plane set are turned."""

    order: np.ndarray  # int64 [8, A]: the entry read for each entry under each symmetry
    inverse: np.ndarray  # int64 [8, A]: the other way round
    weight: np.ndarray  # int64 [at most P, S*S]: random bits of the entries that are not zero


def make_turns(board_size: int, planes: int) -> Turns:
    """Return the tables."""
    order, rng = make_symmetry_index(board_size), np.random.default_rng(SEED)
    weight = rng.integers(0, 2**63 - 1, (min(planes, HASHED_PLANES), board_size**2), dtype=np.int64)
    return Turns(order, np.argsort(order, axis=1), weight)


@kernel
def choose_turn(planes: np.ndarray, n: int, turns: Turns, keys: np.ndarray) -> int:
    """Return the symmetry that gives position `n` of float32 [N, P, S*S] its smallest key. Modifies keys, int64 [8]."""
    for k in range(SYMMETRIES):
        keys[k] = 0
    for p in range(turns.weight.shape[0]):
        for point in range(planes.shape[2]):
            if planes[n, p, point] != 0.0:
                for k in range(SYMMETRIES):
                    keys[k] ^= turns.weight[p, turns.inverse[k, point]]
    best = 0
    for k in range(1, SYMMETRIES):
        if keys[k] < keys[best]:
            best = k
    return best


@kernel
def turn_position(planes: np.ndarray, n: int, order: np.ndarray, turned: np.ndarray, to: int) -> None:
    """Write position `n` of float32 [N, P, S*S], read in an order int64 [A], to turned[to]. Modifies turned."""
    for p in range(planes.shape[1]):
        for point in range(planes.shape[2]):
            turned[to, p, point] = planes[n, p, order[point]]


@kernel
def orient(planes: np.ndarray, turns: Turns, keys: np.ndarray, chosen: np.ndarray, turned: np.ndarray) -> None:
    """Turn positions float32 [N, P, S*S] to the way of their smallest key.

    Modifies keys, int64 [8], chosen, int64 [N], the symmetry of each position, and turned, float32 [N, P, S*S].
    """
    for n in range(planes.shape[0]):
        chosen[n] = choose_turn(planes, n, turns, keys)
        turn_position(planes, n, turns.order[chosen[n]], turned, n)


@kernel
def turn_back(values: np.ndarray, order: np.ndarray, chosen: np.ndarray, result: np.ndarray) -> None:
    """Lay values by point, float32 [N, A or S*S], as the positions lay before `orient`. Modifies result."""
    for n in range(values.shape[0]):
        for point in range(values.shape[1]):
            result[n, order[chosen[n], point]] = values[n, point]


class Orientation:
    """Turns positions of one board size and plane set, and what the network says of them back."""

    def __init__(self, board_size: int, planes: int) -> None:
        """Make the tables."""
        self.turns = make_turns(board_size, planes)

    def turn(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return planes [N, P, S, S] turned, and the symmetry int64 [N] of each position."""
        points = np.ascontiguousarray(planes, dtype=np.float32).reshape(*planes.shape[:2], -1)
        turned, chosen = np.empty_like(points), np.empty(len(points), dtype=np.int64)
        orient(points, self.turns, np.empty(SYMMETRIES, dtype=np.int64), chosen, turned)
        return turned.reshape(planes.shape), chosen

    def turn_back(self, values: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """Return values by point [N, A or S*S] as the positions lay."""
        result = np.empty_like(values)
        turn_back(values, self.turns.order, chosen, result)
        return result
