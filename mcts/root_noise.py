"""AlphaZero's noise: priors of the root mixed with a Dirichlet distribution, so that every move is tried now and then.

Silver et al., Science 362 (2018), supplement: P = (1 - share) p + share eta, eta ~ Dir(alpha), with alpha "scaled in
inverse proportion to the approximate number of legal moves", 0.03 for Go.
"""

import math

import numpy as np

from board.random_state import next_random
from common.kernel import kernel
from mcts.tree_arrays import ROOT, Tree, bring_forward

# The sum of all alphas: 0.03 for each of 361 moves.
CONCENTRATION = 10.83
# Keeps logarithms of uniform random numbers finite.
SMALLEST_RANDOM = 2.0**-54


@kernel
def draw_gamma(shape: float, random_state: np.ndarray) -> float:
    """Return a number of the gamma distribution with scale 1. Modifies random_state.

    G. Marsaglia and W. W. Tsang, "A simple method for generating gamma variables", ACM TOMS 26(3), 2000; for shapes
    below 1 their section 6: gamma(shape + 1) * U^(1 / shape).
    """
    d = shape - 1.0 / 3.0 if shape >= 1.0 else shape + 2.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        radius = math.sqrt(-2.0 * math.log(next_random(random_state) + SMALLEST_RANDOM))
        normal = radius * math.cos(2.0 * math.pi * next_random(random_state))  # Box and Muller
        v = 1.0 + c * normal
        v = v * v * v
        if v > 0.0 and (math.log(next_random(random_state) + SMALLEST_RANDOM)
                        < 0.5 * normal * normal + d - d * v + d * math.log(v)):
            break
    boost = 1.0 if shape >= 1.0 else (next_random(random_state) + SMALLEST_RANDOM) ** (1.0 / shape)
    return d * v * boost


@kernel
def mix_root_noise(tree: Tree, share: float, policy_index: np.ndarray, noise: np.ndarray, random_state: np.ndarray,
                   ) -> None:
    """Give noise its share of the priors of an unvisited root. Modifies tree, noise [A] and random_state.

    It is drawn in the order of the policy, whatever that of the edges.
    """
    first, count = tree.node_edge[ROOT], tree.node_edges[ROOT]
    noise[:] = 0.0
    for edge in range(first, first + count):
        noise[policy_index[tree.edge_pos[edge]]] = 1.0
    total = SMALLEST_RANDOM
    for i in range(len(noise)):
        if noise[i] > 0.0:
            noise[i] = draw_gamma(CONCENTRATION / count, random_state)
            total += noise[i]
    for edge in range(first, first + count):
        eta = noise[policy_index[tree.edge_pos[edge]]] / total
        tree.edge_prior[edge] += share * (eta - tree.edge_prior[edge])
    bring_forward(tree, ROOT)
