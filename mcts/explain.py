"""Why PUCT goes where it goes, in numbers for people: what mcts/puct.py compares at a node."""

import math
from typing import NamedTuple

from common.kernel import without_compiler
from mcts.constant import NOT_EXPANDED
from mcts.node import MCTSNode
from mcts.params import Selection
from mcts.puct import edge_worth, find_exploration, judge_unvisited
from mcts.solver import proven_outcome
from mcts.tree_arrays import DRAWN, LOST, ROOT, UNPROVEN, WON, Tree

# What a move is by the outcome of the position after it.
PROVEN_WORDS = {UNPROVEN: "", LOST: "win", DRAWN: "draw", WON: "loss"}


class EdgeTerms(NamedTuple):
    """One candidate: PUCT chooses the greatest value + bonus; both are of the side to move at the node."""

    pos: int
    visits: int
    prior: float
    value: float  # Q: the mean of its visits with what its lead is worth, of an unvisited one the urgency
    bonus: float  # U: exploration * prior / (1 + visits)
    proven: str = ""  # win, draw or loss where the search knows it (mcts/solver.py); its value is out of range then


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


def find_proof(tree: Tree, edge: int, selection: Selection) -> str:
    """Return what a move is proven to be, empty where nothing is."""
    child = tree.edge_child[edge]
    return PROVEN_WORDS[proven_outcome(tree, child) if selection.solve and child != NOT_EXPANDED else UNPROVEN]


def explain_puct(tree: Tree, index: int, selection: Selection) -> PuctTerms:
    """Return the terms of a node, at which no visits wait for the network."""
    node = MCTSNode(tree, index)
    visits, priors = node.children_visits.tolist(), node.children_policy.tolist()
    first, total = int(tree.node_edge[index]), node.node_visits
    with without_compiler():
        urgency, exploration = judge_unvisited(tree, index, selection), find_exploration(selection, total)
        values = [edge_worth(tree, first + i, selection) if count else urgency for i, count in enumerate(visits)]
        proofs = [find_proof(tree, first + i, selection) for i in range(len(visits))]
    c = exploration / math.sqrt(total + 1)
    columns = zip(node.action.tolist(), visits, priors, values, proofs, strict=True)
    edges = [EdgeTerms(pos, count, prior, value, exploration * prior / (1 + count), proof)
             for pos, count, prior, value, proof in columns]
    edges.sort(key=lambda edge: (-edge.visits, -edge.prior))
    return PuctTerms(total, node.raw_value, c, exploration, urgency, edges)
