"""Which moves a search may not consider, and for how many plies."""

from collections.abc import Iterable

import numpy as np

from board.benson import find_alive, find_safe_points, new_area_work
from board.constant import PASS
from board.geometry import get_geometry
from board.state import BLACK, SIZE, WHITE, State
from board.stone import Stone

FOREVER = np.iinfo(np.int16).max


class Restriction:
    """Moves of either color that are no candidates near the root; the ply of the first move is 0.

    Attributes:
        plies: int16 [3, C]: color and pos to the first ply in which the move may be considered.
    """

    def __init__(self, board_size: int) -> None:
        """Allow everything on a board of this size."""
        points = get_geometry(board_size).points
        self._moves = [*(int(pos) for pos in points), PASS]
        self.plies = np.zeros((3, (board_size + 2) ** 2), dtype=np.int16)

    def avoid(self, color: Stone, moves: Iterable[int], depth: int) -> None:
        """Ban moves of a color in the first `depth` plies."""
        depth = min(depth, int(FOREVER))
        for pos in moves:
            self.plies[color, pos] = max(depth, int(self.plies[color, pos]))

    def allow(self, color: Stone, moves: Iterable[int], depth: int) -> None:
        """Ban all other moves of a color in the first `depth` plies."""
        allowed = set(moves)
        self.avoid(color, [pos for pos in self._moves if pos not in allowed], depth)

    def bans(self, color: Stone, pos: int) -> bool:
        """Tell whether a move is banned in the position that is searched."""
        return bool(self.plies[color, pos] > 0)


def ban_settled(state: State, plies: np.ndarray) -> None:
    """Ban moves into pass-alive areas, where nobody can change any more who owns what. Modifies plies [3, C].

    Those are the areas of the opponent, and own ones without stones in them. Own areas with dead stones stay open:
    under rules by which every stone on the board counts as alive, those must still be captured. What is pass-alive
    stays so, since no such move is made in the tree.
    """
    area = new_area_work(int(state.info[SIZE]))
    for color in (BLACK, WHITE):
        find_alive(state, color, area)
        settled = find_safe_points(area)
        plies[BLACK + WHITE - color, settled] = FOREVER
        plies[color, settled & area.empty[area.region]] = FOREVER
