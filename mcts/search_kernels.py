"""The verbs of the search: select, expand, (evaluate,) back up.

`select_batch` plays lines from the root until a batch of new positions waits for the network, `back_up_batch` takes the
network's answer, gives it to the new nodes and backs it up. A line that ends the game is scored exactly, with komi,
without the network. A batch that is not full may be filled up with positions that coming visits are likely to ask
about: they are evaluated, but count as visited only when a visit comes to them.
"""

import math

import numpy as np

from board.constant import PASS
from board.rules import is_superko, list_legal_moves, play_recorded
from board.state import EMPTY, PASSES, SIZE, TO_MOVE, WIDTH, State, copy_words
from common.kernel import kernel
from mcts.algorithm import select_edge
from mcts.atari import least_prior
from mcts.constant import MAX_DEPTH, NOT_EXPANDED
from mcts.outcome import DRAW, final_lead, value_of_lead
from mcts.params import Plan
from mcts.solver import known_value, prove_line
from mcts.tree_arrays import (
    AHEAD,
    EDGES,
    EXPANDED,
    LOST,
    NODES,
    OWNED,
    PENDING,
    READY,
    REPETITIONS,
    ROOT,
    TERMINAL,
    UNPROVEN,
    Answer,
    Batch,
    Position,
    Tree,
    add_edge,
    add_node,
    bring_forward,
    go_to_root,
)
from nn.feature import remember, take_position


@kernel
def add_candidates(
    tree: Tree, node: int, position: Position, batch: Batch, depth: int, atari_prior: float,
) -> None:
    """Give a new node, `depth` moves below the root, its candidates. Modifies tree and batch.moves.

    These are the legal moves that fill no own complete eye, and PASS, last. Moves that batch.banned forbids at this
    depth are left out, and repetitions where batch.superko says so; PASS stays when nothing else does.
    """
    state, history = position
    color = state.info[TO_MOVE]
    tree.node_edge[node] = tree.counters[EDGES]
    count = list_legal_moves(state, history, color, False, False, batch.moves)
    for i in range(count):
        pos = batch.moves[i]
        repeats = is_superko(state, history, pos, color)
        tree.counters[REPETITIONS] += repeats
        if depth >= batch.banned[color, pos] and not (repeats and batch.superko[color]):
            add_edge(tree, node, pos, least_prior(state, pos, atari_prior))
    if depth >= batch.banned[color, PASS] or tree.node_edges[node] == 0:
        add_edge(tree, node, PASS, 0.0)


@kernel
def expand(
    tree: Tree, node: int, position: Position, past: np.ndarray, batch: Batch, index: int, atari_prior: float,
) -> None:
    """Give the newest node, of `position`, its candidates; keep the position as entry `index` of the batch.

    `past`: as for take_position. Modifies tree and batch.
    """
    state, history = position
    add_candidates(tree, node, position, batch, batch.length[index], atari_prior)
    take_position(batch.positions, index, state, history, past)
    batch.leaf[index] = node


@kernel
def add_virtual_loss(tree: Tree, batch: Batch, index: int, change: int) -> None:
    """Add `change` to the waiting visits of every edge and node on a path. Modifies tree."""
    node = ROOT
    for depth in range(batch.length[index]):
        edge = batch.path[index, depth]
        tree.edge_virtual_loss[edge] += change
        tree.node_virtual_loss[node] += change
        node = tree.edge_child[edge]


@kernel
def back_up(tree: Tree, batch: Batch, index: int, value: float, lead: float) -> None:
    """Add a finished visit to every edge on a path; value and lead are those of the side to move at its end.

    Modifies tree.
    """
    for depth in range(batch.length[index] - 1, -1, -1):
        value = 1.0 - value
        lead = -lead
        edge = batch.path[index, depth]
        tree.edge_visits[edge] += 1
        tree.edge_value_sum[edge] += value
        tree.edge_value_square_sum[edge] += value * value
        tree.edge_lead_sum[edge] += lead
    node = ROOT
    for depth in range(batch.length[index]):
        tree.node_visits[node] += 1
        node = tree.edge_child[batch.path[index, depth]]


@kernel
def select_line(tree: Tree, root: Position, line: Position, batch: Batch, index: int, plan: Plan, visit: int) -> int:
    """Play one line from the root to a new, a waiting or a final position and return its node.

    In an empty tree that is the root itself. Modifies tree (a new node), line (which becomes the position) and entry
    `index` of the batch; batch.leaf becomes -1 where the node is new.
    """
    state, history = line
    go_to_root(line, root)
    for i in range(len(batch.line_past)):
        copy_words(batch.line_past[i], batch.root_past[i])
    node, depth = ROOT, 0
    batch.leaf[index] = ROOT
    if tree.counters[NODES] == 0:
        node = add_node(tree)
        batch.leaf[index] = -1
    while (tree.node_kind[node] == EXPANDED or tree.node_kind[ROOT] >= LOST and node == ROOT) and depth < MAX_DEPTH:
        edge = select_edge(tree, node, batch, plan, visit)
        batch.path[index, depth] = edge
        depth += 1
        remember(batch.line_past, state)
        play_recorded(state, history, tree.edge_pos[edge], state.info[TO_MOVE])
        if tree.edge_child[edge] == NOT_EXPANDED:
            node = add_node(tree)
            tree.edge_child[edge] = node
            batch.leaf[index] = -1
            break
        node = tree.edge_child[edge]
        batch.leaf[index] = node
        if tree.edge_visits[edge] < plan.selection.expand:
            break
    batch.length[index] = depth
    return node


@kernel
def count_as_waiting(tree: Tree, batch: Batch, index: int, to: int) -> None:
    """Let the line of an entry, which finds nothing new, wait as one that stands at `to`. Modifies tree and batch."""
    batch.length[to] = batch.length[index]
    for depth in range(batch.length[index]):
        batch.path[to, depth] = batch.path[index, depth]
    add_virtual_loss(tree, batch, to, 1)


@kernel
def stop_waiting(tree: Tree, batch: Batch, begin: int, end: int) -> None:
    """Let the lines of some entries wait no longer: none of them is a visit. Modifies tree."""
    for index in range(begin, end):
        add_virtual_loss(tree, batch, index, -1)


@kernel
def finish_visit(
    tree: Tree, node: int, is_over: bool, batch: Batch, index: int, plan: Plan,
) -> None:
    """Make a visit to a node that needs no network, or wait with those who ask about it ahead. Modifies tree."""
    kind = tree.node_kind[node]
    if kind == AHEAD:
        tree.node_kind[node] = PENDING
        add_virtual_loss(tree, batch, index, 1)
        return
    if kind == READY or kind < 0:
        tree.node_kind[node] = TERMINAL if is_over else EXPANDED if kind == READY else -kind
        if plan.selection.solve and tree.node_kind[node] != EXPANDED:
            prove_line(tree, batch, index)
    back_up(tree, batch, index, known_value(tree, node), float(tree.node_lead[node]))


@kernel
def select_batch(
    tree: Tree, root: Position, line: Position, batch: Batch, wanted: int, plan: Plan, done: int, ahead: int = 0,
) -> tuple[int, int]:
    """Start up to `wanted` visits; return how many entries the batch has, and how many visits more than entries began.

    A visit that meets the end of the game, or a position that was evaluated ahead, is finished at once; one that meets
    a position that is asked about ahead waits for its answer. The first line that meets a position where a visit waits
    ends the visits: it would need to know what that one brings.

    Then the rest of the batch is filled with positions that the next visits are likely to want (AHEAD): up to `ahead`
    entries, or to as many as the network calculates in the same time (batch.filled). To find them, lines are played
    as if they were visits, each waiting for those before it, also the ones that find nothing new (LOOKS at most); at
    the end these stop waiting.

    `done` visits of the search were made before; the caller keeps a batch within one round of sequential halving. The
    first visit of an empty tree is to its root and belongs to no edge. Modifies tree, line and batch.
    """
    state, room = line.state, min(ahead, len(batch.leaf))
    count, visits, next_line = 0, 0, len(batch.leaf)
    first_ahead = -1  # of the entries; -1 while there are visits to be made
    while visits < wanted or count < room and next_line < len(batch.length):
        node = select_line(tree, root, line, batch, count, plan, done + visits)
        is_new, is_over = batch.leaf[count] == -1, state.info[PASSES] >= 2
        if tree.node_kind[node] == PENDING and not is_new:
            wanted = visits
        if visits == wanted and first_ahead < 0:
            first_ahead = count
            room = max(room, batch.filled[count]) if ahead > 0 else room
        if is_new and not is_over:
            expand(tree, node, line, batch.line_past, batch, count, plan.selection.atari_prior)
            add_virtual_loss(tree, batch, count, 1)
            if first_ahead >= 0:
                tree.node_kind[node] = AHEAD
            count += 1
        elif is_new:
            finish_node(tree, node, state, plan.komi, batch)
            tree.node_kind[node] = READY
        if visits < wanted:
            visits += 1
            if not is_new or is_over:
                finish_visit(tree, node, is_over, batch, count, plan)
        elif (not is_new or is_over) and next_line < len(batch.length):
            count_as_waiting(tree, batch, count, next_line)
            next_line += 1
    stop_waiting(tree, batch, first_ahead if first_ahead >= 0 else count, count)
    stop_waiting(tree, batch, len(batch.leaf), next_line)
    return count, visits - count


@kernel
def finish_node(tree: Tree, node: int, state: State, komi: float, batch: Batch) -> None:
    """Count the game that ends in a node: it is TERMINAL. Modifies tree and the work space of batch."""
    tree.node_kind[node] = TERMINAL
    tree.node_lead[node] = final_lead(state, state.info[TO_MOVE], komi, batch)
    tree.node_value[node] = value_of_lead(tree.node_lead[node])
    tree.node_raw_value[node] = tree.node_value[node]
    points, width = state.info[SIZE], state.info[WIDTH]
    for point in range(tree.node_ownership.shape[1]):
        owner = batch.owner[(point // points + 1) * width + point % points + 1]
        sign = 0 if owner == EMPTY else 1 if owner == state.info[TO_MOVE] else -1
        tree.node_ownership[node, point] = sign * OWNED


@kernel
def divide_priors(tree: Tree, node: int, total: float) -> None:
    """Divide the priors of a node by their sum. Modifies tree."""
    first, log_total = tree.node_edge[node], math.log(total)
    for edge in range(first, first + tree.node_edges[node]):
        tree.edge_prior[edge] /= total
        tree.edge_logit[edge] -= log_total


@kernel
def raise_prior(tree: Tree, edge: int, least: float) -> float:
    """Raise the prior of an edge to at least `least` and return by how much, 0 mostly. Modifies tree."""
    added = least - tree.edge_prior[edge]
    if added <= 0.0:
        return 0.0
    tree.edge_prior[edge] = least
    tree.edge_logit[edge] = math.log(least)
    return float(added)


@kernel
def raise_priors(tree: Tree, node: int, least: np.ndarray) -> None:
    """Raise the priors of an expanded node to at least `least` [C]; the order of its edges stays. Modifies tree."""
    first, added = tree.node_edge[node], 0.0
    for edge in range(first, first + tree.node_edges[node]):
        if tree.edge_pos[edge] != PASS:
            added += raise_prior(tree, edge, float(least[tree.edge_pos[edge]]))
    if added > 0.0:
        divide_priors(tree, node, 1.0 + added)


@kernel
def raise_least_priors(tree: Tree, node: int, least: np.ndarray) -> None:
    """Have `set_priors` raise the priors of a node that waits for its policy to at least `least` [C]. Modifies tree."""
    first = tree.node_edge[node]
    for edge in range(first, first + tree.node_edges[node]):
        if tree.edge_pos[edge] != PASS:
            tree.edge_logit[edge] = max(tree.edge_logit[edge], least[tree.edge_pos[edge]])


@kernel
def set_priors(tree: Tree, node: int, logits: np.ndarray, policy_index: np.ndarray, temperature: float) -> None:
    """Give a node the policy softmax(logits / temperature) over its candidates, raised where `expand` asks for it.

    Modifies tree. `logits` [A] are the network's.
    """
    first, count = tree.node_edge[node], tree.node_edges[node]
    highest, sharpness = -math.inf, 1.0 / temperature
    for edge in range(first, first + count):
        highest = max(highest, logits[policy_index[tree.edge_pos[edge]]])
    total = 0.0
    for edge in range(first, first + count):
        tree.edge_prior[edge] = math.exp((logits[policy_index[tree.edge_pos[edge]]] - highest) * sharpness)
        total += tree.edge_prior[edge]
    log_total, added = math.log(total), 0.0
    for edge in range(first, first + count):
        prior, least = tree.edge_prior[edge] / total, tree.edge_logit[edge]
        logit = (logits[policy_index[tree.edge_pos[edge]]] - highest) * sharpness - log_total
        if prior < least:
            added += least - prior
            prior, logit = float(least), math.log(float(least))
        tree.edge_prior[edge] = prior
        tree.edge_logit[edge] = logit
    if added > 0.0:
        divide_priors(tree, node, 1.0 + added)


@kernel
def set_evaluation(
    tree: Tree, batch: Batch, index: int, answer: Answer, policy_index: np.ndarray, temperature: float,
) -> None:
    """Give the node in entry `index` of the batch what the network says: it is EXPANDED. Modifies tree."""
    node, value = batch.leaf[index], answer.values[index]
    set_priors(tree, node, answer.logits[index], policy_index, temperature)
    if len(answer.leads) > 0:
        tree.node_lead[node] = answer.leads[index]
    for point in range(tree.node_ownership.shape[1]):
        tree.node_ownership[node, point] = round(OWNED * answer.ownership[index, point])
    tree.node_raw_value[node] = value[2] + DRAW * value[1]
    correction = batch.playout_value[index] - tree.node_raw_value[node]
    tree.node_value[node] = tree.node_raw_value[node] + batch.share[index] * correction
    tree.node_kind[node] = EXPANDED
    bring_forward(tree, node)


@kernel
def back_up_batch(
    tree: Tree, batch: Batch, waiting: int, answer: Answer, policy_index: np.ndarray, temperature: float,
) -> None:
    """Take the network's answer for the first `waiting` entries of the batch. Modifies tree."""
    for index in range(waiting):
        node = batch.leaf[index]
        is_ahead = tree.node_kind[node] == AHEAD
        set_evaluation(tree, batch, index, answer, policy_index, temperature)
        if is_ahead:
            tree.node_kind[node] = READY if batch.outcome[index] == UNPROVEN else -batch.outcome[index]
            continue
        if batch.outcome[index] != UNPROVEN:
            tree.node_kind[node] = batch.outcome[index]
            prove_line(tree, batch, index)
        add_virtual_loss(tree, batch, index, -1)
        back_up(tree, batch, index, known_value(tree, node), float(tree.node_lead[node]))
