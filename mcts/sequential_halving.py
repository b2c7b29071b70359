"""SHOT with Gumbel noise: sequential halving at the root, deterministic selection below it.

The formulas are those of Gumbel AlphaZero (ICLR 2022): section 3.3 for the root, section 5 for interior nodes.
"""

import math

import numpy as np

from common.kernel import kernel
from mcts.gumbel import completed_value, improved_policy, max_visits, mixed_value
from mcts.params import Selection
from mcts.tree_arrays import ROOT, Tree


@kernel
def select_at_root(tree: Tree, noise: np.ndarray, considered: int, selection: Selection) -> int:
    """Return the root edge with the greatest noise + logit + sigma(completed Q) among those visited `considered` times.

    Visits that wait for the network count. Falls back to the least visited edge when none fits.
    """
    first = tree.node_edge[ROOT]
    unvisited = mixed_value(tree, ROOT)
    scale = (selection.c_visit + max_visits(tree, ROOT)) * selection.c_scale
    best, best_score, least = -1, -math.inf, first
    for edge in range(first, first + tree.node_edges[ROOT]):
        count = tree.edge_visits[edge] + tree.edge_virtual_loss[edge]
        if count < tree.edge_visits[least] + tree.edge_virtual_loss[least]:
            least = edge
        if count == considered:
            score = noise[edge - first] + tree.edge_logit[edge] + scale * completed_value(tree, edge, unvisited)
            if score > best_score:
                best, best_score = edge, score
    return least if best < 0 else best


@kernel
def select_in_tree(tree: Tree, node: int, selection: Selection, policy: np.ndarray) -> int:
    """Return the edge whose visits lag most behind the improved policy: argmax of pi'(a) - N(a) / (1 + sum N).

    Modifies policy, work space for one value per edge.
    """
    improved_policy(tree, node, selection.c_visit, selection.c_scale, policy)
    first = tree.node_edge[node]
    total = 1 + tree.node_visits[node] + tree.node_virtual_loss[node]
    best, best_score = first, -math.inf
    for i in range(tree.node_edges[node]):
        score = policy[i] - (tree.edge_visits[first + i] + tree.edge_virtual_loss[first + i]) / total
        if score > best_score:
            best, best_score = first + i, score
    return best
