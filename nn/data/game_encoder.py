"""Replaying a whole recorded game in one kernel call, with the input planes of every position on the way.

Letters: M = moves of the game, S = board size.
"""

import numpy as np

from board.coordinate import Coordinate
from board.geometry import get_geometry
from board.rules import is_legal, play
from board.score import get_area
from board.state import BLACK, WHITE, State, clear_state, new_state
from board.stone import Stone
from board.string import set_up_stones
from common.kernel import kernel
from common.patience import say_if_slow
from nn.constant import INPUT_PLANES
from nn.feature import encode_planes
from sgf.collection import Kifu
from sgf.grammar import ILLEGAL, SET_UP, SGFError

ALL_LEGAL = -1
BAD_SET_UP = -2
# Territory differs from area by up to a point in an even game; a dead stone left on the board by more.
SCORE_TOLERANCE = 1.0


@kernel
def replay_game(state: State, board_size: int, setup_pos: np.ndarray, setup_color: np.ndarray, moves: np.ndarray,
                colors: np.ndarray, planes: np.ndarray) -> int:
    """Play a game from its set-up stones; return ALL_LEGAL, BAD_SET_UP or the index of the first illegal move.

    planes[n] is filled with the position before move n, seen by its mover, for as many moves as `planes`
    [any, 6, S, S] has room. The simple ko and suicide are illegal. Modifies state and planes.
    """
    clear_state(state, board_size)
    if set_up_stones(state, setup_pos, setup_color) != 0:
        return BAD_SET_UP
    for n in range(len(moves)):
        if n < len(planes):
            encode_planes(state, colors[n], planes[n])
        if not is_legal(state, moves[n], colors[n]):
            return n
        play(state, moves[n], colors[n])
    return ALL_LEGAL


class GameEncoder:
    """Plays games through on a board of one size, and encodes their positions."""

    def __init__(self, board_size: int) -> None:
        """Prepare the board, and have everything compiled that replaying needs."""
        self.board_size = board_size
        self._state = new_state(board_size)
        self._no_planes = np.empty((0, INPUT_PLANES, board_size, board_size), dtype=np.int8)
        pos, color = np.empty(0, dtype=np.int16), np.empty(0, dtype=np.int8)
        with say_if_slow():
            replay_game(self._state, board_size, pos, color, pos, color, self._no_planes)
            get_area(self._state)

    def check(self, game: Kifu) -> None:
        """Raise SGFError unless the rules allow the game's set-up and every move."""
        failed = self._replay(game, self._no_planes)
        if failed == BAD_SET_UP:
            raise SGFError(SET_UP, "a string is set up without a liberty")
        if failed != ALL_LEGAL:
            color = "black" if game.color[failed] == BLACK else "white"
            point = Coordinate(self.board_size).convert_to_gtp_format(int(game.pos[failed]))
            raise SGFError(ILLEGAL, f"move {failed + 1}, {color} {point}, is illegal")

    def encode(self, game: Kifu) -> np.ndarray:
        """Return the planes of every position that a move was played in, int8 [M, 6, S, S]."""
        planes = np.empty((len(game.pos), *self._no_planes.shape[1:]), dtype=np.int8)
        self._replay(game, planes)
        return planes

    def ownership(self, game: Kifu) -> np.ndarray:
        """Return who owns each point in the end for the mover of each position, int8 [M, S*S]: 1 own, -1 opponent's.

        Points that are nobody's are 0. So is everything where the board at the end does not add up to the game's
        score: it was resigned, or dead stones lie on the board, and nobody wrote down which.
        """
        self._replay(game, self._no_planes)
        score, owner = get_area(self._state)
        if not abs(score - game.score) <= SCORE_TOLERANCE:
            return np.zeros((len(game.pos), self.board_size**2), dtype=np.int8)
        owner = owner[get_geometry(self.board_size).points]
        black = (owner == BLACK).astype(np.int8) - (owner == WHITE).astype(np.int8)
        return np.where(game.color == BLACK, 1, -1).astype(np.int8)[:, None] * black

    def _replay(self, game: Kifu, planes: np.ndarray) -> int:
        """Call the kernel."""
        return replay_game(self._state, self.board_size, game.setup_pos, game.setup_color, game.pos, game.color, planes)


def mover_value(game: Kifu) -> np.ndarray:
    """Return the value class of each position for its mover, int32 [M]: 2 win, 1 draw, 0 loss, -1 unknown."""
    label = game.value_label
    if label < 0:
        return np.full(len(game.pos), -1, dtype=np.int32)
    return np.where(game.color == Stone.BLACK, label, 2 - label).astype(np.int32)
