"""What the policy learns: to imitate the moves of games, or to win (REINFORCE).

R. Williams, "Simple statistical gradient-following algorithms for connectionist reinforcement learning" (Machine
Learning 8, 1992), as AlphaGo's policy network learnt from games against earlier ones of itself (Silver et al., Nature
529, 2016): the gradient of a move is (z - b) grad log pi for the result z of its mover, 1 won, -1 lost. The baseline b
is 0 in AlphaGo's first pass; with what the value head expected, as in its second one and in dlshogi, a game that was
won anyway teaches little and a surprise much.

The games were played before, so how far the policy may go from the one that played them, --start, is bounded
(nn/training/loss.py, calculate_gain_loss): without a bound a lost game makes its moves less likely without end.
"""

from collections.abc import Callable
from typing import Any

from nn.training.run_config import TrainError

IMITATE, REINFORCE = "imitate", "reinforce"
OBJECTIVES = (IMITATE, REINFORCE)
NO_BASELINE, VALUE_BASELINE = "none", "value"
BASELINES = (NO_BASELINE, VALUE_BASELINE)


def check_objective(options: dict[str, Any], rl: bool, labels: tuple[str, ...], kifu_dir: str | None,
                    is_given: Callable[[str], bool]) -> None:
    """Raise TrainError where the objective and the choice of values do not go together with other options."""
    if rl and (options["objective"] == REINFORCE or options["player"] or options["one_value"]):
        name = "--objective reinforce" if options["objective"] == REINFORCE else (
            "--player" if options["player"] else "--one-value")
        raise TrainError(f"{name} reads games as they were played: give a folder of them with --kifu-dir, such as "
                         "archive/0, without --rl")
    for name, value in (("--player", options["player"]), ("--one-value true", options["one_value"])):
        if value and kifu_dir is None:
            raise TrainError(f"{name} chooses positions while games are read: give --kifu-dir FOLDER")
    if options["objective"] != REINFORCE:
        if options["baseline"] != NO_BASELINE:
            raise TrainError("--baseline is for --objective reinforce")
        return
    if not options["start"]:
        raise TrainError("--objective reinforce makes a network better that played the games: give it with --start")
    if labels:
        raise TrainError("--objective reinforce learns from results: --labels are for --objective imitate")
    for name in ("label_smoothing", "teacher_weight", "archive"):
        if is_given(name):
            raise TrainError(f"--{name.replace('_', '-')} means nothing to --objective reinforce")
