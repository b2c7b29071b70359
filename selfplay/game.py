"""A finished self-play game, and how it becomes a file."""

from dataclasses import dataclass

import numpy as np

from board.coordinate import Coordinate
from board.random_state import new_random_state
from board.state import EMPTY
from board.stone import Stone
from selfplay.games import Games, Terms
from selfplay.reason import EndReason
from sgf.match_result import MatchResult
from sgf.selfplay_record import SelfPlayRecord


@dataclass(frozen=True)
class NewGame:
    """What a game begins with.

    Attributes:
        number: of the game in its batch.
        seed: its random state.
        may_resign: whether players may resign.
        extra_komi: added to the usual komi.
        recorded: pos of the moves of a finished game that is only searched again, none for a new one.
    """

    number: int
    seed: np.uint64
    may_resign: bool
    extra_komi: float = 0.0
    recorded: tuple[int, ...] = ()


def draw_game(number: int, seed: tuple[int, ...], no_resign_rate: float, komi_spread: float = 0.0) -> NewGame:
    """Return the beginning of game `number`; it depends on nothing but the arguments.

    Whole points with a standard deviation of about `komi_spread` are added to its komi.
    """
    rng = np.random.default_rng((*seed, number))
    may_resign = bool(rng.random() >= no_resign_rate)
    random_state = new_random_state(rng)[0]
    return NewGame(number, random_state, may_resign, float(np.rint(rng.normal(0.0, komi_spread))))


@dataclass(frozen=True)
class GameRecord:
    """A finished game; M moves, A policy entries.

    Attributes:
        number: of the game in its batch.
        moves: pos of each move, Black first.
        policy: float32 [M, A], policy to learn of each move, negative for moves that were no candidates.
        value: float32 [M], win rate of that policy for each move's player.
        score: Black's area minus White's minus komi on the last board, all stones alive.
        gave_up: the first color whose win rate fell below the resign threshold, None if none did.
        may_resign: whether that ended the game, or all but ended it (soft resignation).
    """

    number: int
    board_size: int
    komi: float
    moves: list[int]
    policy: np.ndarray
    value: np.ndarray
    reason: EndReason
    score: float
    gave_up: Stone | None
    may_resign: bool

    @property
    def result(self) -> MatchResult:
        """The winner."""
        if self.reason == EndReason.RESIGNATION and self.gave_up is not None:
            return MatchResult.lost_by(self.gave_up)
        return MatchResult.from_score(self.score)

    @property
    def would_have_lost(self) -> bool | None:
        """Whether a player who played on instead of resigning went on to lose; None where nobody did."""
        if self.reason == EndReason.RESIGNATION or self.gave_up is None:
            return None
        return self.result == MatchResult.lost_by(self.gave_up)

    def get_sgf(self) -> bytes:
        """Return the content of the game's file."""
        record = SelfPlayRecord("", Coordinate(self.board_size))
        record.save_game(self.moves, self.policy, self.value)
        is_resign = self.reason == EndReason.RESIGNATION
        text = record.get_sgf(self.result, self.komi, is_resign, self.score, f"self-play, {self.reason.text}")
        return text.encode("ascii")


def take_record(games: Games, g: int, number: int, terms: Terms) -> GameRecord:
    """Return the finished game of row g."""
    end = int(games.history.length[g, 0])
    gave_up = int(games.gave_up[g])
    return GameRecord(
        number, terms.board_size, float(games.komi[g]), games.history.pos[g, 1:end].tolist(),
        games.policy[g, : end - 1].copy(),
        games.value[g, : end - 1].copy(),
        EndReason(int(games.reason[g])), float(games.score[g]), None if gave_up == EMPTY else Stone(gave_up),
        bool(games.may_resign[g]),
    )
