"""The archive of self-play: `archive/<k>/<n>.sgf`, games with the search's policy at their moves.

Letters: M = moves of a game, P = moves of it that have a policy, A = S*S + 1 policy entries.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from board.coordinate import Coordinate
from board.geometry import get_geometry
from sgf.collection import Kifu, Skipped, to_kifu
from sgf.grammar import MALFORMED, UNREADABLE, SGFError
from sgf.reader import SGFReader
from sgf.selfplay_record import decode_policy_comment

NO_POLICY = "no policy"
# Probabilities are written with four digits; a sum further from 1 is no rounding.
SUM_TOLERANCE = 0.02


class SelfPlayGame(NamedTuple):
    """One game with its policies."""

    kifu: Kifu
    moves: np.ndarray  # int16 [P]: the moves (from 0) that have a policy
    policy: np.ndarray  # float32 [P, A], each row adds up to 1


def list_archive(root: str | Path) -> dict[int, Path]:
    """Return the numbered folders of an archive by number, ascending; whatever else lies there is left alone."""
    folders = {int(path.name): path for path in Path(root).iterdir() if _is_number(path.name) and path.is_dir()}
    return dict(sorted(folders.items()))


def list_games(folder: Path) -> dict[int, Path]:
    """Return the games `<n>.sgf` of a folder by number, ascending."""
    games = {int(path.stem): path for path in folder.iterdir()
             if path.suffix == ".sgf" and _is_number(path.stem) and path.is_file()}
    return dict(sorted(games.items()))


def _is_number(name: str) -> bool:
    """Tell whether a name is a number as self-play writes it."""
    return name.isascii() and name.isdecimal() and len(name) < 10 and str(int(name)) == name


def read_selfplay_games(paths: Iterable[str], board_size: int) -> list[SelfPlayGame | Skipped]:
    """Return the game of each file, or why it cannot be used."""
    games: list[SelfPlayGame | Skipped] = []
    for path in paths:
        try:
            games.append(_to_game(path, SGFReader(path, board_size)))
        except SGFError as error:
            games.append(Skipped(path, error.kind, str(error)))
        except OSError as error:
            games.append(Skipped(path, UNREADABLE, error.strerror or str(error)))
    return games


def _to_game(path: str, reader: SGFReader) -> SelfPlayGame:
    """Return a game as arrays; raises SGFError for one without policies, or with a comment that is none."""
    kifu, coordinate = to_kifu(path, reader), Coordinate(reader.size)
    geometry = get_geometry(reader.size)
    moves = [number for number in range(len(kifu.pos)) if reader.get_comment(number)]
    if not moves:
        raise SGFError(NO_POLICY, "no move has a policy comment")
    policy = np.zeros((len(moves), len(geometry.policy_pos)), dtype=np.float32)
    for row, number in zip(policy, moves, strict=True):
        try:
            found = decode_policy_comment(reader.get_comment(number), coordinate)
        except ValueError as error:
            raise SGFError(MALFORMED, f"move {number + 1}: {error}") from None
        total = sum(found.values())
        if abs(total - 1.0) > SUM_TOLERANCE:
            raise SGFError(MALFORMED, f"move {number + 1}: the policy adds up to {total:.3f}")
        row[geometry.policy_index[list(found)]] = np.array(list(found.values())) / total
    return SelfPlayGame(kifu, np.array(moves, dtype=np.int16), policy)
