"""How a move is chosen: by policy or by a search, with the rules for passing on top."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from board.constant import PASS
from board.go_board import GoBoard
from board.stone import Stone
from engine.diagnostics import report_raw_value, report_search
from engine.drawing import draw_move
from engine.levels import plain_policy
from engine.move_choice import Choice, PassRule, draw_by_visits, first_playable
from engine.options import EngineOptions
from mcts.analysis import SearchResult, single_move
from mcts.params import SearchLimit
from mcts.restriction import Restriction
from mcts.time_manager import UNLIMITED_VISITS, TimeManager
from mcts.tree import MCTSTree
from mcts.wishes import Wishes
from nn.inference.policy_player import evaluate

StopFunction = Callable[[], bool]

NO_LIMIT = SearchLimit(UNLIMITED_VISITS, strict=True)


def never() -> bool:
    """Tell a search to go on."""
    return False


@dataclass(frozen=True)
class Watch:
    """How somebody follows a search.

    Attributes:
        should_stop: asked before every batch.
        report: takes what was found, every `interval` seconds (0: not while the search runs), and once at the end
            when a move is chosen.
        restriction: moves that are not to be considered.
        cleanup: whether dead stones of the opponent must be captured before a pass.
        first: seconds until the first report, None for `interval`.
        root_temperature: how much wider than usual the search looks at the root (MCTSTree.search).
        quiet: whether stderr is told nothing about the choice of a move.
    """

    should_stop: StopFunction = never
    report: Callable[[SearchResult], None] | None = None
    interval: float = 0.0
    restriction: Restriction | None = None
    cleanup: bool = False
    first: float | None = None
    root_temperature: float = 1.0
    quiet: bool = False


NO_WATCH = Watch()


def run_search(
    options: EngineOptions, clock: TimeManager, tree: MCTSTree, board: GoBoard, color: Stone, limit: SearchLimit,
    watch: Watch = NO_WATCH, on_report: Callable[[MCTSTree], None] | None = None, rng: random.Random | None = None,
) -> SearchResult:
    """Search as the options say; a search that draws noise takes it from `rng`."""
    kind = options.search_kind
    noise = None if rng is None or not kind.draws_noise else np.random.default_rng(rng.getrandbits(64))
    wishes = Wishes(on_report, watch.should_stop, watch.restriction, watch.root_temperature, noise)
    return tree.run(board, color, clock.plan_visits(limit) if kind.plans_visits else limit, wishes)


class MoveChooser:
    """Chooses a move of one color for the position on a board."""

    def __init__(self, options: EngineOptions, clock: TimeManager, board: GoBoard, color: Stone) -> None:
        """Prepare for this position."""
        self.options, self._clock = options, clock
        self._board, self._color = board, color

    def choose(self, tree: MCTSTree, rng: random.Random, limit: SearchLimit, watch: Watch = NO_WATCH) -> Choice:
        """Return a move by policy or by the search of the options.

        It is a pass when that wins the game at once, and not where passing loses and another useful move exists.
        """
        rule = self._pass_rule(watch)
        if rule.wins_now:
            result = single_move(PASS, 1.0, 1.0)
            choice = Choice(PASS, 1.0)
        elif self.options.draws_from_policy and tree.asks_network:
            result = self._draw_from_policy(tree, rng, rule, watch)
            choice = Choice(result.pos, result.winrate, 1)
        else:
            on_report = self._periodic_report(rule, watch)
            found = run_search(self.options, self._clock, tree, self._board, self._color, limit, watch, on_report, rng)
            if not watch.quiet:
                report_search(self._board, found)
            drawn = draw_by_visits(found, self.options.temperature, rng)
            result = self._settle(found.with_first(drawn), rule)
            # The win rate of the search's own move: the rules for passing do not make the position worse.
            choice = Choice(result.pos, found.winrate, found.visits, tuple(result.candidates[0].pv), found.time_limit,
                            found.slowest_batch)
        if watch.report is not None:
            watch.report(result)
        return choice

    def analyze(self, tree: MCTSTree, watch: Watch, limit: SearchLimit = NO_LIMIT) -> SearchResult:
        """Search to the limit, to the watch's stop or till the tree is full; return all, genmove's move first."""
        rule = self._pass_rule(watch)
        found = tree.search(self._board, self._color, limit, self._periodic_report(rule, watch), watch.should_stop,
                            watch.restriction, watch.root_temperature)
        return self._settle(found, rule)

    def _pass_rule(self, watch: Watch) -> PassRule:
        """Return when to pass in this position."""
        may_pass = watch.restriction is None or not watch.restriction.bans(self._color, PASS)
        return PassRule(self._board, self._color, self.options.cgos_mode, may_pass, watch.cleanup)

    def _settle(self, found: SearchResult, rule: PassRule) -> SearchResult:
        """Return what a search found with the move to play first, after the rules for passing."""
        pos = found.pos
        if rule.wins_now:
            pos = PASS
        elif pos != PASS or rule.is_bad:
            ranked = [move.pos for move in found.candidates if move.visits > 0 or move.pos == pos]
            rest = [move.pos for move in found.candidates]
            playable = first_playable(self._board, self._color, [pos, *ranked, *rest])
            pos = PASS if playable is None else playable
        return found.with_first(pos)

    def _periodic_report(self, rule: PassRule, watch: Watch) -> Callable[[MCTSTree], None] | None:
        """Return a function for each batch that reports when the interval is over."""
        report = watch.report
        if report is None or watch.interval <= 0:
            return None
        due = time.monotonic() + (watch.interval if watch.first is None else watch.first)

        def report_when_due(tree: MCTSTree) -> None:
            nonlocal due
            if time.monotonic() >= due:
                report(self._settle(tree.result(), rule))
                due = time.monotonic() + watch.interval

        return report_when_due

    def _draw_from_policy(self, tree: MCTSTree, rng: random.Random, rule: PassRule, watch: Watch) -> SearchResult:
        """Return a move of the raw policy; a pass only where the game is not lost by it."""
        board, color = self._board, self._color
        raw = evaluate(tree.evaluator, board, color)
        if not watch.quiet:
            report_raw_value(raw.winrate)
        policy = raw.policy
        if watch.restriction is not None:
            banned = [watch.restriction.bans(color, pos) for pos in (*board.onboard_pos, PASS)]
            policy = np.where(banned, -1.0, policy)
        level = plain_policy(self.options.temperature) if self.options.policy_move else self.options.strength
        pos = draw_move(level, policy, raw, tree.evaluator, board, color, rng, may_pass=not rule.is_bad)
        index = board.onboard_pos.index(pos) if pos != PASS else len(policy) - 1
        return single_move(pos, raw.winrate, float(raw.policy[index]))
