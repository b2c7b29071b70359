"""Levels: what each plays by, and what a level never does."""
from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from board.constant import PASS
from board.go_board import GoBoard
from board.stone import Stone
from engine.choosing import NO_WATCH
from engine.drawing import POINTS_OF_A_WIN, draw_move
from engine.engine import Engine, EvaluatorSource
from engine.levels import FULL_LEVEL, LEVELS, Resigning, plain_policy
from engine.options import EngineOptions
from mcts.params import SearchLimit
from nn.inference.policy_player import RawEvaluation, evaluate, generate_move_from_policy
from tests.gtp.players import FakeEvaluator

DRAWS = 60


class StoneCounter:
    """Says that one leads by the stones that one has more, and likes points as it is told."""

    def __init__(self, size: int, likes: dict[int, float] | None = None) -> None:
        self.board_size = size
        self.likes = likes or {}

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, ...]:
        logits = np.zeros((len(planes), self.board_size**2 + 1), dtype=np.float32)
        for point, logit in self.likes.items():
            logits[:, point] = logit
        logits[:, -1] = -9.0
        lead = planes[:, 1].sum(axis=(1, 2)) - planes[:, 2].sum(axis=(1, 2))
        value = np.tile(np.array([0.5, 0.0, 0.5], dtype=np.float32), (len(planes), 1))
        return logits, value, lead, np.zeros((len(planes), self.board_size**2), dtype=np.float32)


class Trap(StoneCounter):
    """Likes a point, and says that it costs `cost` points once it is taken."""

    def __init__(self, size: int, point: int, cost: float) -> None:
        super().__init__(size, {point: 1.5})
        self.point, self.cost = point, cost

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, ...]:
        logits, value, _, owners = super().__call__(planes)
        taken = planes[:, 2].reshape(len(planes), -1)[:, self.point]  # the opponent's, seen by the side to move then
        return logits, value, self.cost * taken, owners


def draws(level: int, evaluator: StoneCounter, board: GoBoard) -> list[int]:
    """Return what a level draws for Black again and again."""
    raw, rng = evaluate(evaluator, board, Stone.BLACK), random.Random(level)
    return [draw_move(LEVELS[level], raw.policy, raw, evaluator, board, Stone.BLACK, rng) for _ in range(DRAWS)]


DRAWING = [level for level, settings in LEVELS.items() if not settings.visits]


def test_the_table_goes_up_in_all_columns() -> None:
    assert list(LEVELS) == list(range(1, FULL_LEVEL + 1))
    drawn = [LEVELS[level] for level in DRAWING]
    assert list(range(1, len(drawn) + 1)) == DRAWING, "those below draw, those above search"
    for low, high in zip(drawn, drawn[1:], strict=False):
        assert low.temperature > high.temperature and low.cutoff < high.cutoff and low.most_loss >= high.most_loss
    visits = [LEVELS[level].visits for level in LEVELS if level not in DRAWING]
    assert visits == sorted(set(visits))


def test_no_ten_stones_are_given_away_from_level_5_on_and_no_move_is_random_from_level_10_on() -> None:
    for level in DRAWING:
        if level >= 5:
            assert LEVELS[level].most_loss < 20.0
        if level >= 10:
            assert LEVELS[level].cutoff >= 0.05 and LEVELS[level].most_loss < 10.0


@pytest.mark.parametrize("level", DRAWING)
def test_a_move_has_a_share_of_the_best_ones_probability(level: int) -> None:
    board, rng = GoBoard(5), np.random.default_rng(level)
    evaluator = StoneCounter(5, dict(enumerate(rng.normal(0.0, 3.0, 25))))
    policy = evaluate(evaluator, board, Stone.BLACK).policy
    seen = {board.onboard_pos.index(pos) for pos in draws(level, evaluator, board)}
    assert min(policy[point] for point in seen) >= LEVELS[level].cutoff * policy.max()
    assert len(seen) > 1, "and not always the best one"


def test_a_lower_level_draws_more_widely() -> None:
    board = GoBoard(5)
    evaluator = StoneCounter(5, {12: 5.0, 7: 4.0, 6: 2.0})
    best = [draws(level, evaluator, board).count(board.onboard_pos[12]) for level in (1, 5, 10)]
    assert best == sorted(best) and best[2] > 2 * best[0]


@pytest.mark.parametrize("level", DRAWING)
def test_a_move_that_costs_too_much_is_never_drawn(level: int) -> None:
    board, limit = GoBoard(5), LEVELS[level].most_loss
    bad = board.onboard_pos[12]
    assert bad not in draws(level, Trap(5, 12, limit + 1.0), board)
    assert bad in draws(level, Trap(5, 12, limit - 1.0), board)


def test_where_all_moves_cost_too_much_the_likeliest_is_played() -> None:
    class Hopeless(StoneCounter):
        """Says that any move costs a fortune."""

        def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, ...]:
            logits, value, _, owners = super().__call__(planes)
            return logits, value, 99.0 * (planes[:, 2].sum(axis=(1, 2)) > 0), owners

    board = GoBoard(5)
    assert set(draws(1, Hopeless(5, {7: 2.0}), board)) == {board.onboard_pos[7]}


def test_a_network_without_leads_is_asked_for_win_rates() -> None:
    class Fearful(FakeEvaluator):
        """Loves one point, and thinks that it loses the game."""

        def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            logits, value = super().__call__(planes)
            logits[:, 12] = 2.0
            lost = planes[:, 2].reshape(len(planes), -1)[:, 12] > 0
            value[lost] = [0.0, 0.0, 1.0]
            return logits, value

    board, evaluator = GoBoard(5), Fearful(5)
    raw, rng = evaluate(evaluator, board, Stone.BLACK), random.Random(1)
    assert raw.lead is None
    assert LEVELS[1].most_loss < POINTS_OF_A_WIN
    moves = {draw_move(LEVELS[1], raw.policy, raw, evaluator, board, Stone.BLACK, rng) for _ in range(DRAWS)}
    assert board.onboard_pos[12] not in moves


def test_plain_policy_plays_the_likeliest_move_or_draws() -> None:
    board, evaluator, rng = GoBoard(5), FakeEvaluator(5), random.Random(1)
    policy = np.full(26, 0.01)
    policy[[7, 12, 18]] = 0.06, 0.4, 0.3
    raw = RawEvaluation(policy, 0.5)

    def drawn(temperature: float) -> set[int]:
        return {draw_move(plain_policy(temperature), policy, raw, evaluator, board, Stone.BLACK, rng)
                for _ in range(DRAWS)}

    best, second, third = (board.onboard_pos[index] for index in (12, 18, 7))
    assert drawn(0.0) == {best} and drawn(0.05) <= {best, second} and drawn(1.0) == {best, second, third}


def test_plain_policy_asks_the_network_no_further() -> None:
    board, evaluator = GoBoard(5), FakeEvaluator(5)
    raw = RawEvaluation(np.full(26, 1 / 26), 0.5)
    draw_move(plain_policy(1.0), raw.policy, raw, evaluator, board, Stone.BLACK, random.Random(1))
    assert evaluator.calls == 0


def make_engine(**options: int | float | bool) -> Engine:
    """Return an engine on 5x5 whose network needs no file."""
    return Engine(EngineOptions(size=5, tree_size=1000, **options),  # type: ignore[arg-type]
                  EvaluatorSource(FakeEvaluator, range(5, 6)))  # type: ignore[arg-type]


@pytest.mark.parametrize("visits", [200, LEVELS[15].visits, 3])
def test_a_level_searches_no_more_than_it_may_whatever_was_found_before(visits: int) -> None:
    engine = make_engine(level=15, visits=visits)
    engine.analyze(Stone.BLACK, NO_WATCH, SearchLimit(200, strict=True))
    assert engine.tree.root.node_visits > LEVELS[15].visits
    engine.genmove(Stone.BLACK, 0.0)
    assert engine.tree.root.node_visits <= LEVELS[15].visits
    assert not engine.wants_to_ponder()


def test_the_full_level_changes_nothing() -> None:
    moves = []
    for options in ({}, {"level": FULL_LEVEL}):
        engine = make_engine(visits=50, ponder=True, **options)
        moves.append([engine.genmove(color, 0.0) for color in (Stone.BLACK, Stone.WHITE)])
        assert engine.wants_to_ponder()
    assert moves[0] == moves[1]


@pytest.mark.parametrize(("level", "resigning"), [
    (1, Resigning(0.0, 3)), (8, Resigning(0.02, 6)), (14, Resigning(0.05, 3)), (20, Resigning(0.05, 3))])
def test_low_levels_resign_late_or_never(level: int, resigning: Resigning) -> None:
    assert EngineOptions(level=level).resigning == resigning
    assert EngineOptions(level=level, resign_threshold=0.0).resigning.threshold == 0.0
    engine = make_engine(level=20)
    engine.configure(level=level)
    assert (engine.resign.threshold, engine.resign.streak) == resigning


class Scale(random.Random):
    """Keeps what is drawn from, and the weights."""

    drawn: dict[int, float]

    def choices(self, population: Any, weights: Sequence[float], **_: Any) -> Any:  # type: ignore[override]
        self.drawn = dict(zip(population, weights, strict=True))
        return [population[0]]


def test_a_temperature_changes_no_pass() -> None:
    """To pass is no question of taste: its weight beside the likeliest move stays as it is."""
    board, rng = GoBoard(2), Scale()
    generate_move_from_policy(np.array([0.5, 0.125, 0.1, 0.02, 0.25]), board, Stone.BLACK, rng, temperature=2.0)
    first, second, third, _ = board.onboard_pos
    assert rng.drawn == {first: 1.0, second: 0.5, third: pytest.approx(0.2**0.5), PASS: 0.5}
