"""Games, positions and searches as the objects of JSON that the page gets; win rates and leads are Black's."""

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from board.go_board import GoBoard
from board.stone import Stone
from browser.clock import GameClock
from browser.points import to_point, to_pos
from browser.table import NodeView, Table, TableError
from mcts.analysis import CandidateMove, SearchResult
from mcts.explain import explain_puct, find_node
from mcts.score_estimate import Estimate, Estimator, mean_estimate
from mcts.tree import MCTSTree
from sgf.game_tree import ROOT
from sgf.match_result import SCORE_DECIMALS

CHARACTERS = {Stone.EMPTY: ".", Stone.BLACK: "X", Stone.WHITE: "O"}
LETTERS = {Stone.BLACK: "b", Stone.WHITE: "w"}
# Candidate moves that are shown, and the characters of a comment.
MAX_MOVES = 30
MAX_BRANCHES = 12
MAX_COMMENT = 5000
MILLISECONDS = 1000

Message = dict[str, Any]


def describe_error(error: Exception) -> Message:
    """Return what cannot be done: the line, and what the page needs to say it in the player's language."""
    sentence, values = (error.sentence, error.values) if isinstance(error, TableError) else (str(error), ())
    return {"type": "error", "text": str(error), "sentence": sentence, "values": [str(value) for value in values]}


def describe_collection() -> Message:
    """Return what to say of a file of several games."""
    return {"type": "notice", "sentence": "the file has several games; this is the first", "values": []}


def describe_position(table: Table) -> Message:
    """Return the position that is looked at."""
    board, record, loss = table.board, table.board.get_move_history(), table.loss
    ko = to_point(board.board_size, board.ko_pos) if board.ko_pos else None
    return {
        "type": "position", "node": table.here, "size": board.board_size,
        "stones": "".join(CHARACTERS[board.board[pos]] for pos in board.onboard_pos),
        "toMove": LETTERS[table.to_move], "last": to_point(board.board_size, record[-1][1]) if record else None,
        "lastColor": LETTERS[record[-1][0]] if record else None, "number": board.moves - 1,
        "prisoners": board.prisoner, "komi": board.komi, "ko": ko,
        "over": table.is_over, "loser": LETTERS[loss.loser] if loss and loss.loser else None,
        "onTime": loss is not None and loss.on_time, "clock": describe_clock(table.clock),
        "comment": table.tree.comment(table.here)[:MAX_COMMENT],
    }


def describe_score(node: int, board_size: int, lead: float, dead: Iterable[int]) -> Message:
    """Return how the game that ended at a node was counted: Black's lead, as people write it, and the dead stones."""
    return {"type": "score", "node": node, "lead": round(lead, SCORE_DECIMALS),
            "dead": [to_point(board_size, pos) for pos in dead]}


def describe_clock(clock: GameClock | None) -> Message | None:
    """Return the seconds left and whose clock runs, None without a clock."""
    if clock is None:
        return None
    left: Message = {LETTERS[color]: round(clock.left(color), 1) for color in LETTERS}
    return left | {"running": LETTERS[clock.running] if clock.running else None}


def describe_node(table: Table, node: int) -> Message:
    """Return one node of the tree."""
    move, view = table.tree.move(node), table.views.get(node)
    content: Message = {"id": node, "parent": table.tree.parent(node)}
    if move is not None:
        content |= {"color": LETTERS[move[0]], "point": to_point(table.tree.size, move[1])}
    if view is not None:
        content |= describe_view(view)
    return content


def describe_view(view: NodeView) -> Message:
    """Return what a search said about a node."""
    return {"winrate": round(view.winrate, 4), "visits": view.visits,
            "lead": None if view.lead is None else round(view.lead, 2)}


def describe_nodes(table: Table, nodes: Iterable[int], reset: bool = False, removed: Iterable[int] = ()) -> Message:
    """Return nodes that are new or have changed, and those that are gone; `reset`: these are all."""
    return {"type": "nodes", "reset": reset, "nodes": [describe_node(table, node) for node in nodes],
            "removed": list(removed)}


def describe_memory(table: Table, most_nodes: int) -> Message:
    """Return what the page keeps in case this server goes away: the record, unless it is too long, and how it ended.

    TabSession.do_load takes it back.
    """
    tree, clock = table.tree, table.clock
    message: Message = {"type": "kept", "sgf": tree.to_sgf() if len(tree) <= most_nodes else None}
    if clock is not None:
        message["left"] = [round(MILLISECONDS * clock.left(color)) for color in LETTERS]
    if (ending := table.ending) is not None:
        message |= {"ended": True, "end": tree.path_to(ending.node), "before": ending.before, "onTime": ending.on_time,
                    "loser": LETTERS[ending.loser] if ending.loser else ""}
    return message


def describe_game(table: Table) -> Message:
    """Return what stays the same during a game."""
    black, white = table.tree.names()
    start = table.tree.board_at(ROOT)
    return {"type": "game", "size": table.tree.size, "komi": table.tree.rules.komi, "black": black, "white": white,
            "handicap": len(start.get_handicap_history()), "result": table.tree.result()}


def black_share(winrate: float, color: Stone) -> float:
    """Return Black's win rate, given that of `color`."""
    return winrate if color == Stone.BLACK else 1.0 - winrate


def describe_branch(tree: MCTSTree, node: int, path: list[int]) -> Message:
    """Return what PUCT compares in the search tree after the moves `path` (points) from the position of a node.

    Nothing is known of a search by playouts, which compares other numbers (mcts/uct/selection.py).
    """
    board = tree.root_board
    positions = [to_pos(board.board_size, point) for point in path]
    index = find_node(tree.arrays, positions) if tree.asks_network else None
    message: Message = {"type": "branch", "node": node, "path": path, "known": index is not None,
                        "byPlayouts": not tree.asks_network}
    if index is None:
        return message
    color = tree.root_color if len(path) % 2 == 0 else Stone.get_opponent_color(tree.root_color)
    terms = explain_puct(tree.arrays, index, tree.params.selection)
    edges = [{"point": to_point(board.board_size, edge.pos), "visits": edge.visits, "prior": round(edge.prior, 4),
              "value": round(edge.value, 4), "bonus": round(edge.bonus, 4), "proven": edge.proven}
             for edge in terms.edges[:MAX_BRANCHES]]
    return message | {
        "color": LETTERS[color], "visits": terms.visits, "raw": round(terms.raw_value, 4), "c": round(terms.c, 4),
        "exploration": round(terms.exploration, 4), "urgency": round(terms.urgency, 4), "edges": edges,
        "more": max(0, len(terms.edges) - MAX_BRANCHES),
    }


class SearchDescriber:
    """Describes what searches of one position find."""

    def __init__(self, node: int, board: GoBoard, estimator: Estimator, policy: np.ndarray) -> None:
        """Prepare for the position of a node; `policy` is the network's, float [S*S+1]."""
        self._node, self._color = node, board.get_to_move()
        self._estimator, self._policy = estimator, policy
        self._sign = 1.0 if self._color == Stone.BLACK else -1.0
        self._point = partial(to_point, board.board_size)

    def describe(self, result: SearchResult, is_final: bool) -> tuple[Message, NodeView]:
        """Return the message about what was found so far, and its sum for the node."""
        moves = [move for move in result.candidates if move.visits > 0 or move.order == 0][:MAX_MOVES]
        estimates = self._estimator.estimate_moves(moves)
        mean = mean_estimate(moves, estimates)
        view = NodeView(black_share(result.mean_winrate, self._color), self._sign * mean.lead, result.total_visits)
        return {
            "type": "analysis", "node": self._node, "color": LETTERS[self._color], "final": is_final,
            "moves": [self._describe_move(move, result, estimate)
                      for move, estimate in zip(moves, estimates, strict=True)],
            "ownership": np.rint(100 * self._sign * mean.ownership).astype(int).tolist(),
            "policy": np.rint(1000 * self._policy).astype(int).tolist(), **describe_view(view),
        }, view

    def _describe_move(self, move: CandidateMove, result: SearchResult, estimate: Estimate) -> Message:
        """Return one candidate; its win rate and lead are those of the side that plays it."""
        return {"point": self._point(move.pos), "visits": move.visits, "prior": round(move.prior, 4),
                "winrate": round(move.winrate if move.visits else result.mean_winrate, 4),
                "lcb": round(move.lcb, 4), "lead": round(estimate.lead, 2), "pv": list(map(self._point, move.pv))}
