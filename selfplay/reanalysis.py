"""Finished games searched again by a network that has learnt since: the moves and results stay, what is taught changes.

Schrittwieser et al., "Online and Offline Reinforcement Learning by Planning with a Learned Model" (2021), section 3.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from board.coordinate import Coordinate
from nn.feature import plane_set_of
from selfplay.archive import BatchSettings, read_settings
from selfplay.batch import BatchEvaluator, SelfPlay, compile_steps
from selfplay.game import GameRecord, NewGame, draw_game
from selfplay.worker import terms_of
from sgf.archive import list_archive, list_games
from sgf.grammar import SGFError
from sgf.reader import SGFReader
from sgf.selfplay_record import SelfPlayRecord, write_game

# Part of the seed: the same --seed as that of the self-play gives other random numbers.
SEARCHED_AGAIN = 1


class OldGame(NamedTuple):
    """A game of the archive: where it lies, and what its batch was begun with."""

    folder: Path
    number: int
    settings: BatchSettings


def choose_oldest(archive: Path, size: int, window_size: int, count: int) -> list[OldGame]:
    """Return those of the newest `window_size` games whose policies are oldest, by their files' times.

    The newest folder's are new; folders of another board size, or without settings, as other programs leave them, are
    left alone. Raises OSError.
    """
    folders = list(reversed(list_archive(archive).values()))
    found: list[tuple[int, OldGame]] = []
    left = window_size - sum(len(list_games(folder)) for folder in folders[:1])
    for folder in folders[1:]:
        settings = read_settings(folder)
        if settings is not None and settings.size == size:
            games = list(list_games(folder).items())[-left:] if left > 0 else []
            found += [(path.stat().st_mtime_ns, OldGame(folder, number, settings)) for number, path in games]
            left -= len(games)
    found.sort(key=lambda game: (game[0], game[1].folder, game[1].number))
    return [game for _, game in found[:count]]


def search_again(
    evaluator: BatchEvaluator, games: list[OldGame], visits: int | None, seed: int,
) -> Iterator[tuple[OldGame, str]]:
    """Search the games again and write their files anew; yield each with the reason why it was left alone, or "".

    `visits` None takes those the game was played with. Raises OSError when a file cannot be written.
    """
    compile_steps(plane_set_of(evaluator))
    alike: dict[BatchSettings, list[OldGame]] = {}
    for game in games:
        alike.setdefault(_search_settings(game.settings, visits), []).append(game)
    for settings, own in alike.items():
        yield from _search_alike(evaluator, own, settings, seed)


def _search_settings(settings: BatchSettings, visits: int | None) -> BatchSettings:
    """Return what a batch's games have in common when all their moves are searched in full."""
    return replace(settings, games=0, seed=0, visits=visits or settings.visits, full_share=1.0, resign_threshold=0.0,
                   no_resign_rate=0.0, komi_spread=0.0)


def _search_alike(
    evaluator: BatchEvaluator, games: list[OldGame], settings: BatchSettings, seed: int,
) -> Iterator[tuple[OldGame, str]]:
    """Search games of the same settings."""
    readers: dict[int, SGFReader] = {}
    left_alone: list[tuple[OldGame, str]] = []
    terms = terms_of(settings)
    waiting = iter(enumerate(games))

    def next_game() -> NewGame | None:
        for index, game in waiting:
            try:
                reader = SGFReader(game.folder / f"{game.number}.sgf", settings.size)
            except (SGFError, OSError) as error:
                left_alone.append((game, str(error)))
                continue
            if len(reader.moves) > terms.move_limit or not _is_self_play(reader):
                left_alone.append((game, "it is no game of this batch"))
                continue
            readers[index] = reader
            # By its place in the archive, not in the line: a run that goes on searches it as one that never stopped.
            new = draw_game(game.number, (seed, int(game.folder.name), SEARCHED_AGAIN), 1.0)
            return replace(new, number=index, extra_komi=reader.komi - settings.komi, recorded=tuple(reader.moves))
        return None

    for record in SelfPlay(evaluator, terms, next_game).run():
        game, reader = games[record.number], readers.pop(record.number)
        if record.moves != list(reader.moves):
            yield game, f"move {len(record.moves) + 1} is none that the search knows"
            continue
        write_game(game.folder, game.number, _to_sgf(record, reader))
        yield game, ""
    yield from left_alone


def _is_self_play(reader: SGFReader) -> bool:
    """Tell whether a game began on an empty board and went on in turn, and its event can be written as it is."""
    turns = [1 + ply % 2 for ply in range(len(reader.moves))]
    is_plain = reader.event.isascii() and not set("[]\\") & set(reader.event)
    is_set_up = bool(reader.black_stones or reader.white_stones)
    return bool(turns) and reader.colors == turns and not is_set_up and is_plain


def _to_sgf(record: GameRecord, reader: SGFReader) -> bytes:
    """Return the file of a game: what it was, with what the search now says of its moves."""
    new = SelfPlayRecord("", Coordinate(record.board_size))
    new.save_game(record.moves, record.policy, record.value)
    resigned = bool(np.isnan(reader.margin))
    score = 0.0 if resigned else reader.margin
    return new.get_sgf(reader.result, record.komi, resigned, score, reader.event).encode("ascii")
