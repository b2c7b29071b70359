"""The paper's table: how many good moves are called good, and how many bad ones bad, for thresholds T.

K. Sato and K. Yamamoto, 2015: 90.9 % of the good moves and 74.3 % of the bad ones where L_bad > L_good means bad;
99.5 % and 51.7 % where L_bad - L_good > 0.97 does, or 99.8 % and 24.9 % with three layers.

Letters: N positions, S board size.
"""

from typing import NamedTuple

import numpy as np

from nn.data.move_samples import MoveSamples
from nn.point_marks import CANDIDATE

THRESHOLDS = (0.0, 0.9, 0.97, 0.99)
# The share of the good moves that is to be kept; the table ends with the threshold that does.
WANTED = 0.995


class Margins(NamedTuple):
    """L_bad - L_good of the good moves and of the bad ones, float32."""

    good: np.ndarray
    bad: np.ndarray

    @classmethod
    def of(cls, margins: np.ndarray, samples: MoveSamples) -> "Margins":
        """Sort out the margins [N, S*S] of all points of these positions."""
        is_bad = (samples.marks >> CANDIDATE & 1).astype(bool)
        rows = np.arange(len(samples.played))
        is_bad[rows, samples.played] = False
        return cls(margins[rows, samples.played], margins[is_bad])

    def recall(self, threshold: float) -> tuple[float, float]:
        """Return the shares of the good moves that are kept and of the bad ones that are left out."""
        return float((self.good <= threshold).mean()), float((self.bad > threshold).mean())


def format_table(margins: Margins) -> str:
    """Return the table."""
    lines = ["| a move is bad if L_bad - L_good > | good moves kept | bad moves left out |", "|---|---|---|"]
    keeping = float(np.quantile(margins.good, WANTED, method="higher"))
    for threshold in (*THRESHOLDS, keeping):
        good, bad = margins.recall(threshold)
        lines.append(f"| {threshold:.4g} | {good:.1%} | {bad:.1%} |")
    return "\n".join(lines)
