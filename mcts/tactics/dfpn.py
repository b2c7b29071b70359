"""Depth-first proof-number search: whether a string can be captured (A. Nagai, "Df-pn algorithm", 2002).

A node has two numbers: how many positions at least must still be shown to be won by the attacker (pn), or by the
defender (dn), to settle it; (0, INFINITE) is captured, (INFINITE, 0) is safe. The search follows the easiest proof as
long as it stays below the thresholds that the second best move sets; those are a quarter larger, so that it does not go
back and forth between two moves that are alike (J. Pawlewicz and L. Lew, "Improving depth-first pn-search", 2007). What
it finds is kept in a table by position, so that transpositions are searched once.

The attacker never passes and takes no ko, the defender may pass always: what is called captured is so without any ko.
A pass is a move elsewhere, where the defender may take strings that close his own in (region.py, settle.py).
A move that repeats a position of the line is no move for the attacker's plan: the defender holds. So "captured" is
proven by the moves that are looked at (region.py tells which), "safe" holds but for kos, repetitions (the history of a
position may matter: A. Kishimoto and M. Mueller, "A general solution to the graph history interaction problem", 2004)
and lines of DEPTH moves, where the attacker gives up.

Letters: C cells of the padded board, D depth, T entries of the table.
"""

from typing import NamedTuple

import numpy as np

from board.constant import PASS
from board.ladder import is_ko_mouth
from board.rules import hash_after, is_complete_eye, is_legal, play
from board.state import EMPTY, KO_POS, SIZE, TO_MOVE, WIDTH, State, copy_state, copy_words, new_state
from board.string import find_liberty
from common.kernel import kernel
from mcts.tactics.region import MOST_OUTSIDE, is_taken_from_outside

# What a search finds out about a string.
UNKNOWN, CAPTURED, SAFE = 0, 1, 2
INFINITE = 1_000_000_000
DEPTH = 120
TABLE_BITS = 18


class ProofWork(NamedTuple):
    """Work space of a search."""

    state: State  # the position that is looked at
    saved: np.ndarray  # uint64 [D, W]: the buffers of the positions on the way to it
    keys: np.ndarray  # uint64 [D]: and their keys
    moves: np.ndarray  # int16 [D, C]
    counts: np.ndarray  # int16 [D]
    limits: np.ndarray  # int64 [D, 2]: the thresholds of pn and dn
    table_keys: np.ndarray  # uint64 [T]
    table: np.ndarray  # int64 [T, 2]: pn and dn
    side: np.ndarray  # uint64 [2, E]: added to the key of a position (by exclusive or) by side to move, attacker and
    # defender, and by the moves that the defender has played elsewhere, the last ones where these do not count
    elsewhere: np.ndarray  # int16 [D]: how many these are
    region: np.ndarray  # uint8 [C]: not 0 where moves may be played; nowhere: around the string, wherever it runs
    queue: np.ndarray  # int16 [C]


class ProofTask(NamedTuple):
    """What is asked."""

    target: int  # a stone of the string
    defender: int  # its color
    most_liberties: int  # with more the string is safe
    nodes: int  # positions to look at, at most
    elsewhere: int = 0  # moves of the defender elsewhere that count: they take strings around that have no more left


def new_proof_work(board_size: int, table_bits: int = TABLE_BITS) -> ProofWork:
    """Return work space for a board size, with room for 2 ** table_bits positions."""
    state = new_state(board_size)
    cells = len(state.stones)
    return ProofWork(
        state, np.zeros((DEPTH, len(state.buffer)), dtype=np.uint64), np.zeros(DEPTH, dtype=np.uint64),
        np.zeros((DEPTH, cells), dtype=np.int16), np.zeros(DEPTH, dtype=np.int16),
        np.zeros((DEPTH, 2), dtype=np.int64), np.zeros(1 << table_bits, dtype=np.uint64),
        np.zeros((1 << table_bits, 2), dtype=np.int64),
        np.random.default_rng(1).integers(1 << 63, size=(2, MOST_OUTSIDE + 1), dtype=np.uint64),
        np.zeros(DEPTH, dtype=np.int16),
        np.zeros(cells, dtype=np.uint8), np.zeros(cells, dtype=np.int16),
    )


@kernel
def set_position(work: ProofWork, state: State, to_move: int) -> None:
    """Make work.state a position with `to_move` to begin and no ko. Modifies work."""
    copy_state(work.state, state)
    work.state.info[TO_MOVE], work.state.info[KO_POS] = to_move, 0


@kernel
def note_point(work: ProofWork, depth: int, pos: int) -> None:
    """Append an empty point to the moves at a depth unless it is there. Modifies work."""
    count = work.counts[depth]
    if work.state.stones[pos] != EMPTY:
        return
    for i in range(count):
        if work.moves[depth, i] == pos:
            return
    work.moves[depth, count] = pos
    work.counts[depth] = count + 1


@kernel
def note_liberties(work: ProofWork, depth: int, string: int) -> None:
    """Append the liberties of the string that a stone belongs to. Modifies work."""
    width, stone = work.state.info[WIDTH], string
    while True:
        for side in (stone - width, stone - 1, stone + 1, stone + width):
            note_point(work, depth, side)
        stone = work.state.string_next[stone]
        if stone == string:
            break


@kernel
def note_points_around(work: ProofWork, depth: int, question: ProofTask) -> None:
    """Append the string's liberties, and those of the strings around it that have no more. Modifies work."""
    state, width = work.state, work.state.info[WIDTH]
    stone, few = question.target, max(2, work.state.liberties[work.state.string_id[question.target]])
    while True:
        for side in (stone - width, stone - 1, stone + 1, stone + width):
            note_point(work, depth, side)
            if state.stones[side] == 3 - question.defender and state.liberties[state.string_id[side]] <= few:
                note_liberties(work, depth, side)
        stone = state.string_next[stone]
        if stone == question.target:
            break


@kernel
def note_region(work: ProofWork, depth: int) -> bool:
    """Append the points of the region; return whether there is one. Modifies work."""
    size, width, has_region = work.state.info[SIZE], work.state.info[WIDTH], False
    for y in range(1, size + 1):
        for pos in range(y * width + 1, y * width + size + 1):
            if work.region[pos] != 0:
                has_region = True
                note_point(work, depth, pos)
    return has_region


@kernel
def is_proof_move(state: State, pos: int, question: ProofTask) -> bool:
    """Return whether the side to move looks at a point: the attacker takes no ko, the defender keeps his eyes."""
    color = state.info[TO_MOVE]
    if not is_legal(state, pos, color):
        return False
    return not (is_complete_eye(state, pos, color) if color == question.defender else is_ko_mouth(state, pos, color))


@kernel
def list_proof_moves(work: ProofWork, depth: int, question: ProofTask) -> None:
    """Write the moves of the side to move to work.moves at a depth; for the defender the pass, too. Modifies work.

    In a region these are all its points; without one those around the string, and then the points beside those.
    """
    state, width, kept = work.state, work.state.info[WIDTH], 0
    work.counts[depth] = 0
    has_region = note_region(work, depth)
    for beside in (False, True):  # what is expensive to ask about a point is compiled once
        if beside and not has_region:
            for i in range(kept):
                pos = work.moves[depth, i]
                for side in (pos - width, pos - 1, pos + 1, pos + width):
                    note_point(work, depth, side)
        elif not has_region:
            note_points_around(work, depth, question)
        for i in range(kept, work.counts[depth]):
            if is_proof_move(state, work.moves[depth, i], question):
                work.moves[depth, kept] = work.moves[depth, i]
                kept += 1
        work.counts[depth] = kept
    if state.info[TO_MOVE] == question.defender:
        work.moves[depth, kept] = PASS
        work.counts[depth] = kept + 1


@kernel
def judge_at_once(work: ProofWork, question: ProofTask, elsewhere: int) -> int:
    """Return CAPTURED or SAFE where no search of work.state is needed to see it, else UNKNOWN.

    `elsewhere`: the moves that the defender has played there, as everywhere below. Modifies work.queue.
    """
    state = work.state
    if state.stones[question.target] != question.defender:
        return CAPTURED
    if elsewhere > 0 and is_taken_from_outside(state, 3 - question.defender, work.region, elsewhere, work.queue):
        return SAFE
    string_id = state.string_id[question.target]
    if state.liberties[string_id] > question.most_liberties:
        return SAFE
    if state.info[TO_MOVE] != question.defender and state.liberties[string_id] == 1:
        pos = find_liberty(state, string_id)
        return UNKNOWN if is_ko_mouth(state, pos, 3 - question.defender) else CAPTURED
    return UNKNOWN


@kernel
def key_of(work: ProofWork, position_hash: np.uint64, to_move: int, question: ProofTask, elsewhere: int) -> np.uint64:
    """Return the key of a position by its stones, the side to move and the moves elsewhere, also whether they count."""
    counted = elsewhere if question.elsewhere > 0 else MOST_OUTSIDE
    return position_hash ^ work.side[int(to_move == question.defender), counted]


@kernel
def count_elsewhere(elsewhere: int, pos: int, question: ProofTask) -> int:
    """Return how many moves were played elsewhere after a move; a pass is one, unless no more of them count."""
    return min(elsewhere + 1, question.elsewhere) if pos == PASS else elsewhere


@kernel
def look_up(work: ProofWork, key: np.uint64, depth: int) -> tuple[int, int]:
    """Return pn and dn of a position that a move at a depth leads to: 1 and 1 where nothing is known."""
    for i in range(depth + 1):
        if work.keys[i] == key:
            return INFINITE, 0
    slot = int(key & np.uint64(len(work.table_keys) - 1))
    if work.table_keys[slot] == key:
        return int(work.table[slot, 0]), int(work.table[slot, 1])
    return 1, 1


@kernel
def store(work: ProofWork, key: np.uint64, pn: int, dn: int) -> None:
    """Keep what is known about a position. Modifies work."""
    slot = int(key & np.uint64(len(work.table_keys) - 1))
    work.table_keys[slot] = key
    work.table[slot, 0] = pn
    work.table[slot, 1] = dn


@kernel
def survey(work: ProofWork, depth: int, question: ProofTask) -> tuple[int, int, int, int, int]:
    """Return what the moves of the position at `depth` say: (pn, dn, best, other, second).

    pn and dn are the position's. `best` is the number of the easiest move: that of the least pn for the attacker, of
    the least dn for the defender; `other` is that move's other number, `second` the second least of pn (dn).
    """
    state = work.state
    color = state.info[TO_MOVE]
    side = 1 if color == question.defender else 0
    least, second, total, best, other = INFINITE, INFINITE, 0, 0, 0
    for i in range(work.counts[depth]):
        pos = work.moves[depth, i]
        after = state.hash[0] if pos == PASS else hash_after(state, pos, color)
        elsewhere = count_elsewhere(work.elsewhere[depth], pos, question)
        pn, dn = look_up(work, key_of(work, after, 3 - color, question, elsewhere), depth)
        easy, hard = (dn, pn) if side == 1 else (pn, dn)
        total = min(total + hard, INFINITE)
        if easy < least:
            least, second, best, other = easy, least, i, hard
        elif easy < second:
            second = easy
    return (total, least, best, other, second) if side == 1 else (least, total, best, other, second)


@kernel
def enter(work: ProofWork, depth: int, pos: int, question: ProofTask) -> bool:
    """Play a move of the position at a depth; return whether the new one must be searched, or can be judged at once.

    Modifies work.
    """
    state = work.state
    play(state, pos, state.info[TO_MOVE])
    elsewhere = count_elsewhere(work.elsewhere[depth], pos, question)
    work.elsewhere[depth + 1] = elsewhere
    work.keys[depth + 1] = key_of(work, state.hash[0], state.info[TO_MOVE], question, elsewhere)
    verdict = judge_at_once(work, question, elsewhere)
    if verdict == UNKNOWN:
        copy_words(work.saved[depth + 1], state.buffer)
        return True
    is_captured = verdict == CAPTURED
    store(work, work.keys[depth + 1], 0 if is_captured else INFINITE, INFINITE if is_captured else 0)
    return False


@kernel
def set_limits(work: ProofWork, depth: int, found: tuple[int, int, int, int, int], is_defender: bool) -> None:
    """Set the thresholds of the easiest move of a position from its own and from the second best move.

    `found` is what `survey` says. Modifies work.limits.
    """
    easy, hard = (1, 0) if is_defender else (0, 1)
    second = min(found[4] + found[4] // 4 + 1, INFINITE)
    work.limits[depth + 1, easy] = min(work.limits[depth, easy], second)
    work.limits[depth + 1, hard] = min(work.limits[depth, hard] - found[hard] + found[3], INFINITE)


@kernel
def begin(work: ProofWork, question: ProofTask, elsewhere: int) -> None:
    """Make work.state the first position of a line. Modifies work."""
    state = work.state
    work.elsewhere[0] = elsewhere
    work.keys[0] = key_of(work, state.hash[0], state.info[TO_MOVE], question, elsewhere)
    copy_words(work.saved[0], state.buffer)
    work.limits[0, 0] = work.limits[0, 1] = INFINITE


@kernel
def prove(work: ProofWork, question: ProofTask) -> tuple[int, int]:
    """Search from work.state; return CAPTURED, SAFE or UNKNOWN, and how many positions it looked at. Modifies work."""
    state, depth, nodes = work.state, 0, 1
    verdict = judge_at_once(work, question, 0)
    if verdict != UNKNOWN:
        return verdict, nodes
    begin(work, question, 0)
    pn, dn, is_new = 1, 1, True
    while depth >= 0:
        copy_words(state.buffer, work.saved[depth])
        if is_new:
            list_proof_moves(work, depth, question)
        found = survey(work, depth, question)
        pn, dn = found[0], found[1]
        is_full = depth + 2 >= DEPTH
        if pn >= work.limits[depth, 0] or dn >= work.limits[depth, 1] or is_full or nodes >= question.nodes:
            if is_full and pn > 0 and dn > 0:
                pn, dn = INFINITE, 0
            store(work, work.keys[depth], pn, dn)
            depth, is_new = depth - 1, False
            continue
        set_limits(work, depth, found, state.info[TO_MOVE] == question.defender)
        nodes += 1
        is_new = enter(work, depth, work.moves[depth, found[2]], question)
        if is_new:
            depth += 1
    return CAPTURED if pn == 0 else SAFE if dn == 0 else UNKNOWN, nodes


@kernel
def easiest_move(work: ProofWork, question: ProofTask, elsewhere: int) -> tuple[int, int, int]:
    """Return the move of work.state that is easiest for its mover, and pn and dn of what it leads to; PASS: none.

    The moves are those at depth 0, where `prove` has left them. Modifies work.
    """
    begin(work, question, elsewhere)
    if work.counts[0] == 0:
        return PASS, INFINITE, 0
    found = survey(work, 0, question)
    pos, color = work.moves[0, found[2]], work.state.info[TO_MOVE]
    after = work.state.hash[0] if pos == PASS else hash_after(work.state, pos, color)
    key = key_of(work, after, 3 - color, question, count_elsewhere(elsewhere, pos, question))
    pn, dn = look_up(work, key, 0)
    return int(pos), pn, dn
