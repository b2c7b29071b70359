"""Games drawn from the policy of a strong network, with all that the network says of their positions, shard by shard.

A shard is a file of games (`.sgfs`, one a line) and the file of their labels (nn/data/labels.py) beside it. It depends
on nothing but the settings and its number.

Letters: G games of a shard, N of them that go on, M moves of a game, S board size, H handicap stones.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from board.constant import MAX_KOMI
from board.coordinate import Coordinate
from board.geometry import get_geometry
from board.handicap import get_fixed_handicap, max_fixed_handicap
from board.score import get_area
from board.state import copy_words, new_state
from board.stone import Stone
from common.atomic_file import write_atomically
from nn.data.labels import Labels
from nn.inference.board_evaluator import BoardEvaluator
from nn.inference.loading import load_evaluator
from nn.plane_sets import join_plane_sets
from sgf.match_result import MatchResult
from sgf.selfplay_record import SelfPlayRecord
from tools.labellib.judging import Judge, new_judged
from tools.labellib.store import write_labels
from tools.labellib.walks import Draw, new_walks, set_up_walk, show_walks, walk_on

SHARD_GAMES = 256
# Moves that a game has at most, for each point of the board.
MOVES_PER_POINT = 2
# Temperatures: of a game, of its first moves, and of the strange moves that a search looks at.
COOLEST, WARMEST, OPENING, STRANGE = 0.3, 1.0, 1.2, 2.0
# Moves with less than this share of the best one's probability are not drawn; the second is for strange moves.
CUTOFF, STRANGE_CUTOFF = 0.02, 0.001
MOST_OPENING_MOVES = 16
# Shares of strange moves; a game has one of them.
STRANGE_SHARES = (0.0, 0.0, 0.04, 0.1)
# A decided game is one whose mover had this win rate, or all but this, so many times in a row.
DECIDED, DECIDED_MOVES = 0.98, 4
# Kinds of komi beside the usual one: whole and half points around it, in so many games.
KOMI_STEPS, OTHER_KOMI = (-2.0, -1.5, -1.0, -0.5, 0.5, 1.0), 0.3
# Komi of most handicap games; the others have the one of an even game.
HANDICAP_KOMI = 0.5
# Share of handicap stones that stand a point beside their usual place, as those do that people place freely.
MOVED_STONES = 0.25
# A handicap game is not over for being decided, as most are from the start, before so many moves for each point.
HANDICAP_OPENING = 0.25


@dataclass(frozen=True)
class DrawSettings:
    """What the shards of a run have in common."""

    teacher: str  # path of the model file that labels
    student: str  # path of one that draws the moves of half of the players; empty for none
    size: int
    komi: float
    keep_decided: float  # share of games that are played on when they are decided
    seed: int
    handicap: float = 0.0  # share of games with handicap stones


class Shard(NamedTuple):
    """A shard to draw."""

    settings: DrawSettings
    folder: Path
    number: int
    use_gpu: bool

    @property
    def name(self) -> str:
        """What its files are called: labels find games by name, so no two runs may share one."""
        return f"drawn-{self.settings.seed}-{self.number:05d}"

    @property
    def games(self) -> Path:
        """The file of games."""
        return self.folder / f"{self.name}.sgfs"

    @property
    def labels(self) -> Path:
        """The file of labels, which is written last."""
        return self.folder / f"{self.name}.npz"


@cache
def load_judge(model: str, board_size: int, use_gpu: bool) -> BoardEvaluator:
    """Return a model's evaluator, on the first GPU or on one core; raises ModelFileError."""
    return load_evaluator(model, board_size, use_gpu, threads=1)


class Drawer:
    """Plays the games of one shard."""

    def __init__(self, shard: Shard) -> None:
        """Begin its games; raises ModelFileError."""
        settings, self._rng = shard.settings, np.random.default_rng([shard.settings.seed, shard.number])
        self._shard, self._size, self._longest = shard, settings.size, MOVES_PER_POINT * settings.size**2
        evaluators = [load_judge(path, settings.size, shard.use_gpu)
                      for path in (settings.teacher, settings.student) if path]
        self._teacher, *students = (Judge(evaluator, SHARD_GAMES) for evaluator in evaluators)
        self._student = students[0] if students else None
        plane_set = join_plane_sets([evaluator.plane_set for evaluator in evaluators])
        self._positions = plane_set.new_positions(self._size, SHARD_GAMES)
        self._walks = new_walks(SHARD_GAMES, self._size, plane_set.looks_back, self._longest, self._rng)
        self._state = new_state(self._size)
        self._weight = np.zeros(self._size**2 + 1)
        self._draw_habits()
        self._handicap = self._place_handicap(settings.handicap)

    def _draw_habits(self) -> None:
        """Choose what is particular about each game."""
        rng, count = self._rng, SHARD_GAMES
        settings = self._shard.settings
        self._temperature = rng.uniform(COOLEST, WARMEST, count)
        self._opening_moves = rng.integers(0, MOST_OPENING_MOVES + 1, count)
        self._strange = rng.choice(STRANGE_SHARES, count)
        other = rng.random(count) < OTHER_KOMI
        self._komi = np.clip(settings.komi + np.where(other, rng.choice(KOMI_STEPS, count), 0.0), -MAX_KOMI, MAX_KOMI)
        self._plays_on = rng.random(count) < settings.keep_decided
        # By whose policy Black's and White's moves are drawn: the student's or the teacher's.
        self._of_student = rng.random((count, 2)) < (0.5 if self._student else 0.0)

    def _place_handicap(self, share: float) -> list[list[int]]:
        """Begin such a share of the games with handicap stones, with White to move; return each one's pos [H]."""
        rng, size = self._rng, self._size
        self._decides_from = np.full(SHARD_GAMES, DECIDED_MOVES)
        handicap: list[list[int]] = [[] for _ in range(SHARD_GAMES)]
        # Where no game has stones no random number is drawn: a run of before 0.27 goes on as it began.
        for g in np.flatnonzero(rng.random(SHARD_GAMES) < share).tolist() if share else ():
            fixed = get_fixed_handicap(size, int(rng.integers(2, max_fixed_handicap(size) + 1)))
            beside = rng.choice((-1, 1, -size - 2, size + 2), len(fixed))
            moved = rng.random(len(fixed)) < MOVED_STONES
            handicap[g] = np.unique(fixed + np.where(moved, beside, 0)).tolist()
            colors = np.full(len(handicap[g]), Stone.BLACK.value, dtype=np.int8)
            set_up_walk(self._walks, g, self._state, size, np.array(handicap[g], dtype=np.int16), colors,
                        Stone.WHITE.value)
            self._decides_from[g] = int(HANDICAP_OPENING * size**2)
            if rng.random() >= OTHER_KOMI:
                self._komi[g] = HANDICAP_KOMI
        return handicap

    def play(self) -> tuple[list[bytes], dict[str, Labels]]:
        """Play all games to their end; return each one's record, and its labels by its name in the file."""
        count = SHARD_GAMES
        self._judged = new_judged(count, self._longest, self._size)
        rows, two_passes = np.arange(count), np.zeros(count, dtype=np.bool_)
        for move in range(self._longest):
            over = self._step(rows, move)
            two_passes[rows[over]] = True
            rows = rows[~(over | self._is_settled(rows, move))]
            if len(rows) == 0:
                break
        records = [self._record(g, bool(two_passes[g])) for g in range(count)]
        moves = self._walks.history.length[:, 0] - 1
        return records, {f"{self._shard.games.name} line {g + 1}": self._judged.labels(g, int(moves[g]))
                         for g in range(count)}

    def _step(self, rows: np.ndarray, move: int) -> np.ndarray:
        """Judge the positions of the games `rows` and play a move in each; return which have ended by two passes."""
        of_student = self._of_student[rows, move % 2]
        order = np.argsort(~of_student, kind="stable")  # those whose moves the student draws come first
        chosen, back = rows[order], np.argsort(order, kind="stable")
        show_walks(self._walks, chosen, self._state, self._positions)
        policy, answers = self._teacher.ask(self._walks, chosen, self._positions, self._komi[chosen])
        self._judged.keep(chosen, move, policy, answers)
        if self._student is not None and (own := int(of_student.sum())):
            students = chosen[:own]
            policy[:own], _ = self._student.ask(self._walks, students, self._positions, self._komi[students])
        strange = self._rng.random(len(chosen)) < self._strange[chosen]
        temperature = np.where(move < self._opening_moves[chosen], OPENING, self._temperature[chosen])
        draw = Draw(policy, np.where(strange, STRANGE, temperature), np.where(strange, STRANGE_CUTOFF, CUTOFF))
        over = np.zeros(len(chosen), dtype=np.bool_)
        walk_on(self._walks, chosen, self._state, draw, get_geometry(self._size).policy_pos, self._weight, over)
        return over[back]

    def _is_settled(self, rows: np.ndarray, move: int) -> np.ndarray:
        """Tell which of the games are decided and end there."""
        if move < DECIDED_MOVES:
            return np.zeros(len(rows), dtype=np.bool_)
        goes_on = (move < self._decides_from[rows]) | self._plays_on[rows]
        last = self._judged.win_rate[rows, move - DECIDED_MOVES + 1:move + 1]
        return ((last > DECIDED) | (last < 1.0 - DECIDED)).all(axis=1) & ~goes_on

    def _record(self, g: int, two_passes: bool) -> bytes:
        """Return game `g` as a line of SGF; its result is only known when both have passed."""
        history, komi = self._walks.history, float(self._komi[g])
        record = SelfPlayRecord("", Coordinate(self._size))
        for pos in self._handicap[g]:
            record.save_handicap(pos)
        for n in range(1, int(history.length[g, 0])):
            record.save_record(None, int(history.pos[g, n]), Stone(int(history.color[g, n])))
        result, score = MatchResult.UNKNOWN, 0.0
        if two_passes:
            copy_words(self._state.buffer, self._walks.position[g])
            score = get_area(self._state)[0] - komi
            result = MatchResult.from_score(score)
        return record.get_sgf(result, komi, False, score).replace("\n", "").encode("ascii") + b"\n"


def draw_shard(shard: Shard) -> int:
    """Draw the games of a shard, write both files, and return the number of positions; raises OSError."""
    records, labels = Drawer(shard).play()
    write_atomically(shard.games, b"".join(records))
    write_labels(shard.labels, labels)
    return sum(len(one.win_rate) for one in labels.values())
