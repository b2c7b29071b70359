"""What a network overlooks most: large strings in atari.

Its planes show stones, not liberties (nn/feature.py), and strong players capture at once or never leave such strings
behind, so the games it learnt from hardly show them. The capture of a dozen stones may get less than 1 % of the
policy, and no search of a few hundred visits looks there. The rules know better, so moves that settle an atari get
a least prior.
"""

from board.state import State
from board.string import stones_in_atari
from common.kernel import kernel


@kernel
def least_prior(state: State, pos: int, atari_prior: float) -> float:
    """Return the prior below which the network's is raised: atari_prior * (1 - 1 / n) for n stones in atari, else 0.

    Nothing is added for a single stone: those ataris are common, and a network knows them well.
    """
    if atari_prior == 0.0:
        return 0.0
    count = stones_in_atari(state, pos)
    return atari_prior * (1.0 - 1.0 / count) if count > 0 else 0.0
