"""KataGo's analysis engine protocol: queries as lines of JSON on stdin, answers as lines of JSON on stdout.

Everything happens in one thread. While a position is searched, the lines that come in are looked at after every batch
of the network, so that errors are answered and searches are ended at once; queries wait, the most urgent one first.
"""

import heapq
import json
import queue
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from common.exit_status import EXIT_OK, EXIT_REFUSED
from common.interrupt import interrupt_once
from common.print_console import print_err
from engine.levels import FULL_LEVEL
from engine.loader import LOADING_POLL, EngineLoader, LoadError, make_engine
from engine.options import EngineOptions
from gtp.analysis.fields import MAX_ECHO, QueryError, QueryFields, parse_json
from gtp.client import prepare_stdout
from gtp.katago_model import describe_model
from gtp.reader import InputLine, LineReader
from gtp.session import nobody_reads_stdout, write_stdout
from program import VERSION

if TYPE_CHECKING:
    from engine.engine import Engine
    from gtp.analysis.query import Query
    from mcts.analysis import SearchResult

# What KataGo writes to stderr then.
READY_LINE = "Started, ready to begin handling requests"
# KataGo's answer for a program that was not built from its repository.
NO_GIT_HASH = "<omitted>"
ACTIONS = ("query_version", "query_models", "clear_cache", "terminate", "terminate_all")


@dataclass
class Job:
    """A position of a query that waits or is searched."""

    query: "Query"
    turn: int
    terminated: bool = False


class AnalysisClient:
    """Answers queries; the engine behind it is loaded in the background."""

    def __init__(
        self, options: EngineOptions, make: Callable[[EngineOptions], "Engine"], write: Callable[[str], None],
    ) -> None:
        """Prepare to analyze with `options`; `make` makes the engine, `write` takes the answers."""
        self.options = options
        self._loader = EngineLoader(lambda: make(options), READY_LINE)
        self._write = write
        # Waiting positions: the negative priority, a running number, the position.
        self._waiting: list[tuple[int, int, Job]] = []
        self._count = 0
        self._running: Job | None = None
        self._input_ended = False

    # --- input ----------------------------------------------------------------------------------------------------

    def run(self, reader: LineReader) -> int:
        """Answer queries until the input has ended and all are answered, or Ctrl-C; return the exit status."""
        reader.start()
        self._loader.start()
        try:
            self._serve(reader)
        except LoadError as error:
            print_err(error)
            return EXIT_REFUSED
        except (KeyboardInterrupt, OSError):  # OSError: nobody reads the answers any more
            pass
        return EXIT_OK

    def _serve(self, reader: LineReader) -> None:
        """Take in what is there, then search the most urgent position; wait for a line if there is none."""
        while True:
            self._take_lines(reader)
            if self._waiting and (self._loader.done or self._input_ended):
                self._search(reader)
            elif self._input_ended:
                return
            else:
                self._take_next(reader, LOADING_POLL if not self._loader.done else None)
            if self._loader.error:
                raise LoadError(self._loader.error)

    def _take_lines(self, reader: LineReader) -> None:
        """Carry out all lines that have come in."""
        while not self._input_ended and self._take_next(reader, 0.0):
            pass

    def _take_next(self, reader: LineReader, timeout: float | None) -> bool:
        """Carry out the next line, if one comes in time; return whether one came."""
        try:
            line = reader.get(timeout)
        except queue.Empty:
            return False
        if line is None:
            self._input_ended = True
        else:
            self.execute(line)
        return True

    def execute(self, line: InputLine) -> None:
        """Carry out a line: a query is put into the queue, anything else is answered; raises LoadError."""
        # Bytes that are no UTF-8 become question marks in a box: an id that comes back must be valid.
        text = line.text.strip().encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        if not text:
            return
        try:
            content = self._parse(text, line.overlong)
        except QueryError as error:
            self._send({"error": str(error)})
            return
        query_id = content["id"]
        try:
            if isinstance(content.get("action"), str):
                self._act(content["action"], content)
            else:
                with self._loader.at_once():
                    self._enqueue(query_id, content)
        except QueryError as error:
            self._send({"error": str(error), "field": error.field, "id": query_id})
        except (LoadError, OSError):  # OSError: nobody reads the answers any more
            raise
        except Exception as error:
            self._report_failure(query_id, error)

    def _parse(self, text: str, overlong: bool) -> dict[str, Any]:
        """Return the object on a line; raises QueryError for one that cannot be answered under an id."""
        shown = text[:MAX_ECHO]
        if overlong:
            raise QueryError(None, f"Line too long, ignoring: {shown}")
        try:
            content = parse_json(text)
        except ValueError as error:
            raise QueryError(None, f"{error} - could not parse input line as json request: {shown}") from None
        if not isinstance(content, dict):
            raise QueryError(None, f"Request line was valid json but was not an object, ignoring: {shown}")
        if not isinstance(content.get("id"), str):
            raise QueryError(None, 'Request must have a string "id" field')
        return content

    # --- actions --------------------------------------------------------------------------------------------------

    def _act(self, action: str, content: dict[str, Any]) -> None:
        """Carry out a special query, which is answered with itself and what was asked for."""
        if action == "query_version":
            content |= {"version": self.options.override_version or VERSION, "git_hash": NO_GIT_HASH}
        elif action == "query_models":
            content["models"] = [describe_model(self._get_engine())]
        elif action in ("terminate", "terminate_all"):
            fields = QueryFields(content)
            if action == "terminate" and not isinstance(fields.get("terminateId"), str):
                raise QueryError("terminateId",
                                 'Requests for a terminate action must have a string "terminateId" field')
            turns = fields.integers(
                "turnNumbers", "If provided, must be an array of integers indicating turns to terminate")
            self._terminate(content["terminateId"] if action == "terminate" else None, turns)
        elif action not in ACTIONS:
            raise QueryError("action", f"'action' field must be one of {', '.join(ACTIONS)}")
        # Each search starts from an empty tree, and what the network said stays true: clear_cache has nothing to clear.
        self._send(content)

    def _terminate(self, query_id: str | None, turns: list[int] | None) -> None:
        """End the positions of a query (None: of all), or some of its turns."""
        from gtp.analysis.report import no_results

        def is_meant(job: Job) -> bool:
            return query_id in (None, job.query.id) and (turns is None or job.turn in turns)

        if self._running is not None and is_meant(self._running):
            self._running.terminated = True
        for _, _, job in sorted(item for item in self._waiting if is_meant(item[2])):
            self._send(no_results(job.query.id, job.turn))
        self._waiting = [item for item in self._waiting if not is_meant(item[2])]
        heapq.heapify(self._waiting)

    def _enqueue(self, query_id: str, content: dict[str, Any]) -> None:
        """Put the positions of a query into the queue; raises QueryError."""
        from gtp.analysis.query import read_query
        query, game = read_query(query_id, content, self.options.winrates_as), self._loader.game
        if query.board_size not in game.sizes:  # its answers hold what only a network tells
            sizes = " to ".join(f"{size}x{size}" for size in sorted({game.sizes[0], game.sizes[-1]}))
            raise QueryError("boardXSize", f"This model is for {sizes} boards, not "
                                           f"{query.board_size}x{query.board_size}: give another one with --model")
        query.make_board(len(query.moves), game.options.komi)
        for name, text in query.warnings:
            self._send({"field": name, "id": query_id, "warning": text})
        for turn, priority in query.turns.items():
            heapq.heappush(self._waiting, (-priority, self._count, Job(query, turn)))
            self._count += 1

    # --- searching ------------------------------------------------------------------------------------------------

    def _search(self, reader: LineReader) -> None:
        """Search the most urgent position and answer it."""
        job = heapq.heappop(self._waiting)[2]
        self._running = job

        def should_stop() -> bool:
            self._take_lines(reader)
            return job.terminated

        try:
            self._send(self._analyze(job, should_stop))
        except (LoadError, OSError):
            raise
        except Exception as error:
            self._report_failure(job.query.id, error)
        finally:
            self._running = None

    def _get_engine(self) -> "Engine":
        """Return the engine, waiting for it; raises LoadError and AbandonedError."""
        return self._loader.get(nobody_reads_stdout)

    def _analyze(self, job: Job, should_stop: Callable[[], bool]) -> dict[str, Any]:
        """Return the answer to a position, reporting on the way if that is wanted."""
        from engine.choosing import Watch
        from gtp.analysis.report import Reporter, no_results
        from mcts.params import SearchLimit
        from mcts.time_manager import StartOptions
        query, engine = job.query, self._get_engine()
        level = query.level or self.options.level
        engine.configure(superko=query.agreement.rules.superko, cgos_mode=query.agreement.all_alive, level=level)
        engine.set_board(query.make_board(job.turn, self.options.komi))
        reporter = Reporter(query, job.turn, engine.board, engine.evaluator,
                            engine.make_estimator(engine.board.get_to_move()))

        def report(result: "SearchResult") -> None:
            if result.total_visits > 0:
                self._send(reporter.report(result, is_during_search=True))

        watch = Watch(should_stop, report, query.interval, query.restriction, first=query.first_report,
                      root_temperature=query.root_temperature)
        options = self.options
        limit = StartOptions(options.visits, options.strict_visits, options.const_time).limit()
        visits = query.visits or options.strict_visits or options.visits or limit.visits  # beside the time, not instead
        limit = SearchLimit(visits, limit.seconds if query.seconds is None else query.seconds, strict=True)
        result = engine.analyze(engine.board.get_to_move(), watch, limit)
        if job.terminated and result.total_visits == 0:
            return no_results(query.id, job.turn)
        answer = reporter.report(result, is_during_search=False)
        if level < FULL_LEVEL:
            watch = Watch(should_stop, restriction=query.restriction, quiet=True)
            move = engine.find_move(engine.board.get_to_move(), time.monotonic(), watch)
            answer["levelMove"] = engine.board.coordinate.convert_to_gtp_format(move)
        return answer

    # --- output ---------------------------------------------------------------------------------------------------

    def _send(self, answer: dict[str, Any]) -> None:
        """Write an answer as a line."""
        self._write(json.dumps(answer, sort_keys=True, separators=(",", ":"), allow_nan=False) + "\n")

    def _report_failure(self, query_id: str, error: Exception) -> None:
        """Answer that something went wrong that is not the query's fault."""
        text = " ".join(f"internal error: {type(error).__name__}: {error}".split())
        print_err(f"Error in query {query_id}: {text}")
        self._send({"error": text, "id": query_id})


def run_analysis(options: EngineOptions) -> int:
    """Speak KataGo's analysis protocol on stdin and stdout and return the exit status."""
    prepare_stdout()
    interrupt_once()
    return AnalysisClient(options, make_engine, write_stdout).run(LineReader())
