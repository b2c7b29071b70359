"""Bad moves are left out of the tree (Sato and Yamamoto 2015): `--prune T`.

A move is bad where L_bad - L_good, its margin, is above T. In the search without a network the classifier tells the
margins (nn/classifier.py), in the other the network's own policy does. The move with the least margin stays always, and
so does the pass, of which neither is asked.
"""

import math

import numpy as np

from board.constant import PASS
from board.ladder import LadderWork
from board.state import SIZE, TO_MOVE, State
from common.kernel import kernel
from mcts.tree_arrays import Batch, Tree
from nn.classifier import PointJudge, judge_points, weigh
from nn.point_marks import mark_points, point_at


@kernel
def leave_out(tree: Tree, node: int, threshold: float) -> None:
    """Leave out the candidates of a node that nobody has visited whose margin is above a threshold. Modifies tree.

    The margin stands where the prior will be. Moves that have a least prior (mcts/atari.py) stay.
    """
    first = tree.node_edge[node]
    end, best, kept = first + tree.node_edges[node], first, first
    for edge in range(first, end):
        if tree.edge_pos[edge] != PASS and tree.edge_prior[edge] < tree.edge_prior[best]:
            best = edge
    for edge in range(first, end):
        pos, margin, least = tree.edge_pos[edge], tree.edge_prior[edge], tree.edge_logit[edge]
        if pos == PASS or edge == best or margin <= threshold or least > 0.0:
            tree.edge_pos[kept], tree.edge_prior[kept], tree.edge_logit[kept] = pos, margin, least
            kept += 1
    tree.node_edges[node] = kept - first


@kernel
def prune_by_classifier(
    tree: Tree, node: int, state: State, previous: int, ladders: LadderWork, judge: PointJudge,
) -> None:
    """Leave bad moves out of the candidates of a new node. Modifies tree and judge.

    `previous` is the move before the last one; `ladders` are those of the position.
    """
    size, first = state.info[SIZE], tree.node_edge[node]
    mark_points(state, previous, ladders, state.info[TO_MOVE], judge.marks)
    judge_points(judge, state)
    for edge in range(first, first + tree.node_edges[node]):
        pos = tree.edge_pos[edge]
        tree.edge_prior[edge] = 1.0 if pos == PASS else judge.margin[point_at(pos, size)]
    leave_out(tree, node, judge.threshold)


@kernel
def prune_by_policy(tree: Tree, node: int, logits: np.ndarray, policy_index: np.ndarray, threshold: float) -> None:
    """Leave bad moves out of the candidates of a node that waits for the network's logits [A]. Modifies tree."""
    first = tree.node_edge[node]
    end = first + tree.node_edges[node]
    for edge in range(first, end):
        pos = tree.edge_pos[edge]
        tree.edge_prior[edge] = -math.inf if pos == PASS else logits[policy_index[pos]]
    weigh(tree.edge_prior[first:end], len(logits) - 1)
    leave_out(tree, node, threshold)


@kernel
def prune_batch(
    tree: Tree, batch: Batch, waiting: int, logits: np.ndarray, policy_index: np.ndarray, threshold: float,
) -> None:
    """Leave bad moves out of the nodes of the first `waiting` entries of a batch, by logits [B, A]. Modifies tree."""
    for index in range(waiting):
        prune_by_policy(tree, batch.leaf[index], logits[index], policy_index, threshold)
