"""Correct the results of the newest self-play batch: GNU Go names the dead stones, we count without them."""

import signal

if __name__ == "__main__" and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until run_command: Ctrl-C during the imports is no traceback

import os
import queue
import re
import shutil
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np

from board.constant import PASS
from board.coordinate import Coordinate
from board.geometry import get_geometry
from board.go_board import GoBoard
from board.playout import DEAD_STONE_PLAYOUTS, playout_ownership
from board.score import area_without
from board.stone import Stone
from common.atomic_file import write_atomically
from common.command_line import FiniteRange, run_command
from common.exit_status import EXIT_FAILED, EXIT_OK, ProgramError, status_of_signal, tell_failures
from common.interrupt import StopRequest
from common.print_console import print_out
from gtp.engine_process import EngineError, GtpProcess, get_search_path
from sgf.archive import list_archive, list_games
from sgf.grammar import SGFError
from sgf.match_result import format_score
from sgf.reader import SGFReader

# The lecture's: four at a time, level 10, area scoring.
WORKERS = 4
GNUGO_OPTIONS = ("--mode", "gtp", "--level", "10", "--chinese-rules")
# So many answers in a row that are none, and GNU Go is given up on.
MAX_FAILURES = 3
# A point is in doubt where neither side gets it in three of four playouts. A game with more than two such points is not
# settled: 98 % of the bundled network's games on 9x9 have none, of a random network's games most points are in doubt.
DOUBT = 0.5
DOUBTFUL_POINTS = 2
POLL_SECONDS = 0.1
RESULT = re.compile(rb"(?<![A-Z])RE\[([^\]]*)\]")

RESIGNED, UNSETTLED, AGREED, CORRECTED, TURNED = "resigned", "unsettled", "agreed", "corrected", "turned"
NO_RESULT, NO_ANSWER = "no result", "no answer"


class NoAnswerError(Exception):
    """GNU Go does not answer, or not as it should."""


@dataclass(frozen=True)
class Correction:
    """What came of one game: a kind from above, and why it could not be judged."""

    kind: str
    reason: str = ""


class GnuGo:
    """GNU Go, kept running from game to game."""

    def __init__(self, program: str, timeout: float) -> None:
        """Start nothing yet; `timeout` is how many seconds an answer may take."""
        self._program, self._timeout = program, timeout
        self._process: GtpProcess | None = None

    def ask(self, command: str) -> str:
        """Return GNU Go's answer; raises NoAnswerError, after which it starts anew."""
        try:
            if self._process is None:
                self._process = GtpProcess([self._program, *GNUGO_OPTIONS], Path(os.devnull))
            reply = self._process.ask(command, self._timeout)
        except EngineError as error:
            self.close()
            raise NoAnswerError(f"GNU Go: {error}") from None
        if not reply.is_success:
            raise NoAnswerError(f"GNU Go refuses {command!r}: {reply.text}")
        return reply.text

    def close(self) -> None:
        """End GNU Go at once; a question that waits for its answer fails."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()

    def find_dead_stones(self, board: GoBoard) -> list[int]:
        """Return the stones that GNU Go calls dead at the end of a game; raises NoAnswerError."""
        coordinate = Coordinate(board.board_size)
        for command in (f"boardsize {board.board_size}", "clear_board", f"komi {board.get_komi()}"):
            self.ask(command)
        for color, pos in board.get_move_history():
            self.ask(f"play {color.name.lower()} {coordinate.convert_to_gtp_format(pos)}")
        answer = self.ask("final_status_list dead")
        try:
            dead = sorted(coordinate.convert_from_gtp_format(word) for word in answer.split())
        except ValueError:
            dead = [PASS]
        if any(board.board[pos] not in (Stone.BLACK, Stone.WHITE) for pos in dead):
            raise NoAnswerError(f"GNU Go calls {' '.join(answer.split())[:40]!r} dead stones")
        return dead


def load_game(path: Path) -> GoBoard:
    """Return the last position of a game; raises SGFError, ValueError and OSError."""
    reader = SGFReader(path)
    if reader.black_stones or reader.white_stones:
        raise ValueError("set-up stones are not for self-play games")
    board = GoBoard(reader.size, reader.komi)
    reader.play_on(board)
    return board


def count_settled(board: GoBoard, dead: list[int]) -> float | None:
    """Return the score for Black without the dead stones, None where the game is not settled.

    It is settled where our own playouts call the same stones dead and leave hardly a point in doubt.
    """
    ownership = playout_ownership(board.state, DEAD_STONE_PLAYOUTS, np.random.Generator(np.random.PCG64(0)))
    doubtful = np.abs(ownership[get_geometry(board.board_size).points]) <= DOUBT
    if np.count_nonzero(doubtful) > DOUBTFUL_POINTS or board.get_dead_stones() != dead:
        return None
    return area_without(board.state, dead)[0] - board.get_komi()


def correct_file(path: Path, gnugo: GnuGo) -> Correction:
    """Judge one game and correct its result where the game is settled. Raises OSError where that cannot be written."""
    try:
        data = path.read_bytes()
        root = data[: data.find(b";", data.find(b";") + 1)]
        found = RESULT.search(root)
        if found is None:
            return Correction(NO_RESULT, f"{path}: it has no RE property")
        if found.group(1).upper().endswith((b"+R", b"+RESIGN")):
            return Correction(RESIGNED)
        board = load_game(path)
        if not board.is_over:
            return Correction(UNSETTLED)
        score = count_settled(board, gnugo.find_dead_stones(board))
    except (SGFError, ValueError) as error:
        return Correction(NO_RESULT, f"{path}: {error}")
    except NoAnswerError as error:
        return Correction(NO_ANSWER, f"{path}: {error}")
    if score is None:
        return Correction(UNSETTLED)
    if (text := format_score(score).encode()) == found.group(1):
        return Correction(AGREED)
    write_atomically(path, data[: found.start(1)] + text + data[found.end(1):])
    return Correction(CORRECTED if text[:1] == found.group(1)[:1] else TURNED)


class GnuGoPool:
    """Several threads that judge games, each with a GNU Go of its own."""

    def __init__(self, program: str, workers: int, timeout: float) -> None:
        """Start nothing yet."""
        self._gnugos = [GnuGo(program, timeout) for _ in range(workers)]
        self._waiting: queue.SimpleQueue[Path] = queue.SimpleQueue()
        self._failures_in_a_row = 0
        self._error: BaseException | None = None
        self._over = False
        self.has_given_up = False  # GNU Go failed in MAX_FAILURES games one after the other
        self.corrections: list[Correction] = []

    def run(self, paths: list[Path], stop: StopRequest) -> None:
        """Judge the games until the user or GNU Go says stop; raises OSError where a result cannot be written."""
        for path in paths:
            self._waiting.put(path)
        threads = [threading.Thread(target=self._work, args=(gnugo,)) for gnugo in self._gnugos]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            if stop.name or self._over or self._error:
                self._over = True
                for gnugo in self._gnugos:
                    gnugo.close()
            time.sleep(POLL_SECONDS)
        if self._error:
            raise self._error

    def _work(self, gnugo: GnuGo) -> None:
        """Judge one game after the other."""
        try:
            while not self._over:
                correction = correct_file(self._waiting.get_nowait(), gnugo)
                if self._over:
                    break
                self.corrections.append(correction)
                if correction.kind == NO_ANSWER:
                    self._failures_in_a_row += 1
                    self._over = self.has_given_up = self._failures_in_a_row >= MAX_FAILURES
                elif correction.kind in (UNSETTLED, AGREED, CORRECTED, TURNED):
                    self._failures_in_a_row = 0
        except queue.Empty:
            pass
        except BaseException as error:
            self._error = error
        finally:
            gnugo.close()


def summarize(folder: Path, corrections: list[Correction], games: int) -> str:
    """Return what was found in one line."""
    count = Counter(correction.kind for correction in corrections)
    parts = [
        f"{count[AGREED]} results stand", f"{count[CORRECTED] + count[TURNED]} corrected for dead stones "
        f"(in {count[TURNED]} another side wins)", f"{count[UNSETTLED]} not settled and left as they are",
        f"{count[RESIGNED]} resigned",
    ]
    failed = [correction.reason for correction in corrections if correction.reason]
    if failed:
        parts.append(f"{len(failed)} not judged (the first: {failed[0]})")
    if len(corrections) < games:
        parts.append(f"{games - len(corrections)} not looked at")
    return f"{folder}, {games} games: {', '.join(parts)}"


@click.command(context_settings={"max_content_width": 110})
@click.option("--kifu-dir", type=click.Path(exists=True, file_okay=False, path_type=Path), default="archive",
              show_default=True, help="Archive of self-play games; the newest batch is judged.")
@click.option("--process", "workers", type=click.IntRange(1), default=WORKERS, show_default=True,
              help="GNU Go programs at a time.")
@click.option("--timeout", type=FiniteRange(0, min_open=True), default=60.0, show_default=True,
              help="Seconds that GNU Go may take for an answer.")
def main(kifu_dir: Path, workers: int, timeout: float) -> int:
    """Let GNU Go name the dead stones in the games of the newest batch that nobody resigned, and count without them.

    Games that are not settled keep their results, and judging again changes nothing.
    """
    program = shutil.which("gnugo", path=get_search_path())
    if program is None:
        raise ProgramError("GNU Go is not installed (Debian: apt install gnugo); no result was changed")
    folder = kifu_dir / str(max(list_archive(kifu_dir), default=1))
    paths = list(list_games(folder).values()) if folder.is_dir() else []
    if not paths:
        raise ProgramError(f"no games in {folder}: run selfplay_main.py first")
    pool = GnuGoPool(program, min(workers, len(paths)), timeout)
    with StopRequest() as stop, tell_failures(folder):
        pool.run(paths, stop)
    print_out(summarize(folder, pool.corrections, len(paths)))
    if stop.name:
        return status_of_signal(stop.name)
    if pool.has_given_up:
        raise ProgramError(f"{program} failed {MAX_FAILURES} times in a row and is given up on; the results that it "
                           "did not judge stand (FINAL_STATUS=false ./pipeline.sh does without it)", EXIT_FAILED)
    return EXIT_FAILED if all(correction.reason for correction in pool.corrections) else EXIT_OK


if __name__ == "__main__":
    sys.exit(run_command(main, "get_final_status.py"))
