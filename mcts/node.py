"""MCTSNode: one node of the tree for those who look at it from outside the kernels."""

import numpy as np

from mcts.analysis import CandidateMove, lower_confidence_bound
from mcts.constant import NOT_EXPANDED
from mcts.solver import proven_outcome
from mcts.tree_arrays import EXPANDED, LOST, TERMINAL, UNPROVEN, WON, Tree

# The longest line reported as a principal variation.
MAX_PV_LENGTH = 30


class MCTSNode:
    """A view on one node; arrays have one entry per candidate move, those that PUCT chose first.

    The names are the lecture's; behind them stand Tree.edge_pos (action), edge_child (children_index), edge_prior
    (children_policy), edge_visits (children_visits) and so on.
    """

    def __init__(self, tree: Tree, index: int, has_proofs: bool = False) -> None:
        """Look at node `index` of `tree`; `has_proofs` says whether outcomes are proven there (Selection.solve)."""
        self._tree, self._has_proofs = tree, has_proofs
        self.index = index
        first = int(tree.node_edge[index])
        self._edges = slice(first, first + int(tree.node_edges[index]))

    @property
    def node_visits(self) -> int:
        """Finished visits of the candidates."""
        return int(self._tree.node_visits[self.index])

    @property
    def virtual_loss(self) -> int:
        """Visits that wait for the network."""
        return int(self._tree.node_virtual_loss[self.index])

    @property
    def raw_value(self) -> float:
        """Win rate of the side to move as the network (or the final score) gives it."""
        return float(self._tree.node_raw_value[self.index])

    @property
    def value(self) -> float:
        """Win rate that the search takes for the position itself: raw_value, with the playouts' share in it."""
        return float(self._tree.node_value[self.index])

    @property
    def lead(self) -> float:
        """Points the side to move is ahead, as the network says, 0 where it does not; or the final ones."""
        return float(self._tree.node_lead[self.index])

    @property
    def children_lead_sum(self) -> np.ndarray:
        """Sum of the leads of each candidate."""
        return self._tree.edge_lead_sum[self._edges]

    @property
    def node_value_sum(self) -> float:
        """Sum of the values of all visits for the side to move."""
        return float(self.children_value_sum.sum())

    @property
    def num_children(self) -> int:
        """Number of candidate moves."""
        return self._edges.stop - self._edges.start

    @property
    def action(self) -> np.ndarray:
        """Pos of each candidate."""
        return self._tree.edge_pos[self._edges]

    @property
    def children_index(self) -> np.ndarray:
        """Node after each candidate, -1 if there is none."""
        return self._tree.edge_child[self._edges]

    @property
    def children_policy(self) -> np.ndarray:
        """Prior of each candidate."""
        return self._tree.edge_prior[self._edges]

    @property
    def children_logit(self) -> np.ndarray:
        """Logarithm of the prior of each candidate."""
        return self._tree.edge_logit[self._edges]

    @property
    def children_visits(self) -> np.ndarray:
        """Finished visits of each candidate."""
        return self._tree.edge_visits[self._edges]

    @property
    def children_virtual_loss(self) -> np.ndarray:
        """Waiting visits of each candidate."""
        return self._tree.edge_virtual_loss[self._edges]

    @property
    def children_value_sum(self) -> np.ndarray:
        """Sum of the values of each candidate."""
        return self._tree.edge_value_sum[self._edges]

    def child(self, i: int) -> "MCTSNode | None":
        """Return the node after candidate `i`, None if it was not visited."""
        index = int(self.children_index[i])
        if index == NOT_EXPANDED or self._tree.node_kind[index] < EXPANDED:
            return None
        return MCTSNode(self._tree, index, self._has_proofs)

    def contenders(self) -> np.ndarray:
        """Return the numbers of the candidates that may be the best: those proven to win, where there are any.

        Else all but those that are proven to lose; all of a lost node. A node may be won by a move that the tree has
        not visited yet (mcts/tactics/ending.py).
        """
        if not self._has_proofs:
            return np.arange(self.num_children)
        if self._tree.node_kind[self.index] == WON:
            winning = [i for i in range(self.num_children) if self._outcome_after(i) == LOST]
            if winning:
                return np.array(winning)
        after = self.children_index
        kind, value = self._tree.node_kind[after], self._tree.node_value[after]
        is_lost = (after != NOT_EXPANDED) & ((kind == WON) | (kind == TERMINAL) & (value == 1.0))
        return np.flatnonzero(~is_lost | is_lost.all())

    @property
    def contending_visits(self) -> np.ndarray:
        """Finished visits of the contenders."""
        return self.children_visits[self.contenders()] if self._has_proofs else self.children_visits

    def ranking(self) -> list[int]:
        """Return the candidates' numbers from best to worst: contenders, then by visits, then value, then prior."""
        visits, value_sum = self.children_visits, self.children_value_sum
        value = value_sum / np.maximum(visits, 1)
        is_beaten = np.ones(self.num_children, dtype=np.bool_)
        is_beaten[self.contenders()] = False
        return [int(i) for i in np.lexsort((-self.children_policy, -value, -visits, is_beaten))]

    def most_visited(self) -> int:
        """Return the contender with the most visits; on ties the one that ranking() puts first."""
        contenders = self.contenders()
        visits = self.children_visits[contenders]
        ties = np.flatnonzero(visits == visits.max())
        return int(contenders[ties[0]]) if len(ties) == 1 else self.ranking()[0]

    def surest(self, share: float, width: float) -> int:
        """Return the contender with the highest lower confidence bound, of `width` standard errors.

        Only those count that have at least `share` of the most visited one's visits, so that 1 leaves that one alone.
        """
        most = self.most_visited()
        if share >= 1.0:
            return most
        visits, square_sums = self.children_visits, self._tree.edge_value_square_sum[self._edges]
        bounds = {int(i): lower_confidence_bound(int(visits[i]), float(self.children_value_sum[i]),
                                                 float(square_sums[i]), width)
                  for i in self._visited_enough(most, share)}
        return max(bounds, key=lambda i: (bounds[i], visits[i]), default=most)

    def has_better(self, share: float) -> bool:
        """Tell whether a contender with `share` of the most visited one's visits has a higher mean than that one."""
        most, mean = self.most_visited(), self.children_value_sum / np.maximum(self.children_visits, 1)
        return bool((mean[self._visited_enough(most, share)] > mean[most]).any())

    def _visited_enough(self, most: int, share: float) -> np.ndarray:
        """Return the numbers of the contenders with at least `share` of the visits of `most`."""
        visits, contenders = self.children_visits, self.contenders()
        return contenders[visits[contenders] >= max(1.0, share * visits[most])]

    def _outcome_after(self, i: int) -> int:
        """Return the outcome that is proven for the opponent after candidate `i`, which has been evaluated."""
        child = self.child(i)
        return UNPROVEN if child is None else proven_outcome(self._tree, child.index)

    def visited_line(self, i: int) -> list[tuple[int, int]]:
        """Return the principal variation, candidate `i` and the most visited replies after it, with visits."""
        line = [(int(self.action[i]), int(self.children_visits[i]))]
        node = self.child(i)
        while node is not None and len(line) < MAX_PV_LENGTH and node.is_visited():
            best = node.most_visited()
            line.append((int(node.action[best]), int(node.children_visits[best])))
            node = node.child(best)
        return line

    @property
    def has_candidates(self) -> bool:
        """Whether the network has judged the position and the game goes on."""
        return self._tree.node_kind[self.index] >= EXPANDED and self._tree.node_kind[self.index] != TERMINAL

    def is_visited(self) -> bool:
        """Return whether a candidate has been visited."""
        return self.has_candidates and self.node_visits > 0

    def candidate(self, i: int, order: int) -> CandidateMove:
        """Return what is known about candidate `i`."""
        visits, prior, child = int(self.children_visits[i]), float(self.children_policy[i]), self.child(i)
        if visits == 0 and child is None:  # as most moves of a large board are
            pos = int(self.action[i])
            return CandidateMove(pos, 0, 0.0, prior, 0.0, order, None, [pos], [0])
        value_sum, line = float(self.children_value_sum[i]), self.visited_line(i)
        square_sum = float(self._tree.edge_value_square_sum[self._edges][i])
        return CandidateMove(
            pos=line[0][0], visits=visits, winrate=value_sum / visits if visits else 0.0, prior=prior,
            lcb=lower_confidence_bound(visits, value_sum, square_sum), order=order,
            raw_value=None if child is None else 1.0 - child.raw_value,
            pv=[pos for pos, _ in line], pv_visits=[count for _, count in line],
        )
