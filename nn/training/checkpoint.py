"""The checkpoint of a run: written whole, read without trust, and what is made of it."""

from collections.abc import Callable
from dataclasses import asdict
from enum import Enum
from pathlib import Path
from typing import Any

import torch

import learning_param
from nn.network.weights import load_saved
from nn.training.run_config import RunProgress, TrainConfig, TrainError
from nn.training.run_files import RunFiles

# What makes the network, which no run can change on the way.
SHAPE = ("board_sizes", "head", "features", "block", "activation", "norm", "filters", "blocks")
# Numbers of learning_param.py that change what is learnt, and are no options.
CONSTANTS = ("MOMENTUM", "WEIGHT_DECAY", "MUON_MOMENTUM", "MUON_WEIGHT_DECAY", "ADAM_WEIGHT_DECAY", "SAM_RADIUS",
             "LEARNING_SCHEDULE", "PASSES_PER_EPOCH", "POSITIONS_PER_GAME")
# What an interrupted pass over the games must share, beside the data, to go on at the very batch.
SAME_IN_A_PASS = ("seed", "batch_size", "test_share")


class DamagedCheckpoint(TrainError):
    """A checkpoint that cannot be read."""


class Resume(Enum):
    """How a run goes on from a checkpoint."""

    EXACT = "at the batch where it stopped"
    NEW_DATA = "with its weights and optimizer, over the data from the start"
    DONE = "everything is done already"


ResumePlan = Callable[[Path, RunProgress, dict[str, Any], RunProgress, dict[str, Any]], Resume]


def read_checkpoint(files: RunFiles, device: torch.device | str = "cpu") -> dict[str, Any]:
    """Return a checkpoint with its progress as RunProgress; raises TrainError when it is damaged or another model's.

    It lies on the CPU wherever the run was: on a GPU it would take the room of a second network as long as the run
    lasts, and the optimizer would wait for its counters.
    """
    try:
        state = load_saved(files.checkpoint.read_bytes(), device)
        identity = dict(state["identity"])
        if "board_size" in identity:  # before runs could have several
            identity["board_sizes"] = (identity.pop("board_size"),)
        state = {**state, "progress": RunProgress(**state["progress"]), "identity": identity}
    except Exception:  # torch raises many types for a damaged archive
        raise DamagedCheckpoint(f"{files.checkpoint} is damaged: start anew with --restart true") from None
    if state.get("output", files.output.name) != files.output.name:
        raise TrainError(f"{files.checkpoint} is of the run that makes {state['output']}: give another --output than "
                         f"{files.output}, or move that run's files away")
    return state


def is_same_data(old: Any, own: Any) -> bool:
    """Return whether two runs learn from the same data; of files, earlier versions recorded less."""
    old = [[old]] if isinstance(old, int) else old  # of --task bad-moves: the number of its positions
    return isinstance(old, list) and len(old) == len(own) and all(
        before == after[:len(before)] for before, after in zip(old, own, strict=True))


def get_constants() -> dict[str, Any]:
    """Return what the CONSTANTS are now."""
    return {name: getattr(learning_param, name) for name in CONSTANTS}


def describe_constants(state: dict[str, Any]) -> str:
    """Return in which of them a resumed run differs from what it was, empty if it does not."""
    old = state.get("constants", {})
    changed = [f"{name} {old[name]} -> {now}" for name, now in get_constants().items() if old.get(name, now) != now]
    return f" With other numbers in learning_param.py than before: {'; '.join(changed)}." if changed else ""


def find_changes(old: dict[str, Any], own: dict[str, Any]) -> str:
    """Return in which settings and data two runs differ, empty if they do not; a setting of None is left open."""
    before = {**asdict(TrainConfig()), "labels": own.get("labels"), **old}  # earlier versions did not record them
    if own.get("head") == "lecture":  # which has none, whether or not games are given
        own = {**own, "labels": None}
    changed = [name for name, value in own.items() if value is not None and before.get(name) != value
               and not (name == "data" and is_same_data(before.get(name), value))]
    return "; ".join("other training data" if name == "data" else f"{name} {before.get(name)} -> {own[name]}"
                     for name in changed)


def plan_supervised(
    path: Path, saved: RunProgress, old: dict[str, Any], target: RunProgress, own: dict[str, Any]
) -> Resume:
    """Return how a supervised run goes on: exactly; raises TrainError for another run's checkpoint.

    Args:
        path: the checkpoint, for messages.
        saved: where it stands.
        old: its settings and data.
        target: where this run wants to get.
        own: its settings and data.
    """
    changes = find_changes(old, own)
    if changes and saved.finished:
        raise TrainError(f"{path} holds a finished run with other settings ({changes}): keep its model and train "
                         "another one with --output, or replace it with --restart true")
    if changes:
        raise TrainError(f"{path} holds an unfinished run with other settings ({changes}): "
                         "repeat its settings to go on, or start anew with --restart true")
    return Resume.EXACT


def describe_finished(config: TrainConfig, files: RunFiles, state: dict[str, Any]) -> str:
    """Return what to say where a supervised run has nothing left to do, empty if it has; looks at no data.

    Raises TrainError where other settings are wanted than those of the finished run, or its model file is gone.
    """
    saved: RunProgress = state["progress"]
    by_epochs = config.epochs is not None and saved.epoch >= config.epochs
    by_minutes = config.minutes is not None and saved.seconds >= 60.0 * config.minutes
    if not saved.finished or not (by_epochs or by_minutes):
        return ""
    plan_supervised(files.checkpoint, saved, state["identity"], saved, config.identity())
    if not files.output.exists():
        raise TrainError(f"{files.checkpoint} is of a finished run, but {files.output} is gone: begin anew with "
                         "--restart true")
    more = f"--epochs {2 * saved.epoch}" if by_epochs else f"--minutes {2 * (config.minutes or 0):g}"
    return (f"This run is finished ({saved.epoch} epochs, {saved.step} steps, {saved.seconds / 60.0:.1f} minutes): "
            f"{files.output} stays as it is. Go on with a larger budget, such as {more}; begin anew and replace the "
            "model with --restart true; or train another one with --output FILE.")


def check_shape(path: Path, old: dict[str, Any], own: dict[str, Any]) -> None:
    """Raise TrainError where a run of reinforcement learning has learnt with a network of another shape."""
    changes = find_changes(old, {name: own[name] for name in SHAPE})
    if changes:
        raise TrainError(f"{path} holds a network of another shape ({changes}): repeat its settings to go on, or start "
                         "anew with --restart true, in pipeline.sh with other folders (ARCHIVE, DATA, MODEL)")


def plan_reinforcement(
    path: Path, saved: RunProgress, old: dict[str, Any], target: RunProgress, own: dict[str, Any]
) -> Resume:
    """Return how reinforcement learning goes on; arguments as above.

    One run learns from generation after generation, and all but the shape of the network may change on the way. A pass
    over other games than those it was interrupted in starts over. Raises TrainError for another shape, and for data
    that end before what was learnt.
    """
    check_shape(path, old, own)
    if saved.generation > target.generation:
        raise TrainError(f"{path} has learnt from generation {saved.generation}, but the data end at generation "
                         f"{target.generation}: give the archive of that run, or start anew with --restart true")
    is_over = saved.finished and saved.generation == target.generation and saved.epoch >= target.epoch
    is_same = is_same_data(old.get("data"), own["data"])
    if is_over and is_same:
        return Resume.DONE
    is_same_pass = all(old.get(name) == own[name] for name in SAME_IN_A_PASS)
    if not (is_same and saved.generation == target.generation and is_same_pass):
        return Resume.NEW_DATA
    return Resume.EXACT
