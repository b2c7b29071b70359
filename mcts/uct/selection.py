"""UCT: selection by UCB1, RAVE and priors, over a widening choice of moves (formulas and sources: mcts/uct/params.py).

N are a node's visits, n those of a move.
"""

import math

from common.kernel import kernel
from mcts.tree_arrays import Tree
from mcts.uct.params import UctParams


@kernel
def open_edges(visits: int, edges: int, params: UctParams) -> int:
    """Return how many of a node's moves, the most promising first, are compared after so many visits."""
    if params.widening == 0.0:
        return edges
    growth = params.growth
    number = 1 + int(math.log(1.0 + visits * (growth - 1.0) / params.widening) / math.log(growth) + 1e-9)
    return min(edges, number)


@kernel
def rave_share(visits: float, samples: float, params: UctParams) -> float:
    """Return how much of a move's value is that of the games in which it was played at any later time."""
    if samples == 0.0 or (params.rave == 0.0 and params.rave_bias == 0.0):
        return 0.0
    if params.rave_bias > 0.0:
        return samples / (visits + samples + 4.0 * visits * samples * params.rave_bias**2)
    return math.sqrt(params.rave / (3.0 * visits + params.rave))


@kernel
def uct_value(tree: Tree, edge: int, params: UctParams) -> float:
    """Return what a move is taken to be worth: its visits, those that wait lost, mixed with its RAVE games."""
    visits = float(tree.edge_visits[edge] + tree.edge_virtual_loss[edge])
    samples = float(tree.edge_rave_visits[edge])
    share = rave_share(visits, samples, params)
    own = tree.edge_value_sum[edge] / visits if visits > 0.0 else 0.0
    if share == 0.0:
        return own if visits > 0.0 else params.fpu
    others = tree.edge_rave_sum[edge] / samples
    return (1.0 - share) * own + share * others if visits > 0.0 else others


@kernel
def select_by_uct(tree: Tree, node: int, params: UctParams) -> int:
    """Return the edge with the greatest value + ucb * sqrt(log(N + 1) / n) + prior * P * sqrt(N + 1) / (1 + n).

    Edges are in the order of their priors; the first of equals is taken.
    """
    first, total = tree.node_edge[node], tree.node_visits[node] + tree.node_virtual_loss[node]
    log_total, root_total = math.log(total + 1.0), math.sqrt(total + 1.0)
    best, best_score = first, -math.inf
    for edge in range(first, first + open_edges(total, tree.node_edges[node], params)):
        visits = tree.edge_visits[edge] + tree.edge_virtual_loss[edge]
        score = uct_value(tree, edge, params) + params.prior * tree.edge_prior[edge] * root_total / (1.0 + visits)
        if visits > 0:
            score += params.ucb * math.sqrt(log_total / visits)
        if score > best_score:
            best, best_score = edge, score
    return best
