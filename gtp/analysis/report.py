"""The answer to a query of KataGo's analysis engine: what a search found as an object of JSON.

The numbers are those of gtp/analysis_format.py, turned to the perspective that the query asks for.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from board.constant import PASS
from board.geometry import SYMMETRIES
from board.go_board import GoBoard
from board.stone import Stone
from gtp.analysis.query import Query
from gtp.analysis_format import select_moves, winrate_of
from mcts.analysis import CandidateMove, SearchResult
from mcts.score_estimate import Estimate, Estimator, mean_estimate
from nn.feature import Evaluator
from nn.inference.policy_player import evaluate, to_policy

DECIMALS = 6
HASH_BYTES = 16
# A ko point among the stones of a position, for its hash.
KO_MARK = 4
# Value of an illegal move in the policy.
ILLEGAL = -1.0
# Pairs of random games behind the leads of a last answer: so many for each visit within these bounds, and the least
# for one move. With 33 points of deviation in a random game, 2,048 pairs know the lead of a 9x9 position to 0.5 points.
PAIRS_PER_VISIT = 4
PAIRS = (256, 2048)
LEAST_PAIRS = 8


class Reporter:
    """Writes what searches of one position find."""

    def __init__(
        self, query: Query, turn: int, board: GoBoard, evaluator: Evaluator, estimator: Estimator
    ) -> None:
        """Prepare for the position after `turn` moves, which is on `board`."""
        self._query, self._turn, self._board, self._evaluator = query, turn, board, evaluator
        self._color = board.get_to_move()
        self._estimator = estimator
        self._turned = query.perspective not in (None, self._color)
        self._sign = -1.0 if self._turned else 1.0
        self._hashes = position_hashes(board, self._color)
        self._policy: list[float] | None = None

    def report(self, result: SearchResult, is_during_search: bool) -> dict[str, Any]:
        """Return the answer; the last one rests on more random games."""
        moves = select_moves(result)
        estimates = self._estimator.estimate_moves(moves, () if is_during_search else share_pairs(moves))
        mean = mean_estimate(moves, estimates)
        priors = self._plain_priors(result)
        flags = self._query.flags
        answer = {
            "id": self._query.id, "turnNumber": self._turn, "isDuringSearch": is_during_search,
            "moveInfos": [self._move_info(move, winrate_of(move, result), priors[move.pos], estimate)
                          for move, estimate in zip(moves, estimates, strict=True)],
            "rootInfo": self._root_info(result, mean),
        }
        if "includeOwnership" in flags:
            answer["ownership"] = _round_all(self._sign * mean.ownership)
        if "includeOwnershipStdev" in flags:
            answer["ownershipStdev"] = _round_all(mean.ownership_stdev)
        if "includePolicy" in flags:
            answer["policy"] = self._policy = self._policy or self._find_policy()
        return answer

    def _winrate(self, winrate: float) -> float:
        """Return a win rate of the side to move as the query wants to see it."""
        return round(1.0 - winrate if self._turned else winrate, DECIMALS)

    def _utility(self, winrate: float) -> float:
        """Return a win rate of the side to move on a scale from -1 to 1, as the query wants to see it."""
        return round(self._sign * (2 * winrate - 1), DECIMALS)

    def _score(self, estimate: Estimate) -> dict[str, float]:
        """Return the fields about the score."""
        lead = round(self._sign * estimate.lead, DECIMALS)
        return {"scoreLead": lead, "scoreMean": lead, "scoreSelfplay": lead,
                "scoreStdev": round(estimate.stdev, DECIMALS)}

    def _move_info(self, move: CandidateMove, winrate: float, prior: float, estimate: Estimate) -> dict[str, Any]:
        """Return the object of one move."""
        to_gtp, flags = self._board.coordinate.convert_to_gtp_format, self._query.flags
        length = 1 + self._query.pv_length
        info = {
            "move": to_gtp(move.pos), "visits": move.visits, "edgeVisits": move.visits, "weight": move.visits,
            "edgeWeight": move.visits, "playSelectionValue": move.visits, "order": move.order,
            "prior": round(prior, DECIMALS), "winrate": self._winrate(winrate), "lcb": self._winrate(move.lcb),
            "utility": self._utility(winrate), "utilityLcb": self._utility(move.lcb),
            "pv": [to_gtp(pos) for pos in move.pv[:length]], **self._score(estimate),
        }
        if "includePVVisits" in flags:
            info["pvVisits"] = info["pvEdgeVisits"] = move.pv_visits[:length]
        if "includeNoResultValue" in flags:
            info["noResultValue"] = 0.0
        if "includeMovesOwnership" in flags:
            info["ownership"] = _round_all(self._sign * estimate.ownership)
        if "includeMovesOwnershipStdev" in flags:
            info["ownershipStdev"] = _round_all(estimate.ownership_stdev)
        return info

    def _root_info(self, result: SearchResult, mean: Estimate) -> dict[str, Any]:
        """Return the object of the position."""
        winrate = result.mean_winrate
        return {
            "visits": result.total_visits, "weight": result.total_visits, "winrate": self._winrate(winrate),
            "utility": self._utility(winrate), "rawWinrate": self._winrate(result.raw_value), **self._score(mean),
            "currentPlayer": "B" if self._color == Stone.BLACK else "W",
            "thisHash": self._hashes[0], "symHash": min(self._hashes),
        }

    def _plain_priors(self, result: SearchResult) -> dict[int, float]:
        """Return the network's prior of each candidate, without the temperature of the search."""
        priors = np.array([move.prior for move in result.candidates], dtype=np.float64)
        if result.temperature != 1.0:
            priors = to_policy(result.temperature * np.log(np.maximum(priors, np.finfo(np.float64).tiny)))
        return {move.pos: float(prior) for move, prior in zip(result.candidates, priors, strict=True)}

    def _find_policy(self) -> list[float]:
        """Return the network's policy over the legal moves, ILLEGAL for others; PASS is the last."""
        board, color = self._board, self._color
        legal = [board.is_legal(pos, color) and not board.is_superko(pos, color) for pos in (*board.onboard_pos, PASS)]
        policy = np.where(legal, evaluate(self._evaluator, board, color).policy, 0.0)
        total = float(policy.sum()) or 1.0
        return _round_all(np.where(legal, policy / total, ILLEGAL))


def share_pairs(moves: Sequence[CandidateMove]) -> list[int]:
    """Return the pairs of random games for each move: more visits, more games."""
    visits = sum(move.visits for move in moves)
    total = min(max(PAIRS_PER_VISIT * visits, PAIRS[0]), PAIRS[1])
    return [max(LEAST_PAIRS, total * move.visits // max(visits, 1)) for move in moves]


def no_results(query_id: str, turn: int) -> dict[str, Any]:
    """Return the answer of a position that was not looked at."""
    return {"id": query_id, "turnNumber": turn, "isDuringSearch": False, "noResults": True}


def position_hashes(board: GoBoard, color: Stone) -> list[str]:
    """Return a name of the position with `color` to move as it is seen through each symmetry, the plain one first."""
    names = []
    for sym in range(SYMMETRIES):
        cells = board.get_board_data(sym)
        seen = [board.get_symmetrical_coordinate(pos, sym) for pos in board.onboard_pos]
        if board.ko_pos in seen:
            cells[seen.index(board.ko_pos)] = KO_MARK
        content = bytes([board.board_size, int(color), *cells])
        names.append(hashlib.blake2b(content, digest_size=HASH_BYTES).hexdigest().upper())
    return names


def _round_all(values: Sequence[float] | np.ndarray) -> list[float]:
    """Return numbers with DECIMALS decimals."""
    return [round(float(value), DECIMALS) for value in values]
