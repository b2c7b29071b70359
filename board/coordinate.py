"""Names of points: GTP ("D4"), SGF ("dd") and the padded index `pos` that everything else uses."""

import re

from board.constant import GTP_X_COORDINATE, PASS, RESIGN
from board.geometry import get_geometry

# The largest board on which SGF FF[3] writes a pass as "tt".
SGF_PASS_MAX_SIZE = 19
SGF_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Coordinate:
    """Converter of point names for one board size."""

    def __init__(self, board_size: int) -> None:
        """Prepare for `board_size`; raises ValueError for a size that cannot be played."""
        self.board_size = board_size
        self.width = get_geometry(board_size).width

    def convert_from_gtp_format(self, text: str) -> int:
        """Return the pos of "D4", "pass" or "resign" in any case; raises ValueError naming anything else."""
        word = text.upper()
        if word == "PASS":
            return PASS
        if word == "RESIGN":
            return RESIGN
        if re.fullmatch(r"[A-HJ-Z][0-9]{1,2}", word, flags=re.ASCII):
            x, row = GTP_X_COORDINATE.index(word[0], 1), int(word[1:])
            if x <= self.board_size and 1 <= row <= self.board_size:
                return x + (self.board_size + 1 - row) * self.width
        raise ValueError(f"{text!r} is not a point of a {self.board_size}x{self.board_size} board")

    def convert_to_gtp_format(self, pos: int) -> str:
        """Return "D4", "pass" or "resign"."""
        if pos == PASS:
            return "pass"
        if pos == RESIGN:
            return "resign"
        y, x = divmod(int(pos), self.width)
        return f"{GTP_X_COORDINATE[x]}{self.board_size + 1 - y}"

    def convert_to_sgf_format(self, pos: int) -> str:
        """Return the two SGF letters; a pass (and a resignation) is "tt"."""
        if pos in (PASS, RESIGN):
            return "tt"
        y, x = divmod(int(pos), self.width)
        return SGF_LETTERS[x - 1] + SGF_LETTERS[y - 1]

    def convert_from_sgf_format(self, text: str) -> int:
        """Return the pos of two SGF letters, PASS for "" and "tt"; raises ValueError naming anything else."""
        if text == "" or (text == "tt" and self.board_size <= SGF_PASS_MAX_SIZE):
            return PASS
        if len(text) == 2:
            x, y = SGF_LETTERS.find(text[0]) + 1, SGF_LETTERS.find(text[1]) + 1
            if 1 <= x <= self.board_size and 1 <= y <= self.board_size:
                return x + y * self.width
        raise ValueError(f"{text!r} is not an SGF point of a {self.board_size}x{self.board_size} board")
