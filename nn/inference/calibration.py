"""Positions of games that a network plays against itself: what it will see, without anybody's games.

Letters: G games at a time, P planes, S board size, A = S*S + 1 policy entries.
"""

import random
from collections.abc import Callable, Iterator

import numpy as np

from board.go_board import GoBoard
from nn.feature import PlaneSet, generate_input_planes
from nn.inference.policy_player import generate_move_from_policy, to_policy

# Positions that are wanted, and how much of a board is filled before a new game begins.
POSITIONS, FILLED = 600, 0.8


class CalibrationGame:
    """A game whose moves are drawn from a policy."""

    def __init__(self, board_size: int, plane_set: PlaneSet, rng: random.Random) -> None:
        """Begin with an empty board."""
        self._board, self._plane_set, self._rng = GoBoard(board_size), plane_set, rng

    def show(self) -> np.ndarray:
        """Return what the network sees of the position, float32 [P, S, S]."""
        return generate_input_planes(self._board, self._board.get_to_move(), 0, self._plane_set)

    def play(self, logits: np.ndarray) -> bool:
        """Make a move by its policy logits [A]; tell whether the game goes on."""
        color = self._board.get_to_move()
        move = generate_move_from_policy(to_policy(logits), self._board, color, self._rng)
        self._board.put_stone(move, color)
        return not self._board.is_over


def count_games(board_size: int) -> int:
    """Return how many games at a time have POSITIONS together when they have filled their boards."""
    return max(1, round(POSITIONS / (FILLED * board_size**2)))


def play_games(
    judge: Callable[[np.ndarray], np.ndarray], plane_set: PlaneSet, board_size: int, seed: int = 0
) -> Iterator[np.ndarray]:
    """Yield planes float32 [G, P, S, S] of so many games at a time; `judge` makes policy logits [G, A] of each.

    The same network has the same games, and others with another seed.
    """
    rng = random.Random(seed)
    games = [CalibrationGame(board_size, plane_set, rng) for _ in range(count_games(board_size))]
    for _ in range(max(2, round(FILLED * board_size**2))):
        planes = np.stack([game.show() for game in games])
        yield planes
        games = [game if game.play(row) else CalibrationGame(board_size, plane_set, rng)
                 for game, row in zip(games, judge(planes), strict=True)]
