"""Playing self-play games in tests: without a network, and slowly, one search after the other."""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import cast

import numpy as np

from board.go_board import GoBoard
from board.random_state import next_random
from board.score import get_area
from board.stone import Stone
from mcts.analysis import CandidateMove
from mcts.constant import PUCT
from mcts.node import MCTSNode
from mcts.params import NETWORK_ALONE, SearchLimit, SearchParams
from mcts.root_noise import mix_root_noise
from mcts.searches import IMPROVED, TEMPERED, VISITS
from mcts.tree import MCTSTree
from nn.feature import Evaluator, plane_set_of
from selfplay.batch import SelfPlay
from selfplay.game import EndReason, GameRecord, NewGame
from selfplay.games import FAST, FULL, Terms
from selfplay.steps import draw_noise
from tests.reference.slow_board import OTHER, SlowBoard


class PlainBatchEvaluator:
    """Evaluates at once what it is given."""

    def __init__(self, evaluator: Evaluator, board_size: int, positions: int) -> None:
        self.plane_set = plane_set_of(evaluator)
        self.planes = [self.plane_set.new_planes(board_size, positions) for _ in range(2)]
        self.evaluator = evaluator
        self.answers: list[tuple[np.ndarray, ...] | None] = [None, None]

    def start(self, buffer: int, count: int) -> None:
        assert self.answers[buffer] is None and 0 < count <= len(self.planes[buffer])
        self.answers[buffer] = self.evaluator(self.planes[buffer][:count])

    def finish(self, buffer: int) -> tuple[np.ndarray, ...]:
        answer, self.answers[buffer] = self.answers[buffer], None
        assert answer is not None
        return answer


def play_games(evaluator: Evaluator, terms: Terms, games: Iterable[NewGame], positions: int = 64) -> list[GameRecord]:
    """Play games to their ends and return them by number."""
    waiting = iter(games)
    play = SelfPlay(PlainBatchEvaluator(evaluator, terms.board_size, positions), terms, lambda: next(waiting, None))
    records = list(play.run())
    assert play.moves == sum(len(record.moves) for record in records)
    return sorted(records, key=lambda record: record.number)


class KernelNoise:
    """Stands in for a numpy Generator and draws Gumbel noise as self-play does."""

    def __init__(self, seed: np.uint64) -> None:
        self.random_state = np.array([seed], dtype=np.uint64)

    def gumbel(self, size: int) -> np.ndarray:
        noise = np.zeros(size)
        draw_noise(noise, size, self.random_state)
        return noise


def draw(policy: np.ndarray, temperature: float, action: np.ndarray, random_state: np.ndarray) -> int:
    """Return a move drawn by policy ** (1 / temperature), with the random number that self-play draws."""
    chance = policy ** (1.0 / temperature)
    rest = next_random(random_state) * chance.sum() - np.cumsum(chance)
    return int(action[np.argmax(rest < 0.0)] if (rest < 0.0).any() else action[-1])


def complete_values(node: MCTSNode) -> np.ndarray:
    """Return the mean value of visited moves, and v_mix (Gumbel AlphaZero, equation 33) for the others."""
    visits = node.children_visits.astype(np.float64)
    tried = visits > 0
    prior = np.maximum(node.children_policy.astype(np.float64), 1e-30)
    q = np.divide(node.children_value_sum, visits, out=np.zeros(len(visits)), where=tried)
    mixed = (node.raw_value + visits.sum() * (prior[tried] @ q[tried]) / prior[tried].sum()) / (1 + visits.sum())
    return np.where(tried, q, mixed)


def search_with_root_noise(tree: MCTSTree, board: GoBoard, color: Stone, terms: Terms, cap: int,
                           noise: KernelNoise) -> CandidateMove:
    """Return the most visited move of AlphaZero's search."""
    tree.search(board, color, SearchLimit(0, strict=True))
    assert tree.root.node_visits == 0
    if cap == FULL:
        room = np.zeros(terms.board_size ** 2 + 1)
        mix_root_noise(tree.arrays, terms.root_noise, terms.policy_index, room, noise.random_state)
    return tree.search(board, color, SearchLimit(int(terms.visits[cap]), strict=True)).candidates[0]


def play_slowly(evaluator: Evaluator, terms: Terms, new: NewGame) -> GameRecord:
    """Play one game with MCTSTree and GoBoard, as the issue describes it."""
    komi = terms.komi + new.extra_komi
    board = GoBoard(terms.board_size, komi, check_superko=True)
    params = SearchParams(NETWORK_ALONE, terms.policy_temperature, batch_size=16, tree_size=64)
    tree = MCTSTree(evaluator, terms.board_size, params)
    noise = KernelNoise(new.seed)
    generator = cast(np.random.Generator, noise)
    policies: list[np.ndarray] = []
    values: list[float] = []
    gave_up, reason = None, None
    while reason is None:
        color = board.get_to_move()
        cap = FAST if terms.full_share < 1 and next_random(noise.random_state) >= terms.full_share else FULL
        if terms.soft_resign and new.may_resign and gave_up is not None:
            cap = FAST
        if terms.algorithm == PUCT:
            tree = MCTSTree(evaluator, terms.board_size, replace(params, batch_size=1))
            best = search_with_root_noise(tree, board, color, terms, cap, noise)
        else:
            limit, noisy = SearchLimit(int(terms.visits[cap])), generator if cap == FULL else None
            best = tree.search_with_sequential_halving(board, color, limit, noisy).candidates[0]
        if best.winrate < terms.resign_threshold:
            gave_up = gave_up or color
            if new.may_resign and not terms.soft_resign:
                reason = EndReason.RESIGNATION
                break
        policy = np.full(terms.board_size ** 2 + 1, -1.0)
        index = tree.geometry.policy_index[tree.root.action]
        shares = tree.root.children_visits / tree.root.node_visits
        tempered = shares ** (1 / terms.opening_temperature)
        drawn = len(policies) < terms.opening_moves
        policy[index] = (
            tree.improved_policy(terms.target_scale)[index] if terms.target == IMPROVED else shares
            if terms.target == VISITS else tempered / tempered.sum() if drawn else tree.root.action == best.pos)
        policies.append(policy if cap == FULL else np.full_like(policy, -1.0))
        values.append(float(policy[index] @ complete_values(tree.root)))
        pos = best.pos
        if drawn:
            temperature = 1.0 if terms.target == TEMPERED else terms.opening_temperature
            pos = draw(policy[index], temperature, tree.root.action, noise.random_state)
        board.put_stone(pos, color)
        if board.is_over:
            reason = EndReason.TWO_PASSES
        elif len(policies) == 2 * terms.board_size ** 2:
            reason = EndReason.MOVE_LIMIT
    moves = [pos for _, pos in board.get_move_history()]
    return GameRecord(
        new.number, terms.board_size, komi, moves, np.array(policies, dtype=np.float32).reshape(len(moves), -1),
        np.array(values, dtype=np.float32), reason, get_area(board.state)[0] - komi, gave_up, new.may_resign,
    )


class SlowGame:
    """A game on the slow board, Black first."""

    def __init__(self, size: int) -> None:
        self.board = SlowBoard(size)
        self.color = "b"

    def play(self, pos: int) -> None:
        y, x = divmod(pos, self.board.size + 2)
        self.board.play((x, y) if pos else None, self.color)
        self.color = OTHER[self.color]


def replay(record: GameRecord) -> GoBoard:
    """Return the last position of a game; every move must be legal."""
    board = GoBoard(record.board_size, record.komi, check_superko=True)
    for number, pos in enumerate(record.moves):
        color = (Stone.BLACK, Stone.WHITE)[number % 2]
        assert board.is_legal(pos, color), (number, pos)
        board.put_stone(pos, color)
    return board
