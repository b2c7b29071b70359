"""The checkpoint of a run: written whole, read without trust, and what is made of it."""

import pickle
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any

import torch

from nn.training.run_config import Progress, TrainError

SHAPE = ("board_size", "filters", "blocks")
# What an interrupted pass over the games must share to go on at the very batch.
PASS = ("seed", "batch_size", "test_share", "data")


class Going(Enum):
    """How a run goes on from a checkpoint."""

    ANEW = "from first weights"
    EXACTLY = "at the batch where it stopped"
    FURTHER = "with its weights and optimizer, over the data from the start"
    NOWHERE = "everything is done already"


Plan = Callable[[Path, Progress, dict[str, Any], Progress, dict[str, Any]], Going]


def read_checkpoint(path: Path, device: torch.device) -> dict[str, Any]:
    """Return a checkpoint with its progress as Progress; raises TrainError when it is damaged."""
    try:
        state = torch.load(path, map_location=device, weights_only=True)
        return {**state, "progress": Progress(**state["progress"]), "identity": dict(state["identity"])}
    except (OSError, RuntimeError, EOFError, KeyError, TypeError, ValueError, pickle.UnpicklingError):
        raise TrainError(f"{path} is damaged: start anew with --restart true") from None


def plan_supervised(path: Path, saved: Progress, old: dict[str, Any], target: Progress, own: dict[str, Any]) -> Going:
    """Return how a supervised run goes on: exactly, or not at all; raises TrainError for another run's checkpoint.

    Args:
        path: the checkpoint, for messages.
        saved: where it stands.
        old: its settings and data.
        target: where this run wants to get.
        own: its settings and data.
    """
    if saved.finished:
        return Going.ANEW
    changes = [f"{name} {old.get(name)} -> {own[name]}" for name in own if old.get(name) != own[name]]
    if changes:
        raise TrainError(f"{path} holds an unfinished run with other settings ({'; '.join(changes)}): "
                         "repeat its settings to go on, or start anew with --restart true")
    return Going.EXACTLY


def plan_reinforcement(
    path: Path, saved: Progress, old: dict[str, Any], target: Progress, own: dict[str, Any]
) -> Going:
    """Return how reinforcement learning goes on; arguments as above.

    One run learns from generation after generation, and all but the shape of the network may change on the way. A pass
    over other games than those it was interrupted in starts over. Raises TrainError for another shape, and for data
    that end before what was learnt.
    """
    changes = [f"{name} {old.get(name)} -> {own[name]}" for name in SHAPE if old.get(name) != own[name]]
    if changes:
        raise TrainError(f"{path} holds a network of another shape ({'; '.join(changes)}): repeat its settings to go "
                         "on, or start anew with --restart true")
    if saved.generation > target.generation:
        raise TrainError(f"{path} has learnt from generation {saved.generation}, but the data end at generation "
                         f"{target.generation}: give the archive of that run, or start anew with --restart true")
    same_pass = saved.generation == target.generation and all(old.get(name) == own[name] for name in PASS)
    if not same_pass:
        return Going.FURTHER
    return Going.NOWHERE if saved.finished and saved.epoch >= target.epoch else Going.EXACTLY
