"""The compiled PUCT search against its naive twin, and what must hold for any batch size."""
from __future__ import annotations

import math

import numpy as np
import pytest

from board.constant import PASS
from board.go_board import GoBoard
from board.stone import Stone
from mcts.analysis import lower_confidence_bound
from mcts.params import SearchLimit, Selection
from mcts.tree import MCTSTree
from mcts.tree_arrays import ROOT, bring_forward
from tests.mcts.evaluators import ConstantEvaluator, HashEvaluator, TellingEvaluator
from tests.mcts.trees import (
    Game,
    check_result,
    check_tree,
    child_of,
    compare_trees,
    count_table,
    small_params,
    snapshot,
)
from tests.reference.naive_search import NaiveSearch
from tests.reference.slow_board import OTHER

# size, moves played at random, komi, visits
SMALL = [
    (2, 0, 0.5, 60), (2, 1, 1.0, 60), (2, 3, -1.0, 80), (2, 6, 0.0, 80), (3, 0, 7.0, 120), (3, 2, 3.0, 120),
    (3, 5, 9.0, 150), (3, 9, 0.0, 200), (3, 14, -3.5, 150),
]
LARGE = [(4, 12, 0.0, 120), (5, 0, 7.0, 100), (5, 9, 24.5, 100), (5, 30, -2.0, 150), (5, 45, 1.0, 150),
         (9, 25, 7.0, 50), (9, 90, 6.5, 60)]


def search_twins(game: Game, visits: int, salt: int = 0, batch_size: int = 1, selection: Selection | None = None,
                 spread: float = 4.0, temperature: float = 1.0,
                 kind: type[HashEvaluator] = HashEvaluator) -> tuple[MCTSTree, NaiveSearch]:
    """Search a position with both, compare the trees, and return them."""
    numbers, size = selection or Selection(), game.board.board_size
    tree = MCTSTree(kind(size, salt, spread), size, small_params(
        batch_size, selection=numbers, policy_temperature=temperature))
    result = tree.search(game.board, game.stone, SearchLimit(visits, strict=True))
    naive = NaiveSearch(kind(size, salt, spread), numbers, game.board.komi, batch_size, temperature)
    naive.may_repeat = "" if game.board.check_superko else OTHER[game.color]
    root = game.start(naive)
    naive.search(root, visits)
    assert compare_trees(tree.root, root, game) == tree.num_nodes
    assert result.visits == result.total_visits == visits
    check_tree(tree)
    return tree, naive


@pytest.mark.plain
@pytest.mark.parametrize(("size", "length", "komi", "visits"), SMALL)
def test_tree_equals_the_naive_tree(size: int, length: int, komi: float, visits: int) -> None:
    search_twins(Game.random(size, length, seed=length, komi=komi), visits, salt=length)


@pytest.mark.parametrize(("size", "length", "komi", "visits"), LARGE)
def test_larger_tree_equals_the_naive_tree(size: int, length: int, komi: float, visits: int) -> None:
    search_twins(Game.random(size, length, seed=size, komi=komi), visits, salt=size)


@pytest.mark.parametrize("temperature", [0.5, 2.0])
def test_a_flattened_policy_gives_the_naive_tree_of_one(temperature: float) -> None:
    search_twins(Game.random(5, 9, seed=5), 100, salt=5, temperature=temperature)


def test_the_twins_meet_superko_and_finished_games() -> None:
    superko_moves = endings = 0
    for seed in range(12):
        naive = search_twins(Game.random(2 + seed % 2, 4 + seed, seed, komi=0.5), 150, salt=seed)[1]
        superko_moves += naive.superko_moves
        endings += naive.endings
    assert superko_moves > 20 and endings > 50


def test_without_superko_the_opponent_may_repeat_a_position() -> None:
    superko_moves = repetitions = 0
    for seed in range(12):
        game = Game.random(2 + seed % 2, 4 + seed, seed, komi=0.5, check_superko=False)
        naive = search_twins(game, 150, salt=seed)[1]
        superko_moves += naive.superko_moves
        repetitions += naive.repetitions
    assert superko_moves > 20 and repetitions > 20


@pytest.mark.parametrize("passes", [1, 2, 3])
def test_after_passes(passes: int) -> None:
    game = Game.random(3, 6, seed=4, komi=0.5)
    if game.moves[-1] is None:
        game.play((1, 1))
    for _ in range(passes):
        game.play(None)
    tree, naive = search_twins(game, 100)
    ends = child_of(tree.root, PASS).num_children == 0
    assert ends == (passes % 2 == 1), "after two passes the game goes on as if there had been none"
    assert naive.endings > 0


@pytest.mark.parametrize("selection", [
    Selection(c_puct=2.0, c_base=20.0, c_growth=1.5, fpu_reduction=0.0, root_fpu_reduction=0.5),
    Selection(c_puct=0.3, c_base=19652.0, c_growth=0.0, fpu_reduction=0.6, root_fpu_reduction=0.0),
    Selection(expand=3),
])
@pytest.mark.parametrize("spread", [0.5, 12.0])
def test_every_number_of_the_selection_counts(selection: Selection, spread: float) -> None:
    search_twins(Game.random(3, 3, seed=1), 150, selection=selection, spread=spread)
    search_twins(Game.random(5, 8, seed=2), 80, selection=selection, spread=spread)


@pytest.mark.parametrize("lead_weight", [0.05, 1.0])
def test_leads_have_their_worth(lead_weight: float) -> None:
    trees = [search_twins(Game.random(3, 5, seed=6, komi=0.5), 150, batch_size=4, kind=TellingEvaluator,
                          selection=Selection(lead_weight=weight))[0] for weight in (lead_weight, 0.0)]
    assert snapshot(trees[0].root) != snapshot(trees[1].root)


class CenterLeads(ConstantEvaluator):
    """All moves win alike, and whoever has the center of 5x5 by more points."""

    tells_lead = True

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, ...]:  # type: ignore[override]
        leads = (20.0 * (planes[:, 1, 2, 2] - planes[:, 2, 2, 2])).astype(np.float32)
        return *super().__call__(planes), leads, np.zeros((len(planes), 25), dtype=np.float32)


def test_of_moves_that_win_alike_the_one_that_wins_by_more_is_searched() -> None:
    board, visits = GoBoard(5), []
    for weight in (0.0, 0.1):
        tree = MCTSTree(CenterLeads(5, win=0.5), 5, small_params(selection=Selection(lead_weight=weight)))
        result = tree.search(board, Stone.BLACK, SearchLimit(200, strict=True))
        visits.append(next(move.visits for move in result.candidates if move.pos == board.POS(3, 3)))
    assert visits[1] > 2 * visits[0] and result.pos == board.POS(3, 3)


@pytest.mark.parametrize("batch_size", [2, 3, 8, 32])
def test_batches_equal_naive_batches(batch_size: int) -> None:
    for size, length, komi, visits in ((2, 2, 0.5, 70), (3, 4, 3.0, 120), (5, 10, 7.0, 90)):
        search_twins(Game.random(size, length, seed=length, komi=komi), visits, salt=batch_size, batch_size=batch_size)


@pytest.mark.plain
@pytest.mark.parametrize("batch_size", [1, 2, 5, 16, 32])
def test_invariants_hold_between_all_batches(batch_size: int) -> None:
    evaluator = HashEvaluator(3, salt=batch_size)
    tree = MCTSTree(evaluator, 3, small_params(batch_size))
    game = Game.random(3, 5, seed=7, komi=1.0)
    reports: list[int] = []

    def report(running: MCTSTree) -> None:
        assert running is tree
        check_tree(tree)
        check_result(tree.result(), tree, game.board, game.stone)
        reports.append(tree.root.node_visits)

    result = tree.search(game.board, game.stone, SearchLimit(70, strict=True), on_report=report)
    assert reports == sorted(set(reports)) and reports[-1] == 70 == result.visits
    assert max(evaluator.batches) <= batch_size and (batch_size == 1 or max(evaluator.batches) > 1)
    check_result(result, tree, game.board, game.stone)


@pytest.mark.parametrize("batch_size", [1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 31, 32])
def test_every_batch_size_is_consistent(batch_size: int) -> None:
    tree = MCTSTree(HashEvaluator(5, salt=batch_size), 5, small_params(batch_size))
    for length in (0, 11, 40):
        game = Game.random(5, length, seed=length)
        result = tree.search(game.board, game.stone, SearchLimit(130, strict=True))
        assert result.visits == 130
        check_tree(tree)
        check_result(result, tree, game.board, game.stone)


def test_ties_go_to_the_first_candidate() -> None:
    game = Game(3, komi=0.0)
    points = [*game.board.onboard_pos, PASS]
    tree = MCTSTree(ConstantEvaluator(3), 3, small_params())
    for visits in range(1, 41):  # everything is worth 0.5 all the time, even two passes
        result = tree.search(game.board, game.stone, SearchLimit(visits, strict=True))
        table = count_table(tree.root)
        assert [table[pos] for pos in points] == [visits // 10 + (i < visits % 10) for i in range(10)]
        assert result.pos == points[0]


def test_only_untried_moves_change_places() -> None:
    """A search that does not count the moves it has tried may have tried any of them."""
    game, tree = Game(5), MCTSTree(HashEvaluator(5), 5, small_params())
    tree.search(game.board, game.stone, SearchLimit(40, strict=True))
    arrays, root = tree.arrays, tree.root
    tried, before = root.children_visits > 0, root.action.copy()
    assert 0 < tried.sum() < len(tried)
    arrays.node_front[ROOT] = 0
    arrays.edge_prior[np.flatnonzero(~tried)[-1]] = 2.0
    bring_forward(arrays, ROOT)
    assert (root.action[tried] == before[tried]).all() and sorted(root.action) == sorted(before)
    assert root.children_policy[~tried].argmax() == 0
    arrays.edge_child[:len(tried)] = ROOT
    bring_forward(arrays, ROOT)  # there is nothing left


def test_waiting_visits_count_as_lost() -> None:
    # With equal priors and values a batch spreads over as many candidates as it has entries.
    game = Game(5)
    tree = MCTSTree(ConstantEvaluator(5, win=0.9), 5, small_params(8))
    tree.search(game.board, game.stone, SearchLimit(8, strict=True))
    table = count_table(tree.root)
    assert [table[pos] for pos in game.board.onboard_pos] == [1] * 8 + [0] * 17 and table[PASS] == 0


def test_the_board_is_left_alone_and_may_change_afterwards() -> None:
    game = Game.random(5, 12, seed=3)
    before = game.board.get_board_string(), game.board.get_move_history()
    tree = MCTSTree(HashEvaluator(5), 5, small_params(4))
    tree.search(game.board, game.stone, SearchLimit(40, strict=True))
    assert (game.board.get_board_string(), game.board.get_move_history()) == before
    kept = snapshot(tree.root)
    game.play(None)
    assert snapshot(tree.root) == kept


def test_a_search_repeats_exactly() -> None:
    game = Game.random(9, 20, seed=5)
    trees = [MCTSTree(HashEvaluator(9), 9, small_params(8)) for _ in range(2)]
    first, second = (tree.search(game.board, game.stone, SearchLimit(100, strict=True)) for tree in trees)
    assert [c for c in first.candidates] == [c for c in second.candidates]


@pytest.mark.parametrize("temperature", [1.0, 0.5, 2.0])
def test_priors_are_those_of_the_candidates_alone(temperature: float) -> None:
    # The network's share for illegal points and own eyes goes to the candidates.
    game = Game.from_diagram(". X O / X X O / O O .".replace("/", "\n"), "b", komi=0.0)
    corner, other = game.board.POS(1, 1), game.board.POS(3, 3)
    tree = MCTSTree(ConstantEvaluator(3, {corner: 9.0, PASS: 1.0}), 3, small_params(policy_temperature=temperature))
    result = tree.search(game.board, game.stone, SearchLimit(1, strict=True))
    odds = math.e ** (1 / temperature)
    assert {c.pos: c.prior for c in result.candidates} == {
        other: pytest.approx(1 / (1 + odds), rel=1e-6), PASS: pytest.approx(odds / (1 + odds), rel=1e-6),
    }
    assert result.total_visits == 1


@pytest.mark.parametrize(("share", "width"), [(1.0, 3.0), (0.1, 0.5), (0.1, 3.0), (0.6, 3.0)])
def test_the_move_to_play_has_the_highest_bound_among_those_visited_enough(share: float, width: float) -> None:
    tree = MCTSTree(HashEvaluator(5), 5, small_params(bound_share=share, bound_width=width))
    result = tree.search(GoBoard(5), Stone.BLACK, SearchLimit(60))
    root, most = tree.root, max(move.visits for move in result.candidates)
    numbers = {int(root.action[i]): i for i in range(root.num_children)}
    squares = tree.arrays.edge_value_square_sum
    first = int(tree.arrays.node_edge[0])
    bounds = {move.pos: lower_confidence_bound(move.visits, move.visits * move.winrate,
                                               float(squares[first + numbers[move.pos]]), width)
              for move in result.candidates if move.visits >= max(1, share * most)}
    assert result.pos == result.candidates[0].pos and bounds[result.pos] == pytest.approx(max(bounds.values()))


def test_a_search_that_plays_by_bounds_goes_on_while_another_move_may_have_the_highest_one() -> None:
    """With a share of a tenth a second move counts as soon as it has that; the visits left are to decide."""
    board = GoBoard(5)
    evaluator = ConstantEvaluator(5, {board.POS(3, 3): 30.0})
    made = {share: MCTSTree(evaluator, 5, small_params(bound_share=share)).search(board, Stone.BLACK, SearchLimit(100))
            for share in (1.0, 0.1)}
    assert made[1.0].visits < 60 and made[0.1].visits > 85
