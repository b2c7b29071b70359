"""The position of a playout: what each color's move on each point weighs, kept up to date move by move.

A point's weight follows from the eight cells around it (board/pattern.py numbers them) through a table of whole
numbers, both colors side by side, so that sums stay exact however long the game. They are added and kept as pairs, one
integer of 64 bits for both: no weight and no sum is below 0, and what a negative difference borrows from the other
half, its addition gives back. A move changes the codes of its own eight neighbors and of those of the stones that it
captures, and nothing else is looked up again. `rows` and `whole` hold the sums that a draw needs.

What happens at every move has as few branches as can be: nobody foretells which way they go, and a wrong guess of the
processor costs as much as a dozen sums. Stones and the edge are looked up as empty points are, and weigh nothing.

Letters: C = (S + 2)^2 cells of the padded board; colors are counted from 0, Black, here.
"""

from typing import NamedTuple

import numpy as np

from board.constant import PASS
from board.pattern import pattern_code
from board.playout import PLAYOUT_MOVES_PER_POINT
from board.rules import neighbor_strings, play
from board.state import BLACK, EMPTY, LAST_MOVE, SIZE, TO_MOVE, WIDTH, State, new_state
from board.string import stands_beside_atari
from common.kernel import kernel

# A weight in whole numbers: gamma 1 (mcts/uct/pattern_table.py) is this much.
UNIT = 1000
CODES = 1 << 16
# The numbers of PlayoutGame.sums.
MORE, TOTAL = 0, 1
# Points that a playout treats in a special way at one move, at most.
SPECIAL = 64
# Cells of the regions around a point that are looked at for nakade: four of up to six.
REGION_CELLS = 24


class PlayoutGame(NamedTuple):
    """The position of a playout and the work space of the thread that plays it."""

    state: State
    codes: np.ndarray  # int32 [C]: the eight cells around each point
    weights: np.ndarray  # int32 [C, 2]: what a move on each empty point weighs for each color; 0 elsewhere
    pairs: np.ndarray  # int64 [C]: the same memory
    rows: np.ndarray  # int32 [S + 2, 2]: sums of the rows of weights
    row_pairs: np.ndarray  # int64 [S + 2]: the same memory
    whole: np.ndarray  # int32 [2]: the sum of all rows
    whole_pair: np.ndarray  # int64 [1]: the same memory
    row_of: np.ndarray  # int16 [C]
    changed: np.ndarray  # int16 [C]: stones that a move takes off
    moves: np.ndarray  # int16 [M]: the moves of the game, from the start of the playout
    previous: np.ndarray  # int16 [1]: the move before the last one, NO_MOVE if there is none
    special: np.ndarray  # int16 [K]: cells with a factor
    factor: np.ndarray  # float32 [C]: how much more they weigh at this move, 0 for none
    specials: np.ndarray  # int16 [1]: how many these are
    more: np.ndarray  # int32 [K]: what that adds to each of them
    sums: np.ndarray  # int64 [2]: MORE, what all of these add; TOTAL, what all points weigh with that
    refused: np.ndarray  # int16 [C]: points that were drawn and are not to be played at this move
    cells: np.ndarray  # int16 [R]: small regions
    seen: np.ndarray  # int8 [C]: 0, but while regions are listed
    owner: np.ndarray  # int8 [C]
    queue: np.ndarray  # int16 [C]
    random_state: np.ndarray  # uint64 [1]


def new_playout_work(board_size: int, seed: int = 1) -> PlayoutGame:
    """Return work space for playouts on one size of board; `seed` is not 0."""
    state = new_state(board_size)
    cells, width = len(state.stones), board_size + 2
    pairs, row_pairs, whole_pair = (np.zeros(length, dtype=np.int64) for length in (cells, width, 1))
    return PlayoutGame(
        state, np.zeros(cells, dtype=np.int32), pairs.view(np.int32).reshape(cells, 2), pairs,
        row_pairs.view(np.int32).reshape(width, 2), row_pairs, whole_pair.view(np.int32), whole_pair,
        (np.arange(cells) // width).astype(np.int16), np.zeros(cells, dtype=np.int16),
        np.zeros(PLAYOUT_MOVES_PER_POINT * board_size**2, dtype=np.int16), np.zeros(1, dtype=np.int16),
        np.zeros(SPECIAL, dtype=np.int16), np.zeros(cells, dtype=np.float32), np.zeros(1, dtype=np.int16),
        np.zeros(SPECIAL, dtype=np.int32), np.zeros(2, dtype=np.int64),
        np.zeros(cells, dtype=np.int16), np.zeros(REGION_CELLS, dtype=np.int16),
        np.zeros(cells, dtype=np.int8),
        np.zeros(cells, dtype=np.int8), np.zeros(cells, dtype=np.int16), np.array([seed], dtype=np.uint64),
    )


@kernel
def leave_out(work: PlayoutGame, pos: int, color: int) -> None:
    """Make a point weigh nothing for a color until it is refreshed. Modifies work.weights, rows and whole."""
    weight = work.weights[pos, color - BLACK]
    work.rows[work.row_of[pos], color - BLACK] -= weight
    work.whole[color - BLACK] -= weight
    work.weights[pos, color - BLACK] = 0


@kernel
def exchange_pair(work: PlayoutGame, table: np.ndarray, pos: int) -> int:
    """Look up what a cell weighs, nothing unless it is empty; return the pair's change. Modifies work.pairs."""
    pair = table.view(np.int64)[work.codes[pos], 0] * int(work.state.stones[pos] == EMPTY)
    change = pair - work.pairs[pos]
    work.pairs[pos] = pair
    return change


@kernel
def refresh(work: PlayoutGame, table: np.ndarray, pos: int) -> None:
    """Look up what a cell weighs for both colors. Modifies work."""
    change = exchange_pair(work, table, pos)
    work.row_pairs[work.row_of[pos]] += change
    work.whole_pair[0] += change


@kernel
def start_playout(work: PlayoutGame, table: np.ndarray, previous: int) -> None:
    """Make ready for a playout from work.state; `previous` is the move before its last one. Modifies work."""
    size, width = work.state.info[SIZE], work.state.info[WIDTH]
    work.previous[0] = previous
    work.whole_pair[0] = 0
    for row in range(width):
        work.row_pairs[row] = 0
    for y in range(1, size + 1):
        for pos in range(y * width + 1, y * width + size + 1):
            work.codes[pos] = pattern_code(work.state, pos)
            work.pairs[pos] = 0
            refresh(work, table, pos)


@kernel
def toggle(codes: np.ndarray, width: int, pos: int, stone: int) -> None:
    """Put a stone into the codes of the cells around `pos`, or take it out of them. Modifies codes."""
    codes[pos + width + 1] ^= stone
    codes[pos + width] ^= stone << 2
    codes[pos + width - 1] ^= stone << 4
    codes[pos + 1] ^= stone << 6
    codes[pos - 1] ^= stone << 8
    codes[pos - width + 1] ^= stone << 10
    codes[pos - width] ^= stone << 12
    codes[pos - width - 1] ^= stone << 14


@kernel
def refresh_around(work: PlayoutGame, table: np.ndarray, width: int, pos: int) -> None:
    """Look up the weights of a cell and its eight neighbors. Modifies work."""
    row, whole = work.row_of[pos] - 1, 0
    for start in (pos - width - 1, pos - 1, pos + width - 1):
        change = 0
        for cell in range(start, start + 3):
            change += exchange_pair(work, table, cell)
        work.row_pairs[row] += change
        whole += change
        row += 1
    work.whole_pair[0] += whole


@kernel
def list_captured(state: State, pos: int, color: int, out: np.ndarray) -> int:
    """Write the stones that a move on `pos` takes off to `out` and return how many. Modifies out."""
    count = 0
    if not stands_beside_atari(state, pos):
        return count
    for string_id in neighbor_strings(state, pos):
        if string_id == 0 or state.stones[string_id] == color or state.liberties[string_id] != 1:
            continue
        stone = string_id
        while True:
            out[count] = stone
            count += 1
            stone = state.string_next[stone]
            if stone == string_id:
                break
    return count


@kernel
def play_in_playout(work: PlayoutGame, table: np.ndarray, pos: int) -> int:
    """Play a legal move, or PASS, of the side to move and return the number of captured stones. Modifies work."""
    state = work.state
    color, width, count = state.info[TO_MOVE], state.info[WIDTH], 0
    work.previous[0] = state.info[LAST_MOVE]
    if pos != PASS:
        count = list_captured(state, pos, color, work.changed)
    play(state, pos, color)
    if pos == PASS:
        return 0
    toggle(work.codes, width, pos, color)
    for i in range(count):
        toggle(work.codes, width, work.changed[i], 3 - color)
    refresh_around(work, table, width, pos)
    for i in range(count):
        refresh_around(work, table, width, work.changed[i])
    return count
