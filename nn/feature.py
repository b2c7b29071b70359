"""What a network sees: positions as they come from the board, and the sets of planes that are made of them.

A search collects positions (`Positions`, `take_position`); before each call of the network the encoder of its plane set
turns them into planes, float32 [N, P, S, S]. The table nn/plane_sets.py says which sets there are.

Letters: N positions, P planes, S board size, C = (S + 2)^2 cells, W words of State.buffer, K moves that a plane set
looks back.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from board.constant import NO_MOVE, PASS
from board.geometry import get_geometry
from board.go_board import GoBoard
from board.rules import is_legal, is_superko
from board.state import (
    BLACK,
    EMPTIES,
    EMPTY,
    KO_POS,
    LAST_MOVE,
    SIZE,
    TO_MOVE,
    WIDTH,
    History,
    State,
    copy_state,
    copy_words,
    new_state,
    turn_to,
)
from board.stone import Stone
from common.kernel import kernel
from common.quick_call import QuickCall
from nn.constant import INPUT_PLANES

# What takes planes, float32 [N, P, S, S], to policy logits, float32 [N, S*S + 1], and the chances to lose, draw and
# win, float32 [N, 3]: the network (nn/inference/evaluator.py), or whatever stands in for it. A network that tells more
# has it behind these two: the mover's lead in points, float32 [N], and ownership from -1 to 1, float32 [N, S*S].
# Its attribute `plane_set` names the planes it wants; without one they are the lecture's.
Evaluator = Callable[[np.ndarray], tuple[np.ndarray, ...]]

# How many of the last moves a position remembers.
RECENT_MOVES = 5


class Positions(NamedTuple):
    """Positions whose planes are wanted; row n of every array belongs to position n. Rows of 0 length: not wanted."""

    now: np.ndarray  # uint64 [N, W]: State.buffer
    past: np.ndarray  # uint64 [N or 0, K, W]: one move ago, two moves ago, ...
    recent: np.ndarray  # int16 [N, 5]: the last moves in turn, the newest first; NO_MOVE where there is none
    repeats: np.ndarray  # uint8 [N or 0, C]: 1 on points that ko and superko forbid


@dataclass(frozen=True)
class PlaneSet:
    """A way to show positions to a network.

    Attributes:
        name: what options and model files call it.
        planes: how many there are.
        looks_back: K, how many positions it wants in Positions.past.
        knows_ko: whether it wants Positions.repeats.
        encode: kernel (positions, count, komi [N], work, out [N, P, S, S]) for the first `count` positions; komi is
            White's. Modifies out.
        new_work: makes the kernel's work space for a board size.
    """

    name: str
    planes: int
    looks_back: int
    knows_ko: bool
    encode: Callable[[Positions, int, np.ndarray, Any, np.ndarray], None]
    new_work: Callable[[int], Any]

    def new_positions(self, board_size: int, count: int) -> Positions:
        """Return room for so many positions."""
        words, cells = len(new_state(board_size).buffer), (board_size + 2) ** 2
        past, ko = count * (self.looks_back > 0), count * self.knows_ko
        return Positions(
            np.zeros((count, words), dtype=np.uint64), np.zeros((past, self.looks_back, words), dtype=np.uint64),
            np.full((count, RECENT_MOVES), NO_MOVE, dtype=np.int16), np.zeros((ko, cells), dtype=np.uint8),
        )

    def new_planes(self, board_size: int, count: int) -> np.ndarray:
        """Return room for the planes of so many positions, float32 [N, P, S, S]."""
        return np.zeros((count, self.planes, board_size, board_size), dtype=np.float32)


@kernel
def list_recent_moves(history: History, color: int, out: np.ndarray) -> None:
    """Write the moves before a move of `color` to out [5], newest first, as far as they took turns. Modifies out."""
    newest, mover = history.length[0] - 1, 3 - color
    for k in range(len(out)):
        out[k] = NO_MOVE
    for k in range(min(len(out), newest)):
        if history.color[newest - k] != mover:
            break
        out[k] = history.pos[newest - k]
        mover = 3 - mover


@kernel
def mark_repeats(state: State, history: History, color: int, out: np.ndarray) -> None:
    """Write 1 to out [C] where ko or positional superko forbids a stone of `color`, else 0. Modifies out."""
    out[:] = 0
    for i in range(state.info[EMPTIES]):
        pos = state.empties[i]
        is_ko = pos == state.info[KO_POS] and color == state.info[TO_MOVE]
        if is_ko or (is_legal(state, pos, color) and is_superko(state, history, pos, color)):
            out[pos] = 1


@kernel
def remember(past: np.ndarray, state: State) -> None:
    """Push a position that a move is about to change into past [K, W]. Modifies past."""
    for age in range(len(past) - 1, 0, -1):
        copy_words(past[age], past[age - 1])
    if len(past) > 0:
        copy_words(past[0], state.buffer)


@kernel
def take_position(positions: Positions, n: int, state: State, history: History, past: np.ndarray) -> None:
    """Keep a position as number `n`. Modifies positions.

    past [K, W] holds State.buffer before the last moves, the newest first.
    """
    copy_words(positions.now[n], state.buffer)
    list_recent_moves(history, state.info[TO_MOVE], positions.recent[n])
    if len(positions.past) > 0:
        for age in range(len(past)):
            copy_words(positions.past[n, age], past[age])
    if len(positions.repeats) > 0:
        mark_repeats(state, history, state.info[TO_MOVE], positions.repeats[n])


@kernel
def encode_planes(state: State, color: int, out: np.ndarray) -> None:
    """Write the lecture's planes of `state` with `color` to move to `out` [6, S, S] of any dtype. Modifies out.

    0 empty, 1 own stones, 2 opponent's stones, 3 the previous move, 4 all ones if the previous move was a pass, 5 the
    side to move (+1 Black, -1 White).
    """
    info = state.info
    size, width, last = info[SIZE], info[WIDTH], info[LAST_MOVE]
    side = 1 if color == BLACK else -1
    passed = 1 if last == PASS else 0
    for y in range(size):
        for x in range(size):
            pos = (y + 1) * width + x + 1
            stone = state.stones[pos]
            out[0, y, x] = 1 if stone == EMPTY else 0
            out[1, y, x] = 1 if stone == color else 0
            out[2, y, x] = 1 if stone == 3 - color else 0
            out[3, y, x] = 1 if pos == last else 0
            out[4, y, x] = passed
            out[5, y, x] = side


@kernel
def encode_basic(positions: Positions, count: int, komi: np.ndarray, work: State, out: np.ndarray) -> None:
    """Write the lecture's planes of the first `count` positions. Modifies out and work, a State."""
    for n in range(count):
        copy_words(work.buffer, positions.now[n])
        encode_planes(work, work.info[TO_MOVE], out[n])


BASIC = PlaneSet("basic", INPUT_PLANES, looks_back=0, knows_ko=False, encode=encode_basic, new_work=new_state)


class Encoder:
    """Room for the planes of one network's calls, and what fills it."""

    def __init__(self, plane_set: PlaneSet, board_size: int, planes: np.ndarray) -> None:
        """Write to `planes`, float32 [N, P, S, S]."""
        self.planes = planes
        self._work = plane_set.new_work(board_size)
        self._komi, self._encode = np.zeros(len(planes)), QuickCall(plane_set.encode)

    def __call__(self, positions: Positions, count: int, komi: float | np.ndarray) -> np.ndarray:
        """Return the planes of the first `count` positions, valid until the next call.

        `komi` is that of all, or float [count], of each.
        """
        self._komi[:count] = komi
        self._encode(positions, count, self._komi, self._work, self.planes)
        return self.planes[:count]


def plane_set_of(evaluator: object) -> PlaneSet:
    """Return the planes an evaluator wants: the lecture's, if it does not say."""
    return getattr(evaluator, "plane_set", BASIC)


def past_of(board: GoBoard, plane_set: PlaneSet) -> np.ndarray:
    """Return the buffers of the positions before the last moves, uint64 [K, W].

    The start position stands for what was before it.
    """
    buffers = np.zeros((plane_set.looks_back, len(board.state.buffer)), dtype=np.uint64)
    younger = board.copy()
    for age in range(plane_set.looks_back):
        younger.truncate(max(0, len(younger.record) - 1))
        buffers[age] = younger.state.buffer
    return buffers


def encode_board(board: GoBoard, color: Stone, plane_set: PlaneSet) -> np.ndarray:
    """Return the planes of a board with `color` to move, float32 [P, S, S]."""
    size = board.board_size
    positions = plane_set.new_positions(size, 1)
    state = new_state(size)
    copy_state(state, board.state)
    turn_to(state, int(color))
    take_position(positions, 0, state, board.history, past_of(board, plane_set))
    encoder = Encoder(plane_set, size, plane_set.new_planes(size, 1))
    return encoder(positions, 1, float(board.get_komi()))[0]


def generate_input_planes(board: GoBoard, color: Stone, sym: int = 0, plane_set: PlaneSet = BASIC) -> np.ndarray:
    """Return the planes of a board, float32 [P, S, S], seen through symmetry `sym` (0 to 7)."""
    geometry = get_geometry(board.board_size)
    planes = encode_board(board, color, plane_set)
    if sym == 0:
        return planes
    order = geometry.policy_index[geometry.symmetry[sym, geometry.points]]
    return planes.reshape(len(planes), -1)[:, order].reshape(planes.shape)
