"""Moves that settle a string: proof-number search (dfpn.py) raises their priors, `--tactics` and `--leaf-tactics`.

A string is at stake where it is captured if the one side begins, and safe if the other does. The move that decides it
gets a least prior, as the rules give one to captures of large strings (mcts/atari.py): what is proven of a string
proves nothing about the game, but it is a move to look at. At the root lines are long and closed regions are searched
in full (life and death, capturing races); at the other positions they are short: ladders and nets. These are looked at
in a pass of its own between the lines of a call and the network, so that the search is compiled without it; where
several calls are under way, the network works on the others meanwhile.

C: cells of the padded board.
"""

from typing import NamedTuple

import numpy as np

from board.constant import NO_MOVE, PASS
from board.go_board import GoBoard
from board.state import EMPTY, SIZE, TO_MOVE, WIDTH, State, new_state
from board.stone import Stone
from board.string import find_liberty
from common.kernel import kernel
from mcts.params import Tactics
from mcts.tactics.capture import ANY_LIBERTIES, MOST_POINTS
from mcts.tactics.dfpn import (
    CAPTURED,
    SAFE,
    TABLE_BITS,
    ProofTask,
    ProofWork,
    easiest_move,
    new_proof_work,
    set_position,
)
from mcts.tactics.region import mark_region, most_outside
from mcts.tactics.settle import play_on_here, settle

# Most liberties of the strings that are looked at. One that comes to have more than it has, and more than LADDER, has
# got away: to prove that with the four that hiyoko-solve allows takes a hundred times as long.
ROOT_LIBERTIES, LEAF_LIBERTIES, LADDER = 3, 2, 2
# Room in the table for each position that is looked at; it is emptied for each string.
ENTRIES = 32


class Tactician(NamedTuple):
    """Work space, and how far it is looked."""

    proof: ProofWork
    position: State  # what is looked at
    hint: np.ndarray  # float32 [C]: the least prior of a move to each point, 0 for most
    nodes: int  # positions that are looked at for a string and a side to begin
    most_liberties: int  # strings with more are left alone, unless they are closed in
    most_points: int  # with so many empty points around them, or less; 0: none are
    ladder: int  # a string that began with fewer liberties has got away only when it has more than so many
    prior: float  # what a move gets that settles a string of very many stones


def new_tactician(board_size: int, tactics: Tactics, is_root: bool) -> Tactician | None:
    """Return who looks at the strings of the root, or of other nodes; None where nobody is to."""
    nodes = tactics.root if is_root else tactics.leaf
    if nodes == 0:
        return None
    work = new_proof_work(board_size, min(TABLE_BITS, (ENTRIES * nodes).bit_length()))
    liberties, points = (ROOT_LIBERTIES, MOST_POINTS) if is_root else (LEAF_LIBERTIES, 0)
    return Tactician(work, new_state(board_size), np.zeros(len(work.region), dtype=np.float32), nodes, liberties,
                     points, LADDER, tactics.prior)


@kernel
def find_settling_move(work: ProofWork, state: State, color: int, question: ProofTask) -> int:
    """Return the move by which `color` settles the string of a question; NO_MOVE if it is not at stake, or unknown.

    Modifies work.
    """
    wanted, feared = (SAFE, CAPTURED) if color == question.defender else (CAPTURED, SAFE)
    for slot in range(len(work.table_keys)):
        work.table_keys[slot] = 0
    for result in (feared, wanted):  # one call for both, which is compiled once
        to_move = color if result == wanted else 3 - color
        if settle(work, state, to_move, question)[0] != result:
            return NO_MOVE
    string_id = state.string_id[question.target]
    if wanted == CAPTURED and state.liberties[string_id] == 1:
        return find_liberty(state, string_id)
    set_position(work, state, color)
    pos, pn, dn = easiest_move(work, question if wanted == CAPTURED else play_on_here(question), 0)
    return NO_MOVE if pos == PASS or (pn if wanted == CAPTURED else dn) != 0 else pos


@kernel
def ask(tactician: Tactician, state: State, target: int) -> ProofTask:
    """Return what to ask about the string at a point, with 0 positions to look at where nothing is.

    tactician.proof.region becomes its region. Modifies tactician.
    """
    work, liberties = tactician.proof, state.liberties[state.string_id[target]]
    is_closed = tactician.most_points > 0 and mark_region(state, target, tactician.most_points, work.region, work.queue)
    is_asked = is_closed or liberties <= tactician.most_liberties
    most_liberties = ANY_LIBERTIES if is_closed else max(tactician.ladder, liberties)
    elsewhere = most_outside(state, target, work.region, work.queue) if is_closed else 0
    return ProofTask(target, int(state.stones[target]), most_liberties, tactician.nodes if is_asked else 0, elsewhere)


@kernel
def hint_position(tactician: Tactician, color: int) -> None:
    """Give the moves of `color` that settle a string of n stones, two or more, the least prior prior * (1 - 1 / n).

    Modifies tactician.
    """
    state = tactician.position
    for pos in range(len(tactician.hint)):
        tactician.hint[pos] = 0.0
    size, width = state.info[SIZE], state.info[WIDTH]
    for y in range(1, size + 1):
        for target in range(y * width + 1, y * width + size + 1):
            if state.stones[target] == EMPTY or state.string_id[target] != target or state.size[target] == 1:
                continue
            question = ask(tactician, state, target)
            pos = find_settling_move(tactician.proof, state, color, question) if question.nodes > 0 else NO_MOVE
            if pos != NO_MOVE:
                least = tactician.prior * (1.0 - 1.0 / state.size[target])
                tactician.hint[pos] = max(least, float(tactician.hint[pos]))


def hint_root(tactician: Tactician, board: GoBoard, color: Stone) -> np.ndarray:
    """Return the least priors [C] of the moves that settle a string for `color`. Modifies tactician."""
    tactician.position.buffer[:] = board.state.buffer
    hint_position(tactician, int(color))
    return tactician.hint


def hint_leaf(tactician: Tactician, position: np.ndarray) -> np.ndarray:
    """Return the same for the side to move in a position, State.buffer. Modifies tactician."""
    tactician.position.buffer[:] = position
    hint_position(tactician, int(tactician.position.info[TO_MOVE]))
    return tactician.hint
