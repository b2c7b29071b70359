"""What a search found as text: the `info` lines of Leela Zero and KataGo, and the JSON of CGOS.

Win rates, leads and ownership are those of the side the analysis is for. Leads and ownership are the network's where it
tells them (mcts/tree_estimate.py), and else estimates by playouts (mcts/score_estimate.py).
"""

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from board.coordinate import Coordinate
from gtp.analysis_request import AnalysisRequest
from mcts.analysis import CandidateMove, SearchResult
from mcts.score_estimate import Estimate, Estimator, mean_estimate

# Leela Zero writes probabilities as whole numbers in this unit.
LZ_SCALE = 10000
# CGOS writes the owner of a point as one of these, from -1 to +1.
OWNERSHIP_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+"
JSON_DECIMALS = 6

Formatter = Callable[[SearchResult, AnalysisRequest, Coordinate, Estimator], str]


def select_moves(result: SearchResult, least: int = 0) -> list[CandidateMove]:
    """Return the moves to report: the one to play, the visited ones, and others to make `least` moves in all."""
    count = sum(move.visits > 0 for move in result.candidates)
    moves = [move for move in result.candidates if move.visits > 0 or move.order == 0 or count < least]
    return moves[:max(least, 1 + count)]


def estimate_moves(result: SearchResult, request: AnalysisRequest, estimator: Estimator,
                   ) -> tuple[list[tuple[CandidateMove, Estimate]], Estimate]:
    """Return the moves to report with their estimates, and the position's, for which all visited moves count."""
    moves = select_moves(result, request.min_moves)
    estimates = estimator.estimate_moves(moves)
    return list(zip(moves, estimates, strict=True))[:request.max_moves], mean_estimate(moves, estimates)


def winrate_of(move: CandidateMove, result: SearchResult) -> float:
    """Return the win rate of a move; an unvisited one is taken to be as good as the position."""
    return move.winrate if move.visits else result.mean_winrate


def format_pv(move: CandidateMove, coordinate: Coordinate) -> str:
    """Return the principal variation, which begins with the move."""
    return " ".join(coordinate.convert_to_gtp_format(pos) for pos in move.pv)


def format_lz(result: SearchResult, request: AnalysisRequest, coordinate: Coordinate, _: Estimator) -> str:
    """Return a line in Leela Zero's format: whole numbers only."""
    pieces = []
    for move in select_moves(result, request.min_moves)[:request.max_moves]:
        winrate = winrate_of(move, result)
        pieces.append(
            f"info move {coordinate.convert_to_gtp_format(move.pos)} visits {move.visits} "
            f"winrate {round(LZ_SCALE * winrate)} prior {round(LZ_SCALE * move.prior)} "
            f"lcb {round(LZ_SCALE * move.lcb)} order {move.order} pv {format_pv(move, coordinate)}"
        )
    return " ".join(pieces)


def format_floats(values: np.ndarray) -> str:
    """Return numbers separated by blanks."""
    return " ".join(f"{value:.4f}" for value in values)


def score_fields(estimate: Estimate) -> str:
    """Return the fields about the score."""
    return f"scoreMean {estimate.lead:.4f} scoreStdev {estimate.stdev:.4f} scoreLead {estimate.lead:.4f}"


def format_kata(
    result: SearchResult, request: AnalysisRequest, coordinate: Coordinate, estimator: Estimator
) -> str:
    """Return a line in KataGo's format: all moves, then the root, then ownership."""
    moves, mean = estimate_moves(result, request, estimator)
    pieces = [_kata_move(move, winrate_of(move, result), estimate, request, coordinate) for move, estimate in moves]
    if "rootInfo" in request.flags:
        winrate, visits = result.mean_winrate, result.total_visits
        pieces.append(f"rootInfo visits {visits} utility {2 * winrate - 1:.6f} winrate {winrate:.6f} "
                      f"{score_fields(mean)} weight {visits}")
    if "ownership" in request.flags:
        pieces.append(f"ownership {format_floats(mean.ownership)}")
    if "ownershipStdev" in request.flags:
        pieces.append(f"ownershipStdev {format_floats(mean.ownership_stdev)}")
    return " ".join(pieces)


def _kata_move(
    move: CandidateMove, winrate: float, estimate: Estimate, request: AnalysisRequest, coordinate: Coordinate
) -> str:
    """Return the part of a line about one move."""
    counts = " ".join(str(count) for count in move.pv_visits)
    lists = {
        "pvVisits": counts, "pvEdgeVisits": counts, "movesOwnership": format_floats(estimate.ownership),
        "movesOwnershipStdev": format_floats(estimate.ownership_stdev),
    }
    no_result = "noResultValue 0.000000 " if "noResultValue" in request.flags else ""
    text = (
        f"info move {coordinate.convert_to_gtp_format(move.pos)} visits {move.visits} edgeVisits {move.visits} "
        f"utility {2 * winrate - 1:.6f} winrate {winrate:.6f} {score_fields(estimate)} {no_result}"
        f"prior {move.prior:.6f} lcb {move.lcb:.6f} utilityLcb {2 * move.lcb - 1:.6f} weight {move.visits} "
        f"order {move.order} pv {format_pv(move, coordinate)}"
    )
    return " ".join([text, *(f"{name} {values}" for name, values in lists.items() if name in request.flags)])


def encode_ownership(ownership: Sequence[float] | np.ndarray) -> str:
    """Return ownership as CGOS writes it, one letter per point."""
    last = len(OWNERSHIP_LETTERS) - 1
    return "".join(OWNERSHIP_LETTERS[round((min(max(float(value), -1.0), 1.0) + 1) / 2 * last)] for value in ownership)


def format_cgos(
    result: SearchResult, request: AnalysisRequest, coordinate: Coordinate, estimator: Estimator
) -> str:
    """Return a line of JSON as CGOS stores it with a move."""
    moves, mean = estimate_moves(result, request, estimator)
    content: dict[str, Any] = {
        "winrate": round(result.mean_winrate, JSON_DECIMALS), "score": round(mean.lead, JSON_DECIMALS),
        "visits": result.total_visits,
        "moves": [{
            "move": coordinate.convert_to_gtp_format(move.pos),
            "winrate": round(winrate_of(move, result), JSON_DECIMALS),
            "score": round(estimate.lead, JSON_DECIMALS), "prior": round(move.prior, JSON_DECIMALS),
            "lcb": round(move.lcb, JSON_DECIMALS), "visits": move.visits, "order": move.order,
            "pv": format_pv(move, coordinate),
        } for move, estimate in moves],
        "ownership": encode_ownership(mean.ownership),
    }
    return json.dumps(content, separators=(",", ":"))


FORMATTERS: dict[str, Formatter] = {"lz": format_lz, "kata": format_kata, "cgos": format_cgos}
