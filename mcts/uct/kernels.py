"""The verbs of the search without a network: select, play out, back up, expand.

A line goes down the tree, then a playout ends its game; both together are the moves of the line, which RAVE looks at.
Positions that were visited often enough become nodes in a pass of its own, after all lines of a call: so lines are
compiled without what is known about moves (patterns, ladders, the classifier), and that without lines.
"""

from typing import NamedTuple

import numpy as np

from board.constant import PASS
from board.playout import PLAYOUT_MOVES_PER_POINT
from board.rules import play_recorded
from board.state import BLACK, PASSES, TO_MOVE, WHITE, copy_words
from common.kernel import kernel
from mcts.constant import MAX_DEPTH, NOT_EXPANDED
from mcts.outcome import value_of_lead
from mcts.search_kernels import add_candidates, add_virtual_loss
from mcts.tree_arrays import EXPANDED, NODES, ROOT, Batch, Position, Tree, add_node, go_to_root
from mcts.uct.params import UctParams
from mcts.uct.playout_board import PlayoutGame, start_playout
from mcts.uct.playout_policy import PlayoutRules, play_out, playout_score
from mcts.uct.priors import FeatureFinder, find_priors, move_before_last
from mcts.uct.selection import select_by_uct
from nn.classifier import PointJudge

# RAVE counts no more games of a move: beyond 2^24 a float32 does not grow by 1 any more, and its sum still would.
MOST_RAVE_GAMES = 2.0**23


class PlayoutLines(NamedTuple):
    """Lines that are searched at the same time, and work space. L = lines, C = cells of the board."""

    moves: np.ndarray  # int16 [L, M]: the moves after the root, those in the tree first
    length: np.ndarray  # int32 [L]: how many these are
    made: np.ndarray  # int32 [L]: the edge whose position is to become a node, NOT_EXPANDED if none
    previous: np.ndarray  # int16 [L]: the move before the last one in the tree
    score: np.ndarray  # float32 [L]: Black's final score, komi taken off
    first: np.ndarray  # int8 [C]: who plays each point first


class UctPlan(NamedTuple):
    """What the kernels are told about a search."""

    params: UctParams
    finder: FeatureFinder
    rules: PlayoutRules
    komi: float


def new_lines(board_size: int, count: int) -> PlayoutLines:
    """Return room for lines that are searched at the same time."""
    longest = MAX_DEPTH + PLAYOUT_MOVES_PER_POINT * board_size**2
    return PlayoutLines(
        np.zeros((count, longest), dtype=np.int16), np.zeros(count, dtype=np.int32),
        np.full(count, NOT_EXPANDED, dtype=np.int32), np.zeros(count, dtype=np.int16),
        np.zeros(count, dtype=np.float32), np.zeros((board_size + 2) ** 2, dtype=np.int8),
    )


@kernel
def expand_node(
    tree: Tree, node: int, position: Position, batch: Batch, depth: int, plan: UctPlan, value: float,
    judge: PointJudge,
) -> None:
    """Give a node, `depth` moves below the root, its candidates and their priors.

    Its mover's value is `value`. Modifies tree, plan.finder and judge.
    """
    add_candidates(tree, node, position, batch, depth, 0.0)
    find_priors(tree, node, position, plan.finder, plan.params, judge)
    first = tree.node_edge[node]
    for edge in range(first, first + tree.node_edges[node]):
        tree.edge_logit[edge] = np.log(tree.edge_prior[edge])
    tree.node_value[node] = value
    tree.node_raw_value[node] = value
    tree.node_kind[node] = EXPANDED


@kernel
def expand_lines(tree: Tree, root: Position, line: Position, batch: Batch, lines: PlayoutLines, wanted: int,
                 plan: UctPlan, judge: PointJudge) -> None:
    """Make nodes of the positions that the first `wanted` lines have found; in an empty tree the root.

    batch.leaf becomes each line's new node, NOT_EXPANDED where there is none, and batch.positions.now its position.
    Modifies tree, line, batch, plan.finder and judge.
    """
    state, history = line
    for index in range(wanted):
        edge, depth, value, is_root = lines.made[index], batch.length[index], 0.5, tree.counters[NODES] == 0
        batch.leaf[index] = NOT_EXPANDED
        if not is_root and (edge == NOT_EXPANDED or tree.edge_child[edge] != NOT_EXPANDED):
            continue
        go_to_root(line, root)
        node = add_node(tree)
        if is_root:
            depth = 0
        else:
            tree.edge_child[edge] = node
            value = 1.0 - tree.edge_value_sum[edge] / tree.edge_visits[edge]
        for i in range(depth):
            play_recorded(state, history, lines.moves[index, i], state.info[TO_MOVE])
        expand_node(tree, node, line, batch, depth, plan, value, judge)
        copy_words(batch.positions.now[index], state.buffer)
        batch.leaf[index] = node


@kernel
def select_for_playout(tree: Tree, root: Position, line: Position, batch: Batch, lines: PlayoutLines, index: int,
                       plan: UctPlan) -> None:
    """Play one line from the root to a position that is no node, or to the end of the game.

    Modifies tree, line, lines and entry `index` of the batch, whose positions.now keeps the end of the line.
    """
    state, history = line
    go_to_root(line, root)
    node, edge, depth = ROOT, NOT_EXPANDED, 0
    while node != NOT_EXPANDED and depth < MAX_DEPTH:
        edge = select_by_uct(tree, node, plan.params)
        batch.path[index, depth] = edge
        lines.moves[index, depth] = tree.edge_pos[edge]
        tree.edge_virtual_loss[edge] += 1
        tree.node_virtual_loss[node] += 1
        depth += 1
        play_recorded(state, history, tree.edge_pos[edge], state.info[TO_MOVE])
        node = tree.edge_child[edge]
    is_due = node == NOT_EXPANDED and tree.edge_visits[edge] >= plan.params.expand and state.info[PASSES] < 2
    lines.made[index] = edge if is_due else NOT_EXPANDED
    batch.length[index] = depth
    lines.previous[index] = move_before_last(history)
    copy_words(batch.positions.now[index], state.buffer)


@kernel
def play_out_lines(work: PlayoutGame, batch: Batch, lines: PlayoutLines, first: int, last: int, plan: UctPlan) -> None:
    """Play out the lines from `first` to below `last`. Modifies work and these entries of lines."""
    for index in range(first, last):
        copy_words(work.state.buffer, batch.positions.now[index])
        start_playout(work, plan.rules.table, lines.previous[index])
        count, depth = play_out(work, plan.rules), batch.length[index]
        for i in range(count):
            lines.moves[index, depth + i] = work.moves[i]
        lines.length[index] = depth + count
        lines.score[index] = playout_score(work) - plan.komi


@kernel
def add_rave(tree: Tree, node: int, first_player: np.ndarray, color: int, value: float) -> None:
    """Count a game for the moves of a node that its mover was the first to play in it. Modifies tree."""
    first = tree.node_edge[node]
    for edge in range(first, first + tree.node_edges[node]):
        pos = tree.edge_pos[edge]
        if pos != PASS and first_player[pos] == color and tree.edge_rave_visits[edge] < MOST_RAVE_GAMES:
            tree.edge_rave_visits[edge] += 1.0
            tree.edge_rave_sum[edge] += value


@kernel
def back_up_line(tree: Tree, batch: Batch, lines: PlayoutLines, index: int, root_color: int) -> None:
    """Give the result of a finished line to the nodes on its way, and to RAVE. Modifies tree and lines.first."""
    first_player, depth, score = lines.first, batch.length[index], float(lines.score[index])
    for pos in range(len(first_player)):
        first_player[pos] = 0
    for i in range(lines.length[index] - 1, depth - 1, -1):
        first_player[lines.moves[index, i]] = root_color if i % 2 == 0 else 3 - root_color
    for i in range(depth - 1, -1, -1):
        color = root_color if i % 2 == 0 else 3 - root_color
        first_player[lines.moves[index, i]] = color
        value = value_of_lead(score if color == BLACK else -score)
        node = ROOT if i == 0 else tree.edge_child[batch.path[index, i - 1]]
        edge = batch.path[index, i]
        tree.edge_visits[edge] += 1
        tree.edge_virtual_loss[edge] -= 1
        tree.edge_value_sum[edge] += value
        tree.edge_value_square_sum[edge] += value * value
        tree.edge_lead_sum[edge] += score if color != WHITE else -score
        tree.node_visits[node] += 1
        tree.node_virtual_loss[node] -= 1
        add_rave(tree, node, first_player, color, value)


@kernel
def is_awaited(lines: PlayoutLines, index: int) -> bool:
    """Tell whether a line has come to the end of one before it, which is to become a node."""
    edge = lines.made[index]
    if edge == NOT_EXPANDED:
        return False
    for earlier in range(index):
        if lines.made[earlier] == edge:
            return True
    return False


@kernel
def search_lines(
    tree: Tree, root: Position, line: Position, batch: Batch, lines: PlayoutLines, work: PlayoutGame, wanted: int,
    plan: UctPlan,
) -> int:
    """Search up to `wanted` lines one after the other, until a node is missing; return how many.

    Therefore the lines are those of a search that makes each node at once. Modifies all but root and plan.
    """
    for index in range(wanted):
        select_for_playout(tree, root, line, batch, lines, index, plan)
        if is_awaited(lines, index):
            add_virtual_loss(tree, batch, index, -1)
            return index
        play_out_lines(work, batch, lines, index, index + 1, plan)
        back_up_line(tree, batch, lines, index, root.state.info[TO_MOVE])
    return wanted


@kernel
def select_lines(tree: Tree, root: Position, line: Position, batch: Batch, lines: PlayoutLines, wanted: int,
                 plan: UctPlan) -> None:
    """Choose so many lines to be played out together; each counts as lost for the next. Modifies all but root, plan."""
    for index in range(wanted):
        select_for_playout(tree, root, line, batch, lines, index, plan)


@kernel
def back_up_lines(tree: Tree, batch: Batch, lines: PlayoutLines, wanted: int, root_color: int) -> None:
    """Back up the lines that were played out. Modifies tree and lines.first."""
    for index in range(wanted):
        back_up_line(tree, batch, lines, index, root_color)
