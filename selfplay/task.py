"""What workers and whoever starts them say to each other; imports no kernels, so that the parent starts at once.

Messages to the parent: READY (description of the network, on a GPU?, games at a time), GAME (GameSummary, the SGF
file's content where the worker has no folder to write to), FAILED (one line for the user, exit status). Messages from
it: a list of game numbers; None or the end of the pipe means stop. The supervisor itself is told the end of a worker
as ENDED (who ended and how, for the log).
"""

from dataclasses import dataclass
from pathlib import Path

import learning_param
from common.exit_status import reason_of
from nn.model_file import ModelFile
from selfplay.archive import BatchSettings

READY, GAME, FAILED, ENDED = "ready", "game", "failed", "ended"


@dataclass(frozen=True)
class WorkerTask:
    """What every worker of a run is told at its start."""

    folder: Path | None  # of the games; None where they are sent to the parent instead
    batch_number: int
    settings: BatchSettings
    model: str | ModelFile
    use_gpu: bool
    threads: int
    positions: int | None  # per network call, None for what suits the device
    cache_mb: int = learning_param.SELF_PLAY_CACHE_MB  # for answers of the network that its games share


def describe_failure(error: OSError, folder: Path | None) -> str:
    """Return the line for the user when a game could not be written."""
    return f"{reason_of(error, folder or '')}; the games written before are intact"
