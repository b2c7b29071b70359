"""The record of a self-play game: moves with the search's improved policy as comments, written as SGF and read back.

The comment of a move is the number of candidates, then `POINT:probability` for each, in board order, pass last:
`3 D4:9.000e-01 E5:7.500e-02 pass:2.500e-02`. The search's value may stand beside it (sgf/win_rate.py).
"""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from board.constant import PASS
from board.coordinate import Coordinate
from board.geometry import get_geometry
from board.stone import Stone
from common.atomic_file import write_atomically
from program import PROGRAM_NAME
from sgf.match_result import MatchResult, format_margin
from sgf.win_rate import encode_search_value


def encode_policy_comment(policy: Mapping[int, float], coordinate: Coordinate) -> str:
    """Return the comment for probabilities by pos (points and PASS); raises ValueError for what is none."""
    order = sorted(policy, key=lambda pos: (pos == PASS, pos))
    for pos in order:
        _check_probability(policy[pos])
    words = (f"{coordinate.convert_to_gtp_format(pos)}:{policy[pos]:.3e}" for pos in order)
    return " ".join([str(len(order)), *words])


def encode_policy_row(policy: np.ndarray, names: Sequence[str]) -> str:
    """Return the comment for probabilities by policy entry, float [A], in one go; negative ones are no candidates.

    `names` are those of the policy entries, as policy_names gives them.
    """
    candidates = np.flatnonzero(policy >= 0)
    values = policy[candidates].tolist()
    words = [f"{names[i]}:{value:.3e}" for i, value in zip(candidates.tolist(), values, strict=True)]
    return " ".join([str(len(words)), *words])


def policy_names(board_size: int) -> list[str]:
    """Return the GTP names of the policy entries, the pass last."""
    to_name = Coordinate(board_size).convert_to_gtp_format
    return [to_name(int(pos)) for pos in get_geometry(board_size).policy_pos]


def decode_policy_comment(comment: str, coordinate: Coordinate) -> dict[int, float]:
    """Return the probabilities by pos; raises ValueError for anything that is not such a comment."""
    words = comment.split()
    if not words or not words[0].isdecimal() or int(words[0][:9]) != len(words) - 1:
        raise ValueError(f"{comment[:40]!r} is not a policy comment")
    candidates = _candidate_table(coordinate.board_size)
    policy: dict[int, float] = {}
    for word in words[1:]:
        point, _, number = word.partition(":")
        pos = candidates.get(point.upper())
        if pos is None or pos in policy:
            raise ValueError(f"{word!r} in a policy comment: no such candidate, or named twice")
        policy[pos] = float(number)
        _check_probability(policy[pos])
    return policy


@cache
def _candidate_table(board_size: int) -> dict[str, int]:
    """Return the pos of every candidate's name: a game's comments name thousands."""
    coordinate = Coordinate(board_size)
    return {coordinate.convert_to_gtp_format(pos).upper(): pos for pos in map(int, get_geometry(board_size).policy_pos)}


def _check_probability(value: float) -> None:
    """Raise ValueError unless the value can be a probability (rounding included)."""
    if not (math.isfinite(value) and 0.0 <= value <= 1.001):
        raise ValueError(f"{value!r} is not a probability")


def format_result(result: MatchResult, score: float = 0.0, is_resign: bool = False) -> str:
    """Return an `RE` value: "B+R", "W+5.0" (`score` points), "0" for a draw, "?" for unknown."""
    if result == MatchResult.UNKNOWN:
        return "?"
    if result == MatchResult.DRAW:
        return "0"
    winner = "B" if result == MatchResult.BLACK_WIN else "W"
    return f"{winner}+R" if is_resign else f"{winner}+{format_margin(score)}"


def write_game(folder: Path, number: int, content: bytes) -> Path:
    """Write a game as {number}.sgf, complete or not at all, and return the path; raises OSError."""
    path = folder / f"{number}.sgf"
    write_atomically(path, content)
    return path


class SelfPlayRecord:
    """Collector and writer of one game at a time."""

    def __init__(self, save_dir: str | Path, coordinate: Coordinate) -> None:
        """Write to `save_dir`/1.sgf until `set_index` says otherwise."""
        self.save_dir = Path(save_dir)
        self.coordinate = coordinate
        self.index = 1
        self.clear()

    def clear(self) -> None:
        """Forget all moves and handicap stones."""
        self._moves: list[str] = []
        self._handicap: list[str] = []

    def set_index(self, index: int) -> None:
        """Choose the number of the next file."""
        self.index = index

    def save_handicap(self, pos: int) -> None:
        """Have a handicap stone set up before the first move."""
        self._handicap.append(f"[{self.coordinate.convert_to_sgf_format(pos)}]")

    def save_record(
        self, policy: Mapping[int, float] | None, pos: int, color: Stone, value: float | None = None
    ) -> None:
        """Append a move with the improved policy it was chosen from (None: without a comment).

        `value` is the win rate [0, 1] that the search gave `color` before the move, None for none.
        """
        letter = "B" if color == Stone.BLACK else "W"
        comment = "" if policy is None else f"C[{encode_policy_comment(policy, self.coordinate)}]"
        search = "" if value is None else encode_search_value(value)
        self._moves.append(f";{letter}[{self.coordinate.convert_to_sgf_format(pos)}]{comment}{search}")

    def save_game(self, moves: Sequence[int], policy: np.ndarray, value: np.ndarray) -> None:
        """Append the moves of a whole game, Black first, with what the search said before each.

        Args:
            moves: pos of each move, M of them.
            policy: improved policy, float [M, A]; see encode_policy_row. A row without candidates: no comment.
            value: win rate of the mover, float [M].

        Raises:
            ValueError: something is no probability.
        """
        if not (policy <= 1.001).all():  # false for NaN, too
            raise ValueError("a policy holds numbers that are no probabilities")
        names = policy_names(self.coordinate.board_size)
        for number, (pos, row, win_rate) in enumerate(zip(moves, policy, value.tolist(), strict=True)):
            point = self.coordinate.convert_to_sgf_format(pos)
            comment = f"C[{encode_policy_row(row, names)}]" if (row >= 0).any() else ""
            self._moves.append(f";{'BW'[number % 2]}[{point}]{comment}{encode_search_value(win_rate)}")

    def get_sgf(self, result: MatchResult, komi: float, is_resign: bool = False, score: float = 0.0,
                event: str = "") -> str:
        """Return the game as SGF text; `event` is plain text without brackets, for people."""
        head = (f"(;FF[4]GM[1]SZ[{self.coordinate.board_size}]\n"
                f"AP[{PROGRAM_NAME}]PB[{PROGRAM_NAME}-Black]PW[{PROGRAM_NAME}-White]"
                f"RE[{format_result(result, score, is_resign)}]KM[{float(komi)}]"
                f"{f'EV[{event}]' if event else ''}")
        if self._handicap:
            head += f"HA[{len(self._handicap)}]AB{''.join(self._handicap)}"
        return f"{head}{''.join(self._moves)}\n)"

    def write_record(self, result: MatchResult, komi: float, is_resign: bool = False, score: float = 0.0,
                     event: str = "") -> Path:
        """Write the game as {index}.sgf, complete or not at all, and return the path; raises OSError."""
        text = self.get_sgf(result, komi, is_resign, score, event)
        return write_game(self.save_dir, self.index, text.encode("ascii"))
