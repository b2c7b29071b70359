"""PUCT: the selection rule of AlphaZero (Silver et al., Science 362, 2018), for several visits at once."""

import math

from common.kernel import kernel
from mcts.outcome import DRAW
from mcts.params import Selection
from mcts.solver import proven_outcome
from mcts.tree_arrays import DRAWN, LOST, ROOT, UNPROVEN, WON, Tree

# Points of lead that are worth half of the greatest lead; there another point is worth a quarter of the first.
LEAD_SCALE = 10.0
# Worth of a move that is proven to win; one that is proven to lose is worth as much less than any other.
PROVEN = 1e6


@kernel
def worth_of_lead(lead: float, selection: Selection) -> float:
    """Return what a lead of so many points adds to a win rate, between -selection.lead_weight and it."""
    return selection.lead_weight * lead / (abs(lead) + LEAD_SCALE)


@kernel
def edge_worth(tree: Tree, edge: int, selection: Selection) -> float:
    """Return what a visited move is worth: its mean win rate and lead, or what is proven of it."""
    outcome = proven_outcome(tree, tree.edge_child[edge]) if selection.solve else UNPROVEN
    if outcome == LOST:
        return PROVEN
    if outcome == WON:
        return -PROVEN
    if outcome == DRAWN:
        return DRAW
    count = tree.edge_visits[edge]
    return tree.edge_value_sum[edge] / count + worth_of_lead(tree.edge_lead_sum[edge] / count, selection)


@kernel
def find_exploration(selection: Selection, visits: int) -> float:
    """Return c * sqrt(visits + 1) for a node with so many visits, those that wait included."""
    growth = math.log((visits + selection.c_base + 1) / selection.c_base)
    return (selection.c_puct + selection.c_growth * growth) * math.sqrt(visits + 1)


@kernel
def judge_unvisited(tree: Tree, node: int, selection: Selection) -> float:
    """Return what an unvisited move of a node is worth: first-play urgency."""
    first, visits = tree.node_edge[node], tree.node_visits[node]
    value_sum, lead_sum, visited_prior = float(tree.node_value[node]), float(tree.node_lead[node]), 0.0
    for edge in range(first, first + min(tree.node_front[node] + 1, tree.node_edges[node])):
        if tree.edge_visits[edge] > 0:
            value_sum += tree.edge_value_sum[edge]
            lead_sum += tree.edge_lead_sum[edge]
            visited_prior += tree.edge_prior[edge]
    reduction = selection.root_fpu_reduction if node == ROOT else selection.fpu_reduction
    urgency = value_sum / (1 + visits) - reduction * math.sqrt(visited_prior)
    return urgency + worth_of_lead(lead_sum / (1 + visits), selection)


@kernel
def select_by_puct(tree: Tree, node: int, selection: Selection) -> int:
    """Return the edge of an expanded node with the greatest Q + c * P * sqrt(N + 1) / (1 + n); the first one on ties.

    Q is the mean win rate, and the worth of the mean lead where selection.lead_weight gives it one, as in KataGo: where
    all moves win, those are searched that win by more.

    Only the edges chosen before and the unvisited one with the greatest prior are compared (bring_forward).
    Visits that wait for the network count in the exploration, not in Q (WU-UCT: Liu et al., "Watch the Unobserved",
    ICLR 2020, section 3). Where they count as losses in Q, too, eight of them at 100 visits choose another move than
    single visits in 13 of 100 positions; these do in none to five (doc/search.md).
    """
    first = tree.node_edge[node]
    urgency = judge_unvisited(tree, node, selection)
    exploration = find_exploration(selection, tree.node_visits[node] + tree.node_virtual_loss[node])
    best, best_score = first, -math.inf
    for edge in range(first, first + min(tree.node_front[node] + 1, tree.node_edges[node])):
        count = tree.edge_visits[edge]
        value = edge_worth(tree, edge, selection) if count > 0 else urgency
        score = value + exploration * tree.edge_prior[edge] / (1 + count + tree.edge_virtual_loss[edge])
        if score > best_score:
            best, best_score = edge, score
    return best
