"""What can be on a cell."""

from enum import IntEnum


class Stone(IntEnum):
    """Content of one cell of the padded board; kernels use the plain numbers."""

    EMPTY = 0
    BLACK = 1
    WHITE = 2
    OUT_OF_BOARD = 3

    @staticmethod
    def get_opponent_color(color: "Stone") -> "Stone":
        """Return the other player's color; EMPTY and OUT_OF_BOARD are their own opponents."""
        if color == Stone.BLACK:
            return Stone.WHITE
        if color == Stone.WHITE:
            return Stone.BLACK
        return color

    def get_char(self) -> str:
        """Return the character of the text diagram."""
        return "+@O#"[self]
