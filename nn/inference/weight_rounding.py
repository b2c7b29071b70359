"""Weights of a convolution of 3x3 as whole steps: the nearest ones, or those that make up for each other.

A weight rounded up is made up for by rounding others of its filter down, where what they read goes together: then the
convolution's result changes less than by nearest steps, though each weight changes more (Frantar et al., "GPTQ:
Accurate Post-Training Quantization for Generative Pre-trained Transformers", ICLR 2023, section 3).

Large products and inverses are torch's: threads of numpy's OpenBLAS have waited for each other for ever in a process
with many others. torch is at hand where a network has just been converted.

Letters: C channels, F filters, K = 9 C weights of a filter.
"""

import numpy as np
import torch

KERNEL = 3
WEIGHT_LEVELS = 255
# Shares of the largest weight that are tried for the last step.
SHARES = np.linspace(0.3, 1.0, 36)
LEAST = 1e-6  # in the place of 0
# What is added to the mean of the squares, as a share of it, so that the matrix has an inverse.
DAMPING = 0.01


def round_weights(weight: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Return the nearest step for each weight [F, ...], where the last step of each filter is `last` [F, 1, ...]."""
    steps = WEIGHT_LEVELS // 2
    return np.asarray(np.clip(np.round(weight / last * steps), -steps, steps) * (last / steps))


def choose_last_steps(weight: np.ndarray) -> np.ndarray:
    """Return the last step of each filter, float32 [F, 1, 1, 1], so that weights [F, C, 3, 3] change little."""
    most = np.maximum(np.abs(weight).max(axis=(1, 2, 3), keepdims=True), LEAST)
    last, least = most, np.full_like(most, np.inf)
    for share in SHARES:
        error = np.square(round_weights(weight, share * most) - weight).sum(axis=(1, 2, 3), keepdims=True)
        last, least = np.where(error < least, share * most, last), np.minimum(error, least)
    return last.astype(np.float32)


def multiply_windows(features: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return what a filter reads at `count` random points of features [N, C, S, S], times itself and summed, [K, K].

    Beyond the edge of the board it reads zeros.
    """
    size = features.shape[2]
    padded = np.pad(features, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (KERNEL, KERNEL), axis=(2, 3))
    chosen = windows[rng.integers(len(features), size=count), :, rng.integers(size, size=count),
                     rng.integers(size, size=count)].reshape(count, -1)
    read = torch.from_numpy(chosen)
    return (read.T @ read).numpy()


def round_together(weight: np.ndarray, last: np.ndarray, products: np.ndarray) -> np.ndarray:
    """Return steps for weights [F, C, 3, 3] that change the convolution's result little where it is used.

    `products` [K, K] are those of what a filter reads, summed over places that are like those of use. Weight after
    weight becomes the nearest step, and the weights that are still to come are moved so that they make up for it as
    well as they can: by the inverse of the products among them, whose rows are those of its Cholesky factor (GPTQ,
    equation 2 and step 3 of section 3.3).
    """
    rest = weight.reshape(len(weight), -1).astype(np.float64)
    matrix = products.astype(np.float64)
    matrix[np.diag_indices_from(matrix)] += max(DAMPING * float(np.trace(matrix)) / len(matrix), LEAST)
    factor = torch.linalg.cholesky(torch.linalg.inv(torch.from_numpy(matrix)), upper=True).numpy()
    last_step = last.reshape(len(weight), 1)
    rounded = np.empty_like(rest)
    for k in range(rest.shape[1]):
        rounded[:, k:k + 1] = round_weights(rest[:, k:k + 1], last_step)
        missing = (rest[:, k] - rounded[:, k]) / factor[k, k]
        rest[:, k:] -= np.outer(missing, factor[k, k:])
    return rounded.reshape(weight.shape)
