"""The step of many games: each one searches until it needs the network, and plays its moves on the way.

`select_in_games` runs every game of one half up to a batch of positions, `back_up_in_games` takes the network's
answer.
One game alone makes exactly the searches of MCTSTree.search_with_sequential_halving.
"""

import math

import numpy as np

from board.constant import MAX_KOMI
from board.random_state import next_random
from board.rules import play_recorded
from board.score import area_score
from board.state import EMPTY, PASSES, TO_MOVE, History, clear_state, copy_words, history_of, start_history
from common.kernel import kernel
from mcts.algorithm import choose_edge
from mcts.constant import MAX_CONSIDERED_NODES, NOT_EXPANDED, PUCT
from mcts.gumbel import improved_policy, policy_value
from mcts.params import Plan
from mcts.root_noise import SMALLEST_RANDOM, mix_root_noise
from mcts.search_kernels import back_up_batch, select_batch
from mcts.searches import IMPROVED, TEMPERED
from mcts.tree_arrays import EDGES, EXPANDED, NODES, ROOT, Answer, Position, Tree, clear_edge
from nn.feature import remember
from selfplay.games import (
    FAST,
    FINISHED,
    FULL,
    NEW,
    NO_CANDIDATE,
    SEARCHING,
    Games,
    Terms,
    Work,
    batch_of,
    tree_of,
)
from selfplay.reason import MOVE_LIMIT, RECORD_END, RESIGNATION, TWO_PASSES, UNFINISHED


@kernel
def start_game(
    games: Games, g: int, work: Work, terms: Terms, seed: np.uint64, may_resign: bool, extra_komi: float,
    recorded: np.ndarray,
) -> None:
    """Put a new game into row g, or one that is searched again. Modifies games and the work space.

    `seed` is its random state, `extra_komi` is added to that of the terms, recorded int16 [M] are the moves of a
    finished game, none for a new one.
    """
    games.records[g] = len(recorded)
    for ply in range(len(recorded)):
        games.recorded[g, ply] = recorded[ply]
    clear_state(work.root, terms.board_size)
    start_history(history_of(games.history, g), work.root)
    copy_words(games.position[g], work.root.buffer)
    for i in range(games.past.shape[1]):
        copy_words(games.past[g, i], work.root.buffer)
    games.random_state[g, 0] = seed
    games.may_resign[g] = may_resign
    games.komi[g] = max(-MAX_KOMI, min(MAX_KOMI, terms.komi + extra_komi))
    games.gave_up[g] = EMPTY
    games.reason[g] = UNFINISHED
    games.waiting[g] = 0
    games.done[g] = 0
    games.cap[g] = FULL
    games.phase[g] = NEW


@kernel
def draw_noise(noise: np.ndarray, count: int, random_state: np.ndarray) -> None:
    """Write Gumbel noise for `count` edges. Modifies noise and random_state."""
    for i in range(count):
        noise[i] = -math.log(-math.log(next_random(random_state) + SMALLEST_RANDOM))


@kernel
def keep_as_root(tree: Tree, node: int) -> None:
    """Make an evaluated node the only node of the tree, unvisited: nothing but its network answer is kept.

    Modifies tree. The edges move to the front, where they overwrite only what lies before them.
    """
    first, count = tree.node_edge[node], tree.node_edges[node]
    for edge in range(count):
        tree.edge_pos[edge] = tree.edge_pos[first + edge]
        tree.edge_logit[edge] = tree.edge_logit[first + edge]
        tree.edge_prior[edge] = tree.edge_prior[first + edge]
        clear_edge(tree, edge)
    tree.node_edge[ROOT] = 0
    tree.node_edges[ROOT] = count
    tree.node_front[ROOT] = 0
    tree.node_kind[ROOT] = EXPANDED
    tree.node_visits[ROOT] = 0
    tree.node_virtual_loss[ROOT] = 0
    tree.node_value[ROOT] = tree.node_value[node]
    tree.node_raw_value[ROOT] = tree.node_raw_value[node]
    tree.node_lead[ROOT] = tree.node_lead[node]
    tree.counters[NODES] = 1
    tree.counters[EDGES] = count


@kernel
def begin_search(games: Games, g: int, tree: Tree, terms: Terms) -> None:
    """Begin the search from an evaluated root, in full or fast. Modifies games and the root's priors.

    A fast one plays its best, without noise (playout cap randomization: Wu, "Accelerating Self-Play Learning in Go",
    2019, section 3.1). So does one in a game that is lost and only played on for its last board.
    """
    fast = terms.full_share < 1.0 and next_random(games.random_state[g]) >= terms.full_share
    if fast or (terms.soft_resign and games.may_resign[g] and games.gave_up[g] != EMPTY):
        games.cap[g] = FAST
        noise = games.noise[g]
        noise[:] = 0.0
    elif terms.algorithm == PUCT:
        games.cap[g] = FULL
        mix_root_noise(tree, terms.root_noise, terms.policy_index, games.noise[g], games.random_state[g])
    else:
        games.cap[g] = FULL
        draw_noise(games.noise[g], tree.node_edges[ROOT], games.random_state[g])
    games.done[g] = 0
    games.phase[g] = SEARCHING


@kernel
def plan_of(games: Games, g: int, tree: Tree, terms: Terms) -> Plan:
    """Return what the search of one game is told."""
    cap = games.cap[g]
    schedule = terms.schedule[cap, min(MAX_CONSIDERED_NODES, tree.node_edges[ROOT])]
    return Plan(terms.algorithm, terms.selection, games.komi[g], games.noise[g], schedule[: terms.visits[cap]])


@kernel
def same_round(schedule: np.ndarray, done: int) -> int:
    """Return how many visits from number `done` on belong to one round of sequential halving."""
    end = done
    while end < len(schedule) and schedule[end] == schedule[done]:
        end += 1
    return end - done


@kernel
def temper(policy: np.ndarray, count: int, temperature: float) -> None:
    """Raise the first `count` probabilities of a policy to the power 1 / temperature, normalized. Modifies policy."""
    total = 0.0
    for edge in range(count):
        policy[edge] **= 1.0 / temperature
        total += policy[edge]
    for edge in range(count):
        policy[edge] /= total


@kernel
def find_target(tree: Tree, ply: int, chosen: int, terms: Terms, policy: np.ndarray) -> None:
    """Write what the search of move `ply`, which chose an edge, teaches about the root's edges. Modifies policy."""
    count = tree.node_edges[ROOT]
    if terms.target == IMPROVED:
        improved_policy(tree, ROOT, terms.selection.c_visit, terms.target_scale, policy)
    elif terms.target == TEMPERED and ply >= terms.opening_moves:
        policy[:count] = 0.0
        policy[chosen] = 1.0
    else:
        for edge in range(count):
            policy[edge] = tree.edge_visits[edge] / tree.node_visits[ROOT]
        if terms.target == TEMPERED:
            temper(policy, count, terms.opening_temperature)


@kernel
def record_search(games: Games, g: int, tree: Tree, ply: int, chosen: int, work: Work, terms: Terms) -> None:
    """Write the policy to learn at the root and its win rate as those of move `ply`. Modifies games and work.

    Of a fast search only the win rate is kept: its policy is too vague to learn from.
    """
    find_target(tree, ply, chosen, terms, work.batch.policy)
    row = games.policy[g, ply]
    row[:] = NO_CANDIDATE
    for edge in range(tree.node_edges[ROOT] if games.cap[g] == FULL else 0):
        row[terms.policy_index[tree.edge_pos[edge]]] = work.batch.policy[edge]
    games.value[g, ply] = min(max(policy_value(tree, ROOT, work.batch.policy), 0.0), 1.0)


@kernel
def draw_edge(policy: np.ndarray, count: int, random_state: np.ndarray) -> int:
    """Return one of `count` edges, drawn with the probabilities of a policy. Modifies random_state."""
    rest = next_random(random_state)
    for edge in range(count - 1):
        rest -= policy[edge]
        if rest < 0.0:
            return edge
    return count - 1


@kernel
def finish_game(games: Games, g: int, reason: int, work: Work) -> None:
    """End a game; the area is counted as the board stands, all stones alive. Modifies games and work."""
    games.reason[g] = reason
    games.score[g] = area_score(work.root, work.batch.owner, work.batch.queue) - games.komi[g]
    games.phase[g] = FINISHED


@kernel
def find_edge(tree: Tree, pos: int) -> int:
    """Return the root edge of a move, -1 where it is no candidate."""
    for edge in range(tree.node_edge[ROOT], tree.node_edge[ROOT] + tree.node_edges[ROOT]):
        if tree.edge_pos[edge] == pos:
            return edge
    return -1


@kernel
def finish_move(games: Games, g: int, tree: Tree, history: History, work: Work, terms: Terms) -> None:
    """Play the move that the finished search chose, or resign; begin the next search. Modifies games and work.

    In the opening the move is drawn from the recorded policy instead, so that games begin in many ways. A finished game
    goes the way it went, and teaches what its searches find now; unless the network's values are no numbers.
    """
    info, records = work.root.info, games.records[g]
    ply = history.length[0] - 1
    edge = best = choose_edge(tree, plan_of(games, g, tree, terms))
    if records > 0:
        edge = find_edge(tree, games.recorded[g, ply])
    if edge < 0 or best < 0:
        finish_game(games, g, RECORD_END, work)
        return
    if records == 0 and tree.edge_value_sum[edge] < terms.resign_threshold * tree.edge_visits[edge]:
        if games.gave_up[g] == EMPTY:
            games.gave_up[g] = info[TO_MOVE]
        if games.may_resign[g] and not terms.soft_resign:
            finish_game(games, g, RESIGNATION, work)
            return
    record_search(games, g, tree, ply, best, work, terms)
    if records == 0 and ply < terms.opening_moves:
        if terms.target != TEMPERED:
            temper(work.batch.policy, tree.node_edges[ROOT], terms.opening_temperature)
        edge = draw_edge(work.batch.policy, tree.node_edges[ROOT], games.random_state[g])
    remember(games.past[g], work.root)
    play_recorded(work.root, history, tree.edge_pos[edge], info[TO_MOVE])
    if ply + 1 == records:
        finish_game(games, g, RECORD_END, work)
    elif info[PASSES] >= 2:
        finish_game(games, g, TWO_PASSES, work)
    elif ply + 1 >= terms.move_limit:
        finish_game(games, g, MOVE_LIMIT, work)
    elif tree.edge_child[edge] == NOT_EXPANDED:
        games.phase[g] = NEW
    else:
        keep_as_root(tree, tree.edge_child[edge])
        begin_search(games, g, tree, terms)


@kernel
def select_in_game(games: Games, g: int, work: Work, terms: Terms) -> int:
    """Run one game until positions wait for the network or it is over; return how many wait. Modifies games, work."""
    tree, history, batch = tree_of(games, g), history_of(games.history, g), batch_of(games, g, work.batch)
    root = Position(work.root, history)
    line = Position(work.line, History(history.pos, history.color, history.hash, work.line_length))
    copy_words(work.root.buffer, games.position[g])
    waiting = 0
    while waiting == 0 and games.phase[g] != FINISHED:
        done = games.done[g]
        plan = plan_of(games, g, tree, terms)
        wanted = same_round(plan.schedule, done)
        if games.phase[g] == NEW:
            tree.counters[:] = 0
            wanted = 1
        elif done >= len(plan.schedule):
            finish_move(games, g, tree, history, work, terms)
            continue
        waiting, finished = select_batch(tree, root, line, batch, wanted, plan, done)
        games.done[g] = done + waiting + finished
    copy_words(games.position[g], work.root.buffer)
    return waiting


@kernel
def select_in_games(
    games: Games, begin: int, end: int, offset: int, total: int, work: Work, terms: Terms,
) -> tuple[int, int]:
    """Run games begin to end - 1, the one at `offset` first, until they wait for the network.

    `total` entries of the batch are taken already. Return how many are now, and the offset to begin with next time:
    that of the first game for which there was no room. Modifies games and work.
    """
    count, room = end - begin, len(work.batch.leaf)
    left_out = -1
    for i in range(count):
        g = begin + (offset + i) % count
        games.first[g] = total
        games.waiting[g] = 0
        if games.phase[g] != NEW and games.phase[g] != SEARCHING:
            continue
        if total + MAX_CONSIDERED_NODES > room:
            left_out = g - begin if left_out < 0 else left_out
            continue
        games.waiting[g] = select_in_game(games, g, work, terms)
        for n in range(total, total + games.waiting[g]):
            work.komi[n] = games.komi[g]
        total += games.waiting[g]
    return total, max(left_out, 0)


@kernel
def back_up_in_games(games: Games, begin: int, end: int, work: Work, answer: Answer, terms: Terms) -> None:
    """Give games begin to end - 1 the network's answer. Modifies games."""
    for g in range(begin, end):
        if games.waiting[g] == 0:
            continue
        tree, batch, first = tree_of(games, g), batch_of(games, g, work.batch), games.first[g]
        own = Answer(answer.logits[first:], answer.values[first:], answer.leads[first:], answer.ownership[first:])
        back_up_batch(tree, batch, games.waiting[g], own, terms.policy_index, terms.policy_temperature)
        if games.phase[g] == NEW:
            begin_search(games, g, tree, terms)
