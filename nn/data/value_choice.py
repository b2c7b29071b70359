"""Which positions of a game tell the network its result: all, one player's, or one of each game."""

import zlib
from typing import NamedTuple

import numpy as np

from board.state import BLACK
from nn.constant import UNKNOWN_VALUE
from nn.data.game_encoder import mover_value
from sgf.collection import Kifu


class ValueChoice(NamedTuple):
    """What `train.py --player NAME --one-value true` asks for.

    Attributes:
        player: only positions in which the player of this name moves; empty for both.
        one_a_game: only one position of each game (AlphaGo, Nature 529, 2016): positions of one game have all but the
            same stones and the same result, so that a network may learn games by heart instead of positions.
    """

    player: str = ""
    one_a_game: bool = False

    def values(self, game: Kifu) -> np.ndarray:
        """Return the value class of each position for its mover, int32 [M]; unknown where it is not to be told."""
        values = mover_value(game)
        if self.player:
            black, white = (name == self.player for name in (game.black, game.white))
            values[np.where(game.color == BLACK, not black, not white)] = UNKNOWN_VALUE
        if self.one_a_game:
            known = np.flatnonzero(values != UNKNOWN_VALUE)
            # Any one, but always the same of the same game: a run that is resumed reads the games anew.
            kept = known[zlib.crc32(game.pos.tobytes()) % len(known)] if len(known) else -1
            values[np.arange(len(values)) != kept] = UNKNOWN_VALUE
        return values


ALL_VALUES = ValueChoice()
