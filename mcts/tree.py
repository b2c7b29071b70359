"""MCTSTree: runs searches over the kernels and keeps the tree between moves.

The tree knows the network only as `evaluator`, a callable that takes planes, float32 [N, P, S, S], and returns
policy logits, float32 [N, A], and value probabilities (loss, draw, win), float32 [N, 3] (nn/feature.py).
"""

import math
from collections.abc import Callable

import numpy as np

from board.constant import BOARD_SIZE
from board.geometry import get_geometry
from board.go_board import GoBoard
from board.state import PASSES, TO_MOVE, copy_history, copy_state, new_state, turn_to
from board.stone import Stone, check_player
from mcts.algorithm import choose_edge
from mcts.analysis import SearchResult
from mcts.constant import GUMBEL, LOOKS, PUCT
from mcts.gumbel import considered_visits, improved_policy, policy_value
from mcts.network_calls import Call, NetworkCalls, work
from mcts.node import MCTSNode
from mcts.params import Plan, SearchLimit, SearchParams
from mcts.progress import SearchProgress
from mcts.restriction import Restriction, ban_settled
from mcts.searches import IN_ROUNDS
from mcts.tree_arrays import (
    EDGES,
    NODES,
    REPETITIONS,
    ROOT,
    Position,
    Tree,
    copy_subtree,
    grow_tree,
    new_line,
    new_tree,
    node_bytes,
)
from mcts.wishes import Wishes
from nn.feature import Evaluator, past_of, plane_set_of

NO_SCHEDULE = np.zeros(1, dtype=np.int32)
TREES = 2  # one, and a spare one to which what is kept from move to move is copied


class MCTSTree:
    """A search tree for one board size; `search` may be called for any position, move after move."""

    calls: type[NetworkCalls] = NetworkCalls  # what judges positions
    asks_network = True  # whether its evaluator may be asked, for its policy too
    has_rave = False  # whether its edges count the games in which a move was played later

    def __init__(self, evaluator: Evaluator, board_size: int = BOARD_SIZE, params: SearchParams | None = None) -> None:
        """Prepare a search with `evaluator`."""
        self.evaluator = evaluator
        self.board_size = board_size
        self.params = params or SearchParams()
        self.geometry = get_geometry(board_size)
        actions = len(self.geometry.policy_pos)
        self.tells_lead = bool(getattr(evaluator, "tells_lead", False))
        self._points = board_size**2 if self.tells_lead else 0
        # Nodes that one call makes at most (select_batch), final ones among them; kernels do not check the room.
        self._most_new = self.params.batch_size + (self.params.batch_size + LOOKS if self.params.ahead else 0)
        self._tree = new_tree(*self._capacity(self.params.tree_size), self._points, self.has_rave)
        self._spare: Tree | None = None
        self._plane_set = plane_set_of(evaluator)
        self._calls = self.calls(evaluator, board_size, self.params)
        self._batch = self._calls.batch
        self._noise = np.zeros(actions)
        self._restricted = np.zeros_like(self._batch.banned)  # what the present tree was asked to leave out
        self.root_board = GoBoard(board_size)  # the game that leads to the root, which may have another side to move
        self._root = Position(new_state(board_size), self.root_board.history)  # the searched one, to which the game led
        self._line = new_line(board_size, 1)
        self.is_empty = True
        self._may_be_kept = False  # whether a search made visits one after the other, and came to its end
        self._expected: dict[Stone, float] = {}
        # An analysis makes visits one after the other, also where the search itself plans them.
        self._by_visits = PUCT if self.params.algorithm in IN_ROUNDS else self.params.algorithm
        self._root_temperature = 1.0  # of the present tree
        self.tree_is_full = False

    # --- the tree -----------------------------------------------------------------------------------------------

    def _capacity(self, nodes: int) -> tuple[int, int]:
        """Return the room for nodes and edges, cut down to what memory allows each of the TREES."""
        actions = len(self.geometry.policy_pos)
        allowed = self.params.max_memory_mb * 2**20 // TREES // node_bytes(actions, self._points, self.has_rave)
        nodes = max(min(nodes, allowed), 2 * (self._most_new + 1))
        return nodes, nodes * actions

    def _reserve(self) -> bool:
        """Make room for one more call; return False when the memory allowed does not suffice."""
        nodes = int(self._tree.counters[NODES]) + self._most_new
        edges = int(self._tree.counters[EDGES]) + self.params.batch_size * len(self.geometry.policy_pos)
        if nodes <= len(self._tree.node_edge) and edges <= len(self._tree.edge_pos):
            return True
        larger = self._capacity(2 * len(self._tree.node_edge))
        if larger[0] < nodes or larger[1] < edges:
            return False
        self._spare = None  # it would be too small; given back before the larger tree is made
        self._calls.forget()
        self._tree = grow_tree(self._tree, *larger)
        return True

    def clear(self) -> None:
        """Forget everything that was searched."""
        self.is_empty = True
        self._expected.clear()

    @property
    def root(self) -> MCTSNode:
        """The root of the last search."""
        return MCTSNode(self._tree, ROOT, self.params.selection.solve)

    @property
    def arrays(self) -> Tree:
        """The tree itself, to be looked at until the next search."""
        return self._tree

    @property
    def root_color(self) -> Stone:
        """The side to move at the root."""
        return Stone(int(self._root.state.info[TO_MOVE]))

    @property
    def num_nodes(self) -> int:
        """Number of nodes in the tree."""
        return int(self._tree.counters[NODES])

    def find_descendant(self, board: GoBoard, color: Stone) -> int | None:
        """Return the node of the position on `board` when it stands below the present root."""
        root, game = self.root_board.history, board.history
        known, length = int(root.length[0]), int(game.length[0])
        if self.is_empty or board.rules.komi != self.root_board.rules.komi or length < known or not (
            np.array_equal(game.hash[:known], root.hash[:known]) and np.array_equal(game.pos[:known], root.pos[:known])
        ):
            return None
        node, mover = MCTSNode(self._tree, ROOT), int(self._root.state.info[TO_MOVE])
        for n in range(known, length):
            where = np.flatnonzero(node.action == game.pos[n])
            child = node.child(int(where[0])) if len(where) and game.color[n] == mover else None
            if child is None:
                return None
            node, mover = child, 3 - mover
        return node.index if mover == color and node.has_candidates else None

    def _restrict(self, restriction: Restriction | None) -> bool:
        """Leave moves out of the coming search; return whether the present tree may be kept for it: it has the same."""
        plies = np.zeros_like(self._batch.banned) if restriction is None else restriction.plies
        last, self._restricted = self._restricted, plies.copy()
        may_be_kept, self._may_be_kept = self._may_be_kept, False
        return may_be_kept and np.array_equal(plies, last)

    def _apply_superko(self, board: GoBoard, color: Stone) -> bool:
        """Forbid repetitions to `color`, the player, always, and to the opponent where the rules forbid them.

        Return whether the present tree is still right: the same was forbidden, or it has met no repetition.
        """
        superko = np.ones_like(self._batch.superko)
        superko[Stone.get_opponent_color(Stone(color))] = board.rules.superko
        unchanged = np.array_equal(superko, self._batch.superko)
        self._batch.superko[:] = superko
        return unchanged or not self._tree.counters[REPETITIONS]

    def _set_root(self, board: GoBoard, color: Stone, reuse: bool) -> None:
        """Make the position on `board`, `color` to move, the root; keep what is known about it if `reuse`."""
        check_player(color)
        if board.board_size != self.board_size:
            raise ValueError(f"a tree of size {self.board_size} cannot search a board of size {board.board_size}")
        reuse = self._apply_superko(board, color) and reuse
        known = self.find_descendant(board, color) if reuse else None
        if known != ROOT and self._restricted.any():  # the plies are counted from the root
            known = None
        banned = self._restricted.copy()
        if self.params.skip_settled and not banned.any():
            ban_settled(board.state, banned)
            if (banned > self._batch.banned).any():  # the tree holds moves into what is settled by now
                known = None
        self._batch.banned[:] = banned
        self.is_empty, self.tree_is_full = True, False
        self.root_board = board.copy()
        self._root = Position(self._root.state, self.root_board.history)
        copy_state(self._root.state, board.state)
        turn_to(self._root.state, int(color))
        self._root.state.info[PASSES] %= 2  # a finished game goes on when somebody asks for a move
        self._batch.root_past[:] = past_of(board, self._plane_set)
        self._line = new_line(self.board_size, int(board.history.length[0]))
        copy_history(self._line.history, board.history)  # superko below the root asks for the game, too
        self._calls.drop()
        if known is None:
            self._tree.counters[:] = 0
            work(call := self._calls.start(self._tree, self._root, self._line, 1, self._plan(self._by_visits), 0))
            self._calls.finish(call, self._tree, self.geometry.policy_index, self._root_temperature)
        elif known != ROOT:
            spare = self._spare or new_tree(len(self._tree.node_edge), len(self._tree.edge_pos), self._points,
                                            self.has_rave)
            copy_subtree(spare, self._tree, known)
            self._tree, self._spare = spare, self._tree
        if known != ROOT:  # else they stand in its priors already
            self._calls.hint_root(self._tree, board, color)
        self.is_empty = False

    def _plan(self, algorithm: int, schedule: np.ndarray = NO_SCHEDULE) -> Plan:
        """Return what the kernels are told."""
        return Plan(algorithm, self.params.selection, float(self.root_board.rules.komi), self._noise, schedule)

    # --- searching ----------------------------------------------------------------------------------------------

    def _start_call(self, progress: SearchProgress, leaves: int, plan: Plan, ahead: int = 0) -> Call:
        """Select up to so many leaves and return the call that asks the network about them."""
        done = progress.visits + self._calls.visits
        return self._calls.start(self._tree, self._root, self._line, leaves, plan, done, ahead)

    def _finish_call(self, call: Call | None, progress: SearchProgress) -> bool:
        """Back up what a call brought whose work is done; return whether it had begun anything."""
        if call is None or call.is_idle:
            return False
        self._calls.finish(call, self._tree, self.geometry.policy_index, float(self.params.policy_temperature))
        progress.add_batch(call.visits, call.begin)
        return True

    def _may_go_on(self, progress: SearchProgress, should_stop: Callable[[], bool] | None) -> bool:
        """Return whether time, the caller and the memory allow another batch; note when it is the memory."""
        if progress.out_of_time or (should_stop is not None and should_stop()):
            return False
        self.tree_is_full = not self._reserve()
        return not self.tree_is_full

    def run(self, board: GoBoard, color: Stone, limit: SearchLimit, wishes: Wishes) -> SearchResult:
        """Search as the parameters say, in rounds or visit by visit; either heeds the wishes that it knows."""
        if self.params.algorithm == GUMBEL:
            return self.search_with_sequential_halving(board, color, limit, wishes.rng, wishes.should_stop,
                                                       wishes.restriction)
        return self.search(board, color, limit, wishes.on_report, wishes.should_stop, wishes.restriction,
                           wishes.root_temperature)

    def search(self, board: GoBoard, color: Stone, limit: SearchLimit,
               on_report: Callable[["MCTSTree"], None] | None = None,
               should_stop: Callable[[], bool] | None = None, restriction: Restriction | None = None,
               root_temperature: float = 1.0) -> SearchResult:
        """Search visit by visit and return the best move; visits kept from the last search count towards the limit.

        `on_report` is called after every batch, and `should_stop` asked. Moves that `restriction` bans are no
        candidates. Above 1, `root_temperature` makes the search wider at the root, on top of policy_temperature, where
        it has a network's policy.
        """
        progress = SearchProgress(limit, self._expected.get(color, 0.0))
        may_be_kept = self._restrict(restriction)
        temperature = float(root_temperature * self.params.policy_temperature) if self.asks_network else 1.0
        plain = temperature == self._root_temperature == self.params.policy_temperature
        self._root_temperature = temperature
        self._set_root(board, color, reuse=may_be_kept and plain)
        plan = self._plan(self._by_visits)
        goes_on = True

        def take_turn(call: Call | None) -> Call | None:
            """Finish a thread's last call and start its next one; None at the end of the search."""
            nonlocal goes_on
            if self._finish_call(call, progress):
                progress.judge(self.root)
                if on_report is not None:
                    on_report(self)
            left = limit.visits - (root := self.root).node_visits - root.virtual_loss
            goes_on = (goes_on and left > 0 and self._may_go_on(progress, should_stop)
                       and not progress.is_settled(root, self.params.bound_share))
            leaves = min(self._calls.share(self.params.leaves_at(root.node_visits), self.params.ahead > 0), left)
            return self._start_call(progress, leaves, plan, min(self.params.ahead, left)) if goes_on else None

        self._calls.relay.run(take_turn, work)
        result = self.result(progress)
        self._expected[color], self._may_be_kept = result.winrate, True
        return result

    def search_with_sequential_halving(self, board: GoBoard, color: Stone, limit: SearchLimit,
                                       rng: np.random.Generator | None = None,
                                       should_stop: Callable[[], bool] | None = None,
                                       restriction: Restriction | None = None) -> SearchResult:
        """Search with SHOT and return the move of Gumbel AlphaZero; without noise if `rng` is None.

        Always starts from a new tree, and plans no more visits than it has room for, so that they follow the schedule.
        """
        progress = SearchProgress(limit)
        self._restrict(restriction)
        self._root_temperature = float(self.params.policy_temperature)
        self._set_root(board, color, reuse=False)
        count = self.root.num_children
        self._noise[:count] = 0.0 if rng is None else rng.gumbel(size=count)
        visits = min(limit.visits, self._capacity(limit.visits + self._most_new + 1)[0] - self._most_new - 1)
        schedule = np.array(considered_visits(min(count, self.params.max_considered), visits), dtype=np.int32)
        plan = self._plan(GUMBEL, schedule)
        left = part = 0  # of the visits that are compared next: how many are to be begun, and a thread's part of them

        def take_turn(call: Call | None) -> Call | None:
            """Finish a thread's last call and start its next one; None at the end of the search."""
            nonlocal left, part
            self._finish_call(call, progress)
            if not left and not self._calls.is_busy:
                done = progress.visits
                if done >= visits or not self._may_go_on(progress, should_stop):
                    return None
                coming = schedule[done : done + self.params.batch_size]
                left = int((coming == coming[0]).sum())  # those of the same round
                part = -(-left // self._calls.at_once)
            call = self._start_call(progress, min(part, left), plan)
            left = left - call.visits if call.visits else 0
            return call

        self._calls.relay.run(take_turn, work)
        self.tree_is_full = self.tree_is_full or progress.visits >= visits < limit.visits
        return self.result(progress, int(choose_edge(self._tree, plan) - self._tree.node_edge[ROOT]))

    # --- results ------------------------------------------------------------------------------------------------

    def result(self, progress: SearchProgress | None = None, chosen: int | None = None) -> SearchResult:
        """Return what the search knows now; `chosen` is the candidate to play if not the surest one."""
        root = self.root
        if chosen is None:
            chosen = root.surest(self.params.bound_share, self.params.bound_width)
        ranking = [chosen, *(i for i in root.ranking() if i != chosen)]
        candidates = [root.candidate(i, order) for order, i in enumerate(ranking)]
        best = candidates[0]
        return SearchResult(
            pos=best.pos, visits=progress.visits if progress else 0, total_visits=root.node_visits,
            seconds=progress.seconds if progress else 0.0, winrate=best.winrate if best.visits else root.raw_value,
            raw_value=root.raw_value, candidates=candidates, tree_is_full=self.tree_is_full,
            temperature=self._root_temperature, time_limit=progress.time_limit if progress else math.inf,
            slowest_batch=progress.slowest_batch if progress else 0.0,
        )

    def improved_policy(self, c_scale: float | None = None) -> np.ndarray:
        """Return the improved policy of the root, float64 [A], 0 for moves that are no candidates.

        `c_scale` makes it sharper or softer than the search took it (None).
        """
        selection, root = self.params.selection, self.root
        scale = selection.c_scale if c_scale is None else c_scale
        improved_policy(self._tree, ROOT, selection.c_visit, scale, self._batch.policy)
        return self.spread(self._batch.policy[: root.num_children])

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Return values of the root's candidates as a policy, float64 [A], 0 for moves that are no candidates."""
        policy = np.zeros(len(self._batch.policy))
        policy[self.geometry.policy_index[self.root.action]] = values
        return policy

    def policy_value(self, policy: np.ndarray) -> float:
        """Return the win rate of playing by a policy [A] at the root, as far as the search knows it."""
        return float(policy_value(self._tree, ROOT, policy[self.geometry.policy_index[self.root.action]]))
