"""Proven ends: a node whose every line is decided, or that has a move which decides it, is known without the network.

MCTS-Solver (Winands, Bjornsson and Saito, "Monte-Carlo Tree Search Solver", CG 2008), with draws: a node is WON where
a move leads to a node that is LOST for the other side, LOST where all lead to WON ones, and DRAWN where all are proven
and a draw is the best of them. Outcomes are those of the side to move, by the candidates that the search has. Who has
won before the end is proven elsewhere (mcts/tactics/ending.py) and backed up here.
"""

from common.kernel import kernel
from mcts.constant import NOT_EXPANDED
from mcts.tree_arrays import DRAWN, LOST, ROOT, TERMINAL, UNPROVEN, WON, Batch, Tree


@kernel
def proven_outcome(tree: Tree, node: int) -> int:
    """Return LOST, DRAWN or WON where that is proven for the side to move, else UNPROVEN."""
    kind = tree.node_kind[node]
    if kind == TERMINAL:
        return LOST + int(2.0 * tree.node_value[node])
    return kind if kind >= LOST else UNPROVEN


@kernel
def known_value(tree: Tree, node: int) -> float:
    """Return the value of a node for the side to move: of its outcome where that is proven, else as it was judged."""
    kind = tree.node_kind[node]
    return (kind - LOST) / 2.0 if kind >= LOST else float(tree.node_value[node])


@kernel
def find_outcome(tree: Tree, node: int) -> int:
    """Return what the outcomes of its moves prove for a node, UNPROVEN where they do not."""
    best, is_open = LOST, False
    for edge in range(tree.node_edge[node], tree.node_edge[node] + tree.node_edges[node]):
        child = tree.edge_child[edge]
        outcome = UNPROVEN if child == NOT_EXPANDED else proven_outcome(tree, child)
        if outcome == LOST:
            return WON
        if outcome == UNPROVEN:
            is_open = True
        elif outcome == DRAWN:
            best = DRAWN
    return UNPROVEN if is_open else best


@kernel
def prove_line(tree: Tree, batch: Batch, index: int) -> None:
    """Back up what a line that ended the game proves for the nodes on its way. Modifies tree."""
    for depth in range(batch.length[index] - 1, -1, -1):
        node = ROOT if depth == 0 else tree.edge_child[batch.path[index, depth - 1]]
        outcome = find_outcome(tree, node)
        if outcome == UNPROVEN:
            return
        tree.node_kind[node] = outcome
