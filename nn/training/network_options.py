"""Which options about the network go together, and what is usual with each kind of network."""

from collections.abc import Callable
from typing import Any

from nn.constant import LEAST_FILTERS
from nn.training.run_config import NO_TEACHER, TrainError

OPTIMIZERS = ("sgd", "adamw", "nadam", "sam", "muon")
# What is usual with the lecture's network and with the pooled one, for options that are not given.
NETWORK_DEFAULTS: dict[str, tuple[Any, Any]] = {
    "features": ("basic", "rich"), "block": ("res", "gpool"), "activation": ("relu", "relu"),
    "norm": ("batch", "batch"), "ownership_weight": (0.0, 1.0), "lead_weight": (0.0, 0.1),
}
# What a run that begins from a model has from there, unless it is said.
TAKEN_FROM_START = ("features", "block", "activation", "norm")


def check_network_options(options: dict[str, Any], rl: bool, labels: tuple[str, ...], kifu_dir: str | None) -> None:
    """Raise TrainError where the options about the network and its data do not go together."""
    if options["blocks"] == 0:
        raise TrainError("--blocks 0 is for --task bad-moves: a network that plays has one block at least")
    if options["head"] == "lecture":
        for name in (*TAKEN_FROM_START, "lead_weight"):
            if options[name] != NETWORK_DEFAULTS[name][0]:
                raise TrainError(f"--{name.replace('_', '-')} {options[name]} needs --head pooled")
        if len(options["board_sizes"]) > 1:
            raise TrainError("several --size need --head pooled: the lecture's network plays one board size")
        if labels:
            raise TrainError("--labels needs --head pooled: the lecture's data files have no room for them")
        if options["self_play"]:
            raise TrainError("--archive needs --head pooled: the lecture's data files have room for moves alone")
    elif options["filters"] is not None and options["filters"] < LEAST_FILTERS:
        raise TrainError(f"--filters {options['filters']}: a network with --head pooled has {LEAST_FILTERS} at least")
    elif rl and len(options["board_sizes"]) > 1:
        raise TrainError("several --size are for supervised learning: self-play is learnt from one board size at a "
                         "time")
    if labels and rl:
        raise TrainError("--labels is for supervised learning: labels of self-play lie with its games, as "
                         f"{kifu_dir or 'archive'}/<generation>/labels.npz")
    if rl and options["self_play"]:
        raise TrainError("--archive is for supervised learning, beside other games: with --rl true the archive is "
                         "--kifu-dir")
    if options["self_play"] and kifu_dir is None:
        raise TrainError("--archive is learnt from beside other games: give their folder with --kifu-dir, too")
    if labels and kifu_dir is None:
        raise TrainError("--labels needs the games they belong to: give --kifu-dir FOLDER")
    if rl and options["head"] == "lecture" and options["ownership_weight"] > 0.0:
        raise TrainError("--ownership-weight is for supervised learning: data of self-play do not tell who owned what")


def check_data_options(options: dict[str, Any], rl: bool, labels: tuple[str, ...], kifu_dir: str | None,
                       is_given: Callable[[str], bool]) -> None:
    """Raise TrainError where an option is given that is about data which are not learnt from.

    What data say that were made before is not known here.
    """
    if is_given("window_size") and not (rl or options["self_play"]):
        raise TrainError("--window-size is for games of self-play: give --rl true, or their folder with --archive")
    if is_given("teacher_weight") and rl:
        raise TrainError("--teacher-weight is for supervised learning: from self-play the policy is learnt whole")
    if is_given("teacher_weight") and not labels and (kifu_dir is not None or options["head"] == "lecture"):
        raise TrainError(NO_TEACHER)
