"""What can be on a cell."""

from collections.abc import Sequence
from enum import IntEnum
from typing import overload

import numpy as np


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


STONES = tuple(Stone)


def check_player(color: Stone) -> None:
    """Raise ValueError unless a color is that of a player."""
    if Stone(color) not in (Stone.BLACK, Stone.WHITE):
        raise ValueError(f"{color!r} is no player: say Stone.BLACK or Stone.WHITE")


class Cells(Sequence[Stone]):
    """The stones on all cells of a padded board; a view on the numbers of a position."""

    def __init__(self, numbers: np.ndarray) -> None:
        """Look at `numbers`, int8 [C]."""
        self._numbers = numbers

    def __len__(self) -> int:
        """Return the number of cells."""
        return len(self._numbers)

    @overload
    def __getitem__(self, pos: int) -> Stone: ...

    @overload
    def __getitem__(self, pos: slice) -> list[Stone]: ...

    def __getitem__(self, pos: int | slice) -> Stone | list[Stone]:
        """Return the stone on a cell, or those on a slice of cells."""
        if isinstance(pos, slice):
            return [STONES[number] for number in self._numbers[pos]]
        return STONES[self._numbers[pos]]
