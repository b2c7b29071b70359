"""The network's view of a position as KataGo's `kata-raw-nn` writes it: always White's."""

from typing import TYPE_CHECKING

from board.geometry import SYMMETRIES
from board.stone import Stone
from gtp.commands.gogui import format_board
from nn.inference.policy_player import evaluate

if TYPE_CHECKING:
    from engine.engine import Engine

ALL_SYMMETRIES = range(SYMMETRIES)
# What KataGo's network has and this one has not.
MISSING = ("whiteScoreSelfplay", "whiteScoreSelfplaySq", "varTimeLeft", "shorttermWinlossError", "shorttermScoreError")
OWNERSHIP_PAIRS = 32


def get_symmetries(text: str) -> list[int]:
    """Return the symmetries that an argument names; raises ValueError."""
    if text.lower() == "all":
        return list(ALL_SYMMETRIES)
    if text not in map(str, ALL_SYMMETRIES):
        raise ValueError("symmetry must be 0 to 7 or all")
    return [int(text)]


def format_raw(engine: "Engine", color: Stone, sym: int) -> str:
    """Return the network's output for one symmetry; ownership and lead by playouts where it does not tell them."""
    board = engine.board
    raw = evaluate(engine.evaluator, board, color, sym)
    white_win = raw.winrate if color == Stone.WHITE else 1.0 - raw.winrate
    estimate = engine.estimate_position(Stone.WHITE, color, sym, OWNERSHIP_PAIRS)
    policy = [f"{value:.6f}" if board.is_legal(pos, color) else "NAN"
              for pos, value in zip(board.onboard_pos, raw.policy[:-1], strict=True)]
    return "\n".join([
        f"symmetry {sym}", f"whiteWin {white_win:.6f}", f"whiteLoss {1.0 - white_win:.6f}", "noResult 0.000000",
        f"whiteLead {estimate.lead:.3f}", *(f"{name} -1" for name in MISSING),
        "policy", format_board(policy, board.board_size), f"policyPass {raw.policy[-1]:.6f}",
        "whiteOwnership", format_board([f"{value:.4f}" for value in estimate.ownership], board.board_size),
    ])
