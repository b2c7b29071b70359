"""The formulas of Gumbel AlphaZero against numpy, written from the paper, and against mctx."""
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcts.gumbel import completed_value, improved_policy, mixed_value, policy_value
from mcts.tree_arrays import EXPANDED, ROOT, Tree, new_tree


def make_node(logits: list[float], visits: list[int], q: list[float], raw: float) -> Tree:
    """Return a tree of one node with these edges; `q` is the mean value of the visited ones."""
    count = len(logits)
    tree = new_tree(1, count)
    prior = np.exp(logits) / np.exp(logits).sum()
    tree.node_edges[ROOT], tree.node_kind[ROOT], tree.node_value[ROOT] = count, EXPANDED, raw
    tree.node_visits[ROOT] = sum(visits)
    tree.edge_prior[:count], tree.edge_logit[:count] = prior, np.log(prior)
    tree.edge_visits[:count] = visits
    tree.edge_value_sum[:count] = np.array(visits) * np.array(q)
    return tree


def policy_of(tree: Tree, c_visit: float = 50.0, c_scale: float = 1.0) -> np.ndarray:
    """Return the improved policy of the node."""
    out = np.zeros(len(tree.edge_pos))
    improved_policy(tree, ROOT, c_visit, c_scale, out)
    return out


# Made with mctx 0.0.71, jax 0.10.2: its _compute_mixed_value and _complete_qvalues, and a softmax of logits plus
# (50 + max visits) * 1.0 * completed Q (value_scale 1, maxvisit_init 50, no rescaling).
GOLDEN = [
    ([0.251, -0.264, 1.281, 0.21, -1.071], [0, 3, 1, 0, 7], [0.0, 0.607, 0.729, 0.0, 0.935], 0.816, 0.731754,
     [3.5e-05, 0.0, 8.4e-05, 3.3e-05, 0.999848]),
    ([0.083, -4.65, -0.438, -2.492, -1.465, -1.089, -0.633, 0.823], [0] * 8, [0.0] * 8, 0.981, 0.981,
     [0.208945, 0.001839, 0.124098, 0.015912, 0.044437, 0.06472, 0.102112, 0.437937]),
    ([-0.915, 0.44, -2.019], [20, 1, 4], [0.389, 0.135, 0.721], 0.525, 0.232761, [0.0, 0.0, 1.0]),
    ([0.711, -1.308, -0.259, 1.568, 2.987, -2.518], [0, 0, 1, 0, 0, 0], [0.0, 0.0, 0.338, 0.0, 0.0, 0.0], 0.623,
     0.4805, [0.075379, 0.010009, 2e-05, 0.177598, 0.734009, 0.002985]),
]


@pytest.mark.plain
@pytest.mark.parametrize(("logits", "visits", "q", "raw", "mixed", "policy"), GOLDEN)
def test_formulas_give_the_numbers_of_mctx(logits, visits, q, raw, mixed, policy) -> None:
    tree = make_node(logits, visits, q, raw)
    assert mixed_value(tree, ROOT) == pytest.approx(mixed, abs=2e-6)
    np.testing.assert_allclose(policy_of(tree), policy, atol=3e-6)


def test_mixed_value_worked_by_hand() -> None:
    # Priors 1/2, 1/4, 1/4; visited: the first (3 visits, Q 0.6) and the last (1 visit, Q 0.2).
    # Weighted mean (0.5 * 0.6 + 0.25 * 0.2) / 0.75 = 0.35 / 0.75 = 7/15; (0.9 + 4 * 7/15) / 5 = 83/150.
    tree = make_node([np.log(2), 0.0, 0.0], [3, 0, 1], [0.6, 0.0, 0.2], 0.9)
    assert mixed_value(tree, ROOT) == pytest.approx(83 / 150, rel=1e-6)
    assert completed_value(tree, 0, 83 / 150) == pytest.approx(0.6)
    assert completed_value(tree, 1, 83 / 150) == 83 / 150
    # By the policy (0.8, 0.1, 0.1): 0.8 * 0.6 + 0.1 * 83/150 + 0.1 * 0.2.
    assert policy_value(tree, ROOT, np.array([0.8, 0.1, 0.1])) == pytest.approx(0.5 + 8.3 / 150, rel=1e-6)


@pytest.mark.plain
def test_bad_moves_that_were_compared_do_not_lower_the_value() -> None:
    """One visit each for a good and fifteen bad moves: their mean is 0.15, the position as good as its best move."""
    tree = make_node([0.0] * 16, [1] * 16, [0.9] + [0.1] * 15, 0.9)
    assert policy_value(tree, ROOT, policy_of(tree)) == pytest.approx(0.9, abs=0.001)


EDGE = st.tuples(st.floats(-8, 8), st.integers(0, 300), st.floats(0, 1))


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(EDGE, min_size=1, max_size=82), st.floats(0, 1), st.floats(1, 100), st.floats(0.01, 2))
def test_formulas_agree_with_the_paper(edges, raw: float, c_visit: float, c_scale: float) -> None:
    logits, visits, q = (np.array(column) for column in zip(*edges, strict=True))
    tree = make_node(list(logits), [int(n) for n in visits], list(q), raw)
    prior = np.exp(logits) / np.exp(logits).sum()
    tried = visits > 0
    # Equation 33: the network's value and the mean of the visited moves, weighted with their priors.
    mixed = raw
    if tried.any():
        mixed = (raw + visits.sum() * (prior[tried] @ q[tried]) / prior[tried].sum()) / (1 + visits.sum())
    assert mixed_value(tree, ROOT) == pytest.approx(mixed, abs=1e-5)
    # Section 4: completed Q, sigma, improved policy.
    improved = np.log(prior) + (c_visit + visits.max()) * c_scale * np.where(tried, q, mixed)
    expected = np.exp(improved - improved.max())
    np.testing.assert_allclose(policy_of(tree, c_visit, c_scale), expected / expected.sum(), atol=2e-4)


def test_a_prior_that_underflows_does_no_harm() -> None:
    tree = make_node([0.0, -300.0], [0, 2], [0.0, 0.7], 0.4)
    assert tree.edge_prior[1] == 0.0
    assert mixed_value(tree, ROOT) == pytest.approx((0.4 + 2 * 0.7) / 3, rel=1e-6)
    assert np.isfinite(policy_of(tree)).all()
