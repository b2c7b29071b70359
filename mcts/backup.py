"""Backing up: what a finished visit changes in the nodes and edges on its path.

Either every visit counts alike, and an edge has the sum of what its visits found (AlphaZero). Or a node is worth a
weighted mean of its moves, in which moves that turned out bad count for less than their visits, and so for less in the
nodes above: the search learns sooner what the best play is worth. Both ideas are KataGo's (D. Wu, KataGo's source;
described under "other search improvements" in its docs/KataGoMethods.md).
"""

import math

import numpy as np

from common.kernel import kernel
from mcts.params import Selection
from mcts.solver import known_value
from mcts.tree_arrays import ROOT, Batch, Tree

# Visits beyond this multiple of what the priors ask for are noise where the move is worse than those before it.
FAIR_SHARES = 2.0
# Standard error of a move's mean win rate: 0.5 / sqrt(PRECISION sqrt(visits)).
PRECISION = 1.5
# Least chance that a move is the best for all that is known: no weight becomes 0.
LEAST_CHANCE = 1e-4


@kernel
def weighs_moves(selection: Selection) -> bool:
    """Tell whether nodes are worth weighted means of their moves."""
    return selection.value_weight > 0.0 or selection.noise_scale > 0.0


@kernel
def chance_below(z: float) -> float:
    """Return the chance of a number below z in Student's distribution of three degrees of freedom."""
    return 0.5 + (z / math.sqrt(3.0) / (1.0 + z * z / 3.0) + math.atan(z / math.sqrt(3.0))) / math.pi


@kernel
def prune_noise(tree: Tree, node: int, noise_scale: float, weight: np.ndarray) -> float:
    """Write what the visits of each tried move of a node weigh to weight [A]; return their sum. Modifies weight.

    Moves are looked at in the order in which they were tried, which is that of their priors. One that is worse than
    those before it and has more than its fair share of visits has them because its value was uncertain, not because it
    is good: with noise_scale above 0, more of these visits are left out the worse it is.
    """
    first = tree.node_edge[node]
    value_sum, total, prior_sum = 0.0, 0.0, 0.0
    for i in range(tree.node_front[node]):
        edge, own = first + i, float(tree.edge_visits[first + i])
        if own > 0.0:
            value = tree.edge_value_sum[edge] / own
            if noise_scale > 0.0 and total > 0.0 and value * total < value_sum:
                excess = own - FAIR_SHARES * total * tree.edge_prior[edge] / prior_sum
                gap = value_sum / total - value
                own -= max(0.0, excess) * (1.0 - math.exp(-gap / noise_scale))
            value_sum += value * own
            total += own
            prior_sum += tree.edge_prior[edge]
        weight[i] = own
    return total


@kernel
def favor_good_moves(tree: Tree, node: int, total: float, exponent: float, weight: np.ndarray) -> None:
    """Multiply weights by (the chance that a move is no worse than the mean) ** exponent; their sum stays `total`.

    Modifies weight [A].
    """
    first, front = tree.node_edge[node], tree.node_front[node]
    mean, changed = 0.0, 0.0
    for i in range(front):
        if weight[i] > 0.0:
            mean += weight[i] * tree.edge_value_sum[first + i] / tree.edge_visits[first + i] / total
    for i in range(front):
        if weight[i] > 0.0:
            value = tree.edge_value_sum[first + i] / tree.edge_visits[first + i]
            error = 0.5 / math.sqrt(PRECISION * math.sqrt(weight[i]))
            weight[i] *= (chance_below((value - mean) / error) + LEAST_CHANCE) ** exponent
            changed += weight[i]
    for i in range(front):
        weight[i] *= total / changed


@kernel
def judge_node(tree: Tree, node: int, selection: Selection, weight: np.ndarray) -> tuple[float, float, float]:
    """Return win rate, its square and lead of a node for its mover: its own evaluation and the weighted mean of its
    moves, each visit counting once in all.

    Modifies weight [A].
    """
    value, lead = known_value(tree, node), float(tree.node_lead[node])
    value_sum, square_sum, lead_sum, first = value, value * value, lead, tree.node_edge[node]
    total = prune_noise(tree, node, selection.noise_scale, weight)
    if total > 0.0 and selection.value_weight > 0.0:
        favor_good_moves(tree, node, total, selection.value_weight, weight)
    for i in range(tree.node_front[node]):
        if weight[i] > 0.0:
            share = weight[i] / tree.edge_visits[first + i]
            value_sum += share * tree.edge_value_sum[first + i]
            square_sum += share * tree.edge_value_square_sum[first + i]
            lead_sum += share * tree.edge_lead_sum[first + i]
    return value_sum / (1.0 + total), square_sum / (1.0 + total), lead_sum / (1.0 + total)


@kernel
def back_up_means(tree: Tree, batch: Batch, index: int, selection: Selection) -> None:
    """Count a visit on every edge of a path, each of which gets what the node behind it is worth now.

    Modifies tree and the work space of batch.
    """
    for depth in range(batch.length[index] - 1, -1, -1):
        edge = batch.path[index, depth]
        node = tree.edge_child[edge]
        value, square, lead = judge_node(tree, node, selection, batch.policy)
        visits = tree.edge_visits[edge] + 1
        tree.edge_visits[edge] = visits
        tree.edge_value_sum[edge] = visits * (1.0 - value)
        tree.edge_value_square_sum[edge] = visits * (1.0 - 2.0 * value + square)  # the mean of (1 - v)^2
        tree.edge_lead_sum[edge] = -visits * lead


@kernel
def back_up_sums(tree: Tree, batch: Batch, index: int, value: float, lead: float) -> None:
    """Add a visit to the sums of every edge on a path; value and lead are those of the side to move at its end.

    Modifies tree.
    """
    for depth in range(batch.length[index] - 1, -1, -1):
        value = 1.0 - value
        lead = -lead
        edge = batch.path[index, depth]
        tree.edge_visits[edge] += 1
        tree.edge_value_sum[edge] += value
        tree.edge_value_square_sum[edge] += value * value
        tree.edge_lead_sum[edge] += lead


@kernel
def back_up(tree: Tree, batch: Batch, index: int, selection: Selection) -> None:
    """Count a finished visit to the node at the end of a path. Modifies tree and the work space of batch."""
    last = batch.length[index] - 1
    if weighs_moves(selection):
        back_up_means(tree, batch, index, selection)
    elif last >= 0:
        node = tree.edge_child[batch.path[index, last]]
        back_up_sums(tree, batch, index, known_value(tree, node), float(tree.node_lead[node]))
    node = ROOT
    for depth in range(batch.length[index]):
        tree.node_visits[node] += 1
        node = tree.edge_child[batch.path[index, depth]]
