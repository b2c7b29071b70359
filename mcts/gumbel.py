"""Formulas of Gumbel AlphaZero (Danihelka et al., "Policy improvement by planning with Gumbel", ICLR 2022).

Q and values are win rates of the side to move in [0, 1]; sums run over the edges of one node.
"""

import math

import numpy as np

from common.kernel import kernel
from mcts.tree_arrays import Tree


@kernel
def mixed_value(tree: Tree, node: int) -> float:
    """Return v_mix, the value given to unvisited moves (appendix D, equation 33).

    (v + sum of N * weighted Q) / (1 + sum of N), where v is the network's value and the weighted Q is the mean over
    the VISITED moves with their priors as weights.
    """
    first = tree.node_edge[node]
    prior, weighted, visits = 0.0, 0.0, 0
    for edge in range(first, first + tree.node_edges[node]):
        count = tree.edge_visits[edge]
        if count > 0:
            # A prior may underflow to 0 in single precision; the smallest one keeps the mean defined.
            weight = max(float(tree.edge_prior[edge]), 1e-30)
            prior += weight
            weighted += weight * tree.edge_value_sum[edge] / count
            visits += count
    if visits == 0:
        return float(tree.node_value[node])
    return (tree.node_value[node] + visits * weighted / prior) / (1 + visits)


@kernel
def completed_value(tree: Tree, edge: int, value_of_unvisited: float) -> float:
    """Return Q of a visited edge, and v_mix for the others."""
    count = tree.edge_visits[edge]
    return tree.edge_value_sum[edge] / count if count > 0 else value_of_unvisited


@kernel
def max_visits(tree: Tree, node: int) -> int:
    """Return the visits of the most visited edge."""
    first = tree.node_edge[node]
    most = 0
    for edge in range(first, first + tree.node_edges[node]):
        most = max(most, tree.edge_visits[edge])
    return most


@kernel
def improved_policy(tree: Tree, node: int, c_visit: float, c_scale: float, out: np.ndarray) -> None:
    """Write softmax(logits + sigma(completed Q)) over the edges of a node to `out` (section 4, equation 11).

    sigma(q) = (c_visit + max N) * c_scale * q. Modifies out.
    """
    first, count = tree.node_edge[node], tree.node_edges[node]
    unvisited = mixed_value(tree, node)
    scale = (c_visit + max_visits(tree, node)) * c_scale
    highest = -math.inf
    for i in range(count):
        out[i] = tree.edge_logit[first + i] + scale * completed_value(tree, first + i, unvisited)
        highest = max(highest, out[i])
    total = 0.0
    for i in range(count):
        out[i] = math.exp(out[i] - highest)
        total += out[i]
    for i in range(count):
        out[i] /= total


@kernel
def policy_value(tree: Tree, node: int, policy: np.ndarray) -> float:
    """Return the win rate of playing by `policy`, one value per edge of a node: its mean of completed Q.

    The mean over all visits would be too low: sequential halving visits bad moves as well to compare them.
    """
    first = tree.node_edge[node]
    unvisited = mixed_value(tree, node)
    value = 0.0
    for i in range(tree.node_edges[node]):
        value += policy[i] * completed_value(tree, first + i, unvisited)
    return value


def considered_visits(considered: int, visits: int) -> list[int]:
    """Return, for each visit of a search, how many visits the move to be visited has had (sequential halving).

    Round after round the `considered` best moves are visited equally often; then the better half goes on, down
    to two, each phase taking about visits / log2(considered). A move's visits accumulate over the rounds.
    """
    if considered <= 1:
        return list(range(visits))
    phases = math.ceil(math.log2(considered))
    sequence: list[int] = []
    width, done = considered, 0
    while len(sequence) < visits:
        rounds = max(1, visits // (phases * width))
        for _ in range(rounds):
            sequence.extend([done] * width)
            done += 1
        width = max(2, width // 2)
    return sequence[:visits]
