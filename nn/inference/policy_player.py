"""Moves without search: drawn from the network's policy."""

import random
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from board.constant import PASS
from board.geometry import make_symmetry_index
from board.go_board import GoBoard
from board.stone import Stone
from nn.feature import Evaluator, generate_input_planes, plane_set_of

# Moves with less than this share of the best one's probability are not drawn.
CUTOFF = 0.1


class RawEvaluation(NamedTuple):
    """What the network says about one position, for the side to move."""

    policy: np.ndarray  # float [S*S+1], sum 1
    winrate: float
    lead: float | None = None  # in points; None where the network does not tell
    ownership: np.ndarray | None = None  # float [S*S], -1 to 1


def to_policy(logits: np.ndarray) -> np.ndarray:
    """Return the softmax of the logits [A] of one position, float64."""
    exponentials = np.exp(logits.astype(np.float64) - float(logits.max()))
    return np.asarray(exponentials / exponentials.sum())


def evaluate(evaluator: Evaluator, board: GoBoard, color: Stone, sym: int | None = None) -> RawEvaluation:
    """Return the network's view of the board with `color` to move; a draw is half a win.

    It is the mean over all symmetries of the board, or what the network sees through one of them alone, where the
    evaluator can tell (nn/inference/board_evaluator.py).
    """
    call = getattr(evaluator, "average" if sym is None else "evaluate_plainly", evaluator)
    sym = sym or 0
    logits, value, *others = call(generate_input_planes(board, color, sym, plane_set_of(evaluator))[np.newaxis])
    policy = to_policy(logits[0])
    seen = make_symmetry_index(board.board_size)[sym, :-1]
    restored = policy.copy()
    restored[seen] = policy[:-1]
    winrate = float(value[0, 2] + 0.5 * value[0, 1])
    if not others:
        return RawEvaluation(restored, winrate)
    lead, turned = others
    ownership = np.empty(len(seen))
    ownership[seen] = turned[0]
    return RawEvaluation(restored, winrate, float(lead[0]), ownership)


def refuse_none(_: int) -> bool:
    """Refuse no move."""
    return False


def generate_move_from_policy(
    policy: np.ndarray, board: GoBoard, color: Stone, rng: random.Random, may_pass: bool = True,
    temperature: float = 1.0, cutoff: float = CUTOFF, is_refused: Callable[[int], bool] = refuse_none,
) -> int:
    """Return a move drawn with weight policy ** (1 / temperature) [S*S+1] among legal moves near the best one.

    Near are those with at least `cutoff` of its probability; a negative one bans a move. Own complete eyes are not
    filled and no position is repeated. PASS takes part if `may_pass`, and is returned when there is no other move. A
    point that `is_refused` is drawn again; where all are, the best move is returned.
    """
    moves, best = [], float(policy[-1]) if may_pass else 0.0
    for index in np.argsort(-policy[:-1], kind="stable"):  # the likeliest first: far ones need not be looked at
        weight, pos = float(policy[index]), board.onboard_pos[index]
        if weight < 0 or (best > 0 and weight < cutoff * best):
            break
        if board.is_legal_not_eye(pos, color) and not board.is_superko(pos, color):
            moves.append((weight, pos))
            best = max(best, weight)
    moves.sort(key=lambda move: move[1])
    if may_pass or not moves:
        moves.append((float(policy[-1]), PASS))
    best, likeliest = max(moves)
    if best <= 0:
        return rng.choice([pos for _, pos in moves])
    # To pass is no question of taste: its weight stays as it is.
    near = {pos: (weight / best) ** (1.0 if pos == PASS else 1.0 / temperature)
            for weight, pos in moves if weight >= cutoff * best}
    while near:
        drawn = rng.choices(list(near), list(near.values()))[0]
        if drawn == PASS or not is_refused(drawn):
            return drawn
        del near[drawn]
    return likeliest
