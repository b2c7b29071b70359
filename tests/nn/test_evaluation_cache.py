"""The cache of evaluations: the same answers, no position evaluated twice, bounded memory."""
from __future__ import annotations

import numpy as np

from board.go_board import GoBoard
from board.stone import Stone
from mcts.params import SearchLimit, SearchParams
from mcts.tree import MCTSTree
from nn.inference.evaluation_cache import CachedEvaluator
from tests.mcts.evaluators import HashEvaluator

SIZE = 5


def test_nothing_is_evaluated_twice_and_every_answer_is_the_evaluators() -> None:
    plain, behind = HashEvaluator(SIZE), HashEvaluator(SIZE)
    cached, rng = CachedEvaluator(behind), np.random.default_rng(1)
    positions = rng.integers(-1, 2, (40, 6, SIZE, SIZE)).astype(np.float32)
    for count in (1, 3, 8, 8, 20, 20):
        planes = positions[rng.choice(len(positions), count, replace=False)]
        for found, wanted in zip(cached(planes), plain(planes), strict=True):
            np.testing.assert_array_equal(found, wanted)
            assert found.dtype == wanted.dtype and found.shape == wanted.shape
    assert set(behind.asked.values()) == {1}
    assert cached.asked == 60 and cached.found == 60 - len(behind.asked)


def test_memory_is_bounded_and_the_oldest_goes_first() -> None:
    behind = HashEvaluator(SIZE)
    cached = CachedEvaluator(behind, memory=20000)
    positions = np.arange(200, dtype=np.float32).reshape(200, 1, 1, 1) * np.ones((1, 6, SIZE, SIZE), dtype=np.float32)
    positions = positions % 100
    for planes in positions[:100].reshape(20, 5, 6, SIZE, SIZE):
        cached(planes)
        assert len(cached._answers) * 700 <= 20000
    cached(positions[99:100])
    assert cached.found == 1
    cached(positions[:1])
    assert cached.found == 1, "the first one was forgotten"
    cached.clear()
    cached(positions[99:100])
    assert cached.found == 1


def test_a_search_is_the_same_and_its_repetition_costs_nothing() -> None:
    board, limit = GoBoard(SIZE), SearchLimit(60, strict=True)
    behind = HashEvaluator(SIZE)
    cached = CachedEvaluator(behind)
    trees = [MCTSTree(evaluator, SIZE, SearchParams(batch_size=4)) for evaluator in (HashEvaluator(SIZE), cached)]
    plain, first = (tree.search(board, Stone.BLACK, limit) for tree in trees)
    assert [(c.pos, c.visits) for c in first.candidates] == [(c.pos, c.visits) for c in plain.candidates]
    calls = len(behind.batches)
    trees[1].clear()
    trees[1].search(board, Stone.BLACK, limit)
    assert len(behind.batches) == calls
