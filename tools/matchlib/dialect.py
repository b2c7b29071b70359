"""How the referee talks to an engine: in plain GTP, or as the CGOS client does."""

import json
from typing import NamedTuple

from gtp.engine_process import EngineError
from tools.matchlib.engine import MatchEngine

CLIENTS = ("gtp", "cgos")


class MoveAnswer(NamedTuple):
    """What an engine answered when it was asked for a move."""

    vertex: str
    analysis: str = ""  # CGOS: one line of JSON


class GtpDialect:
    """Plain GTP: `genmove` and nothing around the game."""

    def get_greeting(self, engine: MatchEngine, opponent: str) -> list[str]:
        """Return the commands that tell whom the engine will meet, before the board is cleared."""
        return []

    def get_request(self, engine: MatchEngine, letter: str) -> str:
        """Return the command that asks for a move of the color `letter`."""
        return f"genmove {letter}"

    def read_answer(self, request: str, text: str) -> MoveAnswer:
        """Return what a reply to the request says; raises EngineError for anything but a move."""
        words = text.split()
        if not words:
            raise EngineError(f"{request} was answered with nothing")
        return MoveAnswer(words[0])

    def say_result(self, engine: MatchEngine, result: str) -> None:
        """Tell the engine how the game ended."""


class CgosDialect(GtpDialect):
    """The way of the CGOS client: moves come with an analysis, and the engine hears of its opponent and the result."""

    REQUESTS = ("cgos-genmove_analyze {}", "kata-genmove_analyze {} ownership true", "lz-genmove_analyze {} 100000")

    def get_greeting(self, engine: MatchEngine, opponent: str) -> list[str]:
        """Return the commands with the opponent (first or second) and a rating, where the engine wants to know them."""
        values = {"cgos-opponent_name": opponent, "cgos-opponent_rating": "1500"}
        return [f"{name} {value}" for name, value in values.items() if engine.knows(name)]

    def get_request(self, engine: MatchEngine, letter: str) -> str:
        """Return the first command with analysis that the engine lists, else `genmove`."""
        for request in self.REQUESTS:
            if engine.knows(request.split()[0]):
                return request.format(letter)
        return super().get_request(engine, letter)

    def read_answer(self, request: str, text: str) -> MoveAnswer:
        """Return the move of the line `play MOVE` and, from cgos-genmove_analyze, the JSON line before it."""
        if request.startswith("genmove"):
            return super().read_answer(request, text)
        *before, last = text.splitlines() or [""]
        words = last.split()
        if len(words) != 2 or words[0] != "play":
            raise EngineError(f"{request} was answered without a last line `play MOVE`: {last[:60]!r}")
        if not request.startswith("cgos"):
            return MoveAnswer(words[1])
        analysis = before[-1] if before else ""
        try:
            is_object = isinstance(json.loads(analysis), dict)
        except (ValueError, RecursionError):
            is_object = False
        if not is_object:
            raise EngineError(f"{request} gave no JSON object before its move: {analysis[:60]!r}")
        return MoveAnswer(words[1], analysis)

    def say_result(self, engine: MatchEngine, result: str) -> None:
        """Send `cgos-gameover` where the engine wants to know; raises EngineError."""
        if engine.knows("cgos-gameover"):
            engine.demand(f"cgos-gameover {result}")


def make_dialect(client: str) -> GtpDialect:
    """Return the dialect of one of CLIENTS."""
    return CgosDialect() if client == "cgos" else GtpDialect()
