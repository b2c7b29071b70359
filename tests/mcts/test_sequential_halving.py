"""SHOT / Gumbel: schedules, the compiled search against its naive twin and mctx, and TamaGo's defects."""
from __future__ import annotations

import hashlib
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

from board.constant import PASS
from board.geometry import get_geometry
from mcts.analysis import SearchResult
from mcts.constant import GUMBEL, PUCT
from mcts.gumbel import considered_visits
from mcts.node import MCTSNode
from mcts.params import SearchLimit, Selection
from mcts.tree import MCTSTree
from mcts.wishes import Wishes
from tests.mcts.evaluators import Answer, ConstantEvaluator, HashEvaluator
from tests.mcts.trees import Game, check_positions, check_tree, compare_trees, count_table, small_params
from tests.reference.naive_search import NaiveSearch, halving_plan


def shot(game: Game, visits: int, batch_size: int = 1, salt: int = 0, seed: int | None = None,
         **params: Any) -> tuple[MCTSTree, SearchResult]:
    """Search a position with sequential halving."""
    size = game.board.board_size
    tree = MCTSTree(HashEvaluator(size, salt), size, small_params(batch_size, **params))
    rng = None if seed is None else np.random.default_rng(seed)
    return tree, tree.search_with_sequential_halving(game.board, game.stone, SearchLimit(visits), rng)


def visit_counts(plan: list[int]) -> list[int]:
    """Return how often each contestant of a schedule is visited in the end, the most visited first."""
    reached = Counter(plan)  # how many contestants got visit number k + 1
    return sorted((k + 1 for k in reached for _ in range(reached[k] - reached[k + 1])), reverse=True)


def root_counts(tree: MCTSTree) -> list[int]:
    """Return the visits of the visited root candidates, the most visited first."""
    return sorted((n for n in count_table(tree.root).values() if n), reverse=True)


# Schedules

def test_schedules_follow_the_definition() -> None:
    for moves in range(1, 17):
        for visits in range(2, 401):
            plan = considered_visits(moves, visits)
            assert plan == halving_plan(moves, visits), (moves, visits)
            counts = visit_counts(plan)
            assert sum(counts) == visits == len(plan)
            assert len(counts) == min(moves, visits), "every contestant is tried before any is dropped"
            assert min(Counter(plan).values()) >= 1 and set(plan) == set(range(counts[0])), "visits accumulate"


def test_schedules_are_those_of_mctx() -> None:
    # sha256 of mctx 0.0.71's seq_halving.get_sequence_of_considered_visits(m, n), m from 1 to 16, n from 2 to 400,
    # one line each, numbers separated by blanks, lines by newlines.
    lines = [" ".join(map(str, considered_visits(m, n))) for m in range(1, 17) for n in range(2, 401)]
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    assert digest == "14448a53af63d5373ac7d9d82fab1b31a6da18cdc2179fcd47c2ff7b49fdec6f"


@pytest.mark.parametrize(("moves", "visits", "expected"), [
    # 16 moves make log2 16 = 4 phases of 64 / 4 = 16 visits: 1 round of 16, 2 of 8, 4 of 4, 8 of 2. A finalist has
    # 1 + 2 + 4 + 8 = 15 visits, who falls in the third phase 7, in the second 3, in the first 1.
    (16, 64, [15] * 2 + [7] * 2 + [3] * 4 + [1] * 8),
    # One round of 16 takes them all.
    (16, 16, [1] * 16),
    # 8 a phase: one round of 16 (never less than one), one of 8, two of 4.
    (16, 32, [4] * 4 + [2] * 4 + [1] * 8),
    # 12.5 a phase: one round of 16, one of 8, three of 4, six of 2; the last two visits are one more round of 2.
    (16, 50, [12] * 2 + [5] * 2 + [2] * 4 + [1] * 8),
    # 100 a phase: 6 rounds of 16 = 96, 12 of 8 = 96, 25 of 4 = 100, 50 of 2 = 100; 8 are left, 4 more rounds of 2.
    (16, 400, [97] * 2 + [43] * 2 + [18] * 4 + [6] * 8),
    # 4 phases of 4: a round of 12, then 4 of the round of 6.
    (12, 16, [2] * 4 + [1] * 8),
    # 3 phases of 5 1/3: one round of 5, two of 2, and two more of 2; one visit is left.
    (5, 16, [7, 6, 1, 1, 1]),
    # 2 phases of 8: two rounds of 3, four of 2, one more of 2.
    (3, 16, [7, 7, 2]),
    (2, 7, [4, 3]),
    (1, 9, [9]),
    # Fewer visits than moves: the best of them once each.
    (16, 2, [1, 1]),
])
def test_schedules_derived_by_hand(moves: int, visits: int, expected: list[int]) -> None:
    assert visit_counts(considered_visits(moves, visits)) == expected


# Size, length and seed of random games after which there are so many candidates, the pass included.
GAMES_WITH = {
    1: (3, 9, 0), 2: (3, 10, 0), 3: (3, 11, 0), 4: (3, 7, 0), 5: (3, 6, 0), 6: (3, 5, 0), 7: (3, 4, 0), 8: (3, 3, 0),
    9: (3, 1, 0), 10: (3, 0, 0), 11: (4, 5, 2), 12: (4, 5, 0), 13: (4, 4, 1), 14: (4, 3, 0), 15: (4, 2, 1),
    16: (4, 1, 0), 17: (4, 0, 0),
}


def game_with(candidates: int) -> Game:
    """Return a position with so many candidates, the pass included."""
    game = Game.random(*GAMES_WITH[candidates], komi=0.5)
    assert len(game.board.get_all_legal_pos(game.stone, fill_eyes=False)) + 1 == candidates
    return game


@pytest.mark.parametrize("batch_size", [1, 4, 16])
def test_root_visits_follow_the_schedule(batch_size: int) -> None:
    game = Game(9)
    for visits in range(2, 65):
        tree, result = shot(game, visits, batch_size, salt=visits, seed=visits)
        assert root_counts(tree) == visit_counts(halving_plan(16, visits)), visits
        assert result.visits == visits


@pytest.mark.parametrize("batch_size", [1, 4, 16])
@pytest.mark.parametrize("candidates", GAMES_WITH)
def test_root_visits_follow_the_schedule_with_few_candidates(candidates: int, batch_size: int) -> None:
    game = game_with(candidates)
    for visits in (2, 5, 11, 16, 20, 47):
        tree, _ = shot(game, visits, batch_size, salt=visits, seed=candidates)
        assert tree.root.num_children == candidates
        assert root_counts(tree) == visit_counts(halving_plan(min(16, candidates), visits)), visits
        check_tree(tree)


@pytest.mark.parametrize("considered", [1, 2, 3, 7, 40])
def test_the_number_of_considered_moves_is_a_parameter(considered: int) -> None:
    tree, _ = shot(Game(5), 80, salt=considered, max_considered=considered)
    assert root_counts(tree) == visit_counts(halving_plan(min(considered, 26), 80))


# Twins

CASES = [(2, 1, 0.5, 40), (3, 0, 3.0, 90), (3, 7, 0.0, 120), (4, 13, 1.5, 64), (5, 3, 7.0, 100), (9, 30, 7.0, 40)]


def compare_with_naive(game: Game, visits: int, batch_size: int, salt: int, seed: int, selection: Selection,
                       temperature: float = 1.0) -> None:
    """Search with both and compare trees, moves and improved policies."""
    size = game.board.board_size
    params = small_params(batch_size, selection=selection, policy_temperature=temperature)
    tree = MCTSTree(HashEvaluator(size, salt), size, params)
    rng = np.random.default_rng(seed)
    result = tree.search_with_sequential_halving(game.board, game.stone, SearchLimit(visits), rng)
    # The noise is drawn in the order of the candidates.
    drawn = np.random.default_rng(seed).gumbel(size=tree.root.num_children)
    noise = {game.point(int(pos)): float(g) for pos, g in zip(tree.root.action, drawn, strict=True)}
    naive = NaiveSearch(HashEvaluator(size, salt), selection, game.board.komi, batch_size, temperature)
    root = game.start(naive)
    chosen = naive.search_with_sequential_halving(root, visits, [noise[edge.move] for edge in root.edges], 16)
    assert compare_trees(tree.root, root, game) == tree.num_nodes
    assert game.point(result.pos) == chosen.move
    policy, index = tree.improved_policy(), get_geometry(size).policy_index
    expected = np.zeros(size * size + 1)
    for edge, probability in zip(root.edges, naive.improved_policy(root), strict=True):
        expected[index[game.twins.pos(edge.move)]] = probability
    np.testing.assert_allclose(policy, expected, rtol=1e-5, atol=1e-12)
    check_tree(tree)


@pytest.mark.parametrize("batch_size", [1, 4, 16])
@pytest.mark.parametrize(("size", "length", "komi", "visits"), CASES)
def test_tree_equals_the_naive_tree(size: int, length: int, komi: float, visits: int, batch_size: int) -> None:
    game = Game.random(size, length, seed=size, komi=komi)
    compare_with_naive(game, visits, batch_size, salt=length, seed=visits, selection=Selection())


@pytest.mark.parametrize("temperature", [0.5, 2.0])
def test_a_flattened_policy_gives_the_naive_tree_of_one(temperature: float) -> None:
    game = Game.random(5, 3, seed=5)
    compare_with_naive(game, 100, 4, salt=3, seed=100, selection=Selection(), temperature=temperature)


@pytest.mark.plain
@pytest.mark.parametrize("passes", [0, 1, 2])
def test_small_tree_equals_the_naive_tree(passes: int) -> None:
    game = Game(3, komi=0.5)
    game.play((2, 2))
    for _ in range(passes):
        game.play(None)
    compare_with_naive(game, 60, 1, salt=passes, seed=passes, selection=Selection(c_visit=10.0, c_scale=0.3))


# Searches with the same evaluator by mctx 0.0.71 (jax 0.10.2, CPU): gumbel_muzero_policy without Gumbel noise over the
# naive twin's positions; values 2 v - 1, discount -1, and 0 with the result as reward where the game ends; illegal
# moves with logit -1e9; qtransform_completed_by_mix_value with value_scale 0.5 (the same as 1.0 for values in [0, 1]),
# maxvisit_init 50, rescale_values False. Size, moves, komi, salt, visits, the policy index chosen, and per policy
# index: visits, mean value in [0, 1], improved policy.
MCTX_SEARCHES = [
    (3, [(2, 2)], 3.0, 1, 50, 3,
     {0: (1, 0.49724, 0.00167), 1: (1, 0.37062, 0.0), 2: (1, 0.44227, 0.00096), 3: (19, 0.55033, 0.40542),
      5: (1, 0.46947, 0.0002), 6: (1, 0.44619, 0.00057), 7: (4, 0.47652, 0.00042), 8: (4, 0.42442, 2e-05),
      9: (18, 0.53811, 0.59073)}),
    (3, [(2, 2), (2, 1), (1, 2), None], 0.0, 2, 100, 9,
     {0: (4, 0.52942, 0.0), 2: (4, 0.59504, 0.0), 5: (34, 0.60679, 0.0), 6: (4, 0.52986, 0.0), 7: (15, 0.57054, 0.0),
      8: (4, 0.51964, 0.0), 9: (35, 1.0, 1.0)}),
    (5, [(3, 3), (2, 2)], 7.0, 3, 64, 3,
     {0: (1, 0.29826, 0.0), 1: (1, 0.39901, 0.0), 2: (3, 0.44834, 1e-05), 3: (15, 0.59152, 0.96786),
      4: (1, 0.41721, 0.0), 5: (3, 0.42298, 1e-05), 7: (1, 0.35632, 0.0), 8: (1, 0.44532, 5e-05),
      9: (7, 0.50511, 0.00045), 13: (1, 0.42804, 0.0), 14: (15, 0.5368, 0.02335), 15: (3, 0.51724, 0.0079),
      20: (1, 0.36752, 0.0), 22: (1, 0.46951, 4e-05), 23: (3, 0.4529, 4e-05), 25: (7, 0.4841, 0.00018)}),
    (5, [(3, 3), (2, 2)], 7.0, 4, 200, 23,
     {1: (3, 0.35942, 0.0), 3: (9, 0.57395, 0.48613), 7: (3, 0.46883, 2e-05), 9: (49, 0.49026, 0.00235),
      11: (3, 0.4097, 0.0), 13: (3, 0.45539, 3e-05), 14: (9, 0.45615, 4e-05), 15: (3, 0.37423, 0.0),
      16: (3, 0.4033, 0.0), 17: (9, 0.52777, 0.12361), 19: (9, 0.49008, 0.00188), 21: (21, 0.49523, 0.00136),
      22: (21, 0.47269, 0.00034), 23: (49, 0.54834, 0.38239), 24: (3, 0.3173, 0.0), 25: (3, 0.48313, 0.00167)}),
    (9, [], 7.0, 5, 64, 54,
     {0: (1, 0.23937, 0.0), 1: (1, 0.06216, 0.0), 6: (1, 0.23887, 0.0), 7: (1, 0.29687, 0.0), 21: (7, 0.5, 0.0975),
      23: (1, 0.46362, 0.01003), 35: (1, 0.31228, 0.0), 36: (3, 0.48241, 0.04412), 41: (7, 0.49652, 0.1102),
      50: (3, 0.4701, 0.01937), 53: (3, 0.42463, 0.00104), 54: (15, 0.51846, 0.45296), 60: (1, 0.43814, 0.00101),
      62: (1, 0.40163, 0.00015), 74: (3, 0.38866, 5e-05), 78: (15, 0.50906, 0.26213)}),
    (2, [(1, 1)], 0.5, 6, 33, 3,
     {1: (12, 0.47968, 0.00859), 2: (4, 0.48689, 0.04301), 3: (13, 0.5157, 0.9484), 4: (4, 0.14476, 0.0)}),
]


@pytest.mark.plain
@pytest.mark.parametrize(("size", "moves", "komi", "salt", "visits", "chosen", "expected"), MCTX_SEARCHES)
def test_searches_are_those_of_mctx(size, moves, komi, salt, visits, chosen, expected) -> None:
    game = Game(size, komi)
    for move in moves:
        game.play(move)
    tree, result = shot(game, visits, salt=salt, selection=Selection(atari_prior=0.0))
    index = get_geometry(size).policy_index
    assert index[result.pos] == chosen
    policy = tree.improved_policy()
    found = {int(index[c.pos]): c for c in result.candidates if c.visits}
    assert {i: c.visits for i, c in found.items()} == {i: visits for i, (visits, _, _) in expected.items()}
    for i, (_, value, probability) in expected.items():
        assert found[i].winrate == pytest.approx(value, abs=1e-5)
        assert policy[i] == pytest.approx(probability, abs=3e-5)


# Defects of TamaGo that must be impossible (tamago.md, section 3 A)

def test_a1_visits_accumulate_over_the_rounds() -> None:
    tree, _ = shot(Game(9), 64, seed=1)
    assert root_counts(tree) == [15, 15, 7, 7, 3, 3, 3, 3, *[1] * 8], "sixteen moves, not thirty"


@pytest.mark.parametrize("candidates", [2, 5, 8, 12])
def test_a2_no_spare_visits_go_to_the_first_point(candidates: int) -> None:
    game = game_with(candidates)
    first = min(game.board.get_all_legal_pos(game.stone, fill_eyes=False))
    size = game.board.board_size
    tree = MCTSTree(ConstantEvaluator(size, {first: -9.0}), size, small_params(16))
    tree.search_with_sequential_halving(game.board, game.stone, SearchLimit(16))
    worst = visit_counts(halving_plan(candidates, 16))[-1]
    assert count_table(tree.root)[first] == worst, "the move with the smallest logit is the first to be dropped"


@pytest.mark.parametrize("batch_size", [1, 16])
def test_a3_interior_nodes_hold_the_networks_policy_and_value(batch_size: int) -> None:
    game = Game.random(5, 6, seed=3)
    tree, _ = shot(game, 200, batch_size, salt=9)
    nodes = check_positions(tree.root, game.board, game.stone, HashEvaluator(5, 9), 7.0)
    assert nodes == tree.num_nodes and check_tree(tree) >= 3


@pytest.mark.parametrize("batch_size", [1, 16])
def test_a4_no_position_is_evaluated_twice(batch_size: int) -> None:
    evaluator = HashEvaluator(9, salt=4)
    tree = MCTSTree(evaluator, 9, small_params(batch_size))
    tree.search_with_sequential_halving(Game(9).board, Game(9).stone, SearchLimit(200))
    assert set(evaluator.asked.values()) == {1} and len(evaluator.asked) == 201


class LastMoveEvaluator(ConstantEvaluator):
    """A constant policy; the value is bad for who has just played `bad`, even otherwise."""

    def __init__(self, board_size: int, logits: dict[int, float], bad: int) -> None:
        super().__init__(board_size, logits)
        self.bad = int(get_geometry(board_size).policy_index[bad])

    def __call__(self, planes: np.ndarray) -> Answer:
        logits, value = super().__call__(planes)
        value[planes[:, 3].reshape(len(planes), -1)[:, self.bad] == 1] = (0.0, 0.0, 1.0)
        return logits, value


@pytest.mark.parametrize("batch_size", [1, 16])
def test_a4_values_decide_who_goes_on_to_the_next_round(batch_size: int) -> None:
    board = Game(9).board
    favorite = board.POS(5, 5)
    tree = MCTSTree(LastMoveEvaluator(9, {favorite: 5.0}, favorite), 9, small_params(batch_size))
    result = tree.search_with_sequential_halving(board, Game(9).stone, SearchLimit(64))
    assert count_table(tree.root)[favorite] == 1 and result.pos != favorite


def final_scores(node: MCTSNode, noise: np.ndarray, selection: Selection) -> np.ndarray:
    """Return noise + logit + sigma(Q) of the visited candidates, -inf for the others."""
    visits = node.children_visits
    q = node.children_value_sum / np.maximum(visits, 1)
    sigma = (selection.c_visit + visits.max()) * selection.c_scale * q
    return np.where(visits > 0, noise + node.children_logit + sigma, -np.inf)


@pytest.mark.parametrize("visits", [2, 16, 50, 64, 200, 400, 1000])
def test_a5_the_best_of_the_most_visited_is_played(visits: int) -> None:
    others_were_better = 0
    for seed in range(6):
        tree, result = shot(Game(5), visits, batch_size=8, salt=seed, seed=seed)
        root = tree.root
        scores = final_scores(root, np.random.default_rng(seed).gumbel(size=root.num_children), Selection())
        finalists = np.flatnonzero(root.children_visits == root.children_visits.max())
        assert result.pos == root.action[finalists[np.argmax(scores[finalists])]]
        assert result.candidates[0].visits == root.children_visits.max()
        others_were_better += int(scores.max() > scores[finalists].max())
    assert visits not in (50, 64) or others_were_better > 0, "the rule makes a difference"


def test_a6_unvisited_moves_are_not_taken_for_losses() -> None:
    # Everybody says 0.8, so the mixed value is 0.8 and the improved policy is the prior, whatever was visited.
    class Even(ConstantEvaluator):
        def __call__(self, planes: np.ndarray) -> Answer:
            logits, value = super().__call__(planes)
            black = planes[:, 5, 0, 0] > 0
            value[black], value[~black] = (0.2, 0.0, 0.8), (0.8, 0.0, 0.2)
            return logits, value

    board = Game(9).board
    tree = MCTSTree(Even(9, {board.POS(3, 3): 3.0, board.POS(4, 4): 2.0}), 9, small_params())
    tree.search_with_sequential_halving(board, Game(9).stone, SearchLimit(16))
    index = get_geometry(9).policy_index
    priors = np.zeros(82)
    priors[index[tree.root.action]] = tree.root.children_policy
    np.testing.assert_allclose(tree.improved_policy(), priors, rtol=1e-4)


# Limits

def test_noise_changes_the_moves_and_its_generator_repeats_them() -> None:
    chosen = [shot(Game(5), 8, seed=seed)[1].pos for seed in range(20)]
    assert chosen == [shot(Game(5), 8, seed=seed)[1].pos for seed in range(20)] and len(set(chosen)) > 5
    assert len({shot(Game(5), 8)[1].pos for _ in range(3)}) == 1


def test_a_stopped_search_answers_with_a_most_visited_move() -> None:
    tree = MCTSTree(HashEvaluator(5), 5, small_params(4))
    calls = iter(range(100))
    game = Game(5)
    result = tree.search_with_sequential_halving(game.board, game.stone, SearchLimit(64),
                                                 should_stop=lambda: next(calls) >= 3)
    assert result.visits == 12 and count_table(tree.root)[result.pos] == 1
    check_tree(tree)


def test_every_search_starts_from_a_new_tree() -> None:
    game = Game(5)
    tree = MCTSTree(HashEvaluator(5), 5, small_params())
    for search in (tree.search, tree.search_with_sequential_halving, tree.search_with_sequential_halving):
        assert search(game.board, game.stone, SearchLimit(40, strict=True)).visits == 40
    assert root_counts(tree) == visit_counts(halving_plan(16, 40))
    # Its tree is not one that PUCT may go on with unless it is right to do so: the visits are those asked for.
    assert tree.search(game.board, game.stone, SearchLimit(70, strict=True)).total_visits == 70
    check_tree(tree)


def test_a_tree_of_rounds_plays_by_them_and_is_looked_at_visit_by_visit() -> None:
    """Analysis and pondering make visits one after the other, whatever plans those of a move."""
    game = Game(5)
    rounds, visits = (MCTSTree(HashEvaluator(5), 5, small_params(algorithm=kind)) for kind in (GUMBEL, PUCT))
    assert rounds.run(game.board, game.stone, SearchLimit(40), Wishes()).visits == 40
    assert root_counts(rounds) == visit_counts(halving_plan(16, 40))
    for tree in (rounds, visits):
        tree.search(game.board, game.stone, SearchLimit(60, strict=True))
    assert count_table(rounds.root) == count_table(visits.root)
    assert visits.run(game.board, game.stone, SearchLimit(70, strict=True), Wishes()).visits == 10


def test_improved_policy_sums_to_one_over_the_candidates() -> None:
    for length in (0, 20, 60):
        game = Game.random(5, length, seed=length)
        tree, _ = shot(game, 32, salt=length)
        policy = tree.improved_policy()
        index = get_geometry(5).policy_index
        allowed = {int(index[pos]) for pos in tree.root.action}
        assert math.isclose(policy.sum(), 1.0, rel_tol=1e-12)
        assert all(policy[i] == 0.0 for i in range(26) if i not in allowed) and index[PASS] in allowed
