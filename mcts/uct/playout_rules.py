"""From the learnt gammas and the numbers of a search to the rules of its playouts and the priors of its moves."""

from functools import cache

import numpy as np

from mcts.uct.params import UctParams
from mcts.uct.pattern_features import PriorTable, make_prior_table
from mcts.uct.pattern_table import PLAYOUT, PRIOR, make_weights, read_gammas
from mcts.uct.playout_policy import CAPTURE, NO_ANSWER, RESCUE, PlayoutRules

NEAR_VALUES = ("none", "beside", "diagonal")
ANSWER_VALUES = {NO_ANSWER: "none", CAPTURE: "capture", RESCUE: "rescue"}


@cache
def load_prior_table() -> PriorTable:
    """Return the gammas of the tree's moves; raises PatternFileError."""
    return make_prior_table(read_gammas()[PRIOR])


@cache
def make_rules(params: UctParams) -> PlayoutRules:
    """Return the rules of playouts that these parameters ask for; raises PatternFileError."""
    gammas = read_gammas()[PLAYOUT]

    def factors(feature: str, values: list[str], is_on: float) -> np.ndarray:
        learnt = gammas.get(feature, {})
        return np.array([learnt.get(value, 1.0) if is_on else 1.0 for value in values])

    answers = [ANSWER_VALUES[kind] for kind in sorted(ANSWER_VALUES)]
    return PlayoutRules(
        make_weights(gammas.get("pattern", {}) if params.patterns else {}),
        factors("answer", answers, params.answers), factors("last", [*NEAR_VALUES], params.near),
        factors("previous", [*NEAR_VALUES], params.near), params.nakade, int(params.self_atari), bool(params.seki),
    )
