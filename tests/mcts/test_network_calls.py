"""Several calls of the network under way at a time: a sound tree, the same each time, and nothing waits in the end."""

import numpy as np
import pytest

from main import MOST_POSITIONS
from mcts.constant import LOOKS
from mcts.params import SearchLimit
from mcts.tree import MCTSTree
from mcts.tree_arrays import DTYPES
from nn.evaluation import Answers, Evaluation
from tests.mcts.evaluators import HashEvaluator
from tests.mcts.trees import Game, check_tree, small_params, snapshot

SIZE = 5


class Pipelined(HashEvaluator):
    """Takes two calls at once, and answers when it is asked for the answer; call number `fail_at` never is."""

    calls_at_once = 2

    def __init__(self, fail_at: int = -1) -> None:
        super().__init__(SIZE)
        self.events: list[str] = []
        self.started = 0
        self.fail_at = fail_at

    def start(self, planes: np.ndarray) -> Evaluation:
        number, kept = self.started, planes.copy()
        self.started += 1
        self.events.append("start")

        def calculate() -> Answers:
            if number == self.fail_at:
                raise RuntimeError("the network is gone")
            return self(kept)

        def finish(answer: Answers) -> Answers:
            self.events.append("finish")
            return answer

        return Evaluation(calculate, finish)


@pytest.mark.parametrize("batch_size", [2, 3, 16])
@pytest.mark.parametrize(("visits_per_leaf", "ahead"), [(0, 0), (4, 0), (0, 3), (8, 6)])
def test_the_tree_of_two_calls_is_sound(batch_size: int, visits_per_leaf: int, ahead: int) -> None:
    game, trees = Game.random(SIZE, 6, seed=batch_size), []
    for _ in range(2):
        evaluator = Pipelined()
        tree = MCTSTree(evaluator, SIZE, small_params(batch_size, visits_per_leaf=visits_per_leaf, ahead=ahead))
        result = tree.search(game.board, game.stone, SearchLimit(150, strict=True))
        assert result.visits == result.total_visits == 150
        check_tree(tree)
        assert max(evaluator.asked.values()) == 1, "no position is asked for twice in this small tree"
        trees.append(snapshot(tree.root))
    assert trees[0] == trees[1]


@pytest.mark.parametrize("calls", [4, 6, 8, 16])
@pytest.mark.parametrize(("visits_per_leaf", "ahead"), [(0, 0), (8, 6)])
def test_a_search_of_many_calls_ends(calls: int, visits_per_leaf: int, ahead: int) -> None:
    """More threads than a small tree has lines for: those without any wait for one that has."""
    game, evaluator = Game.random(SIZE, 6, seed=calls), Pipelined()
    evaluator.calls_at_once = calls
    tree = MCTSTree(evaluator, SIZE, small_params(2 * calls, visits_per_leaf=visits_per_leaf, ahead=ahead))
    for visits in (4, 20, 150):
        assert tree.search(game.board, game.stone, SearchLimit(visits, strict=True)).total_visits == visits
        check_tree(tree)
        tree.clear()


def test_many_calls_have_no_more_visits_under_way_than_few() -> None:
    """A thread for which no visit is left looks ahead: on sixteen cores a small tree is as good as on two."""
    game, evaluator, waiting = Game(SIZE), Pipelined(), list[int]()
    evaluator.calls_at_once = 16

    def note(tree: MCTSTree) -> None:
        waiting.append(tree.root.virtual_loss)
        # a few more wait for what the call of another thread looks ahead at
        assert waiting[-1] <= 2 * tree.params.leaves_at(tree.root.node_visits)

    tree = MCTSTree(evaluator, SIZE, small_params(32, visits_per_leaf=8, ahead=6))
    tree.search(game.board, game.stone, SearchLimit(150, strict=True), note)
    assert max(waiting) > 4


def test_one_call_is_filled_while_another_is_under_way() -> None:
    game, evaluator = Game(SIZE), Pipelined()
    MCTSTree(evaluator, SIZE, small_params(8)).search(game.board, game.stone, SearchLimit(200, strict=True))
    running = np.cumsum([1 if event == "start" else -1 for event in evaluator.events])
    assert running.max() == 2 and running[-1] == 0
    assert np.mean(running[:-1] > 0) > 0.9, "the network has work while the next call is filled"
    assert max(evaluator.batches) <= 4, "both calls together hold 8"


def test_single_leaves_are_searched_in_turn() -> None:
    game, trees = Game(SIZE), []
    for evaluator in (Pipelined(), HashEvaluator(SIZE)):
        tree = MCTSTree(evaluator, SIZE, small_params(1))
        tree.search(game.board, game.stone, SearchLimit(100, strict=True))
        trees.append(snapshot(tree.root))
    assert trees[0] == trees[1]


@pytest.mark.parametrize("batch_size", [2, 7, 16])
def test_sequential_halving_is_the_same_with_two_calls(batch_size: int) -> None:
    game, trees = Game(SIZE), []
    for evaluator in (Pipelined(), HashEvaluator(SIZE)):
        tree = MCTSTree(evaluator, SIZE, small_params(batch_size))
        result = tree.search_with_sequential_halving(game.board, game.stone, SearchLimit(70))
        check_tree(tree)
        assert result.visits == 70
        trees.append(snapshot(tree.root))
    assert batch_size == 7 or trees[0] == trees[1], "seven leaves are three and three where two calls share them"


@pytest.mark.parametrize("batch_size", [4, 8])
def test_looking_ahead_fills_calls_and_changes_nothing_else(batch_size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcts.params.LEAST_LEAVES", 1)
    # Late enough for lines that end in two passes.
    game, trees, calls = Game.random(SIZE, 14, seed=batch_size), [], []
    for params in (small_params(1), small_params(batch_size, visits_per_leaf=10**6, ahead=batch_size)):
        evaluator = HashEvaluator(SIZE)
        tree = MCTSTree(evaluator, SIZE, params)
        for visits in (100, 180):  # the second search goes on in the tree of the first
            tree.search(game.board, game.stone, SearchLimit(visits, strict=True))
            check_tree(tree)
            trees.append(snapshot(tree.root))
        calls.append(len(evaluator.batches))
    assert trees[:2] == trees[2:], "one visit at a time knows all that was found before"
    assert calls[1] < 0.9 * calls[0]


def test_two_calls_are_fuller_with_what_comes_next() -> None:
    game, filled = Game.random(SIZE, 6, seed=1), []
    for ahead in (0, 6):
        evaluator = Pipelined()
        tree = MCTSTree(evaluator, SIZE, small_params(16, visits_per_leaf=8, ahead=ahead))
        tree.search(game.board, game.stone, SearchLimit(200, strict=True))
        filled.append(float(np.mean(evaluator.batches)))
    assert filled[1] > 1.1 * filled[0]


def test_a_call_that_is_full_is_not_filled() -> None:
    game, least, evaluated = Game.random(SIZE, 6, seed=1), [], []
    for full_call in (6, 1):
        evaluator = Pipelined()
        evaluator.full_call = full_call  # type: ignore[attr-defined]
        tree = MCTSTree(evaluator, SIZE, small_params(16, visits_per_leaf=16, ahead=6))
        tree.search(game.board, game.stone, SearchLimit(60, strict=True))
        least.append(evaluator.batches.count(1))
        evaluated.append(sum(evaluator.batches))
    assert least[1] > least[0] + 5 and evaluated[1] < evaluated[0], "single positions, and fewer in vain"


@pytest.mark.parametrize("ahead", [0, 3])
def test_calls_are_filled_to_what_is_calculated_anyway_if_they_may_look_ahead(ahead: int) -> None:
    game, batches = Game.random(SIZE, 6, seed=1), []
    for sizes in ((), (4, 8)):
        evaluator = HashEvaluator(SIZE)
        evaluator.call_sizes = sizes  # type: ignore[attr-defined]
        tree = MCTSTree(evaluator, SIZE, small_params(8, ahead=ahead))
        for search in (tree.search, tree.search_with_sequential_halving):
            result = search(game.board, game.stone, SearchLimit(70, strict=True))
            check_tree(tree)
            assert result.visits == 70, "a schedule of sequential halving has no visit beyond its last one"
        batches.append(evaluator.batches)
    assert (batches[0] == batches[1]) == (ahead == 0)


@pytest.mark.parametrize(("fail_at", "ahead"), [(0, 0), (1, 0), (6, 0), (2, 3), (6, 3)])
def test_after_a_failure_nothing_of_the_broken_search_is_left(fail_at: int, ahead: int) -> None:
    game, evaluator = Game(SIZE), Pipelined(fail_at)
    tree = MCTSTree(evaluator, SIZE, small_params(6, ahead=ahead))
    with pytest.raises(RuntimeError, match="the network is gone"):
        tree.search(game.board, game.stone, SearchLimit(60, strict=True))
    tree.search(game.board, game.stone, SearchLimit(60, strict=True))
    check_tree(tree)
    fresh = MCTSTree(Pipelined(), SIZE, small_params(6, ahead=ahead))
    fresh.search(game.board, game.stone, SearchLimit(60, strict=True))
    assert snapshot(tree.root) == snapshot(fresh.root)


def test_a_search_that_is_stopped_takes_what_is_under_way() -> None:
    game, tree = Game(SIZE), MCTSTree(Pipelined(), SIZE, small_params(8))
    calls = iter(range(100))
    result = tree.search(game.board, game.stone, SearchLimit(10**4, strict=True),
                         should_stop=lambda: next(calls) >= 5)
    assert 5 <= result.visits <= 20
    check_tree(tree)


def test_as_many_visits_as_may_wait_behind_one_move_can_be_counted() -> None:
    most = np.zeros(1, dtype=DTYPES["edge_virtual_loss"])
    most += MOST_POSITIONS + LOOKS
    assert most[0] == MOST_POSITIONS + LOOKS
