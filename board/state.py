"""A position and its history as plain arrays.

The position is a tuple of views on ONE buffer, so that copying it is one small memory copy. The layout is the
table FIELDS. Letters: C = (S + 2)^2 cells of the padded board.

Beware: pickling or deep-copying a State separates its views from the buffer; only GoBoard copies itself, and
kernels copy with `copy_state`.
"""

from typing import NamedTuple

import numpy as np

from board.constant import NO_MOVE, OB_SIZE, PASS
from board.geometry import get_geometry
from common.kernel import kernel

EMPTY, BLACK, WHITE, OUT_OF_BOARD = 0, 1, 2, 3

# Entries of State.info.
SIZE = 0  # board size S
WIDTH = 1  # S + 2, the step from a cell to the one below it
KO_POS = 2  # point that TO_MOVE may not retake at once, 0 if none
KO_MOVE = 3  # number of the move that took the last ko, 0 before the first one
TO_MOVE = 4  # opponent of the last mover
MOVES = 5  # moves and passes played since the start position
LAST_MOVE = 6  # pos, PASS, or NO_MOVE
PASSES = 7  # passes in a row at the end
EMPTIES = 8  # number of empty points
PRISONERS = 9  # stones captured by Black, and in the next entry by White
LAST_CAPTURE = 11  # number of the last move that captured, 0 if none
INFO_LENGTH = 12

# name, dtype, entries: "C" for one per cell, or a number.
FIELDS: tuple[tuple[str, type, int | str], ...] = (
    ("hash", np.uint64, 1),  # Zobrist hash of the stones
    ("info", np.int32, INFO_LENGTH),  # the scalars above
    ("string_id", np.int16, "C"),  # pos of the stone that names the string, 0 where no stone is
    ("string_next", np.int16, "C"),  # ring of the string's stones
    ("liberties", np.int16, "C"),  # by string id: exact number of liberties
    ("size", np.int16, "C"),  # by string id: number of stones
    ("empties", np.int16, "C"),  # the empty points in no particular order, info[EMPTIES] of them
    ("empty_index", np.int16, "C"),  # where a point stands in `empties`
    ("stones", np.int8, "C"),  # EMPTY, BLACK, WHITE or OUT_OF_BOARD
)


class State(NamedTuple):
    """One position; every field is a view on `buffer` (see FIELDS)."""

    buffer: np.ndarray
    hash: np.ndarray
    info: np.ndarray
    string_id: np.ndarray
    string_next: np.ndarray
    liberties: np.ndarray
    size: np.ndarray
    empties: np.ndarray
    empty_index: np.ndarray
    stones: np.ndarray


class History(NamedTuple):
    """How a position came about; entry 0 is the start position, entry n the n-th move (append-only).

    `length[0]` counts the entries in use. Search shortens it back to the root's; superko reads hash[:length].
    """

    pos: np.ndarray  # int16 [N]
    color: np.ndarray  # int8 [N]
    hash: np.ndarray  # uint64 [N]: after the move
    length: np.ndarray  # int32 [1]


@kernel
def history_of(histories: History, g: int) -> History:
    """Return the history of one game; each field of `histories` has a row for every game."""
    return History(histories.pos[g], histories.color[g], histories.hash[g], histories.length[g])


def new_state(board_size: int) -> State:
    """Return an empty board; raises ValueError outside 2..19."""
    cells = get_geometry(board_size).cells
    spans = []
    offset = 0
    for _, dtype, entries in FIELDS:
        count = cells if isinstance(entries, str) else entries
        size = count * np.dtype(dtype).itemsize
        spans.append((offset, offset + size, dtype))
        offset += -(-size // 8) * 8  # every field starts at a multiple of 8 bytes
    buffer = np.zeros(offset // 8, dtype=np.uint64)
    memory = buffer.view(np.uint8)
    state = State(buffer, *(memory[start:end].view(dtype) for start, end, dtype in spans))
    clear_state(state, board_size)
    return state


def new_history(capacity: int) -> History:
    """Return an empty history with room for `capacity` entries."""
    return History(
        np.zeros(capacity, dtype=np.int16), np.zeros(capacity, dtype=np.int8),
        np.zeros(capacity, dtype=np.uint64), np.zeros(1, dtype=np.int32),
    )


@kernel
def clear_state(state: State, board_size: int) -> None:
    """Make `state` the empty board, Black to move."""
    state.buffer[:] = 0
    info = state.info
    width = board_size + 2 * OB_SIZE
    info[SIZE] = board_size
    info[WIDTH] = width
    info[TO_MOVE] = BLACK
    info[LAST_MOVE] = NO_MOVE
    state.stones[:] = OUT_OF_BOARD
    count = 0
    for y in range(1, board_size + 1):
        for x in range(1, board_size + 1):
            pos = x + y * width
            state.stones[pos] = EMPTY
            state.empties[count] = pos
            state.empty_index[pos] = count
            count += 1
    info[EMPTIES] = count


@kernel
def turn_to(state: State, color: int) -> None:
    """Make `color` the side to move; a ko ban on the other side is lifted. Modifies state."""
    if state.info[TO_MOVE] != color:
        state.info[TO_MOVE] = color
        state.info[KO_POS] = 0


@kernel
def copy_words(target: np.ndarray, source: np.ndarray) -> None:
    """Make a position's buffer equal to another's. Modifies target."""
    for i in range(len(source)):
        target[i] = source[i]


@kernel
def copy_state(target: State, source: State) -> None:
    """Make `target` equal to `source`; both have the same board size."""
    copy_words(target.buffer, source.buffer)


@kernel
def start_history(history: History, state: State) -> None:
    """Make `state` the start position of `history`."""
    history.pos[0] = PASS
    history.color[0] = EMPTY
    history.hash[0] = state.hash[0]
    history.length[0] = 1


@kernel
def append_history(history: History, state: State, pos: int, color: int) -> None:
    """Append the move that led to `state`; the caller has made sure of the room."""
    n = history.length[0]
    history.pos[n] = pos
    history.color[n] = color
    history.hash[n] = state.hash[0]
    history.length[0] = n + 1


@kernel
def copy_history(target: History, source: History) -> None:
    """Make `target` equal to `source`; the caller has made sure of the room."""
    n = source.length[0]
    for i in range(n):
        target.pos[i] = source.pos[i]
        target.color[i] = source.color[i]
        target.hash[i] = source.hash[i]
    target.length[0] = n
