"""Why PUCT goes where it goes, in numbers for people: what mcts/puct.py compares at a node."""

import math
from typing import NamedTuple

from mcts.node import MCTSNode
from mcts.params import Selection
from mcts.tree_arrays import ROOT, Tree


class EdgeTerms(NamedTuple):
    """One candidate: PUCT chooses the greatest value + bonus; both are of the side to move at the node."""

    pos: int
    visits: int
    prior: float
    value: float  # Q: the mean of its visits, of an unvisited one the urgency
    bonus: float  # U: exploration * prior / (1 + visits)


class PuctTerms(NamedTuple):
    """What is compared at a node."""

    visits: int  # N
    raw_value: float  # the network's win rate
    c: float  # c_puct, grown with N
    exploration: float  # c * sqrt(N + 1)
    urgency: float  # what an unvisited candidate is taken to be worth
    edges: list[EdgeTerms]  # the most visited first


def find_node(tree: Tree, path: list[int]) -> int | None:
    """Return the node after these moves from the root, None where the search has not been."""
    node = MCTSNode(tree, ROOT)
    for pos in path:
        actions = node.action.tolist()
        child = node.child(actions.index(pos)) if pos in actions else None
        if child is None:
            return None
        node = child
    return node.index


def explain_puct(tree: Tree, index: int, selection: Selection) -> PuctTerms:
    """Return the terms of a node, at which no visits wait for the network."""
    node = MCTSNode(tree, index)
    visits, priors, sums = (column.tolist() for column in (node.children_visits, node.children_policy,
                                                           node.children_value_sum))
    visited_prior = sum(prior for prior, count in zip(priors, visits, strict=True) if count)
    reduction = selection.root_fpu_reduction if index == ROOT else selection.fpu_reduction
    total = node.node_visits
    urgency = (node.value + sum(sums)) / (1 + total) - reduction * math.sqrt(visited_prior)
    c = selection.c_puct + selection.c_growth * math.log((total + selection.c_base + 1) / selection.c_base)
    exploration = c * math.sqrt(total + 1)
    edges = [EdgeTerms(pos, count, prior, value_sum / count if count else urgency, exploration * prior / (1 + count))
             for pos, count, prior, value_sum in zip(node.action.tolist(), visits, priors, sums, strict=True)]
    edges.sort(key=lambda edge: (-edge.visits, -edge.prior))
    return PuctTerms(total, node.raw_value, c, exploration, urgency, edges)
