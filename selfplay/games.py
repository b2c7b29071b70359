"""Many games in progress as stacked arrays: row g of every array belongs to game g.

Letters: G games, A = S*S + 1 policy entries, L moves at most, C = (S + 2)^2 cells, V visits per move.
"""

from typing import NamedTuple

import numpy as np

from board.geometry import get_geometry
from board.ruleset import Rules
from board.state import EMPTY, History, State, new_state
from common.kernel import kernel
from mcts.constant import C_SCALE, GUMBEL, MAX_CONSIDERED_NODES, MAX_DEPTH, ROOT_NOISE
from mcts.gumbel import considered_visits
from mcts.params import NETWORK_ALONE, Selection
from mcts.searches import DEFAULT_TARGET, SEARCHES, SELF_PLAY_SEARCH, TARGETS
from mcts.tree_arrays import DTYPES, Batch, Tree, new_batch, tree_shapes
from nn.feature import PlaneSet, Positions

# Games.phase: no game; the root is to be evaluated; searching; over.
IDLE, NEW, SEARCHING, FINISHED = 0, 1, 2, 3

# Games.cap, row of Terms.schedule: a search whose policy is recorded; a quick one that only finds a move.
FULL, FAST = 0, 1

# Entry of Games.policy for a move that was no candidate.
NO_CANDIDATE = -1.0

# A game is cut off, and its area counted, after this many moves per point.
MOVES_PER_POINT = 2


class Games(NamedTuple):
    """Positions, search trees and records of G games."""

    tree: Tree  # every array with G rows
    position: np.ndarray  # uint64 [G, W]: State.buffer
    past: np.ndarray  # uint64 [G, K, W]: before the last moves, as the plane set wants them
    history: History  # every array with G rows; its spare end is the work space of lines below the root
    random_state: np.ndarray  # uint64 [G, 1]
    noise: np.ndarray  # float64 [G, A]: Gumbel noise of the root's edges
    phase: np.ndarray  # int8 [G]
    done: np.ndarray  # int32 [G]: visits made for the present move
    cap: np.ndarray  # int8 [G]: FULL or FAST, how the present move is searched
    first: np.ndarray  # int32 [G]: the game's first entry in the network's batch
    waiting: np.ndarray  # int32 [G]: its entries there
    policy: np.ndarray  # float32 [G, L, A]: policy to learn of each move, NO_CANDIDATE for other moves
    value: np.ndarray  # float32 [G, L]: win rate of that policy before each move, for its mover
    recorded: np.ndarray  # int16 [G, L]: pos of the moves of a finished game that is searched again
    records: np.ndarray  # int32 [G]: how many they are, 0 in a new game
    may_resign: np.ndarray  # bool [G]
    komi: np.ndarray  # float64 [G]
    gave_up: np.ndarray  # int8 [G]: color that resigned first, or would have; EMPTY if none
    reason: np.ndarray  # int8 [G]
    score: np.ndarray  # float64 [G]: Black's area minus White's minus komi at the end


class Terms(NamedTuple):
    """What is the same in all games, as the kernels take it."""

    board_size: int
    komi: float  # to which a game may add
    superko: bool
    visits: np.ndarray  # int32 [2]: of a FULL and of a FAST search
    full_share: float  # share of moves that are searched in full
    soft_resign: bool  # whether games that somebody would resign are played to their end by FAST searches
    move_limit: int
    resign_threshold: float  # win rate of the chosen move below which a player resigns
    target_scale: float  # c_scale of the policy that is recorded; the search has that of `selection`
    opening_moves: int  # so many moves of each game are drawn from the recorded policy
    opening_temperature: float  # 1: drawn with its probabilities; higher: more alike
    policy_temperature: float  # search and recorded policy start from the network's policy ** (1 / this), normalized
    target: int  # what is recorded as the policy: one of TARGETS (mcts/searches.py)
    algorithm: int  # of the search (mcts/searches.py)
    selection: Selection
    root_noise: float  # share of Dirichlet noise in the root's priors, for PUCT
    schedule: np.ndarray  # int32 [2, MAX_CONSIDERED_NODES + 1, V]: considered_visits by number of moves considered
    policy_index: np.ndarray  # int32 [C]


class Work(NamedTuple):
    """Work space that the games of one half share."""

    root: State
    line: State
    line_length: np.ndarray  # int32 [1]
    batch: Batch
    komi: np.ndarray  # float64 [N]: of each of the batch's positions


def plan_visits(algorithm: int, count: int, visits: int) -> np.ndarray:
    """Return a row of Terms.schedule: visits with the same number may wait for the network at the same time."""
    return np.array(considered_visits(count, visits) if algorithm == GUMBEL else range(visits), dtype=np.int32)


def new_terms(board_size: int, visits: int, rules: Rules, resign_threshold: float,
              target_scale: float = C_SCALE, opening_moves: int = 0, opening_temperature: float = 1.0,
              policy_temperature: float = 1.0, search: str = SELF_PLAY_SEARCH, target: str = DEFAULT_TARGET,
              full_share: float = 1.0, fast_visits: int = 2, soft_resign: bool = False,
              root_noise: float = ROOT_NOISE) -> Terms:
    """Return the terms with their tables; `search` is a name of SELF_PLAY_SEARCHES, `target` of TARGETS."""
    kind = SEARCHES[search]
    limits = np.array([visits, fast_visits], dtype=np.int32)
    schedule = np.zeros((2, MAX_CONSIDERED_NODES + 1, max(limits)), dtype=np.int32)
    for cap in (FULL, FAST):
        for count in range(1, MAX_CONSIDERED_NODES + 1):
            schedule[cap, count, : limits[cap]] = plan_visits(kind.algorithm, count, int(limits[cap]))
    return Terms(
        board_size, float(rules.komi), rules.superko, limits, float(full_share), soft_resign,
        MOVES_PER_POINT * board_size**2, float(resign_threshold), float(target_scale), int(opening_moves),
        float(opening_temperature), float(policy_temperature), TARGETS.index(target),
        kind.algorithm, NETWORK_ALONE, float(root_noise), schedule, get_geometry(board_size).policy_index,
    )


def visits_per_move(terms: Terms) -> float:
    """Return how many visits a move has, on average."""
    return float(terms.full_share * terms.visits[FULL] + (1.0 - terms.full_share) * terms.visits[FAST])


def new_games(count: int, terms: Terms, plane_set: PlaneSet) -> Games:
    """Return room for so many games, all IDLE."""
    size, limit = terms.board_size, terms.move_limit
    actions, words = size * size + 1, len(new_state(size).buffer)
    most = int(max(terms.visits))
    nodes = most + 2
    shapes = tree_shapes(nodes, nodes * actions, 0)
    entries = limit + min(MAX_DEPTH, most) + 2

    def rows(length: int, dtype: type) -> np.ndarray:
        return np.zeros((count, length), dtype=dtype)

    return Games(
        tree=Tree(*(np.zeros((count, *shapes[name]), dtype=DTYPES[name]) for name in Tree._fields)),
        position=rows(words, np.uint64),
        past=np.zeros((count, plane_set.looks_back, words), dtype=np.uint64),
        history=History(rows(entries, np.int16), rows(entries, np.int8), rows(entries, np.uint64), rows(1, np.int32)),
        random_state=rows(1, np.uint64), noise=rows(actions, np.float64),
        phase=np.full(count, IDLE, dtype=np.int8), done=np.zeros(count, dtype=np.int32),
        cap=np.full(count, FULL, dtype=np.int8),
        first=np.zeros(count, dtype=np.int32), waiting=np.zeros(count, dtype=np.int32),
        policy=np.zeros((count, limit, actions), dtype=np.float32), value=rows(limit, np.float32),
        recorded=rows(limit, np.int16), records=np.zeros(count, dtype=np.int32),
        may_resign=np.ones(count, dtype=np.bool_), komi=np.zeros(count), gave_up=np.full(count, EMPTY, dtype=np.int8),
        reason=np.zeros(count, dtype=np.int8), score=np.zeros(count),
    )


def new_work(positions: int, plane_set: PlaneSet, terms: Terms) -> Work:
    """Return work space for so many positions of the network's input."""
    size = terms.board_size
    batch = new_batch(size, positions, plane_set)
    batch.superko[:] = terms.superko
    return Work(new_state(size), new_state(size), np.zeros(1, dtype=np.int32), batch, np.zeros(positions))


@kernel
def tree_of(games: Games, g: int) -> Tree:
    """Return the tree of one game."""
    tree = games.tree
    return Tree(
        tree.counters[g], tree.node_edge[g], tree.node_edges[g], tree.node_front[g], tree.node_kind[g],
        tree.node_visits[g], tree.node_virtual_loss[g], tree.node_value[g], tree.node_raw_value[g],
        tree.node_lead[g], tree.node_ownership[g], tree.edge_pos[g],
        tree.edge_child[g], tree.edge_logit[g], tree.edge_prior[g], tree.edge_visits[g], tree.edge_virtual_loss[g],
        tree.edge_value_sum[g], tree.edge_value_square_sum[g], tree.edge_lead_sum[g], tree.edge_rave_visits[g],
        tree.edge_rave_sum[g],
    )


@kernel
def batch_of(games: Games, g: int, batch: Batch) -> Batch:
    """Return the part of a batch that begins at the game's first entry."""
    first, positions = games.first[g], batch.positions
    return Batch(
        Positions(positions.now[first:], positions.past[first:], positions.recent[first:], positions.repeats[first:]),
        games.past[g], batch.line_past, batch.leaf[first:], batch.path[first:], batch.length[first:], batch.moves,
        batch.owner, batch.queue, batch.banned, batch.superko, batch.share[first:], batch.playout_value[first:],
        batch.playout, batch.policy, batch.random_state, batch.filled, batch.outcome[first:],
    )
