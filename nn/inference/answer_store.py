"""A table of what a network has said, bounded in memory: a key finds its answer in one of a few places.

Letters: M places, W numbers of an answer, N positions of a call, F of them new, P planes, S board size, A = S*S + 1
policy entries, L = 1 where the network tells lead and ownership, else 0.
"""

from typing import NamedTuple

import numpy as np

from board.geometry import SYMMETRIES
from common.kernel import kernel
from nn.inference.orientation import Turns, choose_turn, turn_position

# Places in which a key may lie; the oldest answer there makes room for a new one.
WAYS = 4
CHANCES = 3  # to lose, draw and win
SEED = 20261123


class AnswerStore(NamedTuple):
    """All answers: policy logits, chances, and lead and ownership if they are told, of positions turned one way."""

    weight: np.ndarray  # uint64 [P, S*S]: random bits of the entries that are not zero
    keys: np.ndarray  # uint64 [M]
    age: np.ndarray  # int64 [M]: number of the answer, 0 where there is none
    rows: np.ndarray  # float32 [M, W]
    kept: np.ndarray  # int64 [1]: answers that were ever kept
    turn_keys: np.ndarray  # int64 [8], work space


class Inquiry(NamedTuple):
    """One call: what is known of its positions, and what is said of them, as they lie."""

    keys: np.ndarray  # uint64 [N]
    chosen: np.ndarray  # int64 [N]: the symmetry that each is turned by
    new: np.ndarray  # int64 [N]: those that the network is asked about come first, F of them
    logits: np.ndarray  # float32 [N, A]
    values: np.ndarray  # float32 [N, 3]
    leads: np.ndarray  # float32 [N * L]
    ownership: np.ndarray  # float32 [N * L, S*S]


def new_answer_store(memory: int, board_size: int, planes: int, tells_lead: bool) -> AnswerStore:
    """Return a table that takes at most so many bytes, or WAYS places."""
    points = board_size**2
    width = points + 1 + CHANCES + tells_lead * (1 + points)
    places = max(WAYS, memory // (4 * width + 16))
    weight = np.random.default_rng(SEED).integers(0, 2**64, (planes, points), dtype=np.uint64)
    return AnswerStore(weight, np.zeros(places, dtype=np.uint64), np.zeros(places, dtype=np.int64),
                       np.zeros((places, width), dtype=np.float32), np.zeros(1, dtype=np.int64),
                       np.zeros(SYMMETRIES, dtype=np.int64))


def new_inquiry(count: int, board_size: int, tells_lead: bool) -> Inquiry:
    """Return room for a call."""
    points, told = board_size**2, count * tells_lead
    return Inquiry(np.empty(count, dtype=np.uint64), np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64),
                   np.empty((count, points + 1), dtype=np.float32), np.empty((count, CHANCES), dtype=np.float32),
                   np.empty(told, dtype=np.float32), np.empty((told, points), dtype=np.float32))


@kernel
def hash_position(planes: np.ndarray, bits: np.ndarray, n: int, weight: np.ndarray, keys: np.ndarray, to: int) -> None:
    """Write the key of position `n` of float32 [N, P, S*S], which `bits` shows as uint32, to keys[to]. Modifies keys.

    Planes hold zeros and ones, or the same number everywhere, which their last entry tells.
    """
    key, last = np.uint64(0), planes.shape[2] - 1
    for p in range(planes.shape[1]):
        for point in range(last + 1):
            key ^= weight[p, point] if planes[n, p, point] != 0.0 else np.uint64(0)  # no branch, many at a time
        key ^= np.uint64(bits[n, p, last]) << np.uint64(p % 32)
    keys[to] = key


@kernel
def find_place(store: AnswerStore, keys: np.ndarray, n: int) -> int:
    """Return where key `n` of uint64 [N] lies, or -1 - the place that it would take."""
    places = len(store.keys)
    oldest = place = np.int64(keys[n] % np.uint64(places))
    for _ in range(WAYS):
        if store.age[place] > 0 and store.keys[place] == keys[n]:
            return int(place)
        if store.age[place] < store.age[oldest]:
            oldest = place
        place = (place + 1) % places
    return int(-1 - oldest)


@kernel
def recall(store: AnswerStore, place: int, inquiry: Inquiry, n: int, order: np.ndarray) -> None:
    """Give position `n` of a call the answer in a place, turned back from an order int64 [A]. Modifies inquiry."""
    row, actions = store.rows[place], inquiry.logits.shape[1]
    for k in range(actions):
        inquiry.logits[n, order[k]] = row[k]
    for k in range(CHANCES):
        inquiry.values[n, k] = row[actions + k]
    if len(inquiry.leads) > 0:
        inquiry.leads[n] = row[actions + CHANCES]
        for k in range(actions - 1):
            inquiry.ownership[n, order[k]] = row[actions + CHANCES + 1 + k]


@kernel
def look_up(planes: np.ndarray, turns: Turns, store: AnswerStore, inquiry: Inquiry, turned: np.ndarray,
            bits: np.ndarray) -> int:
    """Turn positions float32 [N, P, S*S], answer those that are known, and return how many are new.

    These are the first of `turned`, float32 [N, P, S*S], whose memory `bits` shows as uint32. Modifies inquiry, turned.
    """
    count = 0
    for n in range(planes.shape[0]):
        inquiry.chosen[n] = choose_turn(planes, n, turns, store.turn_keys)
        order = turns.order[inquiry.chosen[n]]
        turn_position(planes, n, order, turned, count)
        hash_position(turned, bits, count, store.weight, inquiry.keys, n)
        place = find_place(store, inquiry.keys, n)
        if place >= 0:
            recall(store, place, inquiry, n, order)
        else:
            inquiry.new[count] = n
            count += 1
    return count


@kernel
def keep_answers(logits: np.ndarray, values: np.ndarray, leads: np.ndarray, ownership: np.ndarray, turns: Turns,
                 store: AnswerStore, inquiry: Inquiry) -> None:
    """Keep what a network says of the new positions of a call, and give it to them. Modifies store and inquiry."""
    actions = logits.shape[1]
    for i in range(logits.shape[0]):
        n = inquiry.new[i]
        place = find_place(store, inquiry.keys, n)
        if place < 0:
            place = -1 - place
        store.kept[0] += 1
        store.age[place] = store.kept[0]
        store.keys[place] = inquiry.keys[n]
        row = store.rows[place]
        for k in range(actions):
            row[k] = logits[i, k]
        for k in range(CHANCES):
            row[actions + k] = values[i, k]
        if len(leads) > 0:
            row[actions + CHANCES] = leads[i]
            for k in range(actions - 1):
                row[actions + CHANCES + 1 + k] = ownership[i, k]
        recall(store, place, inquiry, n, turns.order[inquiry.chosen[n]])
