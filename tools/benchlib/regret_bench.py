"""What the numbers of the search are worth: the win rate that a short search loses against a long one.

A long search with the network is the judge. A short search regrets the difference between the judge's win rate of its
move and that of the best move. All settings are tried on the same positions, so that differences are much better known
than each regret. A judge with the same network thinks like the default setting, only longer, and so is lenient with it;
another network (--judge-model) is not. Matches decide.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from board.go_board import GoBoard
from engine.options import EngineOptions
from mcts.analysis import SearchResult
from mcts.params import SearchLimit, SearchParams, Selection
from mcts.tree import MCTSTree
from mcts.uct.params import read_uct_params
from mcts.uct.tree import PlayoutTree
from nn.inference.loading import load_evaluator
from tools.benchlib.measure import BenchSettings, Figure, NoGamesError
from tools.benchlib.target_bench import collect_positions

# A move needs this share of the judge's visits for its win rate to be known; else the position after it is searched.
KNOWN_SHARE = 0.06
# Visits of that search, as a share of the judge's.
CLOSER_LOOK = 0.4
# Positions in which nothing is left to lose, or to win, are left out.
DECIDED = 0.04
# Win rate that a blunder gives away.
BLUNDER = 0.1
JUDGE_BATCH, SHORT_BATCH = 8, 2
# Positions of one game.
PER_GAME = 6
# What may be changed: fields of Selection and of SearchParams that are numbers, with their defaults.
NUMBERS = {name: value for name, value in {**Selection()._asdict(), **vars(SearchParams())}.items()
           if isinstance(value, int | float)}

# Changes of the default: fields of Selection or of SearchParams.
DEFAULT = "default"
SETTINGS: dict[str, dict[str, Any]] = {
    DEFAULT: {},
    "c_puct 0.3": {"c_puct": 0.3},
    "c_puct 0.8": {"c_puct": 0.8},
    "c_puct 1.1": {"c_puct": 1.1},
    "policy temperature 1": {"policy_temperature": 1.0},
    "policy temperature 1.5": {"policy_temperature": 1.5},
    "policy temperature 2.5": {"policy_temperature": 2.5},
    "no playouts": {"playouts": 0},
    "8 playouts": {"playouts": 8},
    "32 playouts": {"playouts": 32},
    "playout share 0.7": {"playout_share": 0.7},
    "no first-play reduction": {"fpu_reduction": 0.0},
    "first-play reduction 0.2": {"fpu_reduction": 0.2},
    "no least prior for ataris": {"atari_prior": 0.0},
    "c_puct 0.8, policy temperature 1, no playouts": {"c_puct": 0.8, "policy_temperature": 1.0, "playouts": 0},
    "lower bound, 1.5 errors": {"bound_share": 0.1, "bound_width": 1.5},
    "lower bound, 3 errors": {"bound_share": 0.1, "bound_width": 3.0},
    "lower bound, 5 errors": {"bound_share": 0.15, "bound_width": 5.0},
    "the most visited move": {"bound_share": 1.0},
}


# The same for the search without a network, as main.py --uct takes them: each idea without, and numbers beside its own.
UCT_SETTINGS = (
    "rave=0", "widening=0", "prior=0", "widening=0,prior=0", "patterns=0", "near=0", "answers=0",
    "patterns=0,near=0,answers=0", "nakade=0", "self_atari=0,seki=0", "prior=0.3", "prior=1.5", "widening=4",
    "widening=20", "widening=20,prior=0.3", "policy=0", "policy=0.5", "rave=300", "rave=3000", "expand=1", "expand=10",
    "ucb=0", "ucb=0.2",
)


def read_change(text: str) -> dict[str, float]:
    """Return the fields that a text `name=value,...` changes; raises ValueError, naming what is wrong."""
    changes: dict[str, float] = {}
    for part in filter(None, text.replace(" ", "").split(",")):
        name, _, number = part.partition("=")
        if name not in NUMBERS:
            raise ValueError(f"{name} is none of {', '.join(NUMBERS)}")
        try:
            value = float(number)
        except ValueError:
            raise ValueError(f"{part}: {name} wants a number") from None
        if not math.isfinite(value):
            raise ValueError(f"{part}: {name} wants a finite number")
        kind = type(NUMBERS[name])
        if kind(value) != value:
            raise ValueError(f"{part}: {name} wants {'0 or 1' if kind is bool else 'a whole number'}")
        changes[name] = kind(value)
    return changes


def change(params: SearchParams, changes: dict[str, Any]) -> SearchParams:
    """Return the parameters with other numbers, given by their names."""
    own = {name: value for name, value in changes.items() if name in Selection._fields}
    others = {name: value for name, value in changes.items() if name not in own}
    return replace(params, selection=params.selection._replace(**own), **others)


def search_anew(tree: MCTSTree, board: GoBoard, limit: SearchLimit) -> SearchResult:
    """Search a position with nothing kept in the tree."""
    tree.clear()
    return tree.search(board, board.get_to_move(), limit)


class LongSearch:
    """A long search of one position: what every move is worth."""

    def __init__(self, tree: MCTSTree, board: GoBoard, visits: int) -> None:
        """Search."""
        self._tree, self.board, self._visits = tree, board, visits
        self._result = search_anew(tree, board, SearchLimit(visits, strict=True))
        least = KNOWN_SHARE * visits
        self._values = {move.pos: move.winrate for move in self._result.candidates if move.visits >= least}
        # Closer looks come later, at moves that one setting or another chose: they must not move the mark for the rest.
        self._best = max(self._values.values(), default=self._result.winrate)

    @property
    def is_decided(self) -> bool:
        """Whether nothing is at stake."""
        return not DECIDED < self._result.winrate < 1.0 - DECIDED

    def regret(self, pos: int) -> float:
        """Return what a move gives away; below 0 where a closer look likes it better than the judge did."""
        if pos not in self._values:
            self._values[pos] = self._look_closer(pos)
        return self._best - self._values[pos]

    def _look_closer(self, pos: int) -> float:
        """Return the win rate after a move to which the judge paid little attention."""
        after = self.board.copy()
        after.put_stone(pos, self.board.get_to_move())
        if after.is_over:
            return next(move.winrate for move in self._result.candidates if move.pos == pos)
        limit = SearchLimit(max(1, round(CLOSER_LOOK * self._visits)), strict=True)
        return 1.0 - search_anew(self._tree, after, limit).winrate


def make_trees(settings: BenchSettings) -> Iterator[tuple[str, MCTSTree]]:
    """Yield the settings to try, the default first, by name with a tree that is searched so."""
    if settings.search == "uct":
        usual = EngineOptions().playout_params(settings.board_size)
        for text in ("", *(settings.changes or UCT_SETTINGS)):
            yield text or DEFAULT, PlayoutTree(settings.board_size, replace(usual, uct=read_uct_params(text)))
        return
    evaluator = load_evaluator(settings.model, settings.board_size, settings.use_gpu)
    params = replace(EngineOptions(model=settings.model).for_model().search_params(), batch_size=SHORT_BATCH)
    asked = {DEFAULT: {}, **{text: read_change(text) for text in settings.changes}} if settings.changes else SETTINGS
    for name, changes in asked.items():
        yield name, MCTSTree(evaluator, settings.board_size, change(params, changes))


def measure_regret(settings: BenchSettings) -> Iterator[Figure | str]:
    """Yield a line for each setting: mean regret, its difference to the default's, blunders; raises NoGamesError."""
    judge = EngineOptions(model=settings.judge_model or settings.model).for_model()
    strict = load_evaluator(judge.model, settings.board_size, settings.use_gpu)
    judging = MCTSTree(strict, settings.board_size, replace(judge.search_params(), batch_size=JUDGE_BATCH))
    judges = [LongSearch(judging, board, settings.engine_visits) for board in collect_positions(settings, PER_GAME)]
    judges = [judge for judge in judges if not judge.is_decided]
    if not judges:
        raise NoGamesError(f"{settings.kifu_dir}: in all positions that were taken the game is decided")
    yield (f"regret: {len(judges)} positions that are not decided; {settings.search_visits} visits against "
           f"{settings.engine_visits}; mean regret, difference to the default with its standard error, blunders")
    limit, reference = SearchLimit(settings.search_visits), np.zeros(len(judges))
    for name, tree in make_trees(settings):
        moves = [search_anew(tree, judge.board, limit).pos for judge in judges]
        regrets = np.array([judge.regret(pos) for judge, pos in zip(judges, moves, strict=True)])
        reference = regrets if name == DEFAULT else reference
        error = (regrets - reference).std() / max(1, len(judges)) ** 0.5
        yield (f"{name:<46} {regrets.mean():6.2%} {(regrets - reference).mean():+7.2%} +- {error:.2%} "
               f"{(regrets > BLUNDER).mean():6.1%}")
