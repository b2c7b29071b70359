"""The losses of learning, one number per sample.

Letters: N samples, A = S*S + 1 policy entries.
"""

import torch
from torch.nn import functional

from nn.constant import UNKNOWN_VALUE
from nn.network.dual_net import VALUE_CLASSES
from nn.training.objective import VALUE_BASELINE

LEAD_DELTA = 6.0
RATIO_BOUND = 0.2
LARGEST_LOG_RATIO = 20.0  # beyond it the ratio is no number any more


def cross_entropy(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Return the cross entropy [N] between target distributions [N, K] and those of the logits [N, K].

    A target row of zeros (nothing known) gives a loss of 0.
    """
    return -(target * functional.log_softmax(logits, dim=1)).sum(dim=1)


def measure_advantage(value: torch.Tensor, value_logits: torch.Tensor, baseline: str) -> torch.Tensor:
    """Return z - b [N], 0 where the result is not known: the weight of each policy loss, without a gradient.

    Args:
        value: result classes [N]: 0 loss, 1 draw, 2 win.
        value_logits: the value head's [N, 3].
        baseline: NO_BASELINE, or VALUE_BASELINE for what the head expects.
    """
    result = value.to(value_logits.dtype) - 1.0
    if baseline == VALUE_BASELINE:
        chances = value_logits.detach().softmax(dim=1)
        result = result - (chances[:, 2] - chances[:, 0])
    return result * (value != UNKNOWN_VALUE)


def calculate_gain_loss(log_policy: torch.Tensor, log_before: torch.Tensor, advantage: torch.Tensor) -> torch.Tensor:
    """Return what is to be least [N] so that moves which did better than expected become likelier, but only so much.

    -min(r A, clip(r, 1 - e, 1 + e) A) for the ratio r of a move's chance to what it was: where nothing has changed its
    gradient is REINFORCE's -A grad log pi, and a move that is e likelier or less likely than before has been learnt.
    J. Schulman et al., "Proximal Policy Optimization Algorithms" (2017), equation 7.

    Args:
        log_policy: log of the chance [N] that the policy gives to the move played.
        log_before: the same by the policy that played, without a gradient.
        advantage: A [N] (measure_advantage).
    """
    ratio = torch.exp((log_policy - log_before).clamp(max=LARGEST_LOG_RATIO))
    bounded = ratio.clamp(1.0 - RATIO_BOUND, 1.0 + RATIO_BOUND)
    return -torch.minimum(ratio * advantage, bounded * advantage)


def smooth(target: torch.Tensor, share: float) -> torch.Tensor:
    """Return a policy target [N, A] of which `share` is spread over all moves alike (label smoothing)."""
    return target if share <= 0.0 else (1.0 - share) * target + share / target.shape[1]


def calculate_ownership_loss(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Return the cross entropy [N], averaged over S*S points, of ownership logits [N, S*S] (positive: the mover's).

    Target [N, S*S]: from -1, the opponent's, to 1, the mover's; 0 for points that add nothing.
    """
    share = (target.to(logits.dtype) + 1.0) / 2.0
    loss = functional.binary_cross_entropy_with_logits(logits, share, reduction="none")
    return (loss * (target != 0)).mean(dim=1)


def calculate_lead_loss(lead: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Return the Huber loss [N] between leads in points [N]; 0 where the target is NaN.

    Beyond LEAD_DELTA points it grows with the distance, no longer with its square: one captured group more or less must
    not outweigh everything else.
    """
    known = ~torch.isnan(target)
    loss = functional.huber_loss(lead, torch.nan_to_num(target), reduction="none", delta=LEAD_DELTA)
    return loss / LEAD_DELTA * known


def make_value_target(value: torch.Tensor, win_rate: torch.Tensor, blend: float) -> torch.Tensor:
    """Return soft targets [N, 3] over loss, draw, win from results and recorded win rates.

    (1 - blend) * one-hot(value) + blend * (1 - w, 0, w). Where only one of the two is known it stands alone, the win
    rate only if `blend` is above 0; where neither is, the row is zero.

    Args:
        value: classes [N], UNKNOWN_VALUE where the result is not known.
        win_rate: recorded win rates w of the side to move [N], NaN where there is none.
        blend: share of the win rate, 0 to 1.
    """
    known = value != UNKNOWN_VALUE
    result = functional.one_hot(value.clamp(min=0).long(), VALUE_CLASSES).to(torch.float32)
    result = result * known.unsqueeze(1)
    if blend <= 0.0:
        return result
    rated = ~torch.isnan(win_rate)
    rate = torch.nan_to_num(win_rate, nan=0.0)
    guess = torch.stack((1.0 - rate, torch.zeros_like(rate), rate), dim=1) * rated.unsqueeze(1)
    share = blend * rated * known + 1.0 * (rated & ~known)
    share = share.unsqueeze(1)
    return (1.0 - share) * result + share * guess
