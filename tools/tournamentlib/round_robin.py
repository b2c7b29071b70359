"""A round robin: everybody meets everybody, a few games in turn, each pairing a match directory of its own."""

import itertools
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import NamedTuple

from tools.matchlib.config import FOLDER_NAME, MatchConfig
from tools.matchlib.rating import PairResult, Rating, rate_players
from tools.matchlib.record import MatchRecord
from tools.matchlib.report import count_results
from tools.matchlib.runner import open_match, play_missing_games
from tools.matchlib.store import MatchStore

# A multiple of these is played in turn: both players are Black once in each opening.
GAMES_PER_ROUND = 2


class Entrant(NamedTuple):
    """Who takes part."""

    name: str
    command: str


def read_player(text: str) -> Entrant:
    """Return the player of a text NAME=COMMAND; raises ValueError."""
    name, _, command = text.partition("=")
    if not FOLDER_NAME.fullmatch(name) or not command.strip():
        raise ValueError(f"{text[:60]!r} is not NAME=COMMAND (a name has letters, digits and ._+-)")
    return Entrant(name, command)


def check_players(players: list[Entrant]) -> None:
    """Raise ValueError unless there are two or more, each of a name of its own."""
    if len(players) < 2:
        raise ValueError("a tournament needs two players or more: give --player NAME=COMMAND for each")
    names = [player.name.lower() for player in players]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two players are called {name}")
    folders = [folder_of(a, b) for a, b in itertools.combinations(players, 2)]
    for folder in folders:
        if folders.count(folder) > 1:
            raise ValueError(f"games of different players would lie in one folder, {folder}: choose other names")


def folder_of(a: Entrant, b: Entrant) -> str:
    """Return the name of the folder for the games of two players."""
    return f"{a.name}-{b.name}"


@dataclass
class Pairing:
    """The games of two players."""

    config: MatchConfig
    records: list[MatchRecord]

    @property
    def names(self) -> tuple[str, str]:
        """Who played."""
        names = self.config.names
        assert names is not None
        return names

    def keep(self, store: MatchStore) -> None:
        """Take the games that lie on disk."""
        self.records = [record for _, record in sorted(store.records.items())]

    @property
    def result(self) -> PairResult:
        """The score of the first."""
        wins, draws, _ = count_results(self.records)
        return PairResult(*self.names, wins + draws / 2.0, len(self.records))


def make_pairings(players: list[Entrant], config: MatchConfig) -> list[Pairing]:
    """Return all pairings; `config` has what they share, its directory the folder of all.

    Two whose games lie there stay in the order in which they were named then, unless the folder of another pair has
    the name that theirs has in this order or the other one.
    """
    pairings, pairs = [], list(itertools.combinations(players, 2))
    folders = {folder_of(a, b) for a, b in pairs}
    for a, b in pairs:
        turned = folder_of(b, a)
        if turned not in folders and (config.directory / turned).exists() and not (
                config.directory / folder_of(a, b)).exists():
            a, b = b, a
        pairings.append(Pairing(replace(config, first=a.command, second=b.command, names=(a.name, b.name),
                                        directory=config.directory / folder_of(a, b)), []))
    return pairings


def play_rounds(pairings: list[Pairing], games: int) -> Iterator[int]:
    """Play until each pairing has so many games, and yield after each that brought a pairing further.

    All pairings come in turn, two games each, or as many as are played at a time, so that a tournament that is stopped
    is even. Raises MatchError and KeyboardInterrupt as a match does.
    """
    at_a_time = GAMES_PER_ROUND * -(-pairings[0].config.parallel // GAMES_PER_ROUND)
    for pairing in pairings:  # a player who joins must not hide what the others have played
        if pairing.config.directory.exists():
            with closing(open_match(replace(pairing.config, games=games))) as store:
                pairing.keep(store)
    for done in range(at_a_time, games + at_a_time, at_a_time):
        for number, pairing in enumerate(pairings):
            config = replace(pairing.config, games=min(done, games))
            with closing(open_match(config)) as store:
                try:
                    if len(store.records) < config.games:
                        play_missing_games(config, store)
                finally:
                    pairing.keep(store)
            yield number


def rate_all(players: list[Entrant], pairings: list[Pairing]) -> dict[str, Rating]:
    """Return the ratings, the strongest first; the first player named is 0 on the scale."""
    ratings = rate_players([pairing.result for pairing in pairings], players[0].name)
    return dict(sorted(ratings.items(), key=lambda item: -item[1].elo))


def score_of(pairings: list[Pairing], name: str, other: str) -> tuple[float, int]:
    """Return the points that a player has made against another one, and the number of their games."""
    for pairing in pairings:
        first, second, score, games = pairing.result
        if (first, second) == (name, other):
            return score, games
        if (first, second) == (other, name):
            return games - score, games
    return 0.0, 0
