"""The state of a game behind the GTP commands, and how a move is chosen."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from board.constant import BOARD_SIZE, PASS, RESIGN
from board.go_board import GoBoard
from board.handicap import get_fixed_handicap, get_free_handicap
from board.score import area_without
from board.seki import find_seki_stones
from board.stone import Stone
from common.print_console import print_err
from engine.choosing import NO_LIMIT, NO_WATCH, MoveChooser, StopFunction, Watch, never, run_search
from engine.diagnostics import format_choice, format_speed
from engine.move_choice import Choice, ResignPolicy, final_lead, first_playable
from engine.options import EngineOptions
from mcts.analysis import SearchResult
from mcts.dump import dump_tree
from mcts.params import SearchLimit
from mcts.score_estimate import ScoreEstimator
from mcts.time_manager import StartOptions, TimeManager
from mcts.tree import Evaluator, MCTSTree
from nn.inference.policy_player import RawEvaluation, evaluate

WARM_UP_VISITS = 16
# Version of the model files' format, a whole number because programs expect one as KataGo's; there is one format.
MODEL_FORMAT = 1
REGRESSION_SEED = 0

@dataclass(frozen=True)
class EvaluatorSource:
    """Where the network comes from.

    Attributes:
        load: returns the evaluator for a board size; None takes the network's own.
        any_size: whether `load` can serve every size.
    """

    load: Callable[[int | None], Evaluator]
    any_size: bool = False


class Engine:
    """Board, network, tree, clocks and the options that govern them."""

    def __init__(self, options: EngineOptions, source: EvaluatorSource) -> None:
        """Load the network and set up an empty board of its size; raises ModelFileError."""
        self.options = options
        self._source = source
        self.evaluator = source.load(options.size)
        size = getattr(self.evaluator, "board_size", options.size or BOARD_SIZE)
        self.board = GoBoard(size, options.komi, options.superko)
        self.tree = self._new_tree(size)
        self.time = TimeManager(self._start_options(), options.lag)
        self.resign = ResignPolicy(options.resign_threshold, options.resign_streak, options.min_resign_move)
        self._random = random.Random(options.seed)
        self._has_searched = False
        self._last_move_at = 0.0
        # Whether the opponent is to move after an own move, and there may be something to find out meanwhile.
        self._may_ponder = False
        # Processor time spent in genmove, seconds, and what was thought about the last move.
        self.cpu_time = 0.0
        self.explanation = ""

    def _start_options(self) -> StartOptions:
        """Return the thinking time that the options ask for."""
        options = self.options
        return StartOptions(options.visits, options.strict_visits, options.const_time, options.time)

    def configure(self, **changes: Any) -> None:
        """Change options while the program runs: visits, seconds per move, lag, resigning, pondering, rules, search."""
        self.options = replace(self.options, **changes)
        if self.options.search_params() != self.tree.params:
            self.tree = self._new_tree(self.board.board_size)
            self._has_searched = self._may_ponder = False
        self.time.change_start(self._start_options())
        self.time.lag = self.options.lag
        self.resign.threshold = self.options.resign_threshold
        self.board.check_superko = self.options.superko

    def _new_tree(self, board_size: int) -> MCTSTree:
        """Return a tree with the search parameters of the options."""
        return MCTSTree(self.evaluator, board_size, self.options.search_params())

    def warm_up(self) -> None:
        """Compile, or load compiled, everything that a game needs, and measure the speed of the search."""
        board = self.board.copy()
        color = board.get_to_move()
        tree = self._new_tree(board.board_size)
        for visits in (WARM_UP_VISITS, 2 * WARM_UP_VISITS):
            result = run_search(self.options, self.time, tree, board, color, SearchLimit(visits, strict=True))
            ScoreEstimator(board, color).estimate_moves(result.candidates[:1])
            board.put_stone(result.pos, color)
            color = Stone.get_opponent_color(color)
        if result.seconds > 0:
            self.time.speed = result.visits / result.seconds
        first_playable(board, color, board.onboard_pos)
        final_lead(board, color, all_alive=False)
        board.check_self_atari_stone(board.onboard_pos[-1], color)
        board.undo()

    # --- the game -----------------------------------------------------------------------------------------------

    @property
    def plays_any_size(self) -> bool:
        """Whether the network serves every board size."""
        return self._source.any_size

    def can_play(self, board_size: int) -> bool:
        """Tell whether the network serves a board size."""
        return self.plays_any_size or board_size == self.board.board_size

    def set_board_size(self, board_size: int) -> None:
        """Start a game on an empty board of a size that can be played; komi and time settings stay."""
        self.set_board(GoBoard(board_size, self.board.get_komi(), self.options.superko))
        self.time.new_game()

    def set_board(self, board: GoBoard) -> None:
        """Go on from the game on `board`, of a size that can be played."""
        if board.board_size != self.board.board_size:
            self.evaluator = self._source.load(board.board_size)
            self.tree = self._new_tree(board.board_size)
        self.board = board
        self._forget_search()

    def clear(self) -> None:
        """Start a new game; komi and time settings stay."""
        self.board.clear()
        self._forget_search()
        self.time.new_game()

    def set_position(self, black: list[int], white: list[int], to_move: Stone | None) -> None:
        """Start a game from a position; raises ValueError, and changes nothing, when it cannot exist."""
        board = GoBoard(self.board.board_size, self.board.get_komi(), self.options.superko)
        board.set_up(black, white, to_move)
        self.set_board(board)

    def clear_tree(self) -> None:
        """Forget what was searched."""
        self.tree.clear()
        self._has_searched = self._may_ponder = False

    def _forget_search(self) -> None:
        """Forget what was thought about another game."""
        self.clear_tree()
        self.resign.reset()
        self.explanation = ""

    def set_komi(self, komi: float) -> None:
        """Set komi, also in the middle of a game."""
        self.board.set_komi(komi)

    def is_untouched(self) -> bool:
        """Tell whether the board is empty and nothing was played."""
        return self.board.moves == 1 and not any(self.board.get_board_data(0))

    def get_fixed_handicap(self, number: int) -> list[int]:
        """Return the customary handicap points; raises ValueError for a number there are none for."""
        return get_fixed_handicap(self.board.board_size, number)

    def get_free_handicap(self, number: int) -> list[int]:
        """Return exactly `number` handicap points; raises ValueError for a number that does not fit."""
        return get_free_handicap(self.board.board_size, number)

    def put_handicap(self, points: list[int]) -> None:
        """Put black handicap stones on an empty board."""
        for pos in points:
            self.board.put_handicap_stone(pos, Stone.BLACK)
        self.resign.reset()

    def is_playable(self, color: Stone, pos: int) -> bool:
        """Tell whether a controller's move is legal; without --superko a repetition is, and is noted on stderr."""
        if not self.board.is_legal(pos, color):
            return False
        if self.board.is_superko(pos, color):
            print_err(f"Note: {self.board.coordinate.convert_to_gtp_format(pos)} repeats an earlier position")
        return True

    def play(self, color: Stone, pos: int) -> None:
        """Play a legal move."""
        self._may_ponder = False
        self.board.put_stone(pos, color)

    def play_sequence(self, moves: list[tuple[Stone, int]]) -> None:
        """Play legal moves; raises ValueError, and plays none of them, if one is illegal."""
        board = self.board.copy()
        for color, pos in moves:
            if not board.is_legal(pos, color):
                raise ValueError("illegal move")
            board.put_stone(pos, color)
        self._may_ponder = False
        self.board = board

    def undo(self, number: int) -> None:
        """Take back moves, as many as were played at most."""
        self._may_ponder = False
        if number:
            self.board.truncate(self.board.moves - 1 - number)
            self.resign.reset()

    # --- choosing a move ----------------------------------------------------------------------------------------

    def genmove(self, color: Stone, asked_at: float, watch: Watch = NO_WATCH) -> int:
        """Choose a move, play it (unless it is RESIGN) and charge the clock with the time since `asked_at`.

        A move that was asked for before the last one was made (commands in a row) starts when that was made.
        """
        asked_at = max(asked_at, self._last_move_at)
        cpu_begin = time.process_time()
        choice, limit = self._think(color, asked_at, watch)
        self.explanation = format_choice(self.board, choice, color)
        resigns = choice.pos != PASS and self.resign.decide(self.board, color, choice.winrate)
        pos = RESIGN if resigns else choice.pos
        if not resigns:
            self.board.put_stone(pos, color)
        self._may_ponder = not resigns and not self.board.is_over
        self.cpu_time += time.process_time() - cpu_begin
        self._last_move_at = time.monotonic()
        elapsed = self._last_move_at - asked_at
        self.time.finish(color, elapsed, choice.visits, limit, choice.time_limit)
        print_err(format_speed(elapsed, choice.visits))
        return pos

    def wants_to_ponder(self) -> bool:
        """Tell whether there is something to search while the opponent thinks."""
        options = self.options
        return options.ponder and self._may_ponder and not options.policy_move and not options.sequential_halving

    def ponder(self, should_stop: StopFunction) -> None:
        """Let the tree grow for the opponent's move; the next search goes on from what comes out."""
        self._has_searched = True
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
        chooser = self._new_chooser(color)
        watch = replace(watch, root_temperature=self.options.root_temperature)
        choice = chooser.choose(self.tree, self._random, limit, watch)
        self._has_searched = self._has_searched or chooser.has_searched
        return choice, limit

    def suggest(self, color: Stone, should_stop: StopFunction = never) -> int:
        """Return the move for the position, always the same one; nothing changes."""
        limit = self._visit_limit()
        tree = self._new_tree(self.board.board_size)
        return self._new_chooser(color).choose(tree, random.Random(REGRESSION_SEED), limit, Watch(should_stop)).pos

    def look(self, color: Stone) -> SearchResult:
        """Return what a search by visits, as the options ask for, finds; it is kept in the tree."""
        self._has_searched = True
        return self.tree.search(self.board, color, self._visit_limit())

    def _visit_limit(self) -> SearchLimit:
        """Return the limit of a search that no clock limits."""
        return StartOptions(self.options.visits, self.options.strict_visits).limit()

    def analyze(self, color: Stone, watch: Watch, limit: SearchLimit = NO_LIMIT) -> SearchResult:
        """Search to the limit, to the watch's stop or till the tree is full; return all, genmove's move first."""
        self._has_searched = True
        return self._new_chooser(color).analyze(self.tree, watch, limit)

    def _new_chooser(self, color: Stone) -> MoveChooser:
        """Return the chooser for the present position."""
        return MoveChooser(self.options, self.time, self.board, color)

    # --- questions ----------------------------------------------------------------------------------------------

    def evaluate(self, color: Stone) -> RawEvaluation:
        """Return the network's view of the position."""
        return evaluate(self.evaluator, self.board, color)

    def get_policy(self, color: Stone) -> np.ndarray:
        """Return the network's policy, float [S*S+1]."""
        return self.evaluate(color).policy

    def describe_model(self) -> dict[str, Any]:
        """Return the network as KataGo describes one."""
        return {
            "name": self.options.model, "internalName": str(getattr(self.evaluator, "description", "")),
            "version": MODEL_FORMAT, "maxBatchSize": self.tree.params.batch_size, "usesHumanSLProfile": False,
            "usingFP16": "false",
        }

    def get_dead_stones(self) -> list[int]:
        """Return the stones that count as dead: none in cgos mode."""
        return [] if self.options.cgos_mode else self.board.get_dead_stones()

    def get_seki_stones(self, dead: list[int]) -> list[int]:
        """Return the stones in seki once the dead ones are taken off: none in cgos mode, as nothing is dead."""
        return [] if self.options.cgos_mode else find_seki_stones(self.board, dead)

    def get_empty_points(self, owner: Stone) -> list[int]:
        """Return the empty points that belong to a color, EMPTY for neutral ones, without the dead stones."""
        _, owners = area_without(self.board.state, self.get_dead_stones())
        return [pos for pos in self.board.onboard_pos if owners[pos] == owner and self.board.board[pos] == Stone.EMPTY]

    def final_score(self) -> float:
        """Return Black's lead, komi included, without the dead stones."""
        return self.board.final_score(self.get_dead_stones())

    def get_string_stones(self) -> list[list[int]]:
        """Return the stones of each string."""
        return [string.get_stones() for string in self.board.strings.string.values()]

    def get_hash_history(self) -> list[int]:
        """Return the hash of each position of the game."""
        return self.board.record.get_hash_history()

    def dump_tree(self) -> str:
        """Return the last search's tree and position as one line of JSON; raises ValueError when there is none."""
        if not self._has_searched:
            raise ValueError("no search tree")
        return dump_tree(self.tree, self.options.cgos_mode)
