"""Correct the results of the newest self-play batch by GNU Go's verdict, and compare it with our own scorer."""

import os
import queue
import re
import shutil
import signal
import sys
import threading
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import click

from board.coordinate import Coordinate
from board.go_board import GoBoard
from board.score import area_without
from board.stone import Stone
from common.atomic_file import write_atomically
from common.command_line import EXIT_OK, FiniteRange, run_command
from common.interrupt import StopRequest
from common.print_console import print_err, print_out
from gtp.engine_process import EngineError, GtpProcess, get_search_path
from sgf.archive import list_archive, list_games
from sgf.grammar import SGFError
from sgf.match_result import MatchResult
from sgf.reader import SGFReader
from sgf.selfplay_record import format_result

# The lecture's: four at a time, level 10, area scoring.
WORKERS = 4
GNUGO_OPTIONS = ("--mode", "gtp", "--level", "10", "--chinese-rules")
EXIT_NOT_USABLE, EXIT_FAILED = 2, 1
RESULT = re.compile(rb"(?<![A-Z])RE\[([^\]]*)\]")
SCORE = re.compile(r"0|[BW]\+\d+(\.\d+)?")
COLORS = {Stone.BLACK: "black", Stone.WHITE: "white"}

RESIGNED, AGREED, SCORE_DIFFERS, WINNER_DIFFERS, FAILED = "resigned", "agreed", "score", "winner", "failed"


@dataclass(frozen=True)
class Verdict:
    """What came of one game; `text` is one line for the user, empty if there is nothing to say."""

    kind: str
    text: str = ""
    by_dead_stones: bool = False  # our scorer agrees once the stones that GNU Go calls dead are taken off
    changed: bool = False  # the file's result was another one


def to_text(score: float) -> str:
    """Return a score for Black as an SGF result."""
    result = MatchResult.DRAW if score == 0 else MatchResult.BLACK_WIN if score > 0 else MatchResult.WHITE_WIN
    return format_result(result, score)


def to_score(text: str) -> float:
    """Return GNU Go's answer as a score for Black."""
    return 0.0 if text == "0" else float(text[2:]) * (1 if text[0] == "B" else -1)


class Judge:
    """GNU Go, kept running from game to game."""

    def __init__(self, program: str, timeout: float) -> None:
        """Start nothing yet; `timeout` is how many seconds an answer may take."""
        self._program, self._timeout = program, timeout
        self._process: GtpProcess | None = None

    def ask(self, command: str) -> str:
        """Return GNU Go's answer; raises ValueError for a refusal and EngineError, after which it starts anew."""
        if self._process is None:
            self._process = GtpProcess([self._program, *GNUGO_OPTIONS], Path(os.devnull))
        try:
            reply = self._process.ask(command, self._timeout)
        except EngineError:
            self._process.kill()
            self._process = None
            raise
        if not reply.is_success:
            raise ValueError(f"GNU Go refuses {command!r}: {reply.text}")
        return reply.text

    def close(self) -> None:
        """End GNU Go."""
        if self._process is not None:
            self._process.kill()
            self._process = None

    def set_up(self, board: GoBoard) -> None:
        """Play a game's moves."""
        to_gtp = Coordinate(board.board_size).convert_to_gtp_format
        for command in (f"boardsize {board.board_size}", "clear_board", f"komi {board.get_komi()}"):
            self.ask(command)
        for color, pos in board.get_move_history():
            self.ask(f"play {COLORS[color]} {to_gtp(pos)}")

    def final_score(self) -> str:
        """Return the result of the position, such as "W+5.5" or "0"."""
        answer = self.ask("final_score").split()
        if not answer or not SCORE.fullmatch(answer[0]):
            raise ValueError(f"GNU Go answers {' '.join(answer)!r} to 'final_score'")
        return answer[0]

    def dead_stones(self, board: GoBoard) -> list[int]:
        """Return the stones that GNU Go calls dead."""
        to_pos = Coordinate(board.board_size).convert_from_gtp_format
        return sorted(to_pos(word) for word in self.ask("final_status_list dead").split())


def load_game(path: Path) -> GoBoard:
    """Return the last position of a game; raises SGFError, ValueError and OSError."""
    reader = SGFReader(path)
    board = GoBoard(reader.size, reader.komi)
    if reader.black_stones or reader.white_stones:
        raise ValueError("set-up stones are not for self-play games")
    for number, pos in enumerate(reader.get_moves()):
        if not board.is_legal(pos, reader.get_color(number)):
            raise ValueError(f"move {number + 1} is illegal")
        board.put_stone(pos, reader.get_color(number))
    return board


def judge_file(path: Path, judge: Judge) -> Verdict:
    """Judge one game and write the verdict into its file if that says something else."""
    try:
        data = path.read_bytes()
        root = data[: data.find(b";", data.find(b";") + 1)]
        found = RESULT.search(root)
        if found is None:
            return Verdict(FAILED, f"{path}: it has no RE property (left as it is)")
        if found.group(1).upper().endswith((b"+R", b"+RESIGN")):
            return Verdict(RESIGNED)
        board = load_game(path)
        judge.set_up(board)
        answer = judge.final_score()
        verdict = compare(path, board, answer, judge)
        if found.group(1) == answer.encode():
            return verdict
        write_atomically(path, data[: found.start(1)] + answer.encode() + data[found.end(1):])
        return Verdict(verdict.kind, verdict.text, verdict.by_dead_stones, changed=True)
    except (SGFError, ValueError, EngineError) as error:
        return Verdict(FAILED, f"{path}: {error} (left as it is)")


def compare(path: Path, board: GoBoard, answer: str, judge: Judge) -> Verdict:
    """Compare GNU Go's answer with our count of the same position, all stones alive."""
    ours, theirs = board.count_score() - board.get_komi(), to_score(answer)
    if ours == theirs:
        return Verdict(AGREED)
    dead = judge.dead_stones(board)
    explained = area_without(board.state, dead)[0] - board.get_komi() == theirs
    names = " ".join(Coordinate(board.board_size).convert_to_gtp_format(pos) for pos in dead) or "no stones"
    kind = WINNER_DIFFERS if (ours > 0) - (ours < 0) != (theirs > 0) - (theirs < 0) else SCORE_DIFFERS
    text = f"{path}: {to_text(ours)} by our count, {answer} by GNU Go's, which calls {names} dead"
    return Verdict(kind, text, explained)


def judge_all(paths: list[Path], program: str, workers: int, timeout: float, stop: StopRequest) -> list[Verdict]:
    """Judge the games on several threads, each with a GNU Go of its own; print what there is to say."""
    waiting: queue.SimpleQueue[Path] = queue.SimpleQueue()
    for path in paths:
        waiting.put(path)
    verdicts: list[Verdict] = []
    failures: list[BaseException] = []

    def work() -> None:
        judge = Judge(program, timeout)
        try:
            while not stop.name and not failures:
                verdict = judge_file(waiting.get_nowait(), judge)
                verdicts.append(verdict)
                if verdict.text:
                    (print_err if verdict.kind == FAILED else print_out)(verdict.text)
        except queue.Empty:
            pass
        except BaseException as error:
            failures.append(error)
        finally:
            judge.close()

    threads = [threading.Thread(target=work) for _ in range(max(1, min(workers, len(paths))))]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            thread.join(0.2)
    if failures:
        raise failures[0]
    return verdicts


def summarize(folder: Path, verdicts: list[Verdict]) -> str:
    """Return how often GNU Go and our scorer disagree, and on what."""
    count = Counter(verdict.kind for verdict in verdicts)
    judged = count[AGREED] + count[SCORE_DIFFERS] + count[WINNER_DIFFERS]
    differ = [verdict for verdict in verdicts if verdict.kind in (SCORE_DIFFERS, WINNER_DIFFERS)]
    dead = sum(verdict.by_dead_stones for verdict in differ)
    share = f" ({100 * len(differ) / judged:.1f} %)" if judged else ""
    return (f"{folder}: {judged} games judged by GNU Go, {count[RESIGNED]} resigned, {count[FAILED]} not judged; "
            f"it disagrees with our count in {len(differ)}{share}, on the winner in {count[WINNER_DIFFERS]}; "
            f"{dead} because of dead stones left on the board, {len(differ) - dead} for other reasons; "
            f"{sum(verdict.changed for verdict in verdicts)} files changed")


@click.command(context_settings={"max_content_width": 110})
@click.option("--kifu-dir", type=click.Path(exists=True, file_okay=False, path_type=Path), default="archive",
              show_default=True, help="Archive of self-play games; the newest batch is judged.")
@click.option("--process", "workers", type=click.IntRange(1), default=WORKERS, show_default=True,
              help="GNU Go programs at a time.")
@click.option("--timeout", type=FiniteRange(0, min_open=True), default=60.0, show_default=True,
              help="Seconds that GNU Go may take for an answer.")
def main(kifu_dir: Path, workers: int, timeout: float) -> int:
    """Let GNU Go judge the games of the newest batch that nobody resigned; judging again changes nothing."""
    program = shutil.which("gnugo", path=get_search_path())
    if program is None:
        print_err("get_final_status.py: GNU Go is not installed (Debian: apt install gnugo); no result was changed")
        return EXIT_NOT_USABLE
    folder = kifu_dir / str(max(list_archive(kifu_dir), default=1))
    paths = list(list_games(folder).values()) if folder.is_dir() else []
    if not paths:
        print_err(f"get_final_status.py: no games in {folder}: run selfplay_main.py first")
        return EXIT_NOT_USABLE
    with StopRequest() as stop:
        try:
            verdicts = judge_all(paths, program, workers, timeout, stop)
        except OSError as error:
            print_err(f"get_final_status.py: {error.strerror or error}: {error.filename or folder}")
            return EXIT_FAILED
    print_out(summarize(folder, verdicts))
    if stop.name:
        return 128 + int(signal.Signals[stop.name])
    return EXIT_FAILED if all(verdict.kind == FAILED for verdict in verdicts) else EXIT_OK


if __name__ == "__main__":
    sys.exit(run_command(main, "get_final_status.py"))
