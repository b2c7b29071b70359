"""A tree search so plain that it is right by inspection: the twin of the compiled one.

Nodes and edges are objects, every node keeps its own SlowBoard, and nothing is kept that can be looked up. The
numbers a network gives are rounded to single precision, as the compiled tree stores them, so that both can be compared
visit by visit.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from mcts.params import Selection
from tests.reference.slow_board import EMPTY, OTHER, Point, SlowBoard

Evaluator = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
NOTHING_PLAYED: Point = (0, 0)


def single(value: float) -> float:
    """Return the value rounded to single precision."""
    return float(np.float32(value))


def softmax(logits: Sequence[float]) -> list[float]:
    """Return shares that add up to 1."""
    greatest = max(logits)
    weights = [math.exp(logit - greatest) for logit in logits]
    total = sum(weights)
    return [weight / total for weight in weights]


@dataclass(eq=False)
class Edge:
    """A candidate move; None is a pass. Values are those of the player who chooses."""

    move: Point | None
    least_prior: float = 0.0
    prior: float = 0.0
    logit: float = 0.0
    visits: int = 0
    waiting: int = 0
    value_sum: float = 0.0
    lead_sum: float = 0.0
    child: Node | None = None

    @property
    def mean(self) -> float:
        """The mean value of the finished visits."""
        return self.value_sum / self.visits


@dataclass(eq=False)
class Node:
    """A position; `value` is None while it waits for the network."""

    board: SlowBoard
    color: str
    last: Point | None  # None is a pass
    passes: int
    value: float | None = None
    lead: float = 0.0
    edges: list[Edge] = field(default_factory=list)  # in board order, the pass last
    tried: list[Edge] = field(default_factory=list)  # in the order of their first choice

    @property
    def visits(self) -> int:
        """Finished visits of the edges."""
        return sum(edge.visits for edge in self.edges)

    @property
    def waiting(self) -> int:
        """Visits of the edges that wait for the network."""
        return sum(edge.waiting for edge in self.edges)

    @property
    def is_over(self) -> bool:
        """Whether two passes ended the game."""
        return self.passes >= 2

    def after(self, move: Point | None) -> Node:
        """Return the position after a move."""
        board = self.board.copy()
        board.play(move, self.color)
        return Node(board, OTHER[self.color], move, self.passes + 1 if move is None else 0)


class NaiveSearch:
    """PUCT and sequential halving with one network call per batch."""

    def __init__(self, evaluator: Evaluator, selection: Selection, komi: float, batch_size: int = 1,
                 temperature: float = 1.0) -> None:
        self.evaluator, self.selection, self.komi, self.batch_size = evaluator, selection, komi, batch_size
        self.temperature = temperature
        self.may_repeat = ""  # color whose moves may repeat a position
        self.superko_moves = 0  # moves that only superko kept out of the tree
        self.repetitions = 0  # moves that repeat a position and stand in the tree
        self.endings = 0  # finished games met

    # Positions

    def start(self, board: SlowBoard, color: str, last: Point | None = NOTHING_PLAYED, passes: int = 0) -> Node:
        """Return an evaluated root."""
        root = Node(board.copy(), color, last, passes)
        self.expand(root)
        self.evaluate([root])
        return root

    def expand(self, node: Node) -> None:
        """Give a node its candidates: legal moves that fill no own complete eye, superko observed, and the pass."""
        board, color, least_priors = node.board, node.color, self.least_priors(node.board)
        for point in board.points:
            result = board.after(point, color)
            if result is None or (point, color) == board.ko or board.is_complete_eye(point, color):
                continue
            if board.was_seen(result[0]):
                if color != self.may_repeat:
                    self.superko_moves += 1
                    continue
                self.repetitions += 1
            node.edges.append(Edge(point, least_priors.get(point, 0.0)))
        node.edges.append(Edge(None))

    def least_priors(self, board: SlowBoard) -> dict[Point, float]:
        """Return the least prior of each last liberty, which grows with the largest string that has no other."""
        sizes: dict[Point, int] = {}
        for string in board.strings():
            point, *others = board.liberties(min(string))
            if not others:
                sizes[point] = max(sizes.get(point, 0), len(string))
        return {point: self.selection.atari_prior * (1 - 1 / size) for point, size in sizes.items()}

    def planes(self, node: Node) -> np.ndarray:
        """Return the six input planes of a position."""
        size, board = node.board.size, node.board
        planes = np.zeros((6, size, size), dtype=np.float32)
        for x, y in board.points:
            stone = board.grid[x, y]
            plane = 0 if stone == EMPTY else 1 if stone == node.color else 2
            planes[plane, y - 1, x - 1] = 1
        if node.last is None:
            planes[4] = 1
        elif node.last != NOTHING_PLAYED:
            planes[3, node.last[1] - 1, node.last[0] - 1] = 1
        planes[5] = 1 if node.color == "b" else -1
        return planes

    def evaluate(self, nodes: Sequence[Node]) -> None:
        """Ask the network about positions: priors are a softmax over the candidates, raised; a draw is half a win."""
        answer = self.evaluator(np.stack([self.planes(node) for node in nodes]))
        logits, values = answer[:2]
        leads: Sequence[float] = answer[2] if len(answer) > 2 else ()
        for node, lead in zip(nodes, leads, strict=False):
            node.lead = float(lead)
        logits = logits / np.float32(self.temperature)
        for node, all_logits, (_, draw, win) in zip(nodes, logits, values.astype(float), strict=True):
            size = node.board.size
            own = [float(all_logits[size * size if e.move is None else (e.move[1] - 1) * size + e.move[0] - 1])
                   for e in node.edges]
            raised = [max(share, e.least_prior) for e, share in zip(node.edges, softmax(own), strict=True)]
            total = sum(raised)
            for edge, prior in zip(node.edges, raised, strict=True):
                edge.prior = single(prior / total)
                edge.logit = single(math.log(prior / total))
            node.value = single(win + 0.5 * draw)

    def final_lead(self, node: Node) -> float:
        """Return by how many points the side to move wins a finished game."""
        black_margin = node.board.area_score() - self.komi
        return black_margin if node.color == "b" else -black_margin

    def final_value(self, node: Node) -> float:
        """Return 1, 0.5 or 0 for a win, draw or loss of the side to move in a finished game."""
        margin = self.final_lead(node)
        return 1.0 if margin > 0 else 0.0 if margin < 0 else 0.5

    # One batch

    def run_batch(self, root: Node, wanted: int, pick: Callable[[Node, int], Edge]) -> int:
        """Make up to `wanted` visits and return how many; `pick(node, i)` chooses for the i-th visit of the batch."""
        waiting: list[list[Edge]] = []
        finished = 0
        while len(waiting) + finished < wanted:
            path, leaf, is_new = self.walk(root, lambda node: pick(node, len(waiting) + finished))  # noqa: B023
            if is_new and leaf.is_over:
                leaf.value, leaf.lead = self.final_value(leaf), self.final_lead(leaf)
                self.endings += 1
            elif is_new:
                self.expand(leaf)
                waiting.append(path)
                for edge in path:
                    edge.waiting += 1
                continue
            elif leaf.value is None:
                break
            self.back_up(path)
            finished += 1
        if waiting:
            self.evaluate([path[-1].child for path in waiting if path[-1].child is not None])
        for path in waiting:
            for edge in path:
                edge.waiting -= 1
            self.back_up(path)
        return len(waiting) + finished

    def walk(self, root: Node, pick: Callable[[Node], Edge]) -> tuple[list[Edge], Node, bool]:
        """Go down to a new, waiting or final position; return the path, its end, and whether it is new."""
        node, path = root, []
        while True:
            edge = pick(node)
            path.append(edge)
            if edge.child is None:
                node.tried.append(edge)
                edge.child = node.after(edge.move)
                return path, edge.child, True
            node = edge.child
            if node.is_over or node.value is None or edge.visits < self.selection.expand:
                return path, node, False

    def back_up(self, path: list[Edge]) -> None:
        """Count a visit on every edge of a path; the value changes sides at every move."""
        leaf = path[-1].child
        assert leaf is not None and leaf.value is not None
        value, lead = leaf.value, leaf.lead
        for edge in reversed(path):
            value, lead = 1.0 - value, -lead
            edge.visits += 1
            edge.value_sum += value
            edge.lead_sum += lead

    # PUCT

    def search(self, root: Node, visits: int) -> None:
        """Search until the root has so many visits."""
        while root.visits < visits:
            self.run_batch(root, min(self.batch_size, visits - root.visits),
                           lambda node, i: self.pick_by_puct(node, node is root))

    def pick_by_puct(self, node: Node, is_root: bool) -> Edge:
        """Return the edge with the greatest value + exploration; waiting visits count in the exploration only.

        On ties the move that was tried first; of untried ones the greatest prior, then the first on the board.
        """
        assert node.value is not None
        numbers = self.selection
        visited = [edge for edge in node.edges if edge.visits]
        mean = (node.value + sum(edge.value_sum for edge in visited)) / (1 + node.visits)
        reduction = numbers.root_fpu_reduction if is_root else numbers.fpu_reduction
        urgency = mean - reduction * math.sqrt(sum(edge.prior for edge in visited))

        def worth(lead: float) -> float:
            return numbers.lead_weight * lead / (abs(lead) + 10.0)

        urgency += worth((node.lead + sum(edge.lead_sum for edge in visited)) / (1 + node.visits))
        total = node.visits + node.waiting
        factor = numbers.c_puct + numbers.c_growth * math.log((total + numbers.c_base + 1) / numbers.c_base)

        def score(edge: Edge) -> float:
            value = edge.mean + worth(edge.lead_sum / edge.visits) if edge.visits else urgency
            return value + factor * math.sqrt(total + 1) * edge.prior / (1 + edge.visits + edge.waiting)

        untried = sorted((edge for edge in node.edges if edge not in node.tried), key=lambda edge: -edge.prior)
        return max(node.tried + untried, key=score)

    # Gumbel

    def mixed_value(self, node: Node) -> float:
        """Return the network's value mixed with the prior-weighted mean of the visited edges."""
        assert node.value is not None
        visited = [edge for edge in node.edges if edge.visits]
        if not visited:
            return node.value
        mean = sum(e.prior * e.mean for e in visited) / sum(e.prior for e in visited)
        return (node.value + node.visits * mean) / (1 + node.visits)

    def improved_logits(self, node: Node) -> list[float]:
        """Return logit + sigma(completed Q) of every edge."""
        unvisited = self.mixed_value(node)
        scale = (self.selection.c_visit + max(edge.visits for edge in node.edges)) * self.selection.c_scale
        return [edge.logit + scale * (edge.mean if edge.visits else unvisited) for edge in node.edges]

    def improved_policy(self, node: Node) -> list[float]:
        """Return the softmax of the improved logits."""
        return softmax(self.improved_logits(node))

    def pick_below(self, node: Node) -> Edge:
        """Return the first edge whose share of the visits lags most behind the improved policy."""
        total = 1 + node.visits + node.waiting
        lag = [p - (e.visits + e.waiting) / total for p, e in zip(self.improved_policy(node), node.edges, strict=True)]
        return node.edges[lag.index(max(lag))]

    def pick_at_root(self, root: Node, noise: Sequence[float], considered: int) -> Edge:
        """Return the best edge by noise + logit + sigma(Q) among those with `considered` visits."""
        scores = {edge: g + logit for edge, g, logit in zip(root.edges, noise, self.improved_logits(root), strict=True)
                  if edge.visits + edge.waiting == considered}
        return max(scores, key=lambda edge: scores[edge])

    def search_with_sequential_halving(self, root: Node, visits: int, noise: Sequence[float],
                                       max_considered: int) -> Edge:
        """Make so many visits from a fresh root and return the edge to play."""
        plan = halving_plan(min(max_considered, len(root.edges)), visits)
        done = 0
        while done < visits:
            same = next((i for i in range(done, visits) if plan[i] != plan[done]), visits) - done

            def pick(node: Node, i: int) -> Edge:
                return self.pick_at_root(root, noise, plan[done + i]) if node is root else self.pick_below(node)  # noqa: B023

            done += self.run_batch(root, min(self.batch_size, same), pick)
        return self.pick_at_root(root, noise, max(edge.visits for edge in root.edges))


def halving_plan(moves: int, visits: int) -> list[int]:
    """Play sequential halving with `moves` contestants of which the one with the smaller number always wins.

    Returns for each visit how often its contestant had been visited before.
    """
    counts, order, alive = [0] * moves, [], list(range(moves))
    phases = max(1, math.ceil(math.log2(moves)))
    while True:
        for _ in range(max(1, math.floor(visits / (phases * len(alive))))):
            for contestant in alive:
                order.append(counts[contestant])
                counts[contestant] += 1
                if len(order) == visits:
                    return order
        # The better half goes on; the last two share what is left.
        if len(alive) > 2:
            alive = alive[: max(2, len(alive) // 2)]
