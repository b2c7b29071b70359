"""The rules: what may be played and what a move does.

What is asked of all four neighbors is asked without branches where the answers are a matter of chance: a wrong guess of
the processor costs more than four looks.

Suicide is illegal, the simple ko is part of every position, positional superko (area rules, as on CGOS) is asked
for with the history. Colors are BLACK and WHITE of board.state; `pos` is a point or PASS.
"""

import numpy as np

from board.constant import PASS
from board.state import (
    BLACK,
    EMPTIES,
    EMPTY,
    KO_MOVE,
    KO_POS,
    LAST_CAPTURE,
    LAST_MOVE,
    MOVES,
    OUT_OF_BOARD,
    PASSES,
    PRISONERS,
    SIZE,
    TO_MOVE,
    WIDTH,
    History,
    State,
    append_history,
)
from board.string import connect_string, make_string, remove_string
from board.zobrist_hash import HASH_TABLE
from common.kernel import kernel


@kernel
def has_neighbor_string(state: State, pos: int, color: int, liberties: int) -> bool:
    """Return whether a string of `color` beside a point has exactly so many liberties."""
    width, found = state.info[WIDTH], False
    for neighbor in (pos - width, pos - 1, pos + 1, pos + width):
        found |= (state.stones[neighbor] == color) & (state.liberties[state.string_id[neighbor]] == liberties)
    return found


@kernel
def place_stone(state: State, pos: int, color: int) -> int:
    """Put a stone on an empty point, capture and connect; return the number of captured stones.

    Modifies all fields of state but the turn, the last move and the counters of moves and passes.
    """
    info, width = state.info, state.info[WIDTH]
    opponent = 3 - color
    make_string(state, pos, color)
    captured, captured_pos, string_id = 0, 0, pos
    if has_neighbor_string(state, pos, opponent, 0):
        for neighbor in (pos - width, pos - 1, pos + 1, pos + width):
            if state.stones[neighbor] == opponent and state.liberties[state.string_id[neighbor]] == 0:
                captured += remove_string(state, state.string_id[neighbor])
                captured_pos = neighbor
    neighbor, step = pos - width, width - 1  # a loop over a tuple that does so much would jump by a table
    for _ in range(4):
        if state.stones[neighbor] == color and state.string_id[neighbor] != string_id:
            string_id = connect_string(state, string_id, state.string_id[neighbor])
        neighbor += step
        step = width + 1 - step  # above, left, right, below
    info[PRISONERS + color - BLACK] += captured
    info[KO_POS] = 0
    if captured == 1 and state.size[string_id] == 1 and state.liberties[string_id] == 1:
        info[KO_POS] = captured_pos
        info[KO_MOVE] = info[MOVES] + 1
    return captured


@kernel
def play(state: State, pos: int, color: int) -> int:
    """Play a legal move or PASS and return the number of captured stones. Modifies state."""
    info = state.info
    captured = 0
    if pos == PASS:
        info[KO_POS] = 0
        info[PASSES] += 1
    else:
        captured = place_stone(state, pos, color)
        info[PASSES] = 0
    info[MOVES] += 1
    if captured > 0:
        info[LAST_CAPTURE] = info[MOVES]
    info[LAST_MOVE] = pos
    info[TO_MOVE] = 3 - color
    return captured


@kernel
def play_recorded(state: State, history: History, pos: int, color: int) -> int:
    """Play a legal move or PASS and append it to the history, which has room. Modifies both."""
    captured = play(state, pos, color)
    append_history(history, state, pos, color)
    return captured


@kernel
def replay(state: State, target_history: History, history: History, moves: int) -> None:
    """Play the first `moves` moves of `history` on a start position. Modifies state and target_history."""
    for n in range(1, moves + 1):
        play_recorded(state, target_history, history.pos[n], history.color[n])


@kernel
def is_suicide(state: State, pos: int, color: int) -> bool:
    """Return whether a stone on the empty point `pos` would be without a liberty."""
    width = state.info[WIDTH]
    for neighbor in (pos - width, pos - 1, pos + 1, pos + width):
        stone = state.stones[neighbor]
        if stone == EMPTY:
            return False
        if stone != OUT_OF_BOARD and (state.liberties[state.string_id[neighbor]] > 1) == (stone == color):
            return False
    return True


@kernel
def is_legal(state: State, pos: int, color: int) -> bool:
    """Return whether the rules without superko allow the move."""
    if pos == PASS:
        return True
    if state.stones[pos] != EMPTY:
        return False
    if pos == state.info[KO_POS] and color == state.info[TO_MOVE]:
        return False
    return not is_suicide(state, pos, color)


@kernel
def captures(state: State, pos: int, color: int) -> bool:
    """Return whether a stone on the empty point `pos` captures something."""
    return has_neighbor_string(state, pos, 3 - color, 1)


@kernel
def neighbor_strings(state: State, pos: int) -> tuple[np.int64, np.int64, np.int64, np.int64]:
    """Return the strings beside a point, each once; 0 where there is none or it came before."""
    ids, width = state.string_id, state.info[WIDTH]
    a, b, c, d = ids[pos - width], ids[pos - 1], ids[pos + 1], ids[pos + width]
    return (np.int64(a), np.int64(b if b != a else 0), np.int64(c if c not in (a, b) else 0),
            np.int64(d if d not in (a, b, c) else 0))


@kernel
def hash_after(state: State, pos: int, color: int) -> np.uint64:
    """Return the hash of the position after a legal stone on `pos`."""
    result = state.hash[0] ^ HASH_TABLE[color, pos]
    for string_id in neighbor_strings(state, pos):
        if string_id == 0 or state.stones[string_id] == color or state.liberties[string_id] != 1:
            continue
        stone = string_id
        while True:
            result ^= HASH_TABLE[3 - color, stone]
            stone = state.string_next[stone]
            if stone == string_id:
                break
    return result


@kernel
def is_superko(state: State, history: History, pos: int, color: int) -> bool:
    """Return whether a legal stone on `pos` would repeat a position of the history (positional superko).

    Stones only disappear by captures: a move that captures nothing can repeat only what stood on the board
    before the last capture.
    """
    capturing = captures(state, pos, color)
    end = history.length[0] if capturing else state.info[LAST_CAPTURE]
    if end == 0:
        return False
    wanted = hash_after(state, pos, color)
    for n in range(end):
        if history.hash[n] == wanted:
            return True
    return False


@kernel
def is_eye_space(state: State, pos: int, color: int) -> bool:
    """Return whether `pos` is empty and has only stones of `color` and the edge beside it."""
    width = state.info[WIDTH]
    if state.stones[pos] != EMPTY:
        return False
    for neighbor in (pos - width, pos - 1, pos + 1, pos + width):
        if state.stones[neighbor] != color and state.stones[neighbor] != OUT_OF_BOARD:
            return False
    return True


@kernel
def is_complete_eye(state: State, pos: int, color: int) -> bool:
    """Return whether `pos` is a one-point eye that cannot be made false.

    Of the four diagonal cells at least three in the center, and all of them at the edge, hold a stone of
    `color`, are off the board, or are eye space of `color` themselves.
    """
    if not is_eye_space(state, pos, color):
        return False
    width = state.info[WIDTH]
    good, outside = 0, 0
    for diagonal in (pos - width - 1, pos - width + 1, pos + width - 1, pos + width + 1):
        stone = state.stones[diagonal]
        if stone == OUT_OF_BOARD:
            outside += 1
            good += 1
        elif stone == color or (stone == EMPTY and is_eye_space(state, diagonal, color)):
            good += 1
    return good == 4 or (outside == 0 and good == 3)


@kernel
def self_atari_size(state: State, pos: int, color: int) -> int:
    """Return the size of the string that a stone on the legal point `pos` would leave in atari.

    0 when the move captures something or leaves two liberties or more.
    """
    if captures(state, pos, color):
        return 0
    width, empty, liberty, has_more, size = state.info[WIDTH], 0, 0, False, 1
    for neighbor in (pos - width, pos - 1, pos + 1, pos + width):
        is_empty = int(state.stones[neighbor] == EMPTY)
        empty += is_empty
        liberty += neighbor * is_empty
        has_more |= (state.stones[neighbor] == color) & (state.liberties[state.string_id[neighbor]] > 2)
    if has_more | (empty > 1):
        return 0
    for string_id in neighbor_strings(state, pos):
        if string_id == 0 or state.stones[string_id] != color:
            continue
        size += state.size[string_id]
        stone = int(string_id)
        while True:
            for neighbor in (stone - width, stone - 1, stone + 1, stone + width):
                if state.stones[neighbor] == EMPTY and neighbor != pos:
                    if liberty != 0 and liberty != neighbor:
                        return 0
                    liberty = neighbor
            stone = state.string_next[stone]
            if stone == string_id:
                break
    return size


@kernel
def list_legal_moves(
    state: State, history: History, color: int, check_superko: bool, fill_eyes: bool, out: np.ndarray,
) -> int:
    """Write the legal points in board order to `out` and return how many there are.

    `fill_eyes` False leaves out the player's own complete eyes. Modifies out (int32, room for S*S).
    """
    width, size = state.info[WIDTH], state.info[SIZE]
    count = 0
    if state.info[EMPTIES] == 0:
        return 0
    for y in range(1, size + 1):
        for pos in range(y * width + 1, y * width + size + 1):
            if state.stones[pos] != EMPTY or not is_legal(state, pos, color):
                continue
            if not fill_eyes and is_complete_eye(state, pos, color):
                continue
            if check_superko and is_superko(state, history, pos, color):
                continue
            out[count] = pos
            count += 1
    return count
