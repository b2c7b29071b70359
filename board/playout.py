"""Games played out by cheap moves: who ends up owning which point, and which stones are dead.

A player answers an atari near the opponent's last move (captures or saves) with a given chance, and else plays a random
legal move that fills no own eye. `queue` and `owner` are as in board/score.py.
"""

import numpy as np

from board.benson import find_pass_alive
from board.constant import PASS
from board.random_state import new_random_state, next_random
from board.rules import captures, is_complete_eye, is_legal, neighbor_strings, play, self_atari_size
from board.score import area_score
from board.state import (
    BLACK,
    EMPTIES,
    EMPTY,
    LAST_MOVE,
    PASSES,
    SIZE,
    TO_MOVE,
    WHITE,
    WIDTH,
    State,
    copy_state,
    new_state,
)
from board.string import find_liberty, points_beside
from common.kernel import kernel

# A player does not put this many stones or more into atari by its own move (that would break sekis); NO_LIMIT for
# plain random games.
SELF_ATARI_LIMIT = 7
NO_LIMIT = 0
# Chance that a player answers an atari; chosen by measuring (tools/bench.py ownership, tools/verdict.py).
ANSWER_CHANCE = 0.9
NEVER = 0.0
# A playout is cut off after this many moves per point (long sequences of captures, triple ko).
PLAYOUT_MOVES_PER_POINT = 3
# Playouts for the question which stones are dead, and the share of them that must agree.
DEAD_STONE_PLAYOUTS = 400
DEAD_STONE_SHARE = 0.5
# Nobody puts as many stones into atari to take a liberty as the string has that he attacks; here a string counts as
# having at least, and at most, so many. The least are too many also where more than they are lost (is_great_loss).
LEAST_LOSS, GREAT_LOSS = 2, 4


@kernel
def random_move(state: State, color: int, self_atari_limit: int, random_state: np.ndarray) -> int:
    """Return a random legal move that fills no own complete eye, PASS if there is none.

    Moves that put `self_atari_limit` own stones or more into atari are left out, unless the limit is NO_LIMIT.
    Reorders state.empties (uniform choice without replacement); nothing else is modified.
    """
    remaining = state.info[EMPTIES]
    while remaining > 0:
        index = int(next_random(random_state) * remaining)
        pos = state.empties[index]
        if (is_legal(state, pos, color) and not is_complete_eye(state, pos, color)
                and (self_atari_limit == NO_LIMIT or self_atari_size(state, pos, color) < self_atari_limit)):
            return int(pos)
        remaining -= 1
        other = state.empties[remaining]
        state.empties[index] = other
        state.empty_index[other] = index
        state.empties[remaining] = pos
        state.empty_index[pos] = remaining
    return PASS


@kernel
def find_rescue(state: State, string_id: int, color: int) -> int:
    """Return a legal move that saves a string in atari, by capturing beside it or by gaining liberties, or PASS."""
    width = state.info[WIDTH]
    stone = string_id
    while True:
        for neighbor in (stone - width, stone - 1, stone + 1, stone + width):
            if state.stones[neighbor] == 3 - color and state.liberties[state.string_id[neighbor]] == 1:
                pos = find_liberty(state, state.string_id[neighbor])
                if is_legal(state, pos, color):
                    return pos
        stone = state.string_next[stone]
        if stone == string_id:
            break
    pos = find_liberty(state, string_id)
    return pos if is_legal(state, pos, color) and self_atari_size(state, pos, color) == 0 else PASS


@kernel
def find_answer(state: State, color: int) -> int:
    """Return the answer to an atari: save the largest string that the last move put into atari, or capture its stone.

    PASS when there is nothing to answer.
    """
    width, last = state.info[WIDTH], state.info[LAST_MOVE]
    answer, largest = PASS, 0
    if last <= PASS:
        return answer
    for pos in (last - width, last - 1, last + 1, last + width):
        string_id = state.string_id[pos]
        if state.stones[pos] == color and state.liberties[string_id] == 1 and state.size[string_id] > largest:
            rescue = find_rescue(state, string_id, color)
            if rescue != PASS:
                answer, largest = rescue, int(state.size[string_id])
    if answer == PASS and state.stones[last] == 3 - color and state.liberties[state.string_id[last]] == 1:
        pos = find_liberty(state, state.string_id[last])
        if is_legal(state, pos, color):
            answer = pos
    return answer


@kernel
def playout(state: State, self_atari_limit: int, answer_chance: float, random_state: np.ndarray) -> int:
    """Play to the end of the game and return the number of moves. Modifies state."""
    info = state.info
    limit = PLAYOUT_MOVES_PER_POINT * info[SIZE] * info[SIZE]
    moves = 0
    info[PASSES] = 0
    while moves < limit and info[PASSES] < 2:
        color = info[TO_MOVE]
        pos = PASS
        if answer_chance > 0.0 and next_random(random_state) < answer_chance:
            pos = find_answer(state, color)
        if pos == PASS:
            pos = random_move(state, color, self_atari_limit, random_state)
        play(state, pos, color)
        moves += 1
    return moves


@kernel
def run_playouts(
    start: State, count: int, self_atari_limit: int, answer_chance: float, random_state: np.ndarray, state: State,
    owner: np.ndarray, queue: np.ndarray, black_count: np.ndarray, white_count: np.ndarray,
) -> int:
    """Play `count` games from `start`, both colors moving first in turn; return the moves played.

    Adds to black_count and white_count [C] how often each point ended as theirs. Modifies the work space state,
    owner and queue too.
    """
    moves = 0
    for game in range(count):
        copy_state(state, start)
        state.info[TO_MOVE] = BLACK + game % 2
        moves += playout(state, self_atari_limit, answer_chance, random_state)
        area_score(state, owner, queue)
        for pos in range(len(owner)):
            if owner[pos] == BLACK:
                black_count[pos] += 1
            elif owner[pos] == WHITE:
                white_count[pos] += 1
    return moves


def playout_ownership(
    state: State, count: int, rng: np.random.Generator, self_atari_limit: int = SELF_ATARI_LIMIT,
    answer_chance: float = ANSWER_CHANCE,
) -> np.ndarray:
    """Return how the points end in played-out games, float64 [C] from -1 (White's) to +1 (Black's)."""
    cells = len(state.stones)
    black, white = np.zeros(cells, dtype=np.int32), np.zeros(cells, dtype=np.int32)
    work = new_state(int(state.info[SIZE]))
    owner, queue = np.empty(cells, dtype=np.int8), np.empty(cells, dtype=np.int16)
    run_playouts(state, count, self_atari_limit, float(answer_chance), new_random_state(rng), work, owner, queue,
                 black, white)
    return (black - white) / count


def find_dead_stones(state: State, seed: int = 0, playouts: int = DEAD_STONE_PLAYOUTS) -> list[int]:
    """Return the stones that played-out games do not save, ascending.

    A string is dead when its points end as the opponent's in more than DEAD_STONE_SHARE of the games on average.
    Strings that are alive by Benson's theorem never are, nor are those that nobody can fill up to.
    """
    ownership = playout_ownership(state, playouts, np.random.Generator(np.random.PCG64(seed)))
    alive = find_pass_alive(state, BLACK)[0] | find_pass_alive(state, WHITE)[0]
    dead: list[int] = []
    for string_id in np.unique(state.string_id[state.string_id > 0]):
        stones = np.flatnonzero(state.string_id == string_id)
        sign = 1 if state.stones[string_id] == BLACK else -1
        if (not alive[string_id] and sign * ownership[stones].mean() < 1 - 2 * DEAD_STONE_SHARE
                and not is_out_of_reach(state, stones)):
            dead.extend(int(pos) for pos in stones)
    return sorted(dead)


def is_out_of_reach(state: State, stones: np.ndarray) -> bool:
    """Return whether a string stands off its opponent, now and after any one move of his that captures nothing.

    That is a seki: playouts would give the small string up, although the opponent's string beside it has no other
    liberties, and would be captured first. A move beforehand that ends it (he connects what he would lose, or puts into
    atari what keeps him out of a false eye) shows that it was none.
    """
    around, opponent = points_beside(state, stones.tolist()), 3 - int(state.stones[stones[0]])
    least = max(LEAST_LOSS, min(len(stones), GREAT_LOSS))
    if not stands_off(state, around, opponent, least):
        return False
    after = new_state(int(state.info[SIZE]))
    for pos in np.flatnonzero(state.stones == EMPTY).tolist():
        if (is_legal(state, pos, opponent) and self_atari_size(state, pos, opponent) == 0
                and not captures(state, pos, opponent)):
            copy_state(after, state)
            play(after, pos, opponent)
            if not stands_off(after, around, opponent, least):
                return False
    return True


def stands_off(state: State, around: set[int], opponent: int, least: int) -> bool:
    """Return whether of the points around a string two or more are liberties, and its opponent cannot take any.

    That would put `least` of his stones into atari, or be as great a loss.
    """
    liberties = [pos for pos in around if state.stones[pos] == EMPTY]
    return len(liberties) >= 2 and not any(
        is_legal(state, pos, opponent) and not is_great_loss(state, pos, opponent, least) for pos in liberties)


def is_great_loss(state: State, pos: int, color: int, least: int) -> bool:
    """Return whether a legal move puts so many own stones into atari that it does not pay to take a liberty.

    Those are `least`, or LEAST_LOSS where who captures them comes to stand beside another string of theirs, and takes a
    liberty of it; inside an eye (nakade) he does not.
    """
    size = self_atari_size(state, pos, color)
    if size < LEAST_LOSS or size >= least:
        return bool(size >= least)
    after = new_state(int(state.info[SIZE]))
    copy_state(after, state)
    play(after, pos, color)
    string_id = after.string_id[pos]
    beside = neighbor_strings(after, find_liberty(after, string_id))
    return any(after.stones[other] == color for other in beside if other not in (0, string_id))
