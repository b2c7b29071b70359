"""Which plane sets there are: a new one is a file with its encoder, and a line here."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from nn.feature import BASIC, PlaneSet, Positions
from nn.history_feature import HISTORY
from nn.katago_feature import KATAGO
from nn.rich_feature import RICH

PLANE_SETS: dict[str, PlaneSet] = {plane_set.name: plane_set for plane_set in (BASIC, RICH, HISTORY, KATAGO)}
# Stands between the names of sets whose planes are all made, one set behind the other.
AND = "+"


def join_plane_sets(sets: Sequence[PlaneSet]) -> PlaneSet:
    """Return the set of all planes of several sets, one set behind the other."""

    def encode(positions: Positions, count: int, komi: np.ndarray, work: list[Any], out: np.ndarray) -> None:
        begin = 0
        for plane_set, own in zip(sets, work, strict=True):
            planes = plane_set.new_planes(out.shape[2], count)  # kernels are compiled for arrays without gaps
            plane_set.encode(positions, count, komi, own, planes)
            out[:count, begin:begin + plane_set.planes] = planes
            begin += plane_set.planes

    def new_work(board_size: int) -> list[Any]:
        return [plane_set.new_work(board_size) for plane_set in sets]

    return PlaneSet(AND.join(plane_set.name for plane_set in sets), sum(plane_set.planes for plane_set in sets),
                    max(plane_set.looks_back for plane_set in sets), any(plane_set.knows_ko for plane_set in sets),
                    encode, new_work)


@cache
def find_plane_set(name: str) -> PlaneSet:
    """Return the plane set of a name, or of several names with AND between them; raises KeyError."""
    sets = [PLANE_SETS[part] for part in name.split(AND)]
    return sets[0] if len(sets) == 1 else join_plane_sets(sets)
