"""What a batch costs a network: the sum of its heads' losses, and the figures beside it."""

import torch
from torch.nn import functional

from board.geometry import make_symmetry_index
from nn.data.dataset import LoadedBatch, TrainingBatch, turn_batch
from nn.training.loss import (
    calculate_gain_loss,
    calculate_lead_loss,
    calculate_ownership_loss,
    cross_entropy,
    make_value_target,
    measure_advantage,
    smooth,
)
from nn.training.metrics import Sums
from nn.training.precision import Precision
from nn.training.run_config import TrainConfig


def find_moves(batch: TrainingBatch) -> torch.Tensor:
    """Return the moves that were played, as policies [N, A]: a teacher's may stand in the place of theirs."""
    played = functional.one_hot(batch.move.clamp(min=0), batch.policy.shape[1]).to(batch.policy.dtype)
    return torch.where((batch.move >= 0)[:, None], played, batch.policy)


class BatchLoss:
    """The loss that a run's options ask for.

    Attributes:
        player: the network that played the games, for the objective REINFORCE; else None.
    """

    def __init__(self, config: TrainConfig, precision: Precision, device: torch.device,
                 player: torch.nn.Module | None) -> None:
        """Take the options, and how to calculate; batches are to be on the device."""
        self._config, self._precision, self.player = config, precision, player
        self.symmetry_tables = {size: torch.from_numpy(make_symmetry_index(size)).to(device)
                                for size in config.board_sizes}

    def __call__(self, network: torch.nn.Module, loaded: LoadedBatch, sums: Sums | None) -> torch.Tensor:
        """Return the mean loss of a batch and add the batch to the sums, if there are any. Waits for nothing."""
        config = self._config
        batch = turn_batch(loaded, self.symmetry_tables[loaded.planes.shape[-1]])
        with self._precision.forward():
            policy_logits, value_logits, lead, ownership = (*network(batch.planes), None, None)[:4]
        policy_logits, value_logits = policy_logits.float(), value_logits.float()
        target = make_value_target(batch.value, batch.win_rate, config.value_blend)
        if self.player is None:
            smoothing = config.label_smoothing if torch.is_grad_enabled() else 0.0
            policy_loss = cross_entropy(policy_logits, smooth(batch.policy, smoothing))
        else:
            moves = find_moves(batch)
            advantage = measure_advantage(batch.value, value_logits, config.baseline)
            policy_loss = calculate_gain_loss(-cross_entropy(policy_logits, moves),
                                              self._judge_before(self.player, batch, moves), advantage)
        value_loss = cross_entropy(value_logits, target)
        if sums is not None:
            sums.add((policy_loss, value_loss), (policy_logits, value_logits), batch, target, lead, ownership)
        loss = policy_loss + config.value_weight * value_loss
        if ownership is not None:
            loss = loss + config.ownership_weight * calculate_ownership_loss(ownership.float(), batch.ownership)
        if lead is not None:
            loss = loss + config.lead_weight * calculate_lead_loss(lead.float(), batch.lead)
        return loss.mean()

    @torch.no_grad()
    def _judge_before(self, player: torch.nn.Module, batch: TrainingBatch, moves: torch.Tensor) -> torch.Tensor:
        """Return the log of the chance [N] that the player gave to each of the moves [N, A]."""
        with self._precision.forward():
            logits = player(batch.planes)[0]
        return -cross_entropy(logits.float(), moves)
