"""The cache of evaluations: the same answers, no position evaluated twice, bounded memory."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from board.geometry import make_symmetry_index
from board.go_board import GoBoard
from board.ruleset import Rules
from board.stone import Stone
from mcts.params import SearchLimit, SearchParams
from mcts.tree import MCTSTree
from nn.inference import evaluation_cache
from nn.inference.answer_store import WAYS, new_answer_store
from nn.inference.board_evaluator import Answers, BoardEvaluator, NetworkFacts
from nn.inference.evaluation_cache import CachedEvaluator
from selfplay.game import draw_game
from selfplay.games import new_terms
from tests.mcts.evaluators import HashEvaluator, TellingEvaluator
from tests.selfplay.players import play_games

SIZE = 5


class Seeing(BoardEvaluator):
    """A BoardEvaluator over answers that look random."""

    def __init__(self, tells_lead: bool = False, symmetries: int = 1) -> None:
        super().__init__(NetworkFacts("basic", SIZE, (SIZE, SIZE), tells_lead, 4, 2, (SIZE,)), "", 64, symmetries)
        self.behind = (TellingEvaluator if tells_lead else HashEvaluator)(SIZE)

    def _evaluate(self, planes: np.ndarray) -> Answers:
        return self.behind(planes)


def some_planes(count: int) -> np.ndarray:
    planes = np.random.default_rng(1).integers(0, 2, (count, 6, SIZE, SIZE)).astype(np.float32)
    planes[:, 5] = np.random.default_rng(2).choice((-1.0, 0.35, 1.0), (count, 1, 1))
    return planes


def ways_to_ask(evaluator: BoardEvaluator | CachedEvaluator) -> list[Callable[[np.ndarray], Answers]]:
    return [evaluator, lambda planes: evaluator.start(planes).answer()]


@pytest.mark.parametrize("way", [0, 1])
@pytest.mark.parametrize(("tells_lead", "symmetries"), [(False, 1), (True, 1), (True, 8), (False, 3)])
def test_nothing_is_evaluated_twice_and_every_answer_is_the_evaluators(tells_lead: bool, symmetries: int,
                                                                       way: int) -> None:
    plain, behind = Seeing(tells_lead, symmetries), Seeing(tells_lead, symmetries)
    cached, rng, positions = CachedEvaluator(behind), np.random.default_rng(1), some_planes(40)
    for count in (1, 3, 8, 8, 20, 20, 40):
        planes = positions[rng.choice(len(positions), count, replace=False)]
        for found, wanted in zip(ways_to_ask(cached)[way](planes), ways_to_ask(plain)[way](planes), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-7)
            assert found.dtype == wanted.dtype and found.shape == wanted.shape
    asked = behind.behind.asked
    assert set(asked.values()) == {1} and len(asked) == 40 * symmetries
    assert (cached.asked, cached.found) == (100, 60)


def test_means_over_symmetries_are_those_of_the_evaluator_and_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a caller writes into his answer, or how many ways to look another one wants, changes nothing."""
    monkeypatch.setattr(evaluation_cache, "KEPT_MEANS", 3)
    plain, behind = Seeing(True), Seeing(True)
    cached, planes = CachedEvaluator(behind), some_planes(5)
    for symmetries in (8, 3):
        for n in (0, 1, 2, 1, 0, 2, 0):
            answers = cached.average(planes[n:n + 1], symmetries)
            for found, wanted in zip(answers, plain.average(planes[n:n + 1], symmetries), strict=True):
                np.testing.assert_array_equal(found, wanted)
                assert found.dtype == wanted.dtype and found.shape == wanted.shape
                found[:] = 0.0
    assert sum(behind.behind.asked.values()) == 3 * 8 + 3 * 3
    for n in (3, 0):
        cached.average(planes[n:n + 1], 3)
    assert sum(behind.behind.asked.values()) == 33 + 3, "the one that was asked for last is still there"
    cached.average(planes[1:2], 3)
    assert sum(behind.behind.asked.values()) == 33 + 6, "the oldest is not"
    cached.clear()
    cached.average(planes[:1], 3)
    assert sum(behind.behind.asked.values()) == 33 + 9


def test_mirror_images_share_an_answer() -> None:
    cached, plain, planes = CachedEvaluator(Seeing(True)), Seeing(True), some_planes(1)
    for order in make_symmetry_index(SIZE):
        turned = planes.reshape(1, 6, -1)[:, :, order[:-1]].reshape(planes.shape)
        for found, wanted in zip(cached(turned), plain(turned), strict=True):
            np.testing.assert_array_equal(found, wanted)
    assert (cached.asked, cached.found) == (8, 7)


def test_what_differs_in_one_entry_or_one_number_is_another_position() -> None:
    cached, planes = CachedEvaluator(Seeing()), some_planes(1)
    for n in range(30):
        other = planes.copy()
        if n < 25:
            other[0, 4, n // 5, n % 5] = 1.0 - other[0, 4, n // 5, n % 5]
        else:
            other[0, 5] = n / 100
        cached(other)
    assert (cached.asked, cached.found) == (30, 0)


def test_two_calls_under_way_at_a_time() -> None:
    """The second asks for what the first does not know yet; a place that is taken meanwhile harms nobody."""
    positions, plain = some_planes(12), Seeing(True)
    cached = CachedEvaluator(Seeing(True), memory=0)
    cached(positions[:2])
    prepared = [cached.start(positions[:6]), cached.start(positions[4:])]
    for evaluation in reversed(prepared):
        evaluation.calculate()
    for evaluation, planes in zip(prepared, (positions[:6], positions[4:]), strict=True):
        for found, wanted in zip(evaluation.take(), plain(planes), strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_memory_is_bounded_and_the_oldest_goes_first() -> None:
    memory, positions = 20000, some_planes(400)
    store = new_answer_store(memory, SIZE, 6, False)
    assert 0.9 * memory < store.rows.nbytes + store.keys.nbytes + store.age.nbytes <= memory
    cached = CachedEvaluator(Seeing(), memory)
    for planes in positions.reshape(80, 5, 6, SIZE, SIZE):
        cached(planes)
    assert cached.found == 0
    for planes in positions[::-1].reshape(80, 5, 6, SIZE, SIZE)[:8]:
        cached(planes)
    assert cached.found == 40, "the newest are known"
    cached.clear()
    cached(positions[-1:])
    assert cached.found == 40
    assert len(new_answer_store(0, SIZE, 6, False).keys) == WAYS


def test_games_of_self_play_share_it_and_stay_the_same() -> None:
    terms, plain = new_terms(SIZE, 8, Rules.of(0.5, True), 0.05), Seeing()
    cached = CachedEvaluator(Seeing())
    games = [draw_game(number, (1,), 0.5) for number in range(1, 5)]
    without, with_cache = (play_games(evaluator, terms, games) for evaluator in (plain, cached))
    assert [(game.moves, game.result) for game in without] == [(game.moves, game.result) for game in with_cache]
    assert all(np.array_equal(one.policy, other.policy) for one, other in zip(without, with_cache, strict=True))
    assert cached.found > 0 and cached.asked == sum(plain.behind.batches)


def test_a_search_is_the_same_and_its_repetition_costs_nothing() -> None:
    board, limit = GoBoard(SIZE), SearchLimit(60, strict=True)
    behind = Seeing()
    cached = CachedEvaluator(behind)
    trees = [MCTSTree(evaluator, SIZE, SearchParams(batch_size=4)) for evaluator in (Seeing(), cached)]
    plain, first = (tree.search(board, Stone.BLACK, limit) for tree in trees)
    assert [(c.pos, c.visits) for c in first.candidates] == [(c.pos, c.visits) for c in plain.candidates]
    calls = len(behind.behind.batches)
    trees[1].clear()
    trees[1].search(board, Stone.BLACK, limit)
    assert len(behind.behind.batches) == calls, "not even for the root, which is judged in all ways a board can lie"
