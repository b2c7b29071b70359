"""Moves drawn from the network's policy, as a level below those that search plays (levels.py)."""

import math
import random
from collections.abc import Callable

import numpy as np

from board.go_board import GoBoard
from board.stone import Stone
from engine.levels import Level
from nn.feature import Evaluator
from nn.inference.policy_player import RawEvaluation, evaluate, generate_move_from_policy

# Points that stand for the way from an even game to a sure win, where a network tells win rates alone.
POINTS_OF_A_WIN = 40.0


def draw_move(level: Level, policy: np.ndarray, raw: RawEvaluation, evaluator: Evaluator, board: GoBoard,
              color: Stone, rng: random.Random, may_pass: bool = True) -> int:
    """Return a move drawn from `policy` [S*S+1] as a level does; `raw` is what the network says of the position.

    A move that costs too much is drawn again; where all do, the likeliest is played.
    """
    return generate_move_from_policy(policy, board, color, rng, may_pass, level.temperature, level.cutoff,
                                     refuse_losses(level.most_loss, raw, evaluator, board, color))


def refuse_losses(most_loss: float, raw: RawEvaluation, evaluator: Evaluator, board: GoBoard, color: Stone,
                  ) -> Callable[[int], bool]:
    """Return a function that tells whether a move costs more than so many points."""
    if math.isinf(most_loss):
        return lambda _: False
    lead = _lead_of(raw)

    def is_too_bad(pos: int) -> bool:
        after = board.copy()
        after.put_stone(pos, color)
        return lead + _lead_of(evaluate(evaluator, after, Stone.get_opponent_color(color))) > most_loss

    return is_too_bad


def _lead_of(raw: RawEvaluation) -> float:
    """Return the lead of the side to move, or what stands for it."""
    return POINTS_OF_A_WIN * (2.0 * raw.winrate - 1.0) if raw.lead is None else raw.lead
