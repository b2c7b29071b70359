"""Analysis in the dialects of Leela Zero, KataGo and CGOS: lines about the search while it runs.

`*-analyze` goes on until another line comes in, any line; `*-genmove_analyze` and `kata-search*` end by themselves.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gtp.analysis_request import KATA_FLAGS, AnalysisRequest, RequestParser
from gtp.commands.command_group import CommandGroup
from gtp.protocol import Command

if TYPE_CHECKING:
    from mcts.analysis import SearchResult

CANCELLED = "cancelled"


@dataclass(frozen=True)
class Dialect:
    """A way to write analysis: its name in FORMATTERS, and the keys that only it knows."""

    name: str
    flags: frozenset[str] = frozenset()


LZ, KATA, CGOS = Dialect("lz"), Dialect("kata", KATA_FLAGS), Dialect("cgos")


class AnalyzeCommands(CommandGroup):
    """Analysis in the dialects of Leela Zero, KataGo and CGOS."""

    def cmd_lz__analyze(self, command: Command) -> str:
        """Report the search in Leela Zero's format until the next line."""
        return self._analyze(command, LZ)

    def cmd_lz__genmove_analyze(self, command: Command) -> str:
        """Think, report in Leela Zero's format, and play."""
        return self._genmove_analyze(command, LZ)

    def cmd_kata__analyze(self, command: Command) -> str:
        """Report the search in KataGo's format until the next line."""
        return self._analyze(command, KATA)

    def cmd_kata__genmove_analyze(self, command: Command) -> str:
        """Think, report in KataGo's format, and play."""
        return self._genmove_analyze(command, KATA)

    def cmd_cgos__analyze(self, command: Command) -> str:
        """Report the search as CGOS's JSON until the next line."""
        return self._analyze(command, CGOS)

    def cmd_cgos__genmove_analyze(self, command: Command) -> str:
        """Think, report as CGOS's JSON, and play."""
        return self._genmove_analyze(command, CGOS)

    # Sabaki reads these two names as Leela Zero's format; a listed name would win over the more telling kata-analyze.
    unlisted_analyze, unlisted_genmove_analyze = cmd_lz__analyze, cmd_lz__genmove_analyze

    def cmd_kata__search(self, command: Command) -> str:
        """Answer the move that genmove would play, without playing it."""
        return self._search(command, cancellable=False)

    def cmd_kata__search_cancellable(self, command: Command) -> str:
        """Answer the move that genmove would play, or `cancelled` when another line comes in."""
        return self._search(command, cancellable=True)

    def cmd_kata__search_analyze(self, command: Command) -> str:
        """Report like kata-genmove_analyze without playing the move."""
        return self._search(command, cancellable=False, reports=True)

    def cmd_kata__search_analyze_cancellable(self, command: Command) -> str:
        """Report like kata-search_analyze; another line cancels it."""
        return self._search(command, cancellable=True, reports=True)

    def _parse(self, command: Command, dialect: Dialect) -> AnalysisRequest:
        """Return what the arguments ask for; raises GtpError."""
        board = self.game.board
        return RequestParser(command, board.coordinate, board.get_to_move(), dialect.flags).parse()

    def _reporter(self, request: AnalysisRequest, dialect: Dialect) -> Callable[["SearchResult"], None]:
        """Return a function that writes a line about what was found, if anything was."""
        from gtp.analysis_format import FORMATTERS
        board = self.game.board
        estimator, write = self.engine.make_estimator(request.color), FORMATTERS[dialect.name]

        def report(result: "SearchResult") -> None:
            self.session.write_line(write(result, request, board.coordinate, estimator))

        return report

    def _analyze(self, command: Command, dialect: Dialect) -> str:
        """Report until the next line; without an interval there is one report, at the end."""
        from engine.choosing import Watch
        request = self._parse(command, dialect)
        self.session.open_reply()  # at once, also while the network still loads
        report = self._reporter(request, dialect)
        watch = Watch(self.session.should_cancel, report, request.interval, request.restriction,
                      root_temperature=self.game.options.analysis_root_temperature)
        result = self.engine.analyze(request.color, watch)
        if request.interval > 0 and not self.session.should_cancel():
            report(result)  # the tree is full: nothing new will come
        self.session.wait_for_cancelling()
        if request.interval <= 0 and result.total_visits > 0:
            report(result)
        return ""

    def _genmove_analyze(self, command: Command, dialect: Dialect) -> str:
        """Report, with a last line at the end at least, then play a move and answer it."""
        from engine.choosing import Watch
        request = self._parse(command, dialect)
        self.session.open_reply()  # at once, also while the network still loads
        report = self._reporter(request, dialect)
        watch = Watch(self.session.should_stop, report, request.interval, request.restriction)
        pos = self.engine.genmove(request.color, self.session.line.arrived, watch)
        return f"play {self.format_move(pos)}"

    def _search(self, command: Command, cancellable: bool, reports: bool = False) -> str:
        """Answer a move and play nothing; with `reports`, report on the way."""
        from engine.choosing import Watch
        request, report = self._parse(command, KATA), None
        stop = self.session.should_cancel if cancellable else self.session.should_stop
        if reports:
            self.session.open_reply()
            report = self._reporter(request, KATA)
        watch = Watch(stop, report, request.interval, request.restriction)
        pos = self.engine.find_move(request.color, self.session.line.arrived, watch)
        answer = CANCELLED if cancellable and self.session.should_cancel() else self.format_move(pos)
        return f"play {answer}" if reports else answer
