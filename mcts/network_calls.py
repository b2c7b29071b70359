"""The calls of the network that a search has under way: while some are calculated, it fills and starts the next.

dlshogi lets two threads of a search take turns (T. Yamaoka, "dlshogi"); here one thread does, in a fixed order, so that
a search stays the same each time. An evaluator that works on several calls at once says so by `calls_at_once` and takes
them by `start(planes)`, which returns a function that waits for the answer (nn/inference/board_evaluator.py). Any other
one has a single call under way, which is finished before the next begins.
"""

import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from board.go_board import GoBoard
from board.stone import Stone
from mcts.constant import KEEP_ALL
from mcts.outcome import play_out_batch
from mcts.params import Plan, SearchParams, Selection
from mcts.pruning import prune_batch
from mcts.search_kernels import back_up_batch, raise_least_priors, raise_priors, select_batch
from mcts.tactics.hints import hint_leaf, hint_root, new_tactician
from mcts.tree_arrays import NODES, ROOT, Batch, Position, Tree, bring_forward, new_batch, take_answer
from nn.feature import Encoder, Evaluator, plane_set_of

# The entries of a batch that belong to one call; all else is shared by the batches of a search.
OF_ONE_CALL = ("positions", "leaf", "path", "length", "share", "playout_value")
# Positions that one of several calls is filled up with where the others are empty.
LEAST_AHEAD = 2


class Lane(NamedTuple):
    """Where one call is prepared."""

    batch: Batch
    encode: Encoder


class Call(NamedTuple):
    """A call under way."""

    lane: Lane
    waiting: int  # positions that the network is asked about
    visits: int  # those begun with it, and those that needed no network
    answer: Callable[[], tuple[np.ndarray, ...]]  # waits for the network
    begin: float  # when its lines began to be selected, as time.perf_counter tells


def choose_rollouts(board_size: int, params: SearchParams) -> Callable[[Batch, int, float, Selection], None]:
    """Return what plays out the positions of a call."""
    if params.rollout == "ataris":
        return play_out_batch
    from mcts.uct.params import UctParams
    from mcts.uct.rollout import PatternRollouts  # which few searches need
    return PatternRollouts(board_size, getattr(params, "uct", UctParams()))


class NetworkCalls:
    """The calls of one tree.

    Attributes:
        at_once: how many may be under way.
        batch: work space of the search, and the limits that all its batches share (Batch.banned and so on).
        visits: those begun and made by what is under way.
    """

    def __init__(self, evaluator: Evaluator, board_size: int, params: SearchParams) -> None:
        """Make room for up to params.batch_size leaves, shared out among the calls that the evaluator takes at once."""
        self.at_once = min(getattr(evaluator, "calls_at_once", 1), params.batch_size)
        self.visits = 0
        self._evaluator, self._prune = evaluator, params.prune
        self._play_out = choose_rollouts(board_size, params)
        plane_set, leaves = plane_set_of(evaluator), -(-params.batch_size // self.at_once)
        self._tactician = new_tactician(board_size, params.tactics, is_root=True)
        self._leaf_tactician = new_tactician(board_size, params.tactics, is_root=False)
        batches = [new_batch(board_size, leaves, plane_set) for _ in range(self.at_once)]
        self.batch = batches[0]
        self._free: deque[Lane] = deque()
        for own in batches:
            batch = self.batch._replace(**{name: getattr(own, name) for name in OF_ONE_CALL})
            self._free.append(Lane(batch, Encoder(plane_set, board_size, plane_set.new_planes(board_size, leaves))))
        self._under_way: deque[Call] = deque()

    @property
    def is_busy(self) -> bool:
        """Tell whether a call is under way."""
        return bool(self._under_way)

    @property
    def has_room(self) -> bool:
        """Tell whether another call may be started."""
        return bool(self._free)

    def share(self, leaves: int) -> int:
        """Return how many leaves one call takes where all together take `leaves`."""
        return max(1, leaves // self.at_once)

    def start(self, tree: Tree, root: Position, line: Position, wanted: int, plan: Plan, done: int,
              ahead: int = 0) -> int:
        """Select up to `wanted` leaves and ask about them; return the visits that it begins or makes (select_batch).

        A call with less than `ahead` leaves is filled up to so many. In an empty tree the only leaf is its root, which
        is judged in all ways that a board can lie. Modifies tree and line.
        """
        begin, lane, is_root = time.perf_counter(), self._free[0], tree.counters[NODES] == 0
        if self.at_once > 1:  # about as long as the call beside it: they are finished in turn
            ahead = min(ahead, max(LEAST_AHEAD, self._under_way[-1].waiting if self._under_way else 0))
        waiting, others = select_batch(tree, root, line, lane.batch, wanted, plan, done, ahead)
        visits = waiting + others
        if waiting == visits == 0:
            return 0
        answer = self._ask(lane.encode(lane.batch.positions, waiting, plan.komi), is_root) if waiting else tuple
        if self._leaf_tactician is not None:
            for node, position in zip(lane.batch.leaf[:waiting], lane.batch.positions.now, strict=False):
                raise_least_priors(tree, int(node), hint_leaf(self._leaf_tactician, position))
        if plan.selection.playouts:
            self._play_out(lane.batch, waiting, plan.komi, plan.selection)
        return self._enter(Call(lane, waiting, visits, answer, begin))

    def _enter(self, call: Call) -> int:
        """Take a call, in the first free lane, as under way; return its visits."""
        self._free.popleft()
        self._under_way.append(call)
        self.visits += call.visits
        return call.visits

    def _ask(self, planes: np.ndarray, is_root: bool) -> Callable[[], tuple[np.ndarray, ...]]:
        """Begin to evaluate planes; return what waits for the answers."""
        if self.at_once > 1 and not is_root:
            return self._evaluator.start(planes)  # type: ignore[attr-defined, no-any-return]
        evaluate = getattr(self._evaluator, "average", self._evaluator) if is_root else self._evaluator
        answers = evaluate(planes)
        return lambda: answers

    def finish(self, tree: Tree, policy_index: np.ndarray, temperature: float) -> Call:
        """Wait for the oldest call, back up what the network says, and return the call. Modifies tree."""
        call = self._under_way.popleft()
        self._free.append(call.lane)
        self.visits -= call.visits
        if call.waiting:
            answer, batch = take_answer(*call.answer()), call.lane.batch
            if self._prune < KEEP_ALL:
                prune_batch(tree, batch, call.waiting, answer.logits, policy_index, self._prune)
            back_up_batch(tree, batch, call.waiting, answer, policy_index, temperature)
        return call

    def hint_root(self, tree: Tree, board: GoBoard, color: Stone) -> None:
        """Raise the priors of moves that settle a string at the root, where that is asked for. Modifies tree."""
        if self._tactician is not None:
            self._raise_priors(tree, ROOT, hint_root(self._tactician, board, color))

    def _raise_priors(self, tree: Tree, node: int, least: np.ndarray) -> None:
        """Raise the priors of a node to at least `least` [C]. Modifies tree."""
        if least.any():
            raise_priors(tree, node, least)
            bring_forward(tree, node)

    def drop(self) -> None:
        """Forget what is under way, which a search that broke off has left."""
        while self._under_way:
            self._free.append(self._under_way.popleft().lane)
        self.visits = 0
