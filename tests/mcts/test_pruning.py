"""Bad moves are left out of the tree, by the classifier and by the network's policy."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from board.constant import PASS
from board.ladder import find_ladders, new_ladder_work
from board.pattern import pattern_code
from board.stone import Stone
from common.kernel import without_compiler
from mcts.params import SearchLimit, SearchParams
from mcts.pruning import leave_out
from mcts.restriction import Restriction
from mcts.tree import MCTSTree
from mcts.uct.params import PlayoutParams, UctParams
from mcts.uct.pattern_features import FEATURES
from mcts.uct.pattern_table import canonical_codes, draw_code, read_gammas, swap_colors
from mcts.uct.priors import PASS_PRIOR
from mcts.uct.tree import PlayoutTree
from nn.classifier import Classifier, PointJudge, judge_points, new_judge, write_classifier
from nn.feature import generate_input_planes
from nn.point_marks import MARKS, mark_points
from tests.mcts.evaluators import HashEvaluator
from tests.mcts.test_uct import features_of
from tests.mcts.trees import Game, check_positions, check_tree

ONE = SearchLimit(1, strict=True)


def search_root(game: Game, prune: float, restriction: Restriction | None = None) -> dict[int, float]:
    """Return the candidates of the position with their priors."""
    tree = MCTSTree(HashEvaluator(5, spread=8.0), 5, SearchParams(batch_size=1, tree_size=100, prune=prune))
    found = tree.search(game.board, game.stone, ONE, restriction=restriction)
    return {move.pos: move.prior for move in found.candidates}


def margins_of(game: Game, candidates: list[int]) -> dict[int, float]:
    """Return how bad each point is by the policy of the evaluator, worked out anew."""
    logits, _ = HashEvaluator(5, spread=8.0).answer(generate_input_planes(game.board, game.stone))
    points = [pos for pos in candidates if pos != PASS]
    weights = np.exp([float(logits[game.board.onboard_pos.index(pos)]) for pos in points])
    shares = weights / weights.sum()
    odds = shares / (1 - shares) * (len(points) - 1)
    return dict(zip(points, ((1 - odds) / (1 + odds)).tolist(), strict=True))


@pytest.mark.parametrize("threshold", [0.0, 0.5, 0.9])
def test_the_network_leaves_out_what_its_policy_calls_bad(threshold: float) -> None:
    game = Game.random(5, 6, seed=2)
    everything = search_root(game, 1.0)
    margins = margins_of(game, list(everything))
    with without_compiler():
        kept = search_root(game, threshold)
    assert set(kept) == {PASS} | {pos for pos, margin in margins.items() if margin <= threshold}
    assert 1 < len(kept) < len(everything)
    assert sum(kept.values()) == pytest.approx(1.0, abs=1e-5)
    for pos in kept:
        assert kept[pos] == pytest.approx(everything[pos] / sum(everything[one] for one in kept), rel=1e-4)


def test_the_best_of_the_allowed_moves_stays() -> None:
    game = Game.random(5, 6, seed=2)
    margins = margins_of(game, list(search_root(game, 1.0)))
    worst = sorted(margins, key=lambda pos: margins[pos])[-2:]
    restriction = Restriction(5)
    restriction.allow(game.stone, worst, 1)
    with without_compiler():
        assert worst[0] in search_root(game, 0.0, restriction)


def test_moves_with_a_least_prior_are_left_out_by_nobody() -> None:
    tree = MCTSTree(HashEvaluator(5), 5, SearchParams(batch_size=1, tree_size=100))
    game = Game.random(5, 6, seed=2)
    tree.search(game.board, game.stone, ONE)
    count, arrays = tree.root.num_children, tree.arrays
    moves = [pos for pos in tree.root.action.tolist() if pos != PASS]
    margins = {PASS: 2.0, moves[0]: 0.1, moves[1]: 0.5, moves[2]: 0.9}
    arrays.edge_prior[:count] = [margins.get(pos, 0.9) for pos in tree.root.action.tolist()]
    arrays.edge_logit[:count] = tree.root.action == moves[2]
    with without_compiler():
        leave_out(arrays, 0, 0.5)
    assert sorted(tree.arrays.edge_pos[: arrays.node_edges[0]].tolist()) == sorted(margins)


def test_a_pruned_tree_is_sound() -> None:
    game = Game.random(5, 6, seed=2)
    tree = MCTSTree(HashEvaluator(5, spread=8.0), 5, SearchParams(batch_size=1, tree_size=500, prune=0.5))
    with without_compiler():
        tree.search(game.board, game.stone, SearchLimit(12, strict=True))
    assert check_tree(tree) > 1
    with pytest.raises(AssertionError):  # not every legal move is there
        check_positions(tree.root, game.board, game.stone, HashEvaluator(5, spread=8.0), 7.0)


def made_up_classifier(path: Path) -> Classifier:
    """Write a classifier with random weights."""
    rng, f = np.random.default_rng(1), 3
    shapes = ((MARKS, 3, 3 * f), (3, 3, f), (f,), (1, f, f, 9), (1, f), (f,))
    weights = Classifier(*(rng.standard_normal(shape).astype(np.float32) for shape in shapes))
    write_classifier(weights, path)
    return weights


def judge_root(game: Game, weights: Classifier) -> PointJudge:
    """Return a judge that has judged a position of 4x4."""
    judge = new_judge(weights, 4, 0.4)
    ladders, previous = new_ladder_work(4), game.moves[-2]
    find_ladders(game.board.state, ladders)
    mark_points(game.board.state, 0 if previous is None else game.twins.pos(previous), ladders, int(game.stone),
                judge.marks)
    judge_points(judge, game.board.state)
    return judge


def find_priors(game: Game, path: Path, prune: float, policy: float = 1.0) -> dict[int, float]:
    """Return the candidates at the root of a search by playouts with their priors."""
    tree = PlayoutTree(4, PlayoutParams(tree_size=100, prune=prune, classifier=str(path),
                                        uct=UctParams(policy=policy)))
    return {move.pos: move.prior for move in tree.search(game.board, game.stone, ONE).candidates}


def test_playouts_leave_out_what_the_classifier_calls_bad(tmp_path: Path) -> None:
    path, game = tmp_path / "net.npz", Game.random(4, 5, seed=3)
    weights = made_up_classifier(path)
    with without_compiler():
        everything, kept = find_priors(game, path, 1.0), find_priors(game, path, 0.4)
        judge = judge_root(game, weights)
    margins = dict(zip(game.board.onboard_pos, judge.margin.tolist(), strict=True))
    expected = {pos for pos in everything if pos == PASS or margins[pos] <= 0.4}
    expected.add(min((pos for pos in everything if pos != PASS), key=lambda pos: margins[pos]))
    assert set(kept) == expected and 1 < len(kept) < len(everything)


def test_priors_of_playouts_mix_patterns_with_the_policy_of_the_classifier(tmp_path: Path) -> None:
    path, game = tmp_path / "net.npz", Game.random(4, 5, seed=3)
    weights = made_up_classifier(path)
    with without_compiler():
        by_policy = {policy: find_priors(game, path, 0.99, policy) for policy in (0.0, 0.3, 1.0)}
        patterns, judge = find_priors(game, path, 1.0), judge_root(game, weights)
    logits = dict(zip(game.board.onboard_pos, judge.logit.tolist(), strict=True))
    for policy, priors in by_policy.items():
        strength = {pos: patterns[pos] ** (1 - policy) * np.exp(policy * logits[pos]) for pos in priors if pos != PASS}
        total = sum(strength.values()) * (1 + PASS_PRIOR)
        for pos, one in strength.items():
            assert priors[pos] == pytest.approx(one / total, rel=1e-4)
        assert sum(priors.values()) == pytest.approx(1.0, abs=1e-5)
    assert len({tuple(priors.values()) for priors in by_policy.values()}) == len(by_policy)


@pytest.mark.parametrize("moves", [8, 9])
def test_priors_are_the_shares_of_what_the_table_says_of_moves(moves: int) -> None:
    game, gammas = Game.random(5, moves, seed=6), read_gammas()["prior"]
    before_last = game.board.get_move_history()[-2][1]
    tree, strength = PlayoutTree(5, PlayoutParams(tree_size=100)), {}
    with without_compiler():
        tree.search(game.board, game.stone, ONE)
    for pos in tree.root.action[tree.root.action != PASS].tolist():
        code = pattern_code(game.board.state, pos)
        seen = canonical_codes()[code if game.stone == Stone.BLACK else swap_colors(np.array([code]))[0]]
        found = features_of(game.twins, game.twins.point(pos), int(game.stone), before_last)
        strength[pos] = gammas["pattern"].get(draw_code(seen), 1.0)
        for (name, values), level in zip(FEATURES.items(), found, strict=True):
            strength[pos] *= gammas[name].get(values[level], 1.0)
    total = sum(strength.values()) * (1 + PASS_PRIOR)
    for pos, prior in zip(tree.root.action.tolist(), tree.root.children_policy.tolist(), strict=True):
        assert pos == PASS or prior == pytest.approx(strength[pos] / total, rel=1e-4)
