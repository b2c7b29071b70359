"""PlayoutTree: the search tree of a player without a network, whose positions are judged by playouts.

It is driven as MCTSTree is (limits, clock, reports, reuse of the tree); only how a tree begins and how visits are made
differs. One thread goes down the tree; with more than one, they share the playouts, each with its own random numbers,
and the lines that wait count as lost, so that they differ. The same position is searched in the same way every time.
"""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache

import numpy as np

from board.constant import BOARD_SIZE
from board.go_board import GoBoard
from board.state import TO_MOVE
from board.stone import Stone
from mcts.analysis import SearchResult
from mcts.params import Plan, SearchLimit, SearchParams
from mcts.pattern_features import PriorTable, make_prior_table
from mcts.pattern_table import PLAYOUT, PRIOR, Gammas, make_weights, read_gammas
from mcts.playout_board import new_playout_work
from mcts.playout_policy import CAPTURE, NO_ANSWER, RESCUE, PlayoutRules
from mcts.progress import SearchProgress
from mcts.tree import MCTSTree, Wishes
from mcts.uct_kernels import (
    UctPlan,
    back_up_lines,
    begin_uct,
    new_lines,
    play_out_lines,
    search_lines,
    select_lines,
)
from mcts.uct_params import UctParams

# A call of the kernel plays out so many points' worth of lines: some milliseconds.
POINTS_PER_CALL = 5000
# Lines that a thread gets at a time: few, since they are chosen before any of them is known.
LINES_PER_THREAD = 4
SEED = 20070
NEAR_VALUES = ("none", "beside", "diagonal")
ANSWER_VALUES = {NO_ANSWER: "none", CAPTURE: "capture", RESCUE: "rescue"}


def refuse_network(planes: np.ndarray) -> tuple[np.ndarray, ...]:
    """Stand where a network would."""
    raise RuntimeError("a search by playouts has no network")


@cache
def load_prior_table() -> PriorTable:
    """Return the gammas of the tree's moves; raises PatternFileError."""
    return make_prior_table(read_gammas()[PRIOR])


@cache
def load_playout_gammas() -> Gammas:
    """Return the gammas of the playouts' moves; raises PatternFileError."""
    return read_gammas()[PLAYOUT]


@cache
def make_rules(params: UctParams) -> PlayoutRules:
    """Return the rules of playouts that these parameters ask for; raises PatternFileError."""
    gammas = load_playout_gammas()

    def factors(feature: str, values: list[str], is_on: float) -> np.ndarray:
        learnt = gammas.get(feature, {})
        return np.array([learnt.get(value, 1.0) if is_on else 1.0 for value in values])

    answers = [ANSWER_VALUES[kind] for kind in sorted(ANSWER_VALUES)]
    return PlayoutRules(
        make_weights(gammas.get("pattern", {}) if params.patterns else {}),
        factors("answer", answers, params.answers), factors("last", [*NEAR_VALUES], params.near),
        factors("previous", [*NEAR_VALUES], params.near), params.nakade, int(params.self_atari), bool(params.seki),
    )


class PlayoutTree(MCTSTree):
    """A tree searched by UCT."""

    has_rave = True

    def __init__(self, board_size: int = BOARD_SIZE, params: SearchParams | None = None) -> None:
        """Prepare a search; raises PatternFileError."""
        params = params or SearchParams()
        threads = params.threads
        at_once = max(1, POINTS_PER_CALL // board_size**2) if threads == 1 else threads * LINES_PER_THREAD
        super().__init__(refuse_network, board_size, replace(params, batch_size=at_once, visits_per_leaf=0))
        self._lines = new_lines(board_size, 1 if threads == 1 else at_once)
        self._works = [new_playout_work(board_size, SEED + i) for i in range(threads)]
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self._priors, self._rules = load_prior_table(), make_rules(params.uct)

    @property
    def _uct_plan(self) -> UctPlan:
        """What the kernels are told."""
        return UctPlan(self.params.uct, self._priors, self._rules, float(self.root_board.rules.komi))

    def _begin_tree(self) -> None:
        """Make the root the only node of the empty tree, and let the random numbers begin anew."""
        for i, work in enumerate(self._works):
            work.random_state[0] = SEED + i
        begin_uct(self._tree, self._root, self._batch, self._lines, self._uct_plan)

    def run(self, algorithm: int, board: GoBoard, color: Stone, limit: SearchLimit, wishes: Wishes) -> SearchResult:
        """Search by UCT, whichever algorithm the options name: where there is no network, there is no other."""
        return self.search(board, color, limit, wishes.on_report, wishes.should_stop, wishes.restriction,
                           wishes.root_temperature)

    def _run_batch(self, progress: SearchProgress, wanted: int, plan: Plan) -> None:
        """Make `wanted` visits, one after the other or with the playouts shared by the threads."""
        begin = time.perf_counter()
        uct = self._uct_plan
        if self._pool is None:
            search_lines(self._tree, self._root, self._line, self._batch, self._lines, self._works[0], wanted, uct)
        else:
            select_lines(self._tree, self._root, self._line, self._batch, self._lines, wanted, uct)
            edges = [wanted * i // len(self._works) for i in range(len(self._works) + 1)]
            list(self._pool.map(
                lambda i: play_out_lines(self._works[i], self._batch, self._lines, edges[i], edges[i + 1], uct),
                range(len(self._works))))
            back_up_lines(self._tree, self._batch, self._lines, wanted, int(self._root_state.info[TO_MOVE]))
        progress.add_batch(wanted, time.perf_counter() - begin)
