"""What an engine says about the end of a game, and where two engines differ."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from board.go_board import GoBoard
from board.score import area_without
from gtp.engine_process import EngineError
from tools.matchlib.engine import MatchEngine
from tools.verdictlib.position import list_plays


@dataclass(frozen=True)
class Verdict:
    """One engine's verdict: the stones it calls dead and seki (pos), and Black's lead, komi included."""

    dead: frozenset[int]
    seki: frozenset[int]
    score: float


@dataclass(frozen=True)
class Comparison:
    """Two verdicts about one finished game."""

    name: str
    board: GoBoard
    theirs: Verdict
    ours: Verdict

    @property
    def same_dead(self) -> bool:
        """Whether both call the same stones dead."""
        return self.theirs.dead == self.ours.dead

    @property
    def same_score(self) -> bool:
        """Whether both answer the same score."""
        return self.theirs.score == self.ours.score

    @property
    def same_winner(self) -> bool:
        """Whether the same side wins, or nobody."""
        return bool(np.sign(self.theirs.score) == np.sign(self.ours.score))

    @cached_property
    def differing(self) -> list[int]:
        """The points (pos) that end as somebody else's when the dead stones of either are taken off."""
        theirs, ours = (area_without(self.board.state, sorted(verdict.dead))[1] for verdict in (self.theirs, self.ours))
        return [pos for pos in self.board.onboard_pos if theirs[pos] != ours[pos]]


def parse_score(text: str) -> float:
    """Return Black's lead from "B+3.5", "W+2" or "0"; raises EngineError for anything else."""
    try:
        return 0.0 if text == "0" else {"B": 1.0, "W": -1.0}[text[:1].upper()] * float(text[1:])
    except (KeyError, ValueError) as error:
        raise EngineError(f"final_score was answered {text!r}") from error


def parse_points(board: GoBoard, words: Iterable[str]) -> frozenset[int]:
    """Return the points (pos) that an engine lists; raises EngineError for anything else."""
    try:
        return frozenset(board.coordinate.convert_from_gtp_format(word) for word in words)
    except ValueError as error:
        raise EngineError(f"final_status_list was answered with {error}") from error


def ask_verdict(engine: MatchEngine, board: GoBoard) -> Verdict:
    """Play a game in a running engine and ask how it ended; raises EngineError."""
    engine.prepare(board.board_size, board.get_komi(), None)
    for command in list_plays(board):
        engine.demand(command)
    dead, seki = (parse_points(board, engine.demand(f"final_status_list {status}").split())
                  for status in ("dead", "seki"))
    return Verdict(dead, seki, parse_score(engine.demand("final_score")))
