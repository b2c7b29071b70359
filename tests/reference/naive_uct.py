"""A search without a network so plain that it is right by inspection: the twin of mcts/uct/kernels.py.

It makes no playouts of its own: it is told each line that was played, checks that it would have gone the same way
through the tree, and counts the game on every node of the way, for the moves that were made and for RAVE.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from mcts.uct.params import UctParams


@dataclass(eq=False)
class UctMove:
    """A candidate; values are those of the player who chooses it."""

    pos: int
    prior: float
    visits: int = 0
    value_sum: float = 0.0
    rave_visits: int = 0
    rave_sum: float = 0.0
    node: UctNode | None = None


@dataclass(eq=False)
class UctNode:
    """A position with its candidates, those of the greatest priors first."""

    moves: list[UctMove] = field(default_factory=list)

    @property
    def visits(self) -> int:
        """Visits of the candidates."""
        return sum(move.visits for move in self.moves)


def moves_compared(visits: int, params: UctParams) -> int:
    """Return how many moves have joined after so many visits: move k + 1 comes widening * growth^(k-1) after move k."""
    if params.widening == 0:
        return 10**6
    number, due, step = 1, params.widening, params.widening
    while visits >= due - 1e-6:
        number += 1
        step *= params.growth
        due += step
    return number


def score_of(move: UctMove, total: int, params: UctParams) -> float:
    """Return what selection compares."""
    n, m, share = move.visits, move.rave_visits, 0.0
    if m and params.rave_bias > 0:
        share = m / (n + m + 4 * n * m * params.rave_bias**2)
    elif m and params.rave > 0:
        share = math.sqrt(params.rave / (3 * n + params.rave))
    if n == 0:
        value = params.fpu if share == 0 else move.rave_sum / m
    else:
        value = (1 - share) * move.value_sum / n + (share * move.rave_sum / m if share else 0.0)
    bonus = params.prior * move.prior * math.sqrt(total + 1) / (1 + n)
    return value + bonus + (params.ucb * math.sqrt(math.log(total + 1) / n) if n else 0.0)


def select(node: UctNode, params: UctParams) -> UctMove:
    """Return the candidate with the greatest score; the first of equals."""
    total = node.visits
    return max(node.moves[: moves_compared(total, params)], key=lambda move: score_of(move, total, params))


def count_line(root: UctNode, played: Sequence[int], depth: int, score: float, params: UctParams, black_first: bool,
               ) -> list[UctMove]:
    """Take in a line whose first `depth` moves were chosen in the tree; return these. Asserts that they agree."""
    way: list[tuple[UctNode, UctMove]] = []
    node: UctNode | None = root
    for pos in played[:depth]:
        assert node is not None
        move = select(node, params)
        assert move.pos == pos
        way.append((node, move))
        node = move.node
    assert node is None
    for i, (at, move) in enumerate(way):
        black = black_first == (i % 2 == 0)
        value = 0.5 if score == 0 else float((score > 0) == black)
        move.visits += 1
        move.value_sum += value
        first: dict[int, int] = {}
        for k, pos in enumerate(played[i:]):
            first.setdefault(int(pos), k % 2)
        for other in at.moves:
            if other.pos > 0 and first.get(other.pos) == 0:
                other.rave_visits += 1
                other.rave_sum += value
    return [move for _, move in way]
