"""The search tree as arrays: one entry per node, and one flat range of edges per node.

A node is a position, an edge a candidate move in it. Values are win rates of the side to move, in [0, 1]; the sums
on an edge are from the view of the player who chooses the edge, in other words the mover of its node.
"""

import math
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from board.constant import PASS
from board.rules import play_recorded
from board.state import TO_MOVE, History, State, copy_state, new_history, new_state
from common.kernel import kernel
from mcts.constant import LOOKS, MAX_DEPTH, NOT_EXPANDED
from nn.evaluation import NO_LEADS, NO_OWNERSHIP
from nn.feature import BASIC, PlaneSet, Positions

# Tree.node_kind: a visit waits for the network there; the network is asked ahead, before any visit, or has answered
# (select_batch); evaluated and visited; the end of the game; or evaluated with an outcome that is proven for the side
# to move (mcts/solver.py). An outcome below 0 is proven of a position that was evaluated ahead and is not visited yet.
PENDING, AHEAD, READY, EXPANDED, TERMINAL, LOST, DRAWN, WON = range(8)
UNPROVEN = 0

LINE = 64  # bytes of a line of the processor's cache, where each array of a tree begins

# Tree.counters
NODES, EDGES, REPETITIONS = 0, 1, 2
COUNTERS = 3

ROOT = 0


class Tree(NamedTuple):
    """All nodes and edges; node 0 is the root."""

    counters: np.ndarray  # int32 [3]: nodes and edges in use; moves met that repeat a position, candidates or not
    node_edge: np.ndarray  # int32 [N]: first edge
    node_edges: np.ndarray  # int16 [N]: number of edges
    node_front: np.ndarray  # int16 [N]: edges that PUCT has chosen; they stand first, see bring_forward
    node_kind: np.ndarray  # int8 [N]
    node_visits: np.ndarray  # int32 [N]: finished visits of its edges
    node_virtual_loss: np.ndarray  # int32 [N]: visits of its edges that wait for the network
    node_value: np.ndarray  # float32 [N]: the network's value, with the playouts' share in it, or the final one
    node_raw_value: np.ndarray  # float32 [N]: the network's value alone, or the final one
    node_lead: np.ndarray  # float32 [N]: points the side to move is ahead, as the network says, or the final ones
    node_ownership: np.ndarray  # int8 [N, S*S or 0]: from -127 the opponent's to 127 the mover's, as the network says
    edge_pos: np.ndarray  # int16 [E]: move
    edge_child: np.ndarray  # int32 [E]: node, or NOT_EXPANDED
    edge_logit: np.ndarray  # float32 [E]: logarithm of the prior; while the node waits for the network, the least prior
    edge_prior: np.ndarray  # float32 [E]: policy over the node's edges
    edge_visits: np.ndarray  # int32 [E]
    edge_virtual_loss: np.ndarray  # int16 [E]
    edge_value_sum: np.ndarray  # float64 [E]: sum of values
    edge_value_square_sum: np.ndarray  # float64 [E]: sum of squared values
    edge_lead_sum: np.ndarray  # float64 [E]: sum of leads
    edge_rave_visits: np.ndarray  # float32 [E or 0]: for UCT, games in which the mover was the first to play the move
    edge_rave_sum: np.ndarray  # float32 [E or 0]: sum of their values


class Answer(NamedTuple):
    """What the network says of the positions of a batch; an evaluator may tell more than policy and value."""

    logits: np.ndarray  # float32 [B, A]
    values: np.ndarray  # float32 [B, 3]: chances to lose, draw and win
    leads: np.ndarray = NO_LEADS  # float32 [B], or [0] where the network does not tell
    ownership: np.ndarray = NO_OWNERSHIP  # float32 [B, S*S], or [0, 0]: from -1 to 1, the mover's


OWNED = 127.0  # Tree.node_ownership of a point that is surely the mover's


class Position(NamedTuple):
    """A position and the game that led to it."""

    state: State
    history: History


class Batch(NamedTuple):
    """Work space of the search: the leaves that wait for the network, and how they were reached."""

    positions: Positions  # of the leaves, [B] each
    root_past: np.ndarray  # uint64 [K, W]: State.buffer before the last moves of the game (nn/feature.py)
    line_past: np.ndarray  # uint64 [K, W]: the same at the end of a line
    leaf: np.ndarray  # int32 [B]: node
    path: np.ndarray  # int32 [B + LOOKS, MAX_DEPTH]: edges from the root
    length: np.ndarray  # int32 [B + LOOKS]: edges in use
    moves: np.ndarray  # int32 [S*S]: candidate moves of one node
    owner: np.ndarray  # int8 [C]
    queue: np.ndarray  # int16 [C]
    banned: np.ndarray  # int16 [3, C]: by color and pos, plies below the root in which the move is no candidate
    superko: np.ndarray  # bool [3]: by color, whether moves that repeat a position are no candidates
    share: np.ndarray  # float32 [B]: share of the playouts in the value
    playout_value: np.ndarray  # float32 [B]: what they say, where the share is above 0
    playout: State  # the position of a playout
    policy: np.ndarray  # float64 [A]: one number for each edge of a node
    random_state: np.ndarray  # uint64 [1]
    filled: np.ndarray  # int32 [B + 1]: to how many positions a call of so many is filled up
    outcome: np.ndarray  # int8 [B]: what is proven of each already (mcts/tactics/ending.py), UNPROVEN mostly


NODE_ARRAYS = tuple(name for name in Tree._fields if name.startswith("node_"))
EDGE_ARRAYS = tuple(name for name in Tree._fields if name.startswith("edge_"))
DTYPES = {
    "counters": np.int32, "node_edge": np.int32, "node_edges": np.int16, "node_front": np.int16, "node_kind": np.int8,
    "node_visits": np.int32, "node_virtual_loss": np.int32, "node_value": np.float32, "node_raw_value": np.float32,
    "node_lead": np.float32, "node_ownership": np.int8,
    "edge_pos": np.int16, "edge_child": np.int32, "edge_logit": np.float32, "edge_prior": np.float32,
    "edge_visits": np.int32, "edge_virtual_loss": np.int16, "edge_value_sum": np.float64,
    "edge_value_square_sum": np.float64, "edge_lead_sum": np.float64, "edge_rave_visits": np.float32,
    "edge_rave_sum": np.float32,
}
RAVE_ARRAYS = ("edge_rave_visits", "edge_rave_sum")


def tree_shapes(nodes: int, edges: int, points: int, has_rave: bool = False) -> dict[str, tuple[int, ...]]:
    """Return the shape of each array of a tree; `points` is 0 where nobody tells the ownership."""
    shapes: dict[str, tuple[int, ...]] = {"counters": (COUNTERS,), **dict.fromkeys(NODE_ARRAYS, (nodes,)),
                                          **dict.fromkeys(EDGE_ARRAYS, (edges,))}
    return {**shapes, "node_ownership": (nodes, points), **dict.fromkeys(RAVE_ARRAYS, (edges * has_rave,))}


def new_tree(nodes: int, edges: int, points: int = 0, has_rave: bool = False) -> Tree:
    """Return an empty tree with room for so many nodes and edges (memory is touched only when used).

    `points` are S*S where the network tells the ownership.
    """
    shapes = tree_shapes(nodes, edges, points, has_rave)
    sizes = [math.prod(shapes[name]) * np.dtype(DTYPES[name]).itemsize for name in Tree._fields]
    *starts, end = accumulate((-(-size // LINE) * LINE for size in sizes), initial=0)
    # In one piece, too large for malloc's heap, which keeps what is given back and clears it before it is used again.
    block = np.zeros(end, dtype=np.uint8)
    return Tree(*(block[start : start + size].view(DTYPES[name]).reshape(shapes[name])
                  for name, start, size in zip(Tree._fields, starts, sizes, strict=True)))


def node_bytes(edges: int, points: int = 0, has_rave: bool = False) -> int:
    """Return the memory that a node with so many edges takes."""
    _, *arrays = new_tree(1, edges, points, has_rave)
    return sum(array.nbytes for array in arrays)


def grow_tree(tree: Tree, nodes: int, edges: int) -> Tree:
    """Return a copy with more room."""
    larger = new_tree(nodes, edges, tree.node_ownership.shape[1], len(tree.edge_rave_sum) > 0)
    for old, new in zip(tree, larger, strict=True):
        new[: len(old)] = old
    return larger


def new_batch(board_size: int, batch_size: int, plane_set: PlaneSet = BASIC) -> Batch:
    """Return work space for batches of up to `batch_size` leaves of a network that wants these planes."""
    cells = (board_size + 2) ** 2
    positions = plane_set.new_positions(board_size, batch_size)
    past = (plane_set.looks_back, positions.now.shape[1])
    return Batch(
        positions, np.zeros(past, dtype=np.uint64), np.zeros(past, dtype=np.uint64),
        np.zeros(batch_size, dtype=np.int32), np.zeros((batch_size + LOOKS, MAX_DEPTH), dtype=np.int32),
        np.zeros(batch_size + LOOKS, dtype=np.int32), np.zeros(board_size * board_size, dtype=np.int32),
        np.zeros(cells, dtype=np.int8), np.zeros(cells, dtype=np.int16), np.zeros((3, cells), dtype=np.int16),
        np.ones(3, dtype=np.bool_), np.zeros(batch_size, dtype=np.float32), np.zeros(batch_size, dtype=np.float32),
        new_state(board_size), np.zeros(board_size * board_size + 1), np.zeros(1, dtype=np.uint64),
        np.zeros(batch_size + 1, dtype=np.int32), np.zeros(batch_size, dtype=np.int8),
    )


def new_line(board_size: int, moves: int) -> Position:
    """Return a position and a history in which the search plays out a line after `moves` moves of the game."""
    return Position(new_state(board_size), new_history(moves + MAX_DEPTH + 2))


@kernel
def go_to_root(line: Position, root: Position) -> None:
    """Make a line the position that is searched. Modifies line."""
    copy_state(line.state, root.state)
    line.history.length[0] = root.history.length[0]


@kernel
def go_to_leaf(tree: Tree, root: Position, line: Position, batch: Batch, index: int) -> None:
    """Make a line the one that an entry of the batch stands at the end of. Modifies line."""
    go_to_root(line, root)
    state, history = line
    for depth in range(batch.length[index]):
        play_recorded(state, history, tree.edge_pos[batch.path[index, depth]], state.info[TO_MOVE])


@kernel
def add_node(tree: Tree) -> int:
    """Append an unevaluated node without edges and return it. Modifies tree; the caller has made sure of the room."""
    node = tree.counters[NODES]
    tree.counters[NODES] = node + 1
    tree.node_edge[node] = tree.counters[EDGES]
    tree.node_edges[node] = 0
    tree.node_front[node] = 0
    tree.node_kind[node] = PENDING
    tree.node_visits[node] = 0
    tree.node_virtual_loss[node] = 0
    tree.node_value[node] = 0.0
    tree.node_raw_value[node] = 0.0
    tree.node_lead[node] = 0.0
    return node


@kernel
def clear_edge(tree: Tree, edge: int) -> None:
    """Make an edge one that nobody has visited; move and prior stay. Modifies tree."""
    tree.edge_child[edge] = NOT_EXPANDED
    tree.edge_visits[edge] = 0
    tree.edge_virtual_loss[edge] = 0
    tree.edge_value_sum[edge] = 0.0
    tree.edge_value_square_sum[edge] = 0.0
    tree.edge_lead_sum[edge] = 0.0
    if len(tree.edge_rave_sum) > 0:
        tree.edge_rave_visits[edge] = 0.0
        tree.edge_rave_sum[edge] = 0.0


@kernel
def add_edge(tree: Tree, node: int, pos: int, least_prior: float) -> None:
    """Append a move to the newest node. Modifies tree; the caller has made sure of the room."""
    edge = tree.counters[EDGES]
    tree.counters[EDGES] = edge + 1
    tree.node_edges[node] += 1
    tree.edge_pos[edge] = pos
    tree.edge_logit[edge] = least_prior
    tree.edge_prior[edge] = 0.0
    clear_edge(tree, edge)


@kernel
def bring_forward(tree: Tree, node: int) -> None:
    """Move the unvisited edge with the greatest prior in front of the other unvisited ones. Modifies tree.

    All unvisited edges of a node have the same value, so PUCT need not look beyond the first of them. On equal
    priors the first point in board order comes forward, PASS last. A search that counts no tried edges (node_front)
    may have tried any; these stay where they are.
    """
    first = tree.node_edge[node]
    front, end = first + tree.node_front[node], first + tree.node_edges[node]
    while front < end and tree.edge_child[front] != NOT_EXPANDED:
        front += 1
    if front >= end:
        return
    best = front
    prior, pos = tree.edge_prior[front], tree.edge_pos[front]
    for edge in range(front + 1, end):
        other = tree.edge_prior[edge]
        if tree.edge_child[edge] != NOT_EXPANDED:
            continue
        if other > prior or (other == prior and (pos == PASS or PASS != tree.edge_pos[edge] < pos)):
            best, prior, pos = edge, other, tree.edge_pos[edge]
    logit = tree.edge_logit[best]
    tree.edge_pos[best] = tree.edge_pos[front]
    tree.edge_prior[best] = tree.edge_prior[front]
    tree.edge_logit[best] = tree.edge_logit[front]
    tree.edge_pos[front] = pos
    tree.edge_prior[front] = prior
    tree.edge_logit[front] = logit


@kernel
def copy_node(target: Tree, node: int, source: Tree, original: int) -> None:
    """Copy what is known about a node itself, with nothing waiting for it. Modifies target."""
    target.node_front[node] = source.node_front[original]
    target.node_kind[node] = source.node_kind[original]
    target.node_visits[node] = source.node_visits[original]
    target.node_virtual_loss[node] = 0
    target.node_value[node] = source.node_value[original]
    target.node_raw_value[node] = source.node_raw_value[original]
    target.node_lead[node] = source.node_lead[original]
    for point in range(source.node_ownership.shape[1]):
        target.node_ownership[node, point] = source.node_ownership[original, point]


@kernel
def copy_edges(target: Tree, start: int, source: Tree, first: int, count: int) -> None:
    """Copy what is known about `count` edges, with nothing waiting for them and no nodes behind. Modifies target."""
    for i in range(count):
        edge, old = start + i, first + i
        target.edge_pos[edge] = source.edge_pos[old]
        target.edge_logit[edge] = source.edge_logit[old]
        target.edge_prior[edge] = source.edge_prior[old]
        target.edge_visits[edge] = source.edge_visits[old]
        target.edge_virtual_loss[edge] = 0
        target.edge_value_sum[edge] = source.edge_value_sum[old]
        target.edge_value_square_sum[edge] = source.edge_value_square_sum[old]
        target.edge_lead_sum[edge] = source.edge_lead_sum[old]
        if len(source.edge_rave_sum) > 0:
            target.edge_rave_visits[edge] = source.edge_rave_visits[old]
            target.edge_rave_sum[edge] = source.edge_rave_sum[old]
        target.edge_child[edge] = NOT_EXPANDED


@kernel
def copy_subtree(target: Tree, source: Tree, root: int) -> None:
    """Copy the nodes below `root` (included) to the empty tree `target`, breadth first. Modifies target.

    While a node waits for its turn, node_edge of its copy holds the number of the original.
    """
    target.counters[NODES] = 1
    target.counters[EDGES] = 0
    target.counters[REPETITIONS] = source.counters[REPETITIONS]
    target.node_edge[0] = root
    node = 0
    while node < target.counters[NODES]:
        original, start = target.node_edge[node], target.counters[EDGES]
        first, count = source.node_edge[original], source.node_edges[original]
        target.node_edge[node] = start
        target.node_edges[node] = count
        copy_node(target, node, source, original)
        copy_edges(target, start, source, first, count)
        for i in range(count):
            if source.edge_child[first + i] != NOT_EXPANDED:
                child = target.counters[NODES]
                target.counters[NODES] = child + 1
                target.node_edge[child] = source.edge_child[first + i]
                target.edge_child[start + i] = child
        target.counters[EDGES] = start + count
        node += 1
