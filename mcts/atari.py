"""What a network overlooks most: large strings in atari.

Its planes show stones, not liberties (nn/feature.py), and strong players capture at once or never leave such strings
behind, so the games it learnt from hardly show them. The capture of a dozen stones may get less than 1 % of the
policy, and no search of a few hundred visits looks there. The rules know better, so moves that settle an atari get
a least prior.
"""

from board.state import WIDTH
from common.kernel import kernel


@kernel
def stones_in_atari(state, pos):
    """Return the stones of the largest string, of either color, that has its last liberty at `pos`; 0 if none has."""
    width, most = state.info[WIDTH], 0
    for neighbor in (pos - width, pos - 1, pos + 1, pos + width):
        string_id = state.string_id[neighbor]
        if string_id > 0 and state.liberties[string_id] == 1:
            most = max(most, state.size[string_id])
    return most


@kernel
def least_prior(state, pos, atari_prior):
    """Return the prior below which the network's is raised: atari_prior * (1 - 1 / n) for n stones in atari, else 0.

    Nothing is added for a single stone: those ataris are common, and a network knows them well.
    """
    count = stones_in_atari(state, pos)
    return atari_prior * (1.0 - 1.0 / count) if count > 0 else 0.0
