"""How a playout chooses its moves: drawn by weight, with answers to the last moves and a few rules.

A move weighs what the 3x3 pattern around it does, times what it gains by lying beside the last move or the one before,
by capturing and by saving (R. Coulom, "Computing Elo ratings of move patterns in the game of Go", 2007;
the factors are learnt by tools/learn_patterns.py). Each part is a switch in PlayoutRules.
"""

from typing import NamedTuple

import numpy as np

from board.constant import PASS
from board.playout import PLAYOUT_MOVES_PER_POINT, find_rescue
from board.random_state import next_random
from board.rules import is_legal, self_atari_size
from board.score import area_score
from board.state import BLACK, EMPTY, LAST_MOVE, PASSES, SIZE, TO_MOVE, WIDTH, State
from board.string import find_liberty, stands_beside_atari
from common.kernel import kernel
from mcts.uct.playout_board import MORE, TOTAL, PlayoutGame, leave_out, play_in_playout, refresh
from mcts.uct.playout_shapes import breaks_nothing, find_nakade, may_be_small

# Kinds of answers to the last moves: a capture beside them, and a rescue of a string that stands in atari.
NO_ANSWER, CAPTURE, RESCUE = 0, 1, 2
# Places around a recent move: none of the eight, beside it, diagonal to it.
FAR, BESIDE, DIAGONAL = 0, 1, 2
MOST_ANSWERS = 16


class PlayoutRules(NamedTuple):
    """What a playout's moves weigh."""

    table: np.ndarray  # int32 [65536, 2]: the weight of each code of a neighborhood for Black and for White
    answers: np.ndarray  # float64 [3]: factor by kind of answer
    near_last: np.ndarray  # float64 [3]: factor by place around the last move
    near_previous: np.ndarray  # float64 [3]: the same around the move before
    nakade: float  # chance to play the vital point of a region beside the last move
    self_atari: int  # own stones from which on a move that leaves them in atari is refused; 0: none is
    seki: bool  # whether smaller self-ataris are refused unless their shape could kill


@kernel
def place_around(pos: int, center: int, width: int) -> int:
    """Return where a point lies around a recent move (FAR for one that was no point)."""
    if center <= PASS:
        return FAR
    step = abs(pos - center)
    if step == 1 or step == width:
        return BESIDE
    return DIAGONAL if step == width - 1 or step == width + 1 else FAR


@kernel
def add_answer(pos: int, kind: int, count: int, points: np.ndarray, kinds: np.ndarray) -> int:
    """Append an answer unless there is one on this point already; return how many there are. Modifies the arrays."""
    for i in range(count):
        if points[i] == pos:
            return count
    if count == len(points):
        return count
    points[count] = pos
    kinds[count] = kind
    return count + 1


@kernel
def list_answers(state: State, previous: int, points: np.ndarray, kinds: np.ndarray) -> int:
    """Write what there is to capture and to rescue around the last two moves, and return how many moves these are.

    Captures: of the stone that was just played, of what stands in atari beside the side's own last move `previous`,
    and beside a string that the last move put into atari. A rescue gains a liberty. Modifies points and kinds [K].
    """
    width, last, color, count = state.info[WIDTH], state.info[LAST_MOVE], state.info[TO_MOVE], 0
    if last > PASS and (stands_beside_atari(state, last) | (state.liberties[state.string_id[last]] == 1)):
        if state.stones[last] == 3 - color and state.liberties[state.string_id[last]] == 1:
            count = add_answer(find_liberty(state, state.string_id[last]), CAPTURE, count, points, kinds)
        for side in (last - width, last - 1, last + 1, last + width):
            if state.stones[side] == color and state.liberties[state.string_id[side]] == 1:
                pos = find_rescue(state, state.string_id[side], color)
                if pos != PASS:
                    count = add_answer(pos, RESCUE, count, points, kinds)
    if previous > PASS and stands_beside_atari(state, previous):
        for side in (previous - width, previous - 1, previous + 1, previous + width):
            if state.stones[side] == 3 - color and state.liberties[state.string_id[side]] == 1:
                count = add_answer(find_liberty(state, state.string_id[side]), CAPTURE, count, points, kinds)
    return count


@kernel
def multiply(work: PlayoutGame, count: int, pos: int, factor: float) -> int:
    """Multiply the weight of a cell for this move by `factor`; return the new number of special cells, after `count`.

    Modifies work.special and factor.
    """
    old = work.factor[pos]
    is_new, start = old == 0.0, factor if factor > 1.0 else 0.0
    work.special[count] = pos  # which the next one replaces unless it counts
    work.factor[pos] = start if is_new else old * factor
    return count + int(is_new & (factor > 1.0))


@kernel
def multiply_around(work: PlayoutGame, count: int, center: int, factors: np.ndarray) -> int:
    """Raise the cells around a recent move, also those that weigh nothing; return how many are special now.

    Modifies work.special and factor.
    """
    if center <= PASS:
        return count
    width = work.state.info[WIDTH]
    for side in (center - width, center - 1, center + 1, center + width):
        count = multiply(work, count, side, factors[BESIDE])
    for side in (center - width - 1, center - width + 1, center + width - 1, center + width + 1):
        count = multiply(work, count, side, factors[DIAGONAL])
    return count


@kernel
def multiply_around_last(work: PlayoutGame, factors: np.ndarray) -> int:
    """Raise the cells around the last move, also those that weigh nothing; return how many are special.

    These are the first ones, so that nothing need be looked up. Modifies work.special and factor.
    """
    center, width = work.state.info[LAST_MOVE], work.state.info[WIDTH]
    beside, diagonal = factors[BESIDE], factors[DIAGONAL]
    if center <= PASS or beside <= 1.0 or diagonal <= 1.0:
        return multiply_around(work, 0, center, factors)
    for i in range(4):
        side = (center - width, center - 1, center + 1, center + width)[i]
        corner = (center - width - 1, center - width + 1, center + width - 1, center + width + 1)[i]
        work.special[i], work.special[4 + i] = side, corner
        work.factor[side], work.factor[corner] = beside, diagonal
    return 8


@kernel
def find_special(work: PlayoutGame, rules: PlayoutRules) -> None:
    """Find the points that weigh more at this move than their neighborhood says. Modifies work."""
    state, previous = work.state, work.previous[0]
    special = multiply_around_last(work, rules.near_last)
    special = multiply_around(work, special, previous, rules.near_previous)
    if rules.answers[CAPTURE] > 1.0 or rules.answers[RESCUE] > 1.0:
        points, kinds = work.changed[:MOST_ANSWERS], work.refused[:MOST_ANSWERS]
        for i in range(list_answers(state, previous, points, kinds)):
            special = multiply(work, special, points[i], rules.answers[kinds[i]])
    work.specials[0] = special


@kernel
def add_weights(work: PlayoutGame, color: int) -> None:
    """Add up what the points weigh at this move. Modifies work.more and sums."""
    more, own = 0, color - BLACK
    for i in range(work.specials[0]):
        pos = work.special[i]
        work.more[i] = int(work.weights[pos, own] * (work.factor[pos] - 1.0))
        more += work.more[i]
    work.sums[MORE] = more
    work.sums[TOTAL] = more + work.whole[own]


@kernel
def draw_by_sums(work: PlayoutGame, color: int) -> int:
    """Return a point drawn by weight, PASS when nothing weighs anything. Modifies work.random_state.

    All rows are looked at, and all points of the row that is drawn: where a loop ends by chance, the processor guesses
    wrong.
    """
    more, total, own = work.sums[MORE], work.sums[TOTAL], color - BLACK
    if total <= 0:
        return PASS
    rest = int(next_random(work.random_state) * total)
    if rest < more:
        for i in range(work.specials[0]):
            rest -= work.more[i]
            if rest < 0:
                return int(work.special[i])
    rest -= more
    size, width = work.state.info[SIZE], work.state.info[WIDTH]
    y, below, passed = 1, 0, 0
    for row in range(1, size):
        passed += work.rows[row, own]
        is_below = passed <= rest
        y += int(is_below)
        below = passed if is_below else below
    rest -= below
    first = y * width + 1
    pos, passed = first, 0
    for cell in range(first, first + size - 1):
        passed += work.weights[cell, own]
        pos += int(passed <= rest)
    return int(pos)


@kernel
def draw_point(work: PlayoutGame, color: int) -> int:
    """Return a point drawn by weight, PASS when nothing weighs anything. Modifies work.more, sums and random_state."""
    add_weights(work, color)
    return draw_by_sums(work, color)


@kernel
def draw_another(work: PlayoutGame, color: int, refused: int) -> int:
    """Return a point drawn after `refused`, which is left out until it is refreshed. Modifies work."""
    work.sums[TOTAL] -= work.weights[refused, color - BLACK]
    leave_out(work, refused, color)
    if work.factor[refused] == 0.0:  # it is no special point
        return draw_by_sums(work, color)
    for i in range(work.specials[0]):
        if work.special[i] == refused:
            work.sums[MORE] -= work.more[i]
            work.sums[TOTAL] -= work.more[i]
            work.more[i] = 0
    return draw_by_sums(work, color)


@kernel
def is_playable(work: PlayoutGame, rules: PlayoutRules, pos: int, color: int) -> bool:
    """Return whether a playout may play a point: it is legal and no self-atari that the rules refuse."""
    state, width, empty = work.state, work.state.info[WIDTH], 0
    if not is_legal(state, pos, color):
        return False
    for side in (pos - width, pos - 1, pos + 1, pos + width):
        if state.stones[side] == EMPTY:
            empty += 1
    if rules.self_atari == 0 or empty >= 2:
        return True
    size = self_atari_size(state, pos, color)
    if size == 0:
        return True
    return size < rules.self_atari and (not rules.seki or breaks_nothing(state, pos, color, work.cells))


@kernel
def may_be_nakade(work: PlayoutGame, center: int) -> bool:
    """Return whether find_nakade may find anything beside the move `center`; without a branch."""
    if center <= PASS:
        return False
    width, found = work.state.info[WIDTH], False
    for side in (center - width, center - 1, center + 1, center + width):
        found |= (work.state.stones[side] == EMPTY) & may_be_small(work.codes[side])
    return found


@kernel
def choose_in_playout(work: PlayoutGame, rules: PlayoutRules) -> int:
    """Return the next move of a playout. Modifies the work space of work."""
    state = work.state
    color, last, refused = state.info[TO_MOVE], state.info[LAST_MOVE], 0
    if rules.nakade > 0.0 and (next_random(work.random_state) < rules.nakade) & may_be_nakade(work, last):
        pos = find_nakade(state, last, work.cells, work.seen)
        if pos != PASS and is_legal(state, pos, color):
            return pos
    find_special(work, rules)
    pos = draw_point(work, color)
    while pos != PASS and not is_playable(work, rules, pos, color):
        work.refused[refused] = pos
        refused += 1
        pos = draw_another(work, color, pos)
    for i in range(refused):
        refresh(work, rules.table, work.refused[i])
    for i in range(work.specials[0]):
        work.factor[work.special[i]] = 0.0
    return pos


@kernel
def play_out(work: PlayoutGame, rules: PlayoutRules) -> int:
    """Play to the end of the game and return the number of moves, which work.moves keeps. Modifies work."""
    info = work.state.info
    limit, moves = PLAYOUT_MOVES_PER_POINT * info[SIZE] * info[SIZE], 0
    while moves < limit and info[PASSES] < 2:
        pos = choose_in_playout(work, rules)
        play_in_playout(work, rules.table, pos)
        work.moves[moves] = pos
        moves += 1
    return moves


@kernel
def playout_score(work: PlayoutGame) -> int:
    """Return Black's minus White's area at the end of a playout, without komi. Modifies work.owner and queue."""
    return area_score(work.state, work.owner, work.queue)
