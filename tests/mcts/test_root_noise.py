"""AlphaZero's noise at the root: draws of the gamma and Dirichlet distributions, and what becomes of the priors."""
from __future__ import annotations

import numpy as np
import pytest

from board.go_board import GoBoard
from board.random_state import new_random_state
from board.stone import Stone
from mcts.params import NETWORK_ALONE, SearchLimit, SearchParams
from mcts.root_noise import CONCENTRATION, draw_gamma, mix_root_noise
from mcts.tree import MCTSTree
from selfplay.steps import draw_noise
from tests.mcts.evaluators import HashEvaluator

DRAWS = 20_000


@pytest.mark.parametrize("shape", [0.13, 0.7, 1.0, 5.5])
def test_gamma_numbers_have_their_moments_and_their_distribution(shape: float) -> None:
    state = new_random_state(np.random.default_rng(1))
    drawn = np.array([draw_gamma(shape, state) for _ in range(DRAWS)])
    assert (drawn >= 0).all()
    error = np.sqrt(shape / DRAWS)  # the variance is the shape, and so is the mean
    assert abs(drawn.mean() - shape) < 4 * error
    assert drawn.var() == pytest.approx(shape, rel=0.15)
    numpy_drawn = np.random.default_rng(2).gamma(shape, size=DRAWS)
    for share in (0.1, 0.25, 0.5, 0.75, 0.9):
        below = (drawn < np.quantile(numpy_drawn, share)).mean()
        assert abs(below - share) < 0.02


def test_gumbel_noise_has_its_moments() -> None:
    noise = np.zeros(DRAWS)
    draw_noise(noise, DRAWS, new_random_state(np.random.default_rng(5)))
    assert noise.mean() == pytest.approx(np.euler_gamma, abs=0.04)
    assert noise.var() == pytest.approx(np.pi**2 / 6, rel=0.05)


def evaluated_root(size: int) -> MCTSTree:
    tree = MCTSTree(HashEvaluator(size), size, SearchParams(NETWORK_ALONE, batch_size=1))
    tree.search(GoBoard(size), Stone.BLACK, SearchLimit(0, strict=True))
    return tree


def test_the_noise_has_its_share_of_the_priors() -> None:
    state, count = new_random_state(np.random.default_rng(3)), 26
    noise, tree = np.zeros(count), evaluated_root(5)
    seen: list[np.ndarray] = []
    for _ in range(2_000):
        order = np.argsort(tree.root.action)
        prior = tree.root.children_policy[order].astype(np.float64)
        mix_root_noise(tree.arrays, 1.0, tree.geometry.policy_index, noise, state)
        seen.append(tree.root.children_policy[np.argsort(tree.root.action)].astype(np.float64))
        assert seen[-1].sum() == pytest.approx(1.0, abs=1e-4) and not np.allclose(seen[-1], prior)
    mean, alpha = np.mean(seen, axis=0), CONCENTRATION / count
    variance = (1 / count) * (1 - 1 / count) / (CONCENTRATION + 1)  # of a Dirichlet distribution
    assert np.allclose(mean, 1 / count, atol=5 * np.sqrt(variance / len(seen)))
    assert np.var(seen) == pytest.approx(variance, rel=0.1) and alpha < 1


def test_a_share_leaves_the_rest_to_the_network_and_brings_the_greatest_prior_forward() -> None:
    tree, noise = evaluated_root(9), np.zeros(82)
    before = dict(zip(tree.root.action.tolist(), tree.root.children_policy.tolist(), strict=True))
    mix_root_noise(tree.arrays, 0.25, tree.geometry.policy_index, noise,
                   new_random_state(np.random.default_rng(4)))
    after = dict(zip(tree.root.action.tolist(), tree.root.children_policy.tolist(), strict=True))
    assert after.keys() == before.keys() and sum(after.values()) == pytest.approx(1.0, abs=1e-5)
    assert all(after[pos] >= 0.75 * prior - 1e-6 for pos, prior in before.items())
    assert tree.root.children_policy[0] == max(after.values())
