"""Where the searches (mcts/searches.py) differ inside the tree: how they select, and what they play in the end."""

import math

from common.kernel import kernel
from mcts.constant import NOT_EXPANDED, PUCT
from mcts.gumbel import max_visits
from mcts.params import Plan
from mcts.puct import select_by_puct
from mcts.sequential_halving import select_at_root, select_in_tree
from mcts.tree_arrays import ROOT, Batch, Tree, bring_forward


@kernel
def select_edge(tree: Tree, node: int, batch: Batch, plan: Plan, visit: int) -> int:
    """Return the edge to follow from an expanded node in visit number `visit` of a search.

    Modifies the order of the node's untried edges and work space of the batch.
    """
    if plan.algorithm == PUCT:
        edge = select_by_puct(tree, node, plan.selection)
        if tree.edge_child[edge] == NOT_EXPANDED:
            tree.node_front[node] += 1
            bring_forward(tree, node)
        return edge
    if node == ROOT:
        return select_at_root(tree, plan.noise, plan.schedule[visit], plan.selection)
    return select_in_tree(tree, node, plan.selection, batch.policy)


@kernel
def choose_edge(tree: Tree, plan: Plan) -> int:
    """Return the root edge that self-play, and a search in rounds, plays: the most visited one, the best of those.

    A search visit by visit plays MCTSNode.surest (mcts/node.py).
    """
    most = max_visits(tree, ROOT)
    if plan.algorithm != PUCT:
        return select_at_root(tree, plan.noise, most, plan.selection)
    first = tree.node_edge[ROOT]
    chosen, best = -1, -math.inf
    for edge in range(first, first + tree.node_edges[ROOT]):
        if tree.edge_visits[edge] == most and tree.edge_value_sum[edge] > best:
            chosen, best = edge, tree.edge_value_sum[edge]
    return chosen
