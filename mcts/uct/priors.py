"""The priors of the search without a network: what a move is taken for before anybody has played it.

The gammas of its features, learnt from games (mcts/uct/pattern_features.py), and the policy of the classifier of bad
moves (nn/classifier.py), mixed as their logarithms are. Widening takes a node's moves in the order of their priors.
"""

import math
from typing import NamedTuple

import numpy as np

from board.constant import NO_MOVE, PASS
from board.ladder import LadderWork, find_ladders, new_ladder_work
from board.state import SIZE, TO_MOVE, History, State
from common.kernel import kernel
from mcts.constant import KEEP_ALL
from mcts.pruning import prune_by_classifier
from mcts.search_kernels import divide_priors, raise_prior
from mcts.tree_arrays import Position, Tree
from mcts.uct.params import UctParams
from mcts.uct.pattern_features import FEATURES, PriorTable, find_features, move_gamma
from nn.classifier import PointJudge
from nn.point_marks import point_at

# The share of the priors that PASS has: next to nothing, so that it is looked at when nothing else is left to do.
PASS_PRIOR = 1e-3
# No move's share of the classifier's policy counts as less than e^-this of the best one's.
MOST_NATS = 20.0


class FeatureFinder(NamedTuple):
    """What finds the gammas of moves. F = features."""

    table: PriorTable
    features: np.ndarray  # int32 [F]
    ladders: LadderWork


def new_finder(table: PriorTable, board_size: int) -> FeatureFinder:
    """Return a finder for one size of board."""
    return FeatureFinder(table, np.zeros(len(FEATURES), dtype=np.int32), new_ladder_work(board_size))


@kernel
def sort_edges(tree: Tree, node: int) -> None:
    """Put the unvisited edges of a new node in the order of their priors, the greatest first. Modifies tree.

    Shell's sort, with gaps that fit boards.
    """
    first, count = tree.node_edge[node], tree.node_edges[node]
    for gap in (57, 23, 10, 4, 1):
        for i in range(first + gap, first + count):
            pos, prior = tree.edge_pos[i], tree.edge_prior[i]
            k = i
            while k >= first + gap and tree.edge_prior[k - gap] < prior:
                tree.edge_pos[k] = tree.edge_pos[k - gap]
                tree.edge_prior[k] = tree.edge_prior[k - gap]
                k -= gap
            tree.edge_pos[k] = pos
            tree.edge_prior[k] = prior


@kernel
def order_edges(tree: Tree, node: int) -> None:
    """Put the edges of a node, visited or not, in the order of their priors, the greatest first. Modifies tree."""
    first = tree.node_edge[node]
    for i in range(first + 1, first + tree.node_edges[node]):
        k = i
        while k > first and tree.edge_prior[k - 1] < tree.edge_prior[k]:
            swap_edges(tree, k - 1, k)
            k -= 1


@kernel
def swap_edges(tree: Tree, a: int, b: int) -> None:
    """Let two edges of a node change places. Modifies tree."""
    swap(tree.edge_pos, a, b)
    swap(tree.edge_child, a, b)
    swap(tree.edge_logit, a, b)
    swap(tree.edge_prior, a, b)
    swap(tree.edge_visits, a, b)
    swap(tree.edge_virtual_loss, a, b)
    swap(tree.edge_value_sum, a, b)
    swap(tree.edge_value_square_sum, a, b)
    swap(tree.edge_lead_sum, a, b)
    swap(tree.edge_rave_visits, a, b)
    swap(tree.edge_rave_sum, a, b)


@kernel
def swap(values: np.ndarray, a: int, b: int) -> None:
    """Let two values of an array change places. Modifies values."""
    values[a], values[b] = values[b], values[a]


@kernel
def uses_priors(params: UctParams) -> bool:
    """Return whether the search looks at priors at all."""
    return params.prior > 0.0 or params.widening > 0.0


@kernel
def move_before_last(history: History) -> int:
    """Return the move before the last one of a game, NO_MOVE if there is none."""
    length = history.length[0]
    return int(history.pos[length - 2]) if length > 2 else NO_MOVE


@kernel
def mix_policy(tree: Tree, node: int, state: State, judge: PointJudge, share: float) -> None:
    """Turn the gammas of a node's candidates into gamma^(1 - share) * policy^share, by the policy of the classifier.

    Its logits of the position stand in judge.logit. Modifies tree.
    """
    first, size, best = tree.node_edge[node], state.info[SIZE], -math.inf
    for logit in judge.logit:
        best = max(best, logit)
    for edge in range(first, first + tree.node_edges[node]):
        pos = tree.edge_pos[edge]
        if pos != PASS:
            nats = judge.logit[point_at(pos, size)] - best
            tree.edge_prior[edge] = (tree.edge_prior[edge] ** (1.0 - share)
                                     * math.exp(share * max(nats, -MOST_NATS)))


@kernel
def set_gammas(tree: Tree, node: int, position: Position, finder: FeatureFinder) -> None:
    """Put the gammas of a new node's candidates where their priors will be; finder.ladders are the position's.

    Modifies tree and finder.features.
    """
    state, previous = position.state, move_before_last(position.history)
    for edge in range(tree.node_edge[node], tree.node_edge[node] + tree.node_edges[node]):
        pos = tree.edge_pos[edge]
        if pos != PASS:
            find_features(state, previous, finder.ladders, pos, state.info[TO_MOVE], finder.features)
            tree.edge_prior[edge] = move_gamma(state, finder.table, pos, state.info[TO_MOVE], finder.features)


@kernel
def set_priors(tree: Tree, node: int) -> None:
    """Turn the strengths that stand where a new node's priors will be into priors, in their order. Modifies tree.

    Moves that have a least prior get it. What stands for the pass is not looked at.
    """
    first, end, total, added = tree.node_edge[node], tree.node_edge[node] + tree.node_edges[node], 0.0, 0.0
    for edge in range(first, end):
        if tree.edge_pos[edge] != PASS:
            total += tree.edge_prior[edge]
    for edge in range(first, end):
        if tree.edge_pos[edge] == PASS:
            tree.edge_prior[edge] = PASS_PRIOR * total if total > 0.0 else 1.0
    total = total * (1.0 + PASS_PRIOR) if total > 0.0 else 1.0
    for edge in range(first, end):
        tree.edge_prior[edge] /= total
        added += raise_prior(tree, edge, float(tree.edge_logit[edge]))
    if added > 0.0:
        divide_priors(tree, node, 1.0 + added)
    sort_edges(tree, node)


@kernel
def find_priors(tree: Tree, node: int, position: Position, finder: FeatureFinder, params: UctParams,
                judge: PointJudge) -> None:
    """Give a new node's candidates their priors, without those that the judge calls bad.

    All are alike where the search looks at no priors. A judge whose threshold keeps all moves is not asked. Modifies
    tree, finder and judge.
    """
    state, first, is_judged = position.state, tree.node_edge[node], judge.threshold < KEEP_ALL
    if uses_priors(params) or is_judged:
        find_ladders(state, finder.ladders)
    if is_judged:
        prune_by_classifier(tree, node, state, move_before_last(position.history), finder.ladders, judge)
    for edge in range(first, first + tree.node_edges[node]):
        tree.edge_prior[edge] = 1.0
    if uses_priors(params):
        if not is_judged or params.policy < 1.0:
            set_gammas(tree, node, position, finder)
        if is_judged and params.policy > 0.0:
            mix_policy(tree, node, state, judge, params.policy)
    set_priors(tree, node)
