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
    from gtp.analysis_format import Formatter
    from mcts.analysis import SearchResult

NO_FLAGS: frozenset[str] = frozenset()
CANCELLED = "cancelled"


def _lz() -> "Formatter":
    from gtp.analysis_format import format_lz
    return format_lz


def _kata() -> "Formatter":
    from gtp.analysis_format import format_kata
    return format_kata


def _cgos() -> "Formatter":
    from gtp.analysis_format import format_cgos
    return format_cgos


@dataclass(frozen=True)
class Dialect:
    """A way to write analysis: the keys that only it knows, and its format (loaded when it is needed)."""

    flags: frozenset[str]
    get_formatter: Callable[[], "Formatter"]


LZ, KATA, CGOS = Dialect(NO_FLAGS, _lz), Dialect(KATA_FLAGS, _kata), Dialect(NO_FLAGS, _cgos)


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
    def unlisted_analyze(self, command: Command) -> str:
        """Do what lz-analyze does."""
        return self._analyze(command, LZ)

    def unlisted_genmove_analyze(self, command: Command) -> str:
        """Do what lz-genmove_analyze does."""
        return self._genmove_analyze(command, LZ)

    def cmd_kata__search(self, command: Command) -> str:
        """Answer the move that genmove would play, without playing it."""
        return self._search(command, cancellable=False)

    def cmd_kata__search_cancellable(self, command: Command) -> str:
        """Answer the move that genmove would play, or `cancelled` when another line comes in."""
        return self._search(command, cancellable=True)

    def cmd_kata__search_analyze(self, command: Command) -> str:
        """Report like kata-genmove_analyze without playing the move."""
        return self._search_analyze(command, cancellable=False)

    def cmd_kata__search_analyze_cancellable(self, command: Command) -> str:
        """Report like kata-search_analyze; another line cancels it."""
        return self._search_analyze(command, cancellable=True)

    def _parse(self, command: Command, dialect: Dialect) -> AnalysisRequest:
        """Return what the arguments ask for; raises GtpError."""
        board = self.game.board
        return RequestParser(command, board.coordinate, board.get_to_move(), dialect.flags).parse()

    def _reporter(self, request: AnalysisRequest, dialect: Dialect) -> Callable[["SearchResult"], None]:
        """Return a function that writes a line about what was found, if anything was."""
        board = self.game.board
        estimator, write = self.engine.make_estimator(request.color), dialect.get_formatter()

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

    def _search(self, command: Command, cancellable: bool) -> str:
        """Answer a move and play nothing."""
        from engine.choosing import Watch
        request = self._parse(command, KATA)
        stop = self.session.should_cancel if cancellable else self.session.should_stop
        watch = Watch(stop, restriction=request.restriction)
        pos = self.engine.find_move(request.color, self.session.line.arrived, watch)
        return CANCELLED if cancellable and self.session.should_cancel() else self.format_move(pos)

    def _search_analyze(self, command: Command, cancellable: bool) -> str:
        """Report, then answer a move and play nothing."""
        from engine.choosing import Watch
        request = self._parse(command, KATA)
        stop = self.session.should_cancel if cancellable else self.session.should_stop
        self.session.open_reply()
        report = self._reporter(request, KATA)
        watch = Watch(stop, report, request.interval, request.restriction)
        pos = self.engine.find_move(request.color, self.session.line.arrived, watch)
        return f"play {CANCELLED if cancellable and self.session.should_cancel() else self.format_move(pos)}"
