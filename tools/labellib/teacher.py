"""A stronger engine that judges positions: KataGo's analysis engine, or whatever else speaks its lines of JSON.

Letters: M moves of a game, S board size.
"""

import json
import queue
import subprocess
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from board.coordinate import Coordinate
from board.geometry import get_geometry
from board.state import BLACK, WHITE
from common.exit_status import ProgramError
from nn.data.labels import Labels, pack_ownership, pack_policies
from sgf.collection import Kifu

# Games that the engine is given ahead of the answers.
GAMES_AHEAD = 16
END_SECONDS = 5.0
COLORS = {BLACK: "B", WHITE: "W"}
# How an engine answers lines of JSON that it takes for commands of GTP.
GTP_FAILURE = b"?"

# What a program that labels games says when it ends early.
KEPT = "what was labelled before is kept"
STOPPED = "stopped; the same command goes on from here"


class LabelError(ProgramError):
    """Labelling cannot start or go on; one line for the user."""


class Question(NamedTuple):
    """How positions are judged."""

    board_size: int
    visits: int  # 1: the network alone
    rules: str


def takes_turns(game: Kifu) -> bool:
    """Return whether the colors alternate, as an analysis engine takes for granted."""
    return bool((game.color[1:] != game.color[:-1]).all())


def make_query(game: Kifu, name: str, question: Question) -> dict[str, Any]:
    """Return the query about all positions of a game before a move."""
    point = Coordinate(question.board_size).convert_to_gtp_format
    return {
        "id": name, "rules": question.rules, "komi": round(float(game.komi), 2), "maxVisits": question.visits,
        "boardXSize": question.board_size, "boardYSize": question.board_size,
        "initialStones": [[COLORS[int(color)], point(int(pos))]
                          for pos, color in zip(game.setup_pos, game.setup_color, strict=True)],
        "initialPlayer": COLORS[int(game.color[0])],
        "moves": [[COLORS[int(color)], point(int(pos))] for pos, color in zip(game.pos, game.color, strict=True)],
        "analyzeTurns": list(range(len(game.pos))), "includePolicy": True, "includeOwnership": True,
        # KataGo would hide the moves before each position, of which its networks see five.
        "overrideSettings": {"reportAnalysisWinratesAs": "SIDETOMOVE", "ignorePreRootHistory": False},
    }


class Judgment(NamedTuple):
    """What was said of one position, for the side to move."""

    policy: np.ndarray  # float [S*S + 1]
    win_rate: float
    lead: float
    ownership: np.ndarray  # float [S*S], -1 to 1


def read_answer(answer: dict[str, Any], question: Question) -> Judgment:
    """Return what an answer says; raises LabelError for one without policy or ownership."""
    points = question.board_size**2
    try:
        policy = np.maximum(np.array(answer["policy"], dtype=np.float64), 0.0)
        ownership = np.array(answer["ownership"], dtype=np.float64)
        if question.visits > 1:
            policy = share_visits(answer["moveInfos"], question.board_size)
        if policy.shape != (points + 1,) or ownership.shape != (points,):
            raise ValueError(f"{len(policy)} entries of policy and {len(ownership)} of ownership")
        root, total = answer["rootInfo"], policy.sum()
        win_rate, lead = float(root["winrate"]), float(root["scoreLead"])
        if not (0.0 <= win_rate <= 1.0 and np.isfinite([total, lead, *ownership]).all() and total > 0.0):
            raise ValueError(f"win rate {win_rate}, lead {lead}, a policy of {total} in all")
        return Judgment(policy / total, win_rate, lead, ownership)
    except (KeyError, OverflowError, TypeError, ValueError) as error:
        raise LabelError(f"an answer that cannot be used ({type(error).__name__}: {error}): "
                         f"{json.dumps(answer)[:200]}") from None


def share_visits(moves: list[dict[str, Any]], board_size: int) -> np.ndarray:
    """Return the visits of each move as a policy, float [S*S + 1] (not normalized)."""
    coordinate, shares = Coordinate(board_size), np.zeros(board_size**2 + 1)
    for move in moves:
        pos = coordinate.convert_from_gtp_format(move["move"])
        shares[get_geometry(board_size).policy_index[pos]] = move["visits"]
    return shares


def to_labels(judgments: list[Judgment]) -> Labels:
    """Return what was said of a game's positions as labels."""
    return Labels(
        *pack_policies(np.stack([one.policy for one in judgments])),
        np.array([one.win_rate for one in judgments], dtype=np.float16),
        np.array([one.lead for one in judgments], dtype=np.float16),
        pack_ownership(np.stack([one.ownership for one in judgments])),
    )


class Teacher:
    """The engine as a child process: many queries in flight, answers in any order."""

    def __init__(self, command: list[str], log: Path, question: Question) -> None:
        """Start it; what it writes on stderr goes to `log`. Raises LabelError where there is no such program."""
        self._question, self._log, self._command = question, log, command
        try:
            with open(log, "wb") as errors:
                self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)
        except OSError as error:
            raise LabelError(f"cannot start {command[0]!r}: {error.strerror}") from None
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        threading.Thread(target=self._feed, daemon=True).start()

    def _feed(self) -> None:
        """Write queries as they come: the engine may be slow to read while it is slow to be read."""
        assert self._process.stdin is not None
        try:
            while (line := self._lines.get()) is not None:
                self._process.stdin.write(line)
                self._process.stdin.flush()
        except OSError:
            pass  # it has ended; whoever reads its answers says so

    def label(self, games: Iterable[tuple[str, Kifu]]) -> Iterator[tuple[str, Labels]]:
        """Yield the names of games and their labels, as they become known; raises LabelError when the engine fails."""
        waiting: dict[str, list[Judgment | None]] = {}
        left = iter(games)
        while True:
            while len(waiting) < GAMES_AHEAD and (one := next(left, None)) is not None:
                name, game = one
                waiting[name] = [None] * len(game.pos)
                self._lines.put(json.dumps(make_query(game, name, self._question)).encode() + b"\n")
            if not waiting:
                return
            name, turn, judgment = self._read(waiting)
            waiting[name][turn] = judgment
            done = [known for known in waiting[name] if known is not None]
            if len(done) == len(waiting[name]):
                del waiting[name]
                yield name, to_labels(done)

    def _read(self, waiting: dict[str, list[Judgment | None]]) -> tuple[str, int, Judgment]:
        """Return game, turn and content of the next answer."""
        assert self._process.stdout is not None
        while True:
            line = self._process.stdout.readline()
            if not line:
                tail = self._log.read_bytes()[-400:].decode(errors="replace").split("\n")
                said = next((text for text in reversed(tail) if text.strip()), "nothing")
                raise LabelError(f"{self._command[0]} ended ({self._process.wait()}), its last words: {said.strip()}")
            try:
                answer = json.loads(line)
            except (ValueError, RecursionError):
                if line.startswith(GTP_FAILURE):  # it would say so of every query, and never judge a position
                    raise LabelError(f"{self._command[0]} speaks GTP, not KataGo's analysis protocol: give the command "
                                     'that does, such as "katago analysis -model M" or "main.py analysis"') from None
                continue  # greetings
            if not isinstance(answer, dict):
                continue
            if "error" in answer:
                raise LabelError(f"{answer.get('id', 'a query')} was refused: {answer['error']}")
            name, turn = answer.get("id"), answer.get("turnNumber")
            if answer.get("isDuringSearch") or "warning" in answer:
                continue
            if not isinstance(name, str) or not isinstance(turn, int) or not 0 <= turn < len(waiting.get(name, ())):
                raise LabelError(f"an answer that nobody asked for: {line[:200].decode(errors='replace')}")
            return name, turn, read_answer(answer, self._question)

    def close(self) -> None:
        """End the engine, whatever it is doing."""
        self._lines.put(None)
        self._process.terminate()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
