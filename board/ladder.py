"""Ladders: strings that an unbroken series of ataris catches.

A string in atari is read with its owner to move, a string with two liberties with the opponent to move. The rules of
reading are those of KataGo's input features, whose networks know ladders from here: a ko that the attacker leaves
open is an escape, and reading that runs too long says "not caught".
"""

from typing import NamedTuple

import numpy as np

from board.constant import PASS
from board.rules import is_suicide, place_stone
from board.state import EMPTY, KO_POS, OUT_OF_BOARD, SIZE, WIDTH, State, copy_state, copy_words, new_state
from board.string import find_liberty
from common.kernel import kernel

# Moves played out for one string before the reader gives up.
NODE_LIMIT = 25000
# A ladder this many moves long per point of the board has caught its string.
MOVES_PER_POINT = 1.5

# What the side to move can do, where there is nothing to read; otherwise it has one move or more.
ESCAPED, CAUGHT = -1, -2


class LadderWork(NamedTuple):
    """Work space of one thread, and what `find_ladders` found. D = longest ladder + 1."""

    state: State  # the position that is being read
    saved: np.ndarray  # uint64 [D, B]: the buffers of the positions above it
    moves: np.ndarray  # int16 [D, C]: the moves to try in each
    choices: np.ndarray  # int16 [D]: how many these are
    tried: np.ndarray  # int16 [D]: how many of them were tried
    caught: np.ndarray  # uint8 [C], found: 1 on the stones of caught strings
    catching: np.ndarray  # uint8 [C], found: moves that catch a string of two liberties, the sum of the string's colors


def new_ladder_work(board_size: int) -> LadderWork:
    """Return work space for one board size."""
    state = new_state(board_size)
    depth, cells = int(board_size * board_size * MOVES_PER_POINT) + 1, len(state.stones)
    return LadderWork(
        state, np.zeros((depth, len(state.buffer)), dtype=np.uint64), np.zeros((depth, cells), dtype=np.int16),
        np.zeros(depth, dtype=np.int16), np.zeros(depth, dtype=np.int16),
        np.zeros(cells, dtype=np.uint8), np.zeros(cells, dtype=np.uint8),
    )


@kernel
def count_empty_neighbors(state: State, pos: int) -> int:
    """Return how many points beside `pos` are empty."""
    width, count = state.info[WIDTH], 0
    for neighbor in (pos - width, pos - 1, pos + 1, pos + width):
        if state.stones[neighbor] == EMPTY:
            count += 1
    return count


@kernel
def is_ko_mouth(state: State, pos: int, color: int) -> bool:
    """Return whether `color` takes a single stone with a stone on `pos` and has no friend and no room beside it."""
    width, strings, size = state.info[WIDTH], 0, 0
    for neighbor in (pos - width, pos - 1, pos + 1, pos + width):
        stone = state.stones[neighbor]
        if stone == OUT_OF_BOARD:
            continue
        if stone != 3 - color:
            return False
        string_id = state.string_id[neighbor]
        if state.liberties[string_id] == 1:
            strings += 1
            size = state.size[string_id]
    return strings == 1 and size == 1


@kernel
def gains_by_connecting(state: State, pos: int, color: int) -> bool:
    """Return whether `color`'s strings beside `pos`, joined by a stone there, have more than two liberties."""
    width, first, second = state.info[WIDTH], PASS, PASS
    for side in (pos - width, pos - 1, pos + 1, pos + width):
        if state.stones[side] != color:
            continue
        stone = side
        while True:
            for neighbor in (stone - width, stone - 1, stone + 1, stone + width):
                if state.stones[neighbor] != EMPTY or neighbor in (pos, first, second):
                    continue
                if second != PASS:
                    return True
                first, second = neighbor, first
            stone = state.string_next[stone]
            if stone == side:
                break
    return False


@kernel
def list_captures(state: State, string_id: int, out: np.ndarray) -> int:
    """Write to `out` the moves that take an opponent's string beside this one, and return how many. Modifies out."""
    width, opponent, count = state.info[WIDTH], 3 - state.stones[string_id], 0
    stone = string_id
    while True:
        for neighbor in (stone - width, stone - 1, stone + 1, stone + width):
            if state.stones[neighbor] == opponent and state.liberties[state.string_id[neighbor]] == 1:
                move = find_liberty(state, state.string_id[neighbor])
                known = False
                for i in range(count):
                    known = known or out[i] == move
                if not known:
                    out[count] = move
                    count += 1
        stone = state.string_next[stone]
        if stone == string_id:
            return count


@kernel
def list_escapes(state: State, string_id: int, out: np.ndarray) -> int:
    """Write the owner's moves to `out`; return how many, or ESCAPED. Modifies out."""
    if state.liberties[string_id] > 1 or state.info[KO_POS] != 0:
        return ESCAPED
    out[0] = find_liberty(state, string_id)
    return 1 + list_captures(state, string_id, out[1:])


@kernel
def list_ataris(state: State, string_id: int, out: np.ndarray) -> int:
    """Write the attacker's moves to `out`, the better first; return how many, or ESCAPED or CAUGHT. Modifies out."""
    if state.liberties[string_id] != 2:
        return ESCAPED if state.liberties[string_id] > 2 else CAUGHT
    color = state.stones[string_id]
    first = find_liberty(state, string_id)
    second = find_liberty(state, string_id, first)
    first_room, second_room = count_empty_neighbors(state, first), count_empty_neighbors(state, second)
    # Both liberties are the mouths of kos that the owner gains nothing by connecting: he never gets out.
    if (first_room == 0 and second_room == 0
            and is_ko_mouth(state, first, 3 - color) and is_ko_mouth(state, second, 3 - color)
            and not gains_by_connecting(state, first, color) and not gains_by_connecting(state, second, color)
            and list_captures(state, string_id, out) == 0):
        return CAUGHT
    if second_room > first_room:
        first, second = second, first
        first_room, second_room = second_room, first_room
    out[0], out[1] = first, second
    if abs(first - second) != 1 and abs(first - second) != state.info[WIDTH]:
        # A string that gets to a liberty with three empty sides has three liberties: that one must be taken.
        if second_room >= 3:
            return ESCAPED
        if first_room >= 3:
            return 1
    return 2


@kernel
def next_legal_move(state: State, color: int, depth: int, work: LadderWork) -> int:
    """Return the next move to try at `depth`, PASS if there is none. Modifies work.tried."""
    while work.tried[depth] < work.choices[depth]:
        move = work.moves[depth, work.tried[depth]]
        work.tried[depth] += 1
        if move != state.info[KO_POS] and not is_suicide(state, move, color):
            return int(move)
    return PASS


@kernel
def read_ladder(target: int, work: LadderWork) -> bool:
    """Return whether the string at `target`, its owner to move, is caught in the position work.state. Modifies work."""
    state, longest = work.state, len(work.choices) - 1
    color = state.stones[target]
    state.info[KO_POS] = 0  # every ko works for the owner
    depth, nodes, caught, entering = 0, 0, False, True
    while depth >= 0:
        defending = depth % 2 == 0
        if entering:
            string_id, count = state.string_id[target], CAUGHT
            if depth < longest:
                moves = work.moves[depth]
                count = list_escapes(state, string_id, moves) if defending else list_ataris(state, string_id, moves)
            work.choices[depth] = count
            work.tried[depth] = 0
            caught, settled = count == CAUGHT, count < 0
        else:
            settled = caught != defending
        if not settled:
            if work.choices[depth] > 1 and entering:
                copy_words(work.saved[depth], state.buffer)
            elif work.choices[depth] > 1:
                copy_words(state.buffer, work.saved[depth])
            mover = color if defending else 3 - color
            move = next_legal_move(state, mover, depth, work)
            if move != PASS:
                if nodes == NODE_LIMIT:
                    return False
                place_stone(state, move, mover)
                nodes += 1
                depth += 1
                entering = True
                continue
            caught = defending
        depth -= 1
        entering = False
    return caught


@kernel
def read_string(state: State, string_id: int, work: LadderWork) -> bool:
    """Return whether a string of one or two liberties is caught. Modifies work, in work.catching the moves."""
    color = state.stones[string_id]
    liberties, move, caught = state.liberties[string_id], PASS, False
    for _ in range(liberties):
        if liberties == 2:
            move = find_liberty(state, string_id, move)
            if move == state.info[KO_POS] or is_suicide(state, move, 3 - color):
                continue
        copy_state(work.state, state)
        if liberties == 2:
            place_stone(work.state, move, 3 - color)
        if read_ladder(string_id, work):
            caught = True
            if liberties == 2:
                work.catching[move] |= color
    return caught


@kernel
def find_ladders(state: State, work: LadderWork) -> None:
    """Find the caught strings of both colors and the moves that catch one. Modifies work, see there what it finds."""
    ids, size, width = state.string_id, state.info[SIZE], state.info[WIDTH]
    for pos in range(len(ids)):
        work.caught[pos] = 0
        work.catching[pos] = 0
    for y in range(1, size + 1):
        for pos in range(y * width + 1, y * width + size + 1):
            if ids[pos] == pos and state.liberties[pos] <= 2 and read_string(state, pos, work):
                stone = pos
                while True:
                    work.caught[stone] = 1
                    stone = state.string_next[stone]
                    if stone == pos:
                        break
