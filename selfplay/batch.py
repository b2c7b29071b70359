"""Self-play of many games at once: an evaluator in, finished games out; no files, no processes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from board.ruleset import Rules
from common.kernel_cache import compile_in_turn
from mcts.constant import MAX_CONSIDERED_NODES
from mcts.tree_arrays import Answer, node_bytes
from nn.feature import BASIC, Encoder, PlaneSet, plane_set_of
from selfplay.game import GameRecord, NewGame, draw_game, take_record
from selfplay.games import FAST, FINISHED, FULL, IDLE, Terms, Work, new_games, new_terms, new_work, visits_per_move
from selfplay.steps import back_up_in_games, select_in_games, start_game

# Memory for the games of a process: their search trees and their policies.
MAX_GAME_BYTES = 4 * 2**30


class BatchEvaluator(Protocol):
    """A network that works on one buffer while another is being filled (nn/inference/batch_evaluator.py)."""

    planes: list[np.ndarray]  # two buffers float32 [N, P, S, S]; their owner writes positions into them

    def start(self, buffer: int, count: int) -> None:
        """Begin to evaluate the first `count` positions of a buffer."""

    def finish(self, buffer: int) -> tuple[np.ndarray, ...]:
        """Return policy logits [count, A] and values [count, 3] of what was begun there; more where it tells more."""


@dataclass
class Half:
    """The games that share one buffer: rows begin to end - 1."""

    begin: int
    end: int
    work: Work
    encode: Encoder
    offset: int = 0  # of the game whose turn is first
    positions: int = 0  # that the network is evaluating


def leaves_per_step(terms: Terms) -> float:
    """Return how many positions a game gives to the network at a time, on average."""
    rounds = [1 + np.count_nonzero(np.diff(schedule[:visits]))
              for schedule, visits in zip(terms.schedule[:, MAX_CONSIDERED_NODES], terms.visits, strict=True)]
    return visits_per_move(terms) / (terms.full_share * rounds[FULL] + (1.0 - terms.full_share) * rounds[FAST])


class SelfPlay:
    """Games of two halves: one half selects while the network evaluates the other's positions.

    Attributes:
        moves: moves of the games finished since the beginning.
        positions: positions evaluated since the beginning.
        running: games in progress.
    """

    def __init__(self, evaluator: BatchEvaluator, terms: Terms, next_game: Callable[[], NewGame | None]) -> None:
        """Make room for as many games as fill the evaluator's buffers; `next_game` is asked whenever there is room."""
        self._evaluator, self._terms, self._next_game = evaluator, terms, next_game
        games = slots_per_half(evaluator, terms)
        plane_set = plane_set_of(evaluator)
        self._games = new_games(2 * games, terms, plane_set)
        self._numbers = [0] * (2 * games)
        self._halves = [Half(i * games, (i + 1) * games, new_work(len(planes), plane_set, terms),
                             Encoder(plane_set, terms.board_size, planes))
                        for i, planes in enumerate(evaluator.planes)]
        self._turn = 0
        self.moves = self.positions = self.running = 0

    def step(self) -> list[GameRecord]:
        """Take one half's answer from the network, go on with its games, and return those that are finished."""
        half = self._halves[self._turn]
        if half.positions:
            answer = Answer(*self._evaluator.finish(self._turn))
            back_up_in_games(self._games, half.begin, half.end, half.work, answer, self._terms)
        half.positions, half.offset = select_in_games(
            self._games, half.begin, half.end, half.offset, 0, half.work, self._terms)
        finished = self._fill(half)
        if half.positions:
            half.encode(half.work.batch.positions, half.positions, half.work.komi[: half.positions])
            self._evaluator.start(self._turn, half.positions)
            self.positions += half.positions
        self._turn = 1 - self._turn
        return finished

    def run(self) -> Iterator[GameRecord]:
        """Yield all games as they end."""
        yield from self.step()
        while self.running:
            yield from self.step()

    def _fill(self, half: Half) -> list[GameRecord]:
        """Take out finished games and start new ones in their places; their positions join the same batch."""
        finished = []
        phase = self._games.phase[half.begin : half.end]
        for g in (half.begin + np.flatnonzero((phase == FINISHED) | (phase == IDLE))).tolist():
            if self._games.phase[g] == FINISHED:
                record = take_record(self._games, g, self._numbers[g], self._terms)
                self.moves += len(record.moves)
                self.running -= 1
                finished.append(record)
                self._games.phase[g] = IDLE
            new = self._next_game()
            if new is None:
                continue
            self._numbers[g] = new.number
            self.running += 1
            recorded = np.array(new.recorded, dtype=np.int16)
            start_game(self._games, g, half.work, self._terms, new.seed, new.may_resign, new.extra_komi, recorded)
            half.positions, _ = select_in_games(self._games, g, g + 1, 0, half.positions, half.work, self._terms)
        return finished


def slots_per_half(evaluator: BatchEvaluator, terms: Terms) -> int:
    """Return how many games fill a buffer, as far as memory allows."""
    actions = terms.board_size ** 2 + 1
    game_bytes = (int(max(terms.visits)) + 2) * node_bytes(actions) + 4 * terms.move_limit * actions
    wanted = round(len(evaluator.planes[0]) / leaves_per_step(terms))
    return max(1, min(wanted, MAX_GAME_BYTES // (2 * game_bytes)))


class FlatEvaluator:
    """Knows nothing: all moves alike, every game even. For compiling, which needs no network."""

    def __init__(self, board_size: int, plane_set: PlaneSet) -> None:
        """Make the smallest buffers."""
        self.plane_set = plane_set
        self.planes = [plane_set.new_planes(board_size, MAX_CONSIDERED_NODES) for _ in range(2)]
        self._count = 0

    def start(self, buffer: int, count: int) -> None:
        """Remember how many positions were asked."""
        self._count = count

    def finish(self, buffer: int) -> tuple[np.ndarray, np.ndarray]:
        """Return equal logits and draws."""
        actions = self.planes[0].shape[-1] ** 2 + 1
        values = np.zeros((self._count, 3), dtype=np.float32)
        values[:, 1] = 1.0
        return np.zeros((self._count, actions), dtype=np.float32), values


def compile_steps(plane_set: PlaneSet = BASIC) -> None:
    """Compile, or load from the cache, all that self-play on any board needs; one process after the other."""
    one_game, terms = iter([draw_game(1, (0,), 0.0)]), new_terms(2, 2, Rules.of(0.0, True), 0.0)
    with compile_in_turn(select_in_games, back_up_in_games, plane_set.encode):
        play = SelfPlay(FlatEvaluator(2, plane_set), terms, lambda: next(one_game, None))
        list(play.run())
