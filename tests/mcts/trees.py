"""Games to search, and what must hold in every tree."""
from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import numpy.typing as npt

from board.constant import PASS
from board.geometry import get_geometry
from board.go_board import GoBoard
from board.stone import Stone
from mcts.analysis import SearchResult, lower_confidence_bound
from mcts.node import MCTSNode
from mcts.params import SearchParams, Selection
from mcts.tree import MCTSTree
from mcts.tree_arrays import READY
from nn.feature import generate_input_planes
from tests.mcts.evaluators import HashEvaluator
from tests.reference.naive_search import NOTHING_PLAYED, Edge, NaiveSearch, Node
from tests.reference.slow_board import OTHER, Point
from tests.reference.twins import STONES, Twins


class Game:
    """A game on twin boards, with what a search must know about it."""

    def __init__(self, size: int, komi: float = 7.0, check_superko: bool = True) -> None:
        self.twins = Twins(size, check_superko)
        self.twins.fast.komi = komi
        self.color = "b"
        self.moves: list[Point | None] = []

    @classmethod
    def from_diagram(cls, diagram: str, color: str, komi: float = 7.0, check_superko: bool = True) -> Game:
        """Return a game that starts from a drawing, `color` to move."""
        game = cls.__new__(cls)
        game.twins = Twins.from_diagram(diagram, check_superko)
        game.twins.fast.komi = komi
        game.color, game.moves = color, []
        return game

    @classmethod
    def random(cls, size: int, length: int, seed: int, komi: float = 7.0, check_superko: bool = True) -> Game:
        """Return a game of random moves without superko violations and without two passes in a row."""
        game, rng = cls(size, komi, check_superko=True), random.Random(seed)
        for _ in range(length):
            points = [p for p in game.twins.legal(game.color) if not game.twins.slow.is_complete_eye(p, game.color)]
            passing = not game.moves or game.moves[-1] is not None
            if points and not (passing and rng.random() < 0.05):
                game.play(rng.choice(points))
            elif passing:
                game.play(None)
        game.board.check_superko = check_superko
        return game

    def play(self, point: Point | None, color: str | None = None) -> None:
        """Play a move, out of turn if `color` says so."""
        color = color or self.color
        self.twins.play(point, color)
        self.moves.append(point)
        self.color = OTHER[color]

    @property
    def board(self) -> GoBoard:
        """The engine's board."""
        return self.twins.fast

    @property
    def stone(self) -> Stone:
        """The side to move."""
        return STONES[self.color]

    @property
    def passes(self) -> int:
        """Passes at the end of the game; after two the game goes on, when a move is asked for, as if without them."""
        trailing = next((i for i, move in enumerate(reversed(self.moves)) if move is not None), len(self.moves))
        return trailing % 2

    def start(self, naive: NaiveSearch) -> Node:
        """Return the naive search's root for this position."""
        last = self.moves[-1] if self.moves else NOTHING_PLAYED
        return naive.start(self.twins.slow, self.color, last, self.passes)

    def point(self, pos: int) -> Point | None:
        """Return the point of a pos; None is a pass."""
        return None if pos == PASS else self.twins.point(pos)


def near(found: np.ndarray, expected: npt.ArrayLike, relative: float, absolute: float) -> bool:
    """Return what numpy.allclose does, in a tenth of the time: it is asked of every node."""
    expected = np.asarray(expected)
    return bool((np.abs(found - expected) <= absolute + relative * np.abs(expected)).all())


def count_table(node: MCTSNode) -> dict[int, int]:
    """Return the visits of the candidates by pos."""
    return {int(p): int(n) for p, n in zip(node.action, node.children_visits, strict=True)}


def compare_trees(node: MCTSNode, twin: Node, game: Game, tolerance: float = 1e-9) -> int:
    """Assert that a tree equals its naive twin in every node; return the number of nodes."""
    assert node.raw_value == twin.value
    place = {game.point(int(pos)): i for i, pos in enumerate(node.action)}
    assert len(place) == node.num_children and set(place) == {edge.move for edge in twin.edges}
    order = [place[edge.move] for edge in twin.edges]
    assert node.children_visits[order].tolist() == [edge.visits for edge in twin.edges]
    assert node.node_visits == twin.visits
    assert near(node.children_policy[order], [e.prior for e in twin.edges], 1e-6, 1e-9)
    assert near(node.children_logit[order], [e.logit for e in twin.edges], 1e-6, 1e-6)
    sums = [edge.value_sum for edge in twin.edges]
    assert near(node.children_value_sum[order], sums, tolerance, tolerance)
    nodes = 1
    for i, edge in zip(order, twin.edges, strict=True):
        child = node.child(i)
        assert (child is None) == (edge.child is None)
        if child is not None and edge.child is not None:
            nodes += compare_trees(child, edge.child, game, tolerance)
    return nodes


def check_tree(tree: MCTSTree, max_depth: int | None = None) -> int:
    """Assert what must hold in every tree between two batches, and return the greatest depth.

    Visits add up, nothing waits, every visited move has an evaluated or final position behind it, and every sum is
    what the values of the positions below say; no other node is left but those evaluated ahead. With `max_depth`, lines
    were cut there.
    """
    seen: set[int] = set()
    depth = _check_node(tree.root, seen, 0, max_depth, tree.params.selection.expand)
    kinds = tree.arrays.node_kind[:tree.num_nodes]
    assert seen == set(np.flatnonzero(kinds != READY).tolist()), "a node is reached once and none is lost"
    return depth


def _check_node(node: MCTSNode, seen: set[int], depth: int, max_depth: int | None, expand: int) -> int:
    assert node.index not in seen
    seen.add(node.index)
    visits, prior, logit = node.children_visits, node.children_policy, node.children_logit
    assert node.node_visits == visits.sum() and (visits >= 0).all()
    assert node.virtual_loss == 0 and not node.children_virtual_loss.any()
    assert 0.0 <= node.raw_value <= 1.0
    assert math.isclose(node.node_value_sum, node.children_value_sum.sum(), abs_tol=1e-9)
    assert node.num_children == len(set(node.action.tolist())) >= 1 and PASS in node.action
    assert math.isclose(float(prior.astype(float).sum()), 1.0, abs_tol=1e-5) and (prior >= 0).all()
    assert near(np.exp(logit.astype(float)), prior, 1e-5, 1e-7)
    deepest = depth
    for i in range(node.num_children):
        child, count, total = node.child(i), int(visits[i]), float(node.children_value_sum[i])
        assert (child is None) == (count == 0)
        if child is None:
            assert total == 0.0
            continue
        if child.num_children == 0:  # the game is over there
            assert child.raw_value in (0.0, 0.5, 1.0) and child.node_visits == 0 and child.index not in seen
            seen.add(child.index)
            assert total == count * (1.0 - child.raw_value)
            continue
        inside = child.node_visits
        own = count - inside  # visits that ended at the child itself
        assert own == min(count, expand) or (max_depth is not None and depth + 1 == max_depth and own >= 1)
        expected = count - (own * child.value + child.node_value_sum)
        assert math.isclose(total, expected, rel_tol=1e-9, abs_tol=1e-9)
        deepest = max(deepest, _check_node(child, seen, depth + 1, max_depth, expand))
    return deepest


def square_sum(node: MCTSNode, i: int) -> float:
    """Return the sum of the squared values of a candidate, found from the positions below."""
    child, visits, total = node.child(i), int(node.children_visits[i]), float(node.children_value_sum[i])
    if child is None:
        return 0.0
    if child.num_children == 0:
        return visits * (1.0 - child.raw_value) ** 2
    squares = child.value**2 + sum(square_sum(child, k) for k in range(child.num_children))
    return visits - 2.0 * (visits - total) + squares


def check_result(result: SearchResult, tree: MCTSTree, board: GoBoard, color: Stone) -> None:
    """Assert that a result says what stands in the tree, in order, with lines that can be played."""
    root = tree.root
    assert result.total_visits == root.node_visits and result.raw_value == root.raw_value
    assert sorted(c.pos for c in result.candidates) == sorted(root.action.tolist())
    assert [c.order for c in result.candidates] == list(range(len(result.candidates)))
    first = result.candidates[0]
    assert result.pos == first.pos
    assert result.winrate == (first.winrate if first.visits else root.raw_value)
    ranks = [(-c.visits, -c.winrate) for c in result.candidates]
    assert ranks[1:] == sorted(ranks[1:])
    place = {int(pos): i for i, pos in enumerate(root.action)}
    for c in result.candidates:
        i = place[c.pos]
        assert c.visits == root.children_visits[i] and c.prior == float(root.children_policy[i])
        total = float(root.children_value_sum[i])
        assert c.winrate == (total / c.visits if c.visits else 0.0)
        expected = lower_confidence_bound(c.visits, total, square_sum(root, i))
        assert math.isclose(c.lcb, expected, abs_tol=1e-6)
        child = root.child(i)
        assert c.raw_value == (None if child is None else 1.0 - child.raw_value)
        check_line(c.pv, c.pos, board, color)


def check_line(pv: list[int], first: int, board: GoBoard, color: Stone) -> None:
    """Assert that a line starts with its move and can be played."""
    assert pv[0] == first
    line = board.copy()
    line.check_superko = True
    for pos in pv:
        assert line.is_legal(pos, color)
        line.put_stone(pos, color)
        color = Stone.get_opponent_color(color)


def snapshot(node: MCTSNode) -> dict[str, Any]:
    """Return everything below a node as plain data."""
    moves = {}
    for i, pos in enumerate(node.action.tolist()):
        c, child = node.candidate(i, 0), node.child(i)
        below = None if child is None else snapshot(child)
        moves[pos] = (c.visits, c.prior, float(node.children_value_sum[i]), c.lcb, below)
    return {"value": node.raw_value, "visits": node.node_visits, "moves": moves}


def child_of(node: MCTSNode, pos: int) -> MCTSNode:
    """Return the evaluated node after a move."""
    child = node.child(node.action.tolist().index(pos))
    assert child is not None
    return child


def edge_of(node: Node, move: Point | None) -> Edge:
    """Return the naive edge of a move."""
    return next(edge for edge in node.edges if edge.move == move)


def small_params(batch_size: int = 1, **others: Any) -> SearchParams:
    """Return parameters for small trees."""
    return SearchParams(batch_size=batch_size, **{"tree_size": 512, **others})


def least_prior(board: GoBoard, pos: int) -> float:
    """Return the least prior of a move by the parameters' default."""
    sizes = [string.get_size() for string in board.strings.string.values() if string.get_liberties() == [pos]]
    return Selection().atari_prior * (1 - 1 / max(sizes)) if sizes else 0.0


def check_positions(node: MCTSNode, board: GoBoard, color: Stone, evaluator: HashEvaluator, komi: float) -> int:
    """Assert that every node holds what its own position says: candidates, the network's answer, or the final score.

    `board` is the position of the node, reached by playing the moves, so a tree that was kept by mistake shows here.
    Returns the number of nodes.
    """
    board = board.copy()
    board.check_superko = True
    assert set(node.action.tolist()) == {*board.get_all_legal_pos(color, fill_eyes=False), PASS}
    logits, value = evaluator.answer(generate_input_planes(board, color))
    own = logits[[get_geometry(board.board_size).policy_index[pos] for pos in node.action]].astype(float)
    policy = np.exp(own - own.max())
    policy = np.maximum(policy / policy.sum(), [least_prior(board, pos) for pos in node.action])
    assert near(node.children_policy, policy / policy.sum(), 1e-5, 1e-8)
    assert math.isclose(node.raw_value, value[2] + 0.5 * value[1], rel_tol=1e-6)
    nodes, opponent = 1, Stone.get_opponent_color(color)
    for i, pos in enumerate(node.action.tolist()):
        child = node.child(i)
        if child is None:
            continue
        after = board.copy()
        after.put_stone(pos, color)
        if child.num_children:
            nodes += check_positions(child, after, opponent, evaluator, komi)
            continue
        nodes += 1
        assert after.is_over
        margin = (after.count_score() - komi) * (1 if opponent == Stone.BLACK else -1)
        assert child.raw_value == (0.5 if margin == 0 else float(margin > 0))
    return nodes
