"""What a search is told: its parameters, and the limit of one search."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mcts.constant import C_SCALE, C_VISIT, KEEP_ALL, MAX_CONSIDERED_NODES, MCTS_TREE_SIZE, NN_BATCH_SIZE, PUCT

# The fewest leaves a call: one for each of two cores. The moves chosen are those of single leaves (measured).
LEAST_LEAVES = 2


class Selection(NamedTuple):
    """The numbers the kernels need to choose a line; win rates are in [0, 1]."""

    # PUCT: exploration c_puct + log((N + c_base + 1) / c_base) * c_growth (AlphaZero, Science 2018, supplement).
    c_puct: float = 0.5
    c_base: float = 500.0
    c_growth: float = 0.3
    # First-play urgency: value of an unvisited move = the node's value - reduction * sqrt(prior mass visited).
    fpu_reduction: float = 0.1
    root_fpu_reduction: float = 0.05
    # What the greatest lead adds to a win rate of 1 (mcts/puct.py); 0 where the network tells no leads.
    lead_weight: float = 0.0
    # Whether proven wins, draws and losses are backed up as such (mcts/solver.py): at the end of the game, and where
    # Tactics lets a search look for them.
    solve: bool = False
    # Least prior of a move that captures or saves a large string in atari (mcts/atari.py); 0 for none.
    atari_prior: float = 0.1
    # Playouts from each new position, 0 for the network alone, and their share in its value (mcts/outcome.py): 0 until
    # playout_begin of the points are filled, playout_share from playout_full on.
    playouts: int = 0
    playout_share: float = 0.9
    playout_begin: float = 0.3
    playout_full: float = 0.55
    # Visits of a position before its moves are looked at (AlphaGo's expansion threshold): till then each visit counts
    # the position's own value once more, and costs no call of the network.
    expand: int = 1
    # Gumbel: sigma(q) = (c_visit + max visits) * c_scale * q.
    c_visit: float = C_VISIT
    c_scale: float = C_SCALE


# Playouts draw moves by chance, but answer ataris (board/playout.py), or by learnt patterns (mcts/uct/rollout.py).
# What a name stands for, choose_rollouts (mcts/network_calls.py) says.
ROLLOUTS = ("ataris", "patterns")

# The search of self-play: what it teaches comes from the network and the values alone, so no rule raises a prior and
# no playout corrects a value.
NETWORK_ALONE = Selection(atari_prior=0.0, playouts=0)


class Plan(NamedTuple):
    """What the kernels are told about one search."""

    algorithm: int  # of the search (mcts/searches.py)
    selection: Selection
    komi: float
    noise: np.ndarray  # float64 [A]: Gumbel noise of the root's edges
    schedule: np.ndarray  # int32 [V]: for each visit of GUMBEL, the visits that its root move has had


class Tactics(NamedTuple):
    """How far proof-number search looks for moves that settle a string, and what these gain (mcts/tactics/hints.py).

    With Selection.solve as far as it is looked for who has won (mcts/tactics/ending.py).
    """

    root: int = 0  # positions for each string, or side that may have won, of the root's position; 0 for none
    leaf: int = 0  # and of a new position of the tree
    prior: float = 0.3  # the least prior of a move that settles a large string, or the game


@dataclass(frozen=True)
class SearchParams:
    """Everything that stays the same from search to search."""

    selection: Selection = Selection()
    # Priors are the network's policy ** (1 / policy_temperature), normalized: above 1 the search is wider.
    policy_temperature: float = 1.0
    # Leaves that wait for the network, at most, in one call or in the several that it takes at once.
    batch_size: int = NN_BATCH_SIZE
    # No more than one leaf waits for so many visits of the root, so that a small tree is searched as with single
    # leaves and a large one fast; 0: always batch_size.
    visits_per_leaf: int = 0
    # A call of the network with less positions is filled up to so many with those that coming visits are likely to
    # ask about, so that no core waits; they count as visited only when a visit comes to them.
    ahead: int = 0
    # Nodes allocated at first; the tree doubles when it is full, up to max_memory_mb.
    tree_size: int = MCTS_TREE_SIZE
    max_memory_mb: int = 2048
    # Moves compared at the root by sequential halving.
    max_considered: int = MAX_CONSIDERED_NODES
    # PUCT plays the move with the highest lower confidence bound, so many standard errors below its mean, among those
    # that have at least this share of the visits of the most visited one; 1 plays that one.
    bound_share: float = 1.0
    bound_width: float = 1.5
    # Whether moves into pass-alive areas, where nothing can change any more, are no candidates (mcts/restriction.py).
    skip_settled: bool = False
    # How the playouts of a search with a network choose their moves: one of ROLLOUTS.
    rollout: str = "ataris"
    # Moves for which L_bad - L_good is above this are left out of the tree (mcts/pruning.py); 1 leaves out none.
    prune: float = KEEP_ALL
    # How far proof-number search looks at strings.
    tactics: Tactics = Tactics()
    # Number of the search (mcts/searches.py).
    algorithm: int = PUCT

    def leaves_at(self, visits: int) -> int:
        """Return how many leaves a call of the network may take when the root has so many visits."""
        if self.visits_per_leaf == 0:
            return self.batch_size
        return min(self.batch_size, max(LEAST_LEAVES, visits // self.visits_per_leaf))


@dataclass(frozen=True)
class SearchLimit:
    """When one search ends: after `visits` (earlier unless strict, once the best move is settled) or `seconds`.

    A strict search goes on although the best move is settled: the user asked for exactly so many visits, or time that
    is saved now would be lost. The next search goes on with its tree.
    While it is not clear which move is best, a search with PUCT goes on for up to `extra` seconds more.
    """

    visits: int
    seconds: float = math.inf
    strict: bool = False
    extra: float = 0.0
