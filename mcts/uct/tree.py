"""PlayoutTree: the search tree of a player without a network, whose positions are judged by playouts.

It is driven as MCTSTree is (limits, clock, reports, reuse of the tree); only what a call does differs. One thread goes
down the tree; with more than one, they share the playouts, each with its own random numbers, and the lines that wait
count as lost, so that they differ. The same position is searched in the same way every time.
"""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from board.constant import BOARD_SIZE
from board.state import TO_MOVE
from mcts.constant import KEEP_ALL, NOT_EXPANDED, UCT
from mcts.network_calls import Call, NetworkCalls
from mcts.params import Plan, SearchParams
from mcts.tactics.hints import Tactician, hint_leaf
from mcts.tree import MCTSTree
from mcts.tree_arrays import NODES, Position, Tree
from mcts.uct.kernels import (
    UctPlan,
    back_up_lines,
    expand_lines,
    new_lines,
    play_out_lines,
    search_lines,
    select_lines,
)
from mcts.uct.params import PlayoutParams
from mcts.uct.playout_board import new_playout_work
from mcts.uct.playout_rules import load_prior_table, make_rules
from mcts.uct.priors import new_finder, order_edges
from nn.classifier import NO_CLASSIFIER, new_judge, read_classifier
from nn.feature import Evaluator

# A call of the kernel plays out so many points' worth of lines: some milliseconds.
POINTS_PER_CALL = 5000
# Lines that threads share: one for so many visits of the root, since they are chosen before any of them is known; and
# at most so many for a thread, since waking it takes as long as some playouts.
VISITS_PER_LINE = 16
LINES_PER_THREAD = 32
SEED = 20070


def refuse_network(planes: np.ndarray) -> tuple[np.ndarray, ...]:
    """Stand where a network would."""
    raise RuntimeError("a search by playouts has no network")


class PlayoutCalls(NetworkCalls):
    """Stands where the calls of the network do: a call is so many visits, which are finished when it is started."""

    order = staticmethod(order_edges)

    def __init__(self, evaluator: Evaluator, board_size: int, params: SearchParams) -> None:
        """Prepare for calls of up to params.batch_size visits; raises PatternFileError and ClassifierError."""
        super().__init__(evaluator, board_size, params)
        assert isinstance(params, PlayoutParams)
        threads = params.threads
        self.lines = new_lines(board_size, params.batch_size)
        self._works = [new_playout_work(board_size, SEED + i) for i in range(threads)]
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None
        self._plan = UctPlan(params.uct, new_finder(load_prior_table(), board_size), make_rules(params.uct), 0.0)
        weights = read_classifier(params.classifier) if params.prune < KEEP_ALL else NO_CLASSIFIER
        self._judge = new_judge(weights, board_size, params.prune)

    def start(self, tree: Tree, root: Position, line: Position, wanted: int, plan: Plan, done: int,
              ahead: int = 0) -> Call:
        """Make `wanted` visits; in an empty tree make its root, and let the random numbers begin anew.

        Modifies tree and line.
        """
        begin, made = time.perf_counter(), 0
        uct = self._plan._replace(komi=plan.komi)
        if tree.counters[NODES] == 0:
            wanted = made = 1
            for i, work in enumerate(self._works):
                work.random_state[0] = SEED + i
            self._make_nodes(tree, root, line, made, uct)
        while made < wanted:
            lines = wanted - made
            if self._pool is None:
                lines = search_lines(tree, root, line, self.batch, self.lines, self._works[0], lines, uct)
            else:
                self._share_out(self._pool, tree, root, line, lines, uct)
            self._make_nodes(tree, root, line, lines, uct)
            made += lines
        return self._enter(Call(self._free[0], 0, wanted, None, None, begin))

    def _make_nodes(self, tree: Tree, root: Position, line: Position, lines: int, uct: UctPlan) -> None:
        """Make nodes of what the first `lines` lines have found. Modifies tree and line."""
        expand_lines(tree, root, line, self.batch, self.lines, lines, uct, self._judge)
        if self._leaf_tactician is not None:
            self._hint_lines(self._leaf_tactician, tree, lines)

    def _hint_lines(self, tactician: Tactician, tree: Tree, wanted: int) -> None:
        """Raise the priors of moves that settle a string at the new nodes of `wanted` lines. Modifies tree."""
        for index in np.flatnonzero(self.batch.leaf[:wanted] != NOT_EXPANDED):
            self._raise_priors(tree, int(self.batch.leaf[index]), hint_leaf(tactician, self.batch.positions.now[index]))

    def _share_out(self, pool: ThreadPoolExecutor, tree: Tree, root: Position, line: Position, wanted: int,
                   uct: UctPlan) -> None:
        """Make `wanted` visits whose playouts the threads share. Modifies tree and line."""
        select_lines(tree, root, line, self.batch, self.lines, wanted, uct)
        edges = [wanted * i // len(self._works) for i in range(len(self._works) + 1)]

        def play(thread: int) -> None:
            play_out_lines(self._works[thread], self.batch, self.lines, edges[thread], edges[thread + 1], uct)

        others = [pool.submit(play, thread) for thread in range(1, len(self._works))]
        play(0)
        for other in others:
            other.result()
        back_up_lines(tree, self.batch, self.lines, wanted, int(root.state.info[TO_MOVE]))


class PlayoutTree(MCTSTree):
    """A tree searched by UCT."""

    calls = PlayoutCalls
    asks_network, has_rave = False, True

    def __init__(self, board_size: int = BOARD_SIZE, params: PlayoutParams | None = None) -> None:
        """Prepare a search; raises PatternFileError and ClassifierError."""
        params = params or PlayoutParams()
        threads, one = params.threads, max(1, POINTS_PER_CALL // board_size**2)
        super().__init__(refuse_network, board_size, replace(
            params, algorithm=UCT, batch_size=one if threads == 1 else threads * LINES_PER_THREAD,
            visits_per_leaf=1 if threads == 1 else VISITS_PER_LINE, policy_temperature=1.0))
