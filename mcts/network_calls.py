"""The calls of the network that a search has under way: while some are calculated, it prepares the next.

An evaluator that several threads may ask at once says so by `calls_at_once` and takes their calls by `start(planes)`
(nn/evaluation.py); as many threads take turns at the tree (mcts/relay.py). Any other one has a single call under way,
which is finished before the next begins. A plain callable of planes suffices as one; what more it may offer stands
at BoardEvaluator (nn/inference/board_evaluator.py).
"""

import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from board.constant import NO_MOVE
from board.go_board import GoBoard
from board.stone import Stone
from common.quick_call import QuickCall
from mcts.constant import KEEP_ALL
from mcts.outcome import play_out_batch
from mcts.params import Plan, SearchParams, Selection
from mcts.pruning import prune_batch
from mcts.relay import Relay
from mcts.search_kernels import back_up_batch, raise_least_priors, raise_priors, select_batch
from mcts.tactics.ending import new_ending_work, prove_ending, solve_ending
from mcts.tactics.hints import hint_leaf, hint_root, new_tactician
from mcts.tree_arrays import (
    NODES,
    ROOT,
    UNPROVEN,
    Answer,
    Batch,
    Position,
    Tree,
    bring_forward,
    go_to_leaf,
    new_batch,
)
from nn.evaluation import Evaluation
from nn.feature import Encoder, Evaluator, plane_set_of

# The entries of a batch that belong to one call; all else is shared by the batches of a search.
OF_ONE_CALL = ("positions", "leaf", "path", "length", "share", "playout_value", "playout", "owner", "queue",
               "random_state", "outcome")
# Positions that one of several calls is filled up with where the others are empty.
LEAST_AHEAD = 2


class Lane(NamedTuple):
    """Where one call is prepared."""

    batch: Batch
    encode: Encoder
    play_out: Callable[[Batch, int, float, Selection], None]
    select: QuickCall  # select_batch
    back_up: QuickCall  # back_up_batch


class Call(NamedTuple):
    """A call under way, or an empty one."""

    lane: Lane
    waiting: int  # positions that the network is asked about
    visits: int  # those begun with it, and those that needed no network
    evaluation: Evaluation | None  # what the network says of them
    play_out: Callable[[], None] | None  # what plays its positions out, if that is wanted
    begin: float  # when its lines began to be selected, as time.perf_counter tells

    @property
    def is_idle(self) -> bool:
        """Whether it holds neither visits nor positions."""
        return not (self.visits or self.waiting)


def length_of(call: Call) -> float:
    """Return how long a call should take, in positions that the network calculates; one more for all else of a call."""
    return 0.0 if call.is_idle else call.waiting + 1.0


def work(call: Call) -> None:
    """Do what a call takes beside the tree, in this thread: playouts, and what the network calculates."""
    if call.play_out is not None:
        call.play_out()
    if call.evaluation is not None:
        call.evaluation.calculate()


def choose_rollouts(board_size: int, params: SearchParams) -> Callable[[Batch, int, float, Selection], None]:
    """Return what plays out the positions of a call."""
    if params.rollout == "ataris":
        return play_out_batch
    from mcts.uct.params import UctParams
    from mcts.uct.rollout import PatternRollouts  # which few searches need
    return PatternRollouts(board_size, getattr(params, "uct", UctParams()))


def sizes_of_calls(leaves: int, sizes: Sequence[int]) -> list[int]:
    """Return for 0, 1, ... `leaves` positions how many the network calculates, whose calls have such sizes."""
    return [next((min(size, leaves) for size in sizes if size >= count), 0) for count in range(leaves + 1)]


class NetworkCalls:
    """The calls of one tree.

    Attributes:
        at_once: how many may be under way.
        relay: as many threads, which take turns.
        batch: work space of the search, and the limits that all its batches share (Batch.banned and so on).
        visits: those begun and made by what is under way.
        order: what puts the moves of a node in the order of their priors.
    """

    order = staticmethod(bring_forward)

    def __init__(self, evaluator: Evaluator, board_size: int, params: SearchParams) -> None:
        """Make room for up to params.batch_size leaves, shared out among the calls that the evaluator takes at once."""
        self.at_once = min(getattr(evaluator, "calls_at_once", 1), params.batch_size)
        self.relay: Relay[Call] = Relay(self.at_once, length_of)
        self.visits = 0
        self._evaluator, self._prune = evaluator, params.prune
        leaves = -(-params.batch_size // self.at_once)
        self._full_call = getattr(evaluator, "full_call", leaves)
        plane_set = plane_set_of(evaluator)
        self._tactician = new_tactician(board_size, params.tactics, is_root=True)
        self._leaf_tactician = new_tactician(board_size, params.tactics, is_root=False)
        self._tactics = params.tactics
        self._ending = new_ending_work(board_size) if params.selection.solve else None
        batches = [new_batch(board_size, leaves, plane_set) for _ in range(self.at_once)]
        self.batch = batches[0]
        self.batch.filled[:] = sizes_of_calls(leaves, getattr(evaluator, "call_sizes", ()))
        self._free: deque[Lane] = deque()
        for own in batches:
            batch = self.batch._replace(**{name: getattr(own, name) for name in OF_ONE_CALL})
            encoder = Encoder(plane_set, board_size, plane_set.new_planes(board_size, leaves))
            self._free.append(Lane(batch, encoder, choose_rollouts(board_size, params), QuickCall(select_batch),
                                   QuickCall(back_up_batch)))
        self._under_way: list[Call] = []

    @property
    def is_busy(self) -> bool:
        """Tell whether a call is under way."""
        return bool(self._under_way)

    def share(self, leaves: int, looks_ahead: bool = False) -> int:
        """Return how many visits the next call may begin where all together may have `leaves` under way.

        A thread that looks ahead has something to do without visits, any other has at least one: many threads of a
        small tree have more under way.
        """
        part = max(1, leaves // self.at_once)
        return max(0, min(part, leaves - self.visits)) if looks_ahead else part

    def start(self, tree: Tree, root: Position, line: Position, wanted: int, plan: Plan, done: int,
              ahead: int = 0) -> Call:
        """Select up to `wanted` leaves and return the call that asks about them (select_batch).

        A call with less than `ahead` leaves is filled up to so many, unless it is full before. In an empty tree the
        only leaf is its root, which is judged in all ways that a board can lie. Where all lines lead to positions that
        others ask about, the call begins nothing, and need not be finished. Modifies tree and line.
        """
        begin, lane, is_root = time.perf_counter(), self._free[0], tree.counters[NODES] == 0
        ahead = min(ahead, self._full_call)
        if self.at_once > 1:  # up to the call beside it: of what fills more, too much is evaluated in vain
            ahead = min(ahead, max(LEAST_AHEAD, self._under_way[-1].waiting if self._under_way else 0))
        waiting, others = lane.select(tree, root, line, lane.batch, wanted, plan, done, ahead)
        evaluation = play_out = None
        if waiting:
            evaluation = self._prepare(lane.encode(lane.batch.positions, waiting, plan.komi), is_root)
            self._look_ahead(tree, lane.batch, waiting)
            self._prove(tree, root, line, lane.batch, waiting, plan.komi)
            if plan.selection.playouts:
                play_out = partial(lane.play_out, lane.batch, waiting, plan.komi, plan.selection)
        return self._enter(Call(lane, waiting, waiting + others, evaluation, play_out, begin))

    def _enter(self, call: Call) -> Call:
        """Take a call, in the first free lane, as under way, if it begins anything; return it."""
        if not call.is_idle:
            self._free.popleft()
            self._under_way.append(call)
            self.visits += call.visits
        return call

    def _prepare(self, planes: np.ndarray, is_root: bool) -> Evaluation:
        """Prepare to evaluate planes."""
        if is_root:
            return Evaluation(partial(getattr(self._evaluator, "average", self._evaluator), planes))
        start = getattr(self._evaluator, "start", None)
        return start(planes) if start else Evaluation(partial(self._evaluator, planes))

    def finish(self, call: Call, tree: Tree, policy_index: np.ndarray, temperature: float) -> None:
        """Back up what a call brought whose work is done. Modifies tree."""
        self._under_way = [other for other in self._under_way if other is not call]
        self._free.append(call.lane)
        self.visits -= call.visits
        if call.evaluation is not None:
            answer, batch = Answer(*call.evaluation.take()), call.lane.batch
            if self._prune < KEEP_ALL:
                prune_batch(tree, batch, call.waiting, answer.logits, policy_index, self._prune)
            call.lane.back_up(tree, batch, call.waiting, answer, policy_index, temperature)

    def _look_ahead(self, tree: Tree, batch: Batch, waiting: int) -> None:
        """Have proof-number search raise priors of the first `waiting` positions of a batch, where that is asked for.

        Modifies tree.
        """
        if self._leaf_tactician is None:
            return
        for index in range(waiting):
            least = hint_leaf(self._leaf_tactician, batch.positions.now[index])
            raise_least_priors(tree, int(batch.leaf[index]), least)

    def _prove(self, tree: Tree, root: Position, line: Position, batch: Batch, waiting: int, komi: float) -> None:
        """Look for proven endings of the first `waiting` positions of a batch, where that is asked for.

        The root stays open: it is searched for its moves. Modifies line and batch.
        """
        if self._ending is None or not self._tactics.leaf:
            return
        work = self._ending._replace(game=line.history)  # that of a leaf, where go_to_leaf has led
        for index in range(waiting):
            batch.outcome[index] = UNPROVEN  # at the root, too, where that of an earlier call would stay
            if batch.length[index]:
                go_to_leaf(tree, root, line, batch, index)
                batch.outcome[index], _ = prove_ending(work, line.state.buffer, komi, self._tactics.leaf)

    def hint_root(self, tree: Tree, board: GoBoard, color: Stone) -> None:
        """Raise the priors of moves that settle a string at the root, or the game, where that is asked for.

        Modifies tree.
        """
        if self._tactician is not None:
            least = hint_root(self._tactician, board, color)
            move = solve_ending(board, color, self._tactics.root).move if self._ending is not None else NO_MOVE
            if move != NO_MOVE:
                least[move] = max(float(least[move]), self._tactics.prior)
            self._raise_priors(tree, ROOT, least)

    def _raise_priors(self, tree: Tree, node: int, least: np.ndarray) -> None:
        """Raise the priors of a node to at least `least` [C], and put its moves in their order. Modifies tree."""
        if least.any():
            raise_priors(tree, node, least)
            self.order(tree, node)

    def drop(self) -> None:
        """Forget what is under way, which a search that broke off has left."""
        self._free.extend(call.lane for call in self._under_way)
        self._under_way.clear()
        self.forget()
        self.visits = 0

    def forget(self) -> None:
        """Let go of the tree that was passed last: its room is to be free before there is another one."""
        for lane in (*self._free, *(call.lane for call in self._under_way)):
            lane.select.forget()
            lane.back_up.forget()
