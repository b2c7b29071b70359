"""What a match has scored so far, as other programs than the match itself want to know it."""

from contextlib import closing
from typing import NamedTuple

from tools.matchlib.config import MatchConfig
from tools.matchlib.elo import estimate_elo, format_estimate
from tools.matchlib.report import count_results
from tools.matchlib.runner import open_match, play_missing_games


class Standing(NamedTuple):
    """What the first engine has scored."""

    wins: int
    draws: int
    losses: int

    @property
    def games(self) -> int:
        """Games played."""
        return sum(self)

    @property
    def score(self) -> float:
        """Share of the points, from 0 to 1."""
        return estimate_elo(*self).score

    def describe(self) -> str:
        """Return the score with its 95 % interval."""
        estimate = estimate_elo(*self)
        return f"{estimate.score:.1%} [{estimate.score_low:.1%}, {estimate.score_high:.1%}] of {self.games} games"

    def describe_elo(self) -> str:
        """Return the Elo difference with its 95 % interval."""
        return format_estimate(estimate_elo(*self))


def play_games(config: MatchConfig) -> Standing:
    """Play what is missing of a match; raises MatchError and KeyboardInterrupt as a match does."""
    with closing(open_match(config)) as store:
        play_missing_games(config, store)
        return Standing(*count_results(record for number, record in store.records.items() if number < config.games))
