"""Ownership and lead as the network tells them, averaged over the search: for networks that have heads for both."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from board.go_board import GoBoard
from board.stone import Stone
from common.kernel import kernel
from mcts.analysis import CandidateMove
from mcts.constant import NOT_EXPANDED
from mcts.score_estimate import Estimate
from mcts.tree_arrays import EXPANDED, NODES, OWNED, ROOT, Tree
from nn.inference.policy_player import evaluate

if TYPE_CHECKING:
    from mcts.tree import MCTSTree

# A move's lead begins at the position's, which counts as so many visits: a single look may be off by points.
PRIOR_VISITS = 1.0


@kernel
def sum_ownership(tree: Tree, number: np.ndarray, sign: np.ndarray, out: np.ndarray, counts: np.ndarray) -> None:
    """Sum up the ownership of all positions after each move of the root, for the side to move there.

    number int16 [N] and sign int8 [N] are work space; out float64 [K, S*S] and counts int32 [K] get the sums and how
    many positions there are, by candidate. Nodes follow their parents in the arrays. Modifies all but the tree.
    """
    out[:, :] = 0.0
    counts[:] = 0
    for node in range(tree.counters[NODES]):
        first = tree.node_edge[node]
        for edge in range(first, first + tree.node_edges[node]):
            child = tree.edge_child[edge]
            if child != NOT_EXPANDED:
                number[child] = edge - first if node == ROOT else number[node]
                sign[child] = -1 if node == ROOT else -sign[node]
        if node == ROOT or tree.node_kind[node] < EXPANDED:
            continue
        counts[number[node]] += 1
        for point in range(out.shape[1]):
            out[number[node], point] += sign[node] * tree.node_ownership[node, point] / OWNED


class TreeEstimator:
    """Estimates for the moves of a position: what its search tree knows at the moment of asking, or the network."""

    def __init__(self, tree: "MCTSTree", board: GoBoard, color: Stone) -> None:
        """Ask a tree whose network tells leads about the position on `board`, `color` to move.

        Moves may be played there afterwards: the estimates stay those of this position.
        """
        self._tree, self._board, self._color = tree, board.copy(), color

    def estimate_moves(self, moves: Sequence[CandidateMove], least_pairs: Sequence[int] = ()) -> list[Estimate]:
        """Return an estimate for each move of the root, for the side to move there; `least_pairs` is not needed."""
        if not self._is_searched():  # a book, a policy or the rules for passing have found the move
            return [self.estimate_position()] * len(moves)
        root, arrays = self._tree.root, self._tree.arrays
        points = arrays.node_ownership.shape[1]
        out, counts = np.zeros((root.num_children, points)), np.zeros(root.num_children, dtype=np.int32)
        nodes = self._tree.num_nodes
        sum_ownership(arrays, np.zeros(nodes, dtype=np.int16), np.zeros(nodes, dtype=np.int8), out, counts)
        candidate = {int(pos): i for i, pos in enumerate(root.action)}
        own = arrays.node_ownership[ROOT] / OWNED
        estimates = []
        for move in moves:
            i = candidate.get(move.pos)
            if i is None:
                estimates.append(make_estimate(own, root.lead))
                continue
            visits, leads = int(root.children_visits[i]), float(root.children_lead_sum[i])
            lead = (leads + PRIOR_VISITS * root.lead) / (visits + PRIOR_VISITS)
            estimates.append(make_estimate(out[i] / counts[i] if counts[i] else own, lead))
        return estimates

    def estimate_position(self) -> Estimate:
        """Return what the network says of the position itself."""
        if not self._is_searched():
            raw = evaluate(self._tree.evaluator, self._board, self._color)
            assert raw.lead is not None and raw.ownership is not None
            return make_estimate(raw.ownership, raw.lead)
        return make_estimate(self._tree.arrays.node_ownership[ROOT] / OWNED, self._tree.root.lead)

    def _is_searched(self) -> bool:
        """Tell whether the tree's root is the position."""
        return self._tree.find_descendant(self._board, self._color) == ROOT


def make_estimate(ownership: np.ndarray, lead: float) -> Estimate:
    """Return an estimate whose points fall one by one, each as uncertain as its ownership says."""
    return Estimate(ownership, lead, math.sqrt(float(np.maximum(0.0, 1.0 - ownership**2).sum())))
