"""A node that becomes the root is judged as roots are: in all the ways that a board can lie, not in one."""

import numpy as np

from mcts.node import MCTSNode
from mcts.tree_arrays import ROOT, Tree, bring_forward

JUDGMENTS = ("node_value", "node_raw_value", "node_lead", "node_ownership")
LEAST_PRIOR = 1e-9  # of a move that is no candidate at the root any more; its visits stay


def adopt_judgment(tree: Tree, judged: Tree) -> None:
    """Give the root of a tree what another tree says of its root, the same position. Modifies tree."""
    own, other = MCTSNode(tree, ROOT), MCTSNode(judged, ROOT)
    prior = np.full(1 + max(own.action.max(), other.action.max()), LEAST_PRIOR, dtype=np.float32)
    prior[other.action] = np.maximum(other.children_policy, LEAST_PRIOR)
    own.children_policy[:] = prior[own.action]
    own.children_logit[:] = np.log(prior[own.action])
    for name in JUDGMENTS:
        getattr(tree, name)[ROOT] = getattr(judged, name)[ROOT]
    bring_forward(tree, ROOT)
