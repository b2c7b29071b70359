"""Games as they were played, for networks whose planes are made while they learn: moves instead of planes on disk.

Letters: G games, M moves (one sample each: the position before the move), S board size.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from board.state import BLACK
from nn.data.data_file import Blocks, DataError, read_arrays, write_arrays
from nn.data.game_encoder import GameEncoder
from nn.data.labels import Labels, pack_policies
from nn.data.value_choice import ALL_VALUES, ValueChoice
from sgf.collection import Kifu


class GameFile(NamedTuple):
    """The games of a file; arrays over M belong to the mover of each position."""

    board_size: np.ndarray  # int32 []
    komi: np.ndarray  # float32 [G]
    setup_start: np.ndarray  # int32 [G + 1]: first of the stones that each game begins with
    setup_pos: np.ndarray  # int16 [sum]
    setup_color: np.ndarray  # int8 [sum]
    start: np.ndarray  # int32 [G + 1]: first sample of each game
    pos: np.ndarray  # int16 [M]
    color: np.ndarray  # int8 [M]
    value: np.ndarray  # int8 [M]: 2 win, 1 draw, 0 loss, -1 unknown
    win_rate: np.ndarray  # float16 [M]: recorded with the game, NaN where none
    score: np.ndarray  # float16 [G]: Black's area minus White's, komi not included; NaN unknown
    owner: np.ndarray  # int8 [G, S*S]: in the end 1 Black's, -1 White's, 0 nobody's or unknown
    labels: Labels  # their lead is NaN where a position has none, or only a policy


def new_game_arrays(games: list[Kifu], labels: list[Labels | None], board_size: int,
                    choice: ValueChoice = ALL_VALUES) -> GameFile:
    """Return games and their labels as arrays; the games are known to be legal."""
    encoder = GameEncoder(board_size)
    points = board_size * board_size
    owners = [game_owner(encoder, game) for game in games]
    filled = [one or policy_labels(np.zeros((len(game.pos), 0)), points)
              for one, game in zip(labels, games, strict=True)]
    return GameFile(
        np.array(board_size, dtype=np.int32), np.array([game.komi for game in games], dtype=np.float32),
        np.cumsum([0] + [len(game.setup_pos) for game in games], dtype=np.int32),
        np.concatenate([game.setup_pos for game in games]), np.concatenate([game.setup_color for game in games]),
        np.cumsum([0] + [len(game.pos) for game in games], dtype=np.int32),
        np.concatenate([game.pos for game in games]), np.concatenate([game.color for game in games]),
        np.concatenate([choice.values(game) for game in games]).astype(np.int8),
        np.concatenate([game.win_rate for game in games]).astype(np.float16),
        np.array([game.score for game in games], dtype=np.float16), np.stack(owners),
        Labels(*(np.concatenate([getattr(one, name) for one in filled]) for name in Labels._fields)),
    )


def game_owner(encoder: GameEncoder, game: Kifu) -> np.ndarray:
    """Return who owns each point in the end, int8 [S*S]: 1 Black, -1 White, 0 nobody or unknown."""
    return encoder.ownership(game)[0] * (1 if game.color[0] == BLACK else -1)


def policy_labels(policy: np.ndarray, points: int) -> Labels:
    """Return labels that tell policies [M, A] alone."""
    unknown = np.full(len(policy), np.nan, dtype=np.float16)
    return Labels(*pack_policies(policy), unknown, unknown, np.zeros((len(policy), points), dtype=np.uint8))


def join_games(files: Sequence[GameFile]) -> GameFile:
    """Return the games of several files of one board size as one, in their order."""
    if len(files) == 1:
        return files[0]

    def join(name: str) -> np.ndarray:
        arrays = [getattr(file, name) for file in files]
        if not name.endswith("start"):
            return np.concatenate(arrays)
        ends = np.cumsum([0] + [array[-1] for array in arrays])
        starts = [first + array[:-1] for first, array in zip(ends, arrays, strict=False)]
        return np.concatenate([*starts, ends[-1:]]).astype(arrays[0].dtype)

    labels = Labels(*(np.concatenate(parts) for parts in zip(*(file.labels for file in files), strict=True)))
    names = [name for name in GameFile._fields if name not in ("board_size", "labels")]
    return GameFile(files[0].board_size, labels=labels, **{name: join(name) for name in names})


def write_game_file(path: Path, games: GameFile, more: Mapping[str, Blocks] | None = None) -> None:
    """Write an npz file, complete or not at all, with `more` arrays beside the games; raises OSError."""
    arrays = dict(games._asdict())
    arrays |= {f"label_{name}": array for name, array in arrays.pop("labels")._asdict().items()}
    blocks = {name: Blocks(array.shape, array.dtype.type, [array]) for name, array in arrays.items()}
    write_arrays(path, {**(more or {}), **blocks})


def read_game_file(path: Path, sizes: Sequence[int]) -> GameFile:
    """Read a file of games on boards of one of these sizes; raises DataError when it cannot be used."""
    names = [name for name in GameFile._fields if name != "labels"]
    label_names = [f"label_{name}" for name in Labels._fields]
    arrays = read_arrays(path, (*names, *label_names), (*names, *label_names))
    if int(arrays["board_size"]) not in sizes:
        raise DataError(f"{path} is for board size {arrays['board_size']}, not {' or '.join(map(str, sizes))}: "
                        "give the right --size")
    labels = Labels(*(arrays[name] for name in label_names))
    games = GameFile(**{name: arrays[name] for name in names}, labels=labels)
    samples = len(games.pos)
    if games.start[-1] != samples or any(len(array) != samples for array in (games.color, games.value)):
        raise DataError.unusable(f"{path} does not fit together")
    return games
