"""Positions of games with the good move of each: what the classifier of bad moves learns from.

The good move is the one that was played or, if asked for and the game is labelled, the teacher's favorite.

Letters: N positions, M moves of one game, S board size.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from board.constant import NO_MOVE
from board.geometry import get_geometry
from board.ladder import LadderWork, find_ladders, new_ladder_work
from board.rules import is_legal, play
from board.state import LAST_MOVE, State, clear_state, new_state, turn_to
from board.string import set_up_stones
from common.kernel import kernel
from nn.data.data_file import DataError
from nn.data.game_report import GameReport
from nn.data.labels import Labels, unpack_policies
from nn.point_marks import CANDIDATE, mark_points
from sgf.collection import Kifu, read_folder

# One game in so many is kept back to judge by.
KEPT_BACK = 20


class MoveSamples(NamedTuple):
    """Positions, in the order of the games."""

    marks: np.ndarray  # uint16 [N, S*S]: nn/point_marks.py
    played: np.ndarray  # int16 [N]: the point of the good move
    policy: np.ndarray  # float16 [N, S*S]: the teacher's, without the pass; zeros where there is no label


@kernel
def mark_game(
    state: State, ladders: LadderWork, moves: np.ndarray, colors: np.ndarray, good: np.ndarray, marks: np.ndarray,
    rows: np.ndarray,
) -> int:
    """Write what is seen before each move of a game, whose set-up is in state, and return how many positions these are.

    `good` [M] are the points of the good moves. `rows` gets the numbers of the moves before which those positions are.
    Positions in which the good move is a pass or a move into an own eye are left out, and all from the first illegal
    move on. Modifies all but the game.
    """
    count, previous = 0, NO_MOVE
    for n in range(len(moves)):
        pos, color = moves[n], colors[n]
        if not is_legal(state, pos, color):
            break
        if good[n] < marks.shape[1]:
            turn_to(state, color)
            find_ladders(state, ladders)
            mark_points(state, previous, ladders, color, marks[count])
            if marks[count, good[n]] >> CANDIDATE & 1:
                rows[count] = n
                count += 1
        previous = state.info[LAST_MOVE]
        play(state, pos, color)
    return count


class GameMarker:
    """Plays games through on a board of one size."""

    def __init__(self, board_size: int) -> None:
        """Prepare the board."""
        self.board_size = board_size
        self._state, self._ladders = new_state(board_size), new_ladder_work(board_size)
        self._policy_index = get_geometry(board_size).policy_index

    def mark(self, game: Kifu, labels: Labels | None = None, is_best: bool = True) -> MoveSamples:
        """Return the positions of a game; with `is_best`, where labels have policies, good moves are the teacher's."""
        moves, points = len(game.pos), self.board_size**2
        marks, rows = np.zeros((moves, points), dtype=np.uint16), np.zeros(moves, dtype=np.int64)
        good, policy = self._policy_index[game.pos].astype(np.int16), np.zeros((moves, points + 1), dtype=np.float32)
        if labels is not None:
            policy = unpack_policies(labels, labels.policy_start, np.arange(moves), points + 1)
            good = np.where(is_best & policy.any(axis=1), policy.argmax(axis=1), good).astype(np.int16)
        clear_state(self._state, self.board_size)
        count = 0
        if set_up_stones(self._state, game.setup_pos, game.setup_color) == 0:
            count = mark_game(self._state, self._ladders, game.pos, game.color, good, marks, rows)
        rows = rows[:count]
        return MoveSamples(marks[:count], good[rows], policy[rows, :points].astype(np.float16))


def read_games(folder: Path, board_size: int) -> list[Kifu]:
    """Return the games of a folder on boards of one size; raises DataError for too few to learn from."""
    games = list(read_folder(folder, board_size, GameReport().skip))
    if len(games) < KEPT_BACK:
        raise DataError(f"{folder} has {len(games)} games on {board_size}x{board_size}; {KEPT_BACK} are the least")
    return games


def collect_samples(games: Iterable[tuple[Kifu, Labels | None]], board_size: int, is_best: bool = True) -> MoveSamples:
    """Return the positions of games with their labels, all on boards of one size."""
    marker = GameMarker(board_size)
    found = [marker.mark(game, labels, is_best) for game, labels in games]
    return MoveSamples(*(np.concatenate(parts) for parts in zip(*found, strict=True)))
