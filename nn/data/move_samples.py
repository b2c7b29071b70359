"""Positions of games with the move that was played in each: what the classifier of bad moves learns from.

Letters: N positions, M moves of one game, S board size.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from board.constant import NO_MOVE, PASS
from board.geometry import get_geometry
from board.ladder import LadderWork, find_ladders, new_ladder_work
from board.rules import is_legal, play
from board.state import LAST_MOVE, TO_MOVE, State, clear_state, new_state
from board.string import set_up_stones
from common.kernel import kernel
from nn.data.data_file import DataError
from nn.point_marks import CANDIDATE, mark_points
from sgf.collection import Kifu, cut_into_pieces, list_sgf_files, read_pieces

# One game in so many is kept back to judge by.
KEPT_BACK = 20


class MoveSamples(NamedTuple):
    """Positions, in the order of the games."""

    marks: np.ndarray  # uint16 [N, S*S]: nn/point_marks.py
    played: np.ndarray  # int16 [N]: the point of the move


@kernel
def mark_game(
    state: State, ladders: LadderWork, moves: np.ndarray, colors: np.ndarray, policy_index: np.ndarray,
    marks: np.ndarray, played: np.ndarray,
) -> int:
    """Write what is seen before each move of a game, whose set-up is in state, and return how many positions these are.

    Passes, moves into own eyes and all from the first illegal move on are left out. Modifies all but the game.
    """
    count, previous = 0, NO_MOVE
    for n in range(len(moves)):
        pos, color = moves[n], colors[n]
        if not is_legal(state, pos, color):
            break
        if pos != PASS:
            state.info[TO_MOVE] = color
            find_ladders(state, ladders)
            mark_points(state, previous, ladders, color, marks[count])
            point = policy_index[pos]
            if marks[count, point] >> CANDIDATE & 1:
                played[count] = point
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

    def mark(self, game: Kifu) -> MoveSamples:
        """Return the positions of a game."""
        moves, points = len(game.pos), self.board_size**2
        marks, played = np.zeros((moves, points), dtype=np.uint16), np.zeros(moves, dtype=np.int16)
        clear_state(self._state, self.board_size)
        if set_up_stones(self._state, game.setup_pos, game.setup_color) != 0:
            return MoveSamples(marks[:0], played[:0])
        count = mark_game(self._state, self._ladders, game.pos, game.color, self._policy_index, marks, played)
        return MoveSamples(marks[:count], played[:count])


def read_games(folder: Path, board_size: int) -> list[Kifu]:
    """Return the games of a folder on boards of one size; raises DataError for too few to learn from."""
    games: list[Kifu] = []
    for path in list_sgf_files(folder):
        games += read_pieces(cut_into_pieces(path), [board_size])[0]
    if len(games) < KEPT_BACK:
        raise DataError(f"{folder} has {len(games)} games on {board_size}x{board_size}; {KEPT_BACK} are the least")
    return games


def collect_samples(games: Iterable[Kifu], board_size: int) -> MoveSamples:
    """Return the positions of games, all on boards of one size."""
    marker = GameMarker(board_size)
    found = [marker.mark(game) for game in games]
    return MoveSamples(np.concatenate([one.marks for one in found]), np.concatenate([one.played for one in found]))
