"""The referee: our own board decides what is legal, when a game is over and who has won."""

from board.constant import PASS
from board.go_board import GoBoard
from board.stone import Stone
from tools.matchlib.errors import IllegalPlayError


class Referee:
    """Positional superko, no suicide, two passes end the game, area scoring."""

    def __init__(self, size: int, komi: float) -> None:
        """Start with an empty board; raises ValueError for a size that cannot be played."""
        self.board = GoBoard(size, komi, check_superko=True)
        self.moves: list[tuple[Stone, int]] = []

    @property
    def is_over(self) -> bool:
        """Whether both sides have passed in a row."""
        return [pos for _, pos in self.moves[-2:]] == [PASS, PASS]

    def play(self, color: Stone, vertex: str) -> str:
        """Play a move given as GTP text and return the vertex in standard form.

        Raises:
            IllegalPlayError: It is no vertex, or the rules forbid the move.
        """
        try:
            pos = self.board.coordinate.convert_from_gtp_format(vertex)
        except ValueError as error:
            raise IllegalPlayError(str(error)) from error
        if pos < PASS:
            raise IllegalPlayError(f"{vertex!r} is not a move")
        if pos != PASS and not self.board.is_legal(pos, color):
            raise IllegalPlayError(f"{vertex} is {self._get_objection(pos, color)}")
        self.board.put_stone(pos, color)
        self.moves.append((color, pos))
        return self.board.coordinate.convert_to_gtp_format(pos)

    def get_area_score(self) -> float:
        """Return Black minus White minus komi, all stones alive (Tromp and Taylor)."""
        return float(self.board.final_score([]))

    def get_friendly_score(self) -> float:
        """Return Black minus White minus komi after removing the stones that playouts find dead."""
        return float(self.board.final_score(self.board.get_dead_stones()))

    def _get_objection(self, pos: int, color: Stone) -> str:
        if self.board.board[pos] != Stone.EMPTY:
            return "occupied"
        if pos == self.board.ko_pos:
            return "forbidden by ko"
        return "forbidden by superko" if self.board.is_superko(pos, color) else "suicide"
