"""Levels of strength, from a beginner who knows the rules (1) to the engine as it is (20): what each plays by.

The upper levels search, with fewer and fewer visits. Those below draw a move from the network's policy, which knows
how people play: the lower the level, the flatter the draw, the less likely a move may be beside the likeliest one, and
the more points it may throw away by the network's own judgment. doc/levels.md tells how the numbers were measured.
"""

import math
from typing import NamedTuple

from mcts.time_manager import UNLIMITED_VISITS

FULL_LEVEL = 20


class Resigning(NamedTuple):
    """When a level gives up: below a win rate, for so many of its moves in a row."""

    threshold: float
    streak: int


NEVER, LATE, AS_ASKED = Resigning(0.0, 1), Resigning(0.02, 6), Resigning(1.0, 1)


class Level(NamedTuple):
    """How one level plays.

    Attributes:
        visits: most of a search, 0 for none: then the move is drawn by the next three.
        temperature: weights of the draw are policy ** (1 / temperature).
        cutoff: least probability of a move, as a share of the likeliest one's.
        most_loss: points that a move may cost, as the network sees it after one look.
        resigning: resigns no earlier than so, whatever the options say.
    """

    visits: int = 0
    temperature: float = 1.0
    cutoff: float = 0.0
    most_loss: float = math.inf
    resigning: Resigning = AS_ASKED


def plain_policy(temperature: float) -> Level:
    """Return what --policy-move plays by: the likeliest move, or at a temperature above 0 one that is drawn."""
    return Level(temperature=temperature, cutoff=0.1) if temperature > 0.0 else Level(cutoff=1.0)


LEVELS = {
    1: Level(0, 2.9, 0.0025, 27.0, NEVER),
    2: Level(0, 2.7, 0.004, 21.0, NEVER),
    3: Level(0, 2.5, 0.006, 17.5, NEVER),
    4: Level(0, 2.3, 0.009, 14.5, NEVER),
    5: Level(0, 2.05, 0.016, 12.0, NEVER),
    6: Level(0, 1.9, 0.021, 10.6, LATE),
    7: Level(0, 1.75, 0.027, 10.0, LATE),
    8: Level(0, 1.6, 0.034, 9.4, LATE),
    9: Level(0, 1.45, 0.045, 8.7, LATE),
    10: Level(0, 1.3, 0.065, 7.8, LATE),
    11: Level(0, 1.15, 0.09, 7.0, LATE),
    12: Level(0, 0.75, 0.15, 6.0, LATE),
    13: Level(1),
    14: Level(3),
    15: Level(8),
    16: Level(20),
    17: Level(50),
    18: Level(125),
    19: Level(350),
    20: Level(UNLIMITED_VISITS),
}
# The lowest level that searches.
FIRST_SEARCH = min(number for number, level in LEVELS.items() if level.visits)
