"""How a playout chooses its moves: drawn by weight, with answers to the last moves and a few rules.

A move weighs what the 3x3 pattern around it does, times what it gains by lying beside the last move or the one before,
by capturing and by saving (R. Coulom, "Computing Elo ratings of move patterns in the game of Go", 2007, section 4.2;
the factors are learnt by tools/learn_patterns.py). Each part is a switch in PlayoutRules.
"""

from typing import NamedTuple

import numpy as np

from board.constant import PASS
from board.playout import PLAYOUT_MOVES_PER_POINT, find_rescue
from board.random_state import next_random
from board.rules import is_legal, self_atari_size
from board.score import area_score
from board.state import EMPTY, LAST_MOVE, PASSES, SIZE, TO_MOVE, WIDTH, State
from board.string import find_liberty
from common.kernel import kernel
from mcts.uct.playout_board import SPECIAL, PlayoutGame, play_in_playout, refresh, set_weight
from mcts.uct.playout_shapes import breaks_nothing, find_nakade

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
    if last > PASS:
        if state.stones[last] == 3 - color and state.liberties[state.string_id[last]] == 1:
            count = add_answer(find_liberty(state, state.string_id[last]), CAPTURE, count, points, kinds)
        for side in (last - width, last - 1, last + 1, last + width):
            if state.stones[side] == color and state.liberties[state.string_id[side]] == 1:
                pos = find_rescue(state, state.string_id[side], color)
                if pos != PASS:
                    count = add_answer(pos, RESCUE, count, points, kinds)
    if previous > PASS:
        for side in (previous - width, previous - 1, previous + 1, previous + width):
            if state.stones[side] == 3 - color and state.liberties[state.string_id[side]] == 1:
                count = add_answer(find_liberty(state, state.string_id[side]), CAPTURE, count, points, kinds)
    return count


@kernel
def multiply(work: PlayoutGame, pos: int, factor: float) -> None:
    """Make a point weigh `factor` times as much at this move. Modifies work.special, factor and specials."""
    if work.factor[pos] != 0.0:
        work.factor[pos] *= factor
    elif factor > 1.0 and work.specials[0] < SPECIAL:
        work.special[work.specials[0]] = pos
        work.factor[pos] = factor
        work.specials[0] += 1


@kernel
def multiply_around(work: PlayoutGame, center: int, factors: np.ndarray) -> None:
    """Raise the empty points around a recent move. Modifies work."""
    if center <= PASS:
        return
    width = work.state.info[WIDTH]
    for side in (center - width, center - 1, center + 1, center + width):
        if work.state.stones[side] == EMPTY:
            multiply(work, side, factors[BESIDE])
    for side in (center - width - 1, center - width + 1, center + width - 1, center + width + 1):
        if work.state.stones[side] == EMPTY:
            multiply(work, side, factors[DIAGONAL])


@kernel
def find_special(work: PlayoutGame, rules: PlayoutRules) -> None:
    """Find the points that weigh more at this move than their neighborhood says. Modifies work."""
    work.specials[0] = 0
    state, previous = work.state, work.previous[0]
    multiply_around(work, state.info[LAST_MOVE], rules.near_last)
    multiply_around(work, previous, rules.near_previous)
    if rules.answers[CAPTURE] > 1.0 or rules.answers[RESCUE] > 1.0:
        points, kinds = work.changed[:MOST_ANSWERS], work.refused[:MOST_ANSWERS]
        for i in range(list_answers(state, previous, points, kinds)):
            multiply(work, points[i], rules.answers[kinds[i]])


@kernel
def draw_point(work: PlayoutGame, color: int) -> int:
    """Return a point drawn by weight, PASS when nothing weighs anything."""
    more = 0
    for i in range(work.specials[0]):
        pos = work.special[i]
        more += int(work.weights[color, pos] * (work.factor[pos] - 1.0))
    size, width, total = work.state.info[SIZE], work.state.info[WIDTH], more
    for y in range(1, size + 1):
        total += work.rows[color, y]
    if total <= 0:
        return PASS
    rest = int(next_random(work.random_state) * total)
    if rest < more:
        for i in range(work.specials[0]):
            pos = work.special[i]
            rest -= int(work.weights[color, pos] * (work.factor[pos] - 1.0))
            if rest < 0:
                return int(pos)
    rest -= more
    y = 1
    while y < size and rest >= work.rows[color, y]:
        rest -= work.rows[color, y]
        y += 1
    pos = y * width + 1
    while rest >= work.weights[color, pos]:
        rest -= work.weights[color, pos]
        pos += 1
    return int(pos)


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
def choose_in_playout(work: PlayoutGame, rules: PlayoutRules) -> int:
    """Return the next move of a playout. Modifies the work space of work."""
    state = work.state
    color, refused = state.info[TO_MOVE], 0
    if rules.nakade > 0.0 and next_random(work.random_state) < rules.nakade:
        pos = find_nakade(state, state.info[LAST_MOVE], work.cells)
        if pos != PASS and is_legal(state, pos, color):
            return pos
    find_special(work, rules)
    pos = draw_point(work, color)
    while pos != PASS and not is_playable(work, rules, pos, color):
        set_weight(work, color, pos, 0)
        work.refused[refused] = pos
        refused += 1
        pos = draw_point(work, color)
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
