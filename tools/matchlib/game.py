"""One game between two engines, under the referee's rules and clocks."""

import hashlib
from contextlib import suppress

from board.stone import Stone
from gtp.engine_process import EngineError, EngineTimeoutError, Reply
from sgf.match_result import format_score
from tools.matchlib.config import SIDES, MatchConfig
from tools.matchlib.dialect import MoveAnswer, make_dialect
from tools.matchlib.engine import MatchEngine
from tools.matchlib.errors import GameFault, IllegalPlayError
from tools.matchlib.openings import Opening
from tools.matchlib.record import MatchRecord, SideTime
from tools.matchlib.referee import Referee

# Seconds that an engine without time left still gets to answer; it has lost, but need not be killed.
FLAG_GRACE_SECONDS = 5.0
RESULT_SUFFIXES = {"resign": "R", "time": "T"}
FORFEIT_SUFFIX = "F"


class MatchGame:
    """One game; `play` gives its record.

    The moves stay in `referee.moves`, the clocks in `clocks_after` and what CGOS calls analysis in `analyses`.
    """

    def __init__(self, config: MatchConfig, index: int, opening: Opening, engines: dict[str, MatchEngine]) -> None:
        """Seat the engines: the first one is Black in games of even index.

        Args:
            config: The match.
            index: Number of the game, from 0.
            opening: Moves that both sides have to start from.
            engines: The running engines by side.
        """
        black, white = SIDES if index % 2 == 0 else SIDES[::-1]
        self.config = config
        self.index = index
        self.opening = opening
        self.sides = {Stone.BLACK: black, Stone.WHITE: white}
        self.engines = {color: engines[side] for color, side in self.sides.items()}
        self.times = {color: SideTime() for color in self.sides}
        self.referee = Referee(config.size, config.komi)
        self.dialect = make_dialect(config.client)
        self.clocks_after: list[float | None] = []
        self.analyses: list[str] = []

    def play(self) -> MatchRecord:
        """Play the game to its end, whatever that is."""
        try:
            self._set_up()
            self._play_opening()
            while not self.referee.is_over and len(self.referee.moves) < self.config.get_move_limit():
                self._play_move()
            record = self._record_score()
        except GameFault as fault:
            record = self._record_fault(fault)
        self._say_result(record.result)
        return record

    def _set_up(self) -> None:
        for color, engine in self.engines.items():
            try:
                opponent = self.sides[Stone.get_opponent_color(color)]
                engine.prepare(self.config.size, self.config.komi, self.config.time_seconds,
                               self.dialect.get_greeting(engine, opponent))
            except EngineError as error:
                raise GameFault(color, error.reason, str(error)) from error

    def _play_opening(self) -> None:
        for vertex in self.opening:
            color = self._get_color()
            self.referee.play(color, vertex)
            self.clocks_after.append(None)
            self.analyses.append("")
            for listener in self.engines:
                self._announce(listener, color, vertex)

    def _play_move(self) -> None:
        color = self._get_color()
        answer = self._think(color)
        if answer.vertex.lower() == "resign":
            raise GameFault(color, "resign", "resigned")
        try:
            vertex = self.referee.play(color, answer.vertex)
        except IllegalPlayError as error:
            raise GameFault(color, "illegal", f"illegal move: {error}") from error
        self.clocks_after.append(self._get_time_left(color))
        self.analyses.append(answer.analysis)
        if not self.referee.is_over:
            self._announce(Stone.get_opponent_color(color), color, vertex)

    def _think(self, color: Stone) -> MoveAnswer:
        """Ask for a move, on the clock if there is one; raises GameFault when the engine fails or its time is up."""
        engine, letter = self.engines[color], color.name[0].lower()
        time_left = self._get_time_left(color)
        limit = self.config.hang_limit
        if time_left is not None:
            limit = time_left + FLAG_GRACE_SECONDS
            if self.config.sends_time_left and engine.knows("time_left"):
                self._ask(color, f"time_left {letter} {int(time_left)} 0")
        request = self.dialect.get_request(engine, letter)
        try:
            reply = engine.ask(request, limit)
        except EngineTimeoutError as error:
            waited = min(limit, self.config.hang_limit)
            self.times[color].add(waited)
            is_flagged = time_left is not None and waited > time_left
            raise GameFault(color, "time" if is_flagged else error.reason, str(error)) from error
        except EngineError as error:
            raise GameFault(color, error.reason, str(error)) from error
        self.times[color].add(reply.seconds)
        if time_left is not None and reply.seconds > time_left:
            raise GameFault(color, "time", f"took {reply.seconds:.2f} s with {time_left:.2f} s left")
        if not reply.is_success:
            raise GameFault(color, "error", f"{request} was answered ? {reply.text}")
        try:
            return self.dialect.read_answer(request, reply.text)
        except EngineError as error:
            raise GameFault(color, error.reason, str(error)) from error

    def _announce(self, listener: Stone, color: Stone, vertex: str) -> None:
        """Tell an engine of a legal move; refusing it loses the game."""
        reply = self._ask(listener, f"play {color.name[0].lower()} {vertex}")
        if not reply.is_success:
            raise GameFault(listener, "error", f"refused the legal move {vertex}: ? {reply.text}")

    def _ask(self, color: Stone, command: str) -> Reply:
        try:
            return self.engines[color].ask(command)
        except EngineError as error:
            raise GameFault(color, error.reason, str(error)) from error

    def _say_result(self, result: str) -> None:
        """Tell the engines that are still there; one that fails now is started again for its next game."""
        for engine in self.engines.values():
            with suppress(EngineError):
                self.dialect.say_result(engine, result)

    def _get_color(self) -> Stone:
        """Return the side to move; Black begins and the colors alternate."""
        return Stone.WHITE if len(self.referee.moves) % 2 else Stone.BLACK

    def _get_time_left(self, color: Stone) -> float | None:
        """Return the seconds on a clock; None without clocks."""
        if self.config.time_seconds is None:
            return None
        return max(0.0, self.config.time_seconds - self.times[color].seconds)

    def _record_fault(self, fault: GameFault) -> MatchRecord:
        winner = Stone.get_opponent_color(fault.color)
        result = f"{winner.name[0]}+{RESULT_SUFFIXES.get(fault.reason, FORFEIT_SUFFIX)}"
        detail = f"{fault.color.name.capitalize()} ({self.sides[fault.color]} engine): {fault.detail}"
        return self._make_record(self.sides[winner], result, fault.reason, detail)

    def _record_score(self) -> MatchRecord:
        area, friendly = self.referee.get_area_score(), self.referee.get_friendly_score()
        score = area if self.config.scoring == "area" else friendly
        reason = "score" if self.referee.is_over else "max-moves"
        detail = "two passes" if self.referee.is_over else "scored as it stands at the limit of moves"
        if area != friendly:
            detail += f"; all stones alive {format_score(area, 0)}, dead stones removed {format_score(friendly, 0)}"
        winner = "draw" if score == 0.0 else self.sides[Stone.BLACK if score > 0.0 else Stone.WHITE]
        record = self._make_record(winner, format_score(score, 0), reason, detail)
        record.area_score, record.friendly_score = area, friendly
        return record

    def _make_record(self, winner: str, result: str, reason: str, detail: str) -> MatchRecord:
        moves = " ".join(str(int(pos)) for _, pos in self.referee.moves)
        return MatchRecord(
            index=self.index, opening=self.opening, black=self.sides[Stone.BLACK], winner=winner, result=result,
            reason=reason, detail=detail, moves=len(self.referee.moves),
            times={self.sides[color]: times for color, times in self.times.items()},
            play=hashlib.sha256(moves.encode()).hexdigest()[:16],
        )
