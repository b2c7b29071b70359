"""Who can force a win, found backwards over all positions of a small board: the twin of mcts/tactics/ending.py.

Repetitions are allowed, and nobody wins by them: who forces a win here forces it under superko, too, by moves that
repeat nothing.
"""
from __future__ import annotations

from collections import defaultdict
from itertools import product

from tests.reference.slow_board import EMPTY, OTHER, SlowBoard

Position = tuple[str, ...]
Turn = tuple[Position, str, bool]  # the stones, the side to move, and whether the other one has just passed


class AllGames:
    """All positions of a board, and the moves between them."""

    def __init__(self, size: int) -> None:
        self.board = board = SlowBoard(size)
        self.score: dict[Position, int] = {}
        for stones in product((EMPTY, "b", "w"), repeat=size * size):
            board.grid = dict(zip(board.points, stones, strict=True))
            if board.legal_position():
                self.score[stones] = board.area_score()
        self.after: dict[Turn, list[Turn]] = {}
        for stones in self.score:
            board.grid = dict(zip(board.points, stones, strict=True))
            for color in "bw":
                grids = [board.after(point, color) for point in board.points]
                moves = [(tuple(grid[0].values()), OTHER[color], False) for grid in grids if grid is not None]
                self.after[stones, color, False] = [*moves, (stones, OTHER[color], True)]
                self.after[stones, color, True] = moves  # and the pass that ends the game

    def forced_wins(self, winner: str, komi: float) -> set[Turn]:
        """Return where a color can force to win by its area."""
        sign = 1 if winner == "b" else -1
        before, open_moves = defaultdict(list), {}
        for turn, moves in self.after.items():
            open_moves[turn] = len(moves) + turn[2]
            for move in moves:
                before[move].append(turn)
        won: set[Turn] = set()
        decided: list[Turn] = []

        def note(turn: Turn) -> None:
            """Note that one of a turn's moves, or the pass that ends the game, wins."""
            open_moves[turn] -= 1
            if turn not in won and (turn[1] == winner or not open_moves[turn]):
                won.add(turn)
                decided.append(turn)

        for turn in self.after:
            if turn[2] and sign * (self.score[turn[0]] - komi) > 0:
                note(turn)
        while decided:
            for turn in before[decided.pop()]:
                note(turn)
        return won
