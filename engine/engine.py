"""The player: a game with a network and a search, which choose its moves."""

import random
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from board.constant import BOARD_SIZE, PASS, RESIGN
from board.go_board import GoBoard
from board.stone import Stone
from common.patience import say_if_slow
from common.print_console import print_err
from engine.book import Book
from engine.choosing import NO_LIMIT, NO_WATCH, MoveChooser, StopFunction, Watch, never, run_search
from engine.diagnostics import format_choice, format_speed
from engine.game import Game
from engine.levels import FULL_LEVEL
from engine.move_choice import Choice
from engine.options import EngineOptions
from engine.precompile import begin_estimates, compile_planes, compile_rules, compiling, compiling_playouts
from mcts.analysis import SearchResult, single_move
from mcts.dump import dump_tree
from mcts.params import SearchLimit, Tactics
from mcts.score_estimate import Estimate, Estimator, ScoreEstimator
from mcts.time_manager import StartOptions
from mcts.tree import MCTSTree
from mcts.tree_estimate import TreeEstimator, make_estimate
from nn.feature import Evaluator, plane_set_of
from nn.inference.evaluation_cache import CachedEvaluator
from nn.inference.policy_player import RawEvaluation, evaluate
from nn.model_file import choose_size, describe_sizes

WARM_UP_VISITS = 16
REGRESSION_SEED = 0


@dataclass(frozen=True)
class EvaluatorSource:
    """Where the network comes from.

    Attributes:
        load: returns the evaluator for a board size; None takes the network's own.
        sizes: the board sizes that `load` can serve, None if they are known only when the network is loaded.
        warm_up: whether `Engine.load` also gets the compiled code ready that a game needs.
        knows_go: whether the network has learnt anything; else playouts choose the moves, unless a search is asked for
            that draws from the policy.
    """

    load: Callable[[int | None], Evaluator]
    sizes: range | None = None
    warm_up: bool = False
    knows_go: bool = True


class Engine(Game):
    """A game with its player: the network and the search, loaded when they are first needed, or by `load`."""

    def __init__(self, options: EngineOptions, source: EvaluatorSource) -> None:
        """Set up an empty board of the network's size.

        Raises ModelFileError if only loading it tells the size, and BookError.
        """
        self._source = source
        self._evaluator: Evaluator | None = None
        self._loading = threading.Lock()
        self._is_loaded = False
        self._prepared_size = 0  # of the board for which a network was last loaded in advance
        self._tree: MCTSTree | None = None
        size = options.size or (choose_size(source.sizes) if source.sizes else None)
        if size is None:
            self._evaluator = source.load(None)
            size = getattr(self._evaluator, "board_size", BOARD_SIZE)
        own: range = getattr(self._evaluator, "sizes", range(size, size + 1))
        super().__init__(options, size, source.sizes or own)
        self._sizes_told: set[int] = set()
        self._random = random.Random(options.seed)
        self._last_move_at = 0.0
        self._book = Book.read(options.book) if options.book else None
        self._book_is_told = False  # that it is for other games than this one

    @property
    def evaluator(self) -> Evaluator:
        """The network for the present board size; raises ModelFileError."""
        return self._find_evaluator(self.board.board_size)

    def _find_evaluator(self, size: int) -> Evaluator:
        """Return the network for a board size, loading it if it is not the one at hand; raises ModelFileError."""
        with self._loading:
            if self._evaluator is None or not self._is_for(size):
                with say_if_slow() if self._is_loaded else nullcontext():  # before, who loads the engine says it
                    self._evaluator = self._source.load(size)
                if note := getattr(self._evaluator, "note", ""):
                    print_err(f"Note: {note}")
            return self._evaluator

    @property
    def options_in_use(self) -> EngineOptions:
        """The options, with a GPU where one was found; as they are until the network is loaded."""
        return self.options if getattr(self._evaluator, "on_gpu", True) else replace(self.options, use_gpu=False)

    def _is_for(self, size: int) -> bool:
        """Tell whether the network at hand is prepared for a board size."""
        return self._evaluator is not None and getattr(self._evaluator, "board_size", size) == size

    def prepare(self) -> None:
        """Begin to load the network for the present board size, which another size than before may want anew.

        A thread of its own does it: the first time that a file meets a size it is converted, which takes seconds.
        """
        size = self.board.board_size
        if (size == self._prepared_size or self._is_for(size) or not self._source.warm_up
                or self._reason_for_playouts(size)):
            return
        self._prepared_size = size
        threading.Thread(target=self._prepare, name="preparing", daemon=True).start()

    def _prepare(self) -> None:
        """Load the network for the board size that is wanted by now."""
        with suppress(Exception):  # whoever needs it will be told
            self._find_evaluator(self.board.board_size)

    @property
    def tree(self) -> MCTSTree:
        """The tree for the present board size; options that change while it is made hold for it, too."""
        size, tree = self.board.board_size, self._tree
        while tree is None or tree.board_size != size:
            options = self.options
            tree = self._tree = self._new_tree(size)
            if self.options is not options:  # by a command, while a thread loads the engine
                tree = self._tree = None
        return tree

    def _reason_for_playouts(self, size: int) -> str:
        """Return why playouts choose the moves on boards of this size; empty where the network does."""
        kind, options = self.options.search_kind, self.options
        if not kind.asks_network:
            return f"--search {options.search}"
        if size not in self.sizes:
            networks = f"{options.model} with {options.value_model}" if options.value_model else options.model
            return f"{networks} plays {describe_sizes(self.sizes)}"
        return "" if self._source.knows_go or options.policy_move or kind.draws_noise else f"--model {options.model}"

    def _new_tree(self, size: int) -> MCTSTree:
        """Return a tree with the search parameters of the options, one without a network where that is the player."""
        reason = self._reason_for_playouts(size)
        if not reason:
            return MCTSTree(self._find_evaluator(size), size, self.options_in_use.search_params())
        if size not in self._sizes_told:
            self._sizes_told.add(size)
            print_err(f"{size}x{size}: UCT by playouts, without a network ({reason})")
        from mcts.uct.tree import PlayoutTree  # which players with a network do without
        return PlayoutTree(size, self.options.playout_params(size))

    def load(self) -> None:
        """Load the player and, if that is wanted, compile; may run in a thread of its own while the game is set up."""
        by_playouts = bool(self._reason_for_playouts(self.board.board_size))
        if not self._source.warm_up:
            self.tree  # noqa: B018 (made when it is first asked for)
            return
        params = self.options.playout_params(self.board.board_size)
        with compiling_playouts(max(params.tactics[:2]) > 0) if by_playouts else compiling():
            size = self.tree.board_size
            if by_playouts:  # strings are looked at in the other process
                from mcts.uct.tree import PlayoutTree
                plain = PlayoutTree(size, replace(params, tactics=Tactics()))
                plain.search(GoBoard(size), Stone.BLACK, SearchLimit(1, strict=True))
            else:
                evaluator = self._find_evaluator(size)  # the board may have another size by now
                evaluator(compile_planes(plane_set_of(evaluator), size))  # compiles what asks the network
        self._warm_up(size)
        self._is_loaded = True
        begin_estimates()
        if isinstance(self._evaluator, CachedEvaluator):
            self._evaluator.prepare_more()

    def _warm_up(self, size: int) -> None:
        """Compile, or load compiled, everything that a game needs, and measure the speed of the search."""
        board, tree = GoBoard(size), self._new_tree(size)
        color = board.get_to_move()
        for visits in (WARM_UP_VISITS, 2 * WARM_UP_VISITS):
            result = run_search(self.options, self.time, tree, board, color, SearchLimit(visits, strict=True))
            board.put_stone(result.pos, color)
            color = Stone.get_opponent_color(color)
        compile_rules()
        if result.seconds > 0:
            self.time.speed = result.visits / result.seconds

    # --- the game -----------------------------------------------------------------------------------------------

    def configure(self, **changes: Any) -> None:
        """Change options while the program runs; a search that goes another way begins with an empty tree."""
        before = self.options.search_params()
        super().configure(**changes)
        if self.options.search_params() != before:
            self._tree = None
            self._may_ponder = False

    def clear_tree(self) -> None:
        """Forget what was searched."""
        super().clear_tree()
        if self._tree is not None:
            self._tree.clear()

    # --- choosing a move ----------------------------------------------------------------------------------------

    def genmove(self, color: Stone, asked_at: float, watch: Watch = NO_WATCH) -> int:
        """Choose a move, play it (unless it is RESIGN) and charge the clock with the time since `asked_at`.

        A move that was asked for before the last one was made (commands in a row) starts when that was made.
        """
        asked_at = max(asked_at, self._last_move_at)
        cpu_begin = time.process_time()
        choice, limit = self._think(color, asked_at, watch)
        explanation = format_choice(self.board, choice, color)
        resigns = choice.pos != PASS and self.resign.decide(self.board, color, choice.winrate)
        pos = RESIGN if resigns else choice.pos
        if not resigns:
            self.board.put_stone(pos, color)
        self.explain(explanation)
        self._may_ponder = not resigns and not self.board.is_over
        self.cpu_time += time.process_time() - cpu_begin
        self._last_move_at = time.monotonic()
        elapsed = self._last_move_at - asked_at
        self.time.finish(color, elapsed, choice.visits, limit, choice.time_limit, choice.slowest_batch)
        if not watch.quiet:
            print_err(format_speed(elapsed, choice.visits))
        return pos

    def wants_to_ponder(self) -> bool:
        """Tell whether there is something to search while the opponent thinks."""
        options = self.options
        may_search = options.level == FULL_LEVEL and not options.policy_move and options.search_kind.keeps_tree
        return options.ponder and self._may_ponder and may_search

    def ponder(self, should_stop: StopFunction) -> None:
        """Let the tree grow for the opponent's move; the next search goes on from what comes out."""
        self.tree.search(self.board, self.board.get_to_move(), NO_LIMIT, should_stop=should_stop)
        self._may_ponder = should_stop()  # else the tree is full

    def find_move(self, color: Stone, asked_at: float, watch: Watch = NO_WATCH) -> int:
        """Return the move that genmove would play now, without playing it or charging the clock."""
        choice, _ = self._think(color, max(asked_at, self._last_move_at), watch)
        if choice.pos != PASS and self.resign.would_resign(self.board, color, choice.winrate):
            return RESIGN
        return choice.pos

    def _think(self, color: Stone, asked_at: float, watch: Watch) -> tuple[Choice, SearchLimit]:
        """Return what to play and the limit that the clock gave."""
        limit = self.time.limit(color, self.board.board_size, self.board.empty_points, time.monotonic() - asked_at)
        known = self._look_up(color, watch)
        if known is not None:
            return known, limit
        limit = self._cut_to_level(limit)
        if self.options.level < FULL_LEVEL:
            self.clear_tree()  # it may know more than the level
        watch = replace(watch, root_temperature=self.options.root_temperature)
        return self._new_chooser(color).choose(self.tree, self._random, limit, watch), limit

    def _cut_to_level(self, limit: SearchLimit) -> SearchLimit:
        """Return a limit of no more visits than the level has."""
        visits = max(self.options.strength.visits, 1)  # drawing levels have 0
        return limit if visits >= limit.visits else replace(limit, visits=visits, strict=True)

    def _look_up(self, color: Stone, watch: Watch) -> Choice | None:
        """Return the book's move, None if it has none or one that is not wanted; say once if it is for other games."""
        book = self._book
        if book is None or self.options.level < FULL_LEVEL:
            return None
        if not book.is_for(self.board):
            if not self._book_is_told:
                print_err(f"book {self.options.book}: it is for {book.board_size}x{book.board_size} and komi "
                          f"{book.komi:g}, not for this game")
            self._book_is_told = True
            return None
        known = book.find(self.board, color)
        if known is None or (watch.restriction is not None and watch.restriction.bans(color, known[0])):
            return None
        pos, entry = known
        print_err(f"book: {self.board.coordinate.convert_to_gtp_format(pos)}, win rate {entry.winrate:.1%} after "
                  f"{entry.visits} visits")
        if watch.report is not None:
            watch.report(single_move(pos, entry.winrate, 1.0))
        return Choice(pos, entry.winrate)

    def suggest(self, color: Stone, should_stop: StopFunction = never) -> int:
        """Return the move for the position, always the same one; nothing changes."""
        limit = self._cut_to_level(self._visit_limit())
        tree = self._new_tree(self.board.board_size)
        return self._new_chooser(color).choose(tree, random.Random(REGRESSION_SEED), limit, Watch(should_stop)).pos

    def look(self, color: Stone, should_stop: StopFunction = never) -> SearchResult:
        """Return what a search by visits, as the options ask for, finds; it is kept in the tree."""
        return self.tree.search(self.board, color, self._visit_limit(), should_stop=should_stop)

    def _visit_limit(self) -> SearchLimit:
        """Return the limit of a search that no clock limits."""
        return StartOptions(self.options.visits, self.options.strict_visits).limit()

    def analyze(self, color: Stone, watch: Watch, limit: SearchLimit = NO_LIMIT) -> SearchResult:
        """Search to the limit, to the watch's stop or till the tree is full; return all, genmove's move first."""
        return self._new_chooser(color).analyze(self.tree, watch, limit)

    def _new_chooser(self, color: Stone) -> MoveChooser:
        """Return the chooser for the present position."""
        return MoveChooser(self.options, self.time, self.board, color)

    # --- questions ----------------------------------------------------------------------------------------------

    def evaluate(self, color: Stone) -> RawEvaluation:
        """Return the network's view of the position."""
        return evaluate(self.evaluator, self.board, color)

    def find_kept_moves(self, color: Stone) -> list[int]:
        """Return the moves that --prune leaves in the tree, the pass among them."""
        found = self._new_tree(self.board.board_size).search(self.board, color, SearchLimit(1, strict=True))
        return [move.pos for move in found.candidates]

    def make_estimator(self, color: Stone) -> Estimator:
        """Return what estimates the moves of a search of `color` in the present position."""
        if self.tree.tells_lead:
            return TreeEstimator(self.tree, self.board, color)
        return ScoreEstimator(self.board, color)

    def estimate_position(self, color: Stone, mover: Stone, sym: int, pairs: int) -> Estimate:
        """Return ownership and lead for `color` with `mover` to move, without search.

        They are the network's, seen through symmetry `sym`, or those of `pairs` pairs of playouts where it tells none.
        """
        if not self._reason_for_playouts(self.board.board_size):
            raw = evaluate(self.evaluator, self.board, mover, sym)
            if raw.lead is not None and raw.ownership is not None:
                sign = 1.0 if color == mover else -1.0
                return make_estimate(sign * raw.ownership, sign * raw.lead)
        return ScoreEstimator(self.board, color).estimate_position(pairs)

    def get_policy(self, color: Stone) -> np.ndarray:
        """Return the network's policy, float [S*S+1]."""
        return self.evaluate(color).policy

    def dump_tree(self) -> str:
        """Return the last search's tree and position as one line of JSON; raises ValueError when there is none."""
        if self._tree is None or self._tree.is_empty:
            raise ValueError("no search tree")
        return dump_tree(self.tree, self.options.cgos_mode)
