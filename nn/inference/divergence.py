"""How far the answers of a network are from those of the same network calculated otherwise.

Letters: N positions, A = S*S + 1 policy entries.
"""

import numpy as np


def log_softmax(logits: np.ndarray) -> np.ndarray:
    """Return the logarithms of the softmax of each row."""
    shifted = logits - logits.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def compare(expected: tuple[np.ndarray, np.ndarray], found: tuple[np.ndarray, np.ndarray]) -> tuple[float, float]:
    """Return how far answers (logits [N, A], chances [N, 3]) are from others: nats of the policy, win rates (rms)."""
    first, second = (log_softmax(logits.astype(np.float64)) for logits, _ in (expected, found))
    divergence = (np.exp(first) * (first - second)).sum(axis=1).mean()
    rates = [chances[:, 2] + 0.5 * chances[:, 1] for _, chances in (expected, found)]
    return float(divergence), float(np.sqrt(np.square(rates[0] - rates[1]).mean()))
