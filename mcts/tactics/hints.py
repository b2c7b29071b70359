"""Moves that settle a string: proof-number search (dfpn.py) raises their priors, `--tactics` and `--leaf-tactics`.

A string is at stake where it is captured if the one side begins, and safe if the other does. The move that decides it
gets a least prior, as the rules give one to captures of large strings (mcts/atari.py): what is proven of a string
proves nothing about the game, but it is a move to look at. At the root lines are long and closed regions are searched
in full (life and death, capturing races); at the other positions they are short: ladders and nets. These are looked at
in a pass of its own after the lines of a call, while the network works on them, for two reasons: nothing waits, and
the search is compiled without it.

C: cells of the padded board.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from board.constant import NO_MOVE, PASS
from board.go_board import GoBoard
from board.state import EMPTY, SIZE, TO_MOVE, WIDTH, State, copy_words, new_state
from board.stone import Stone
from board.string import find_liberty
from common.kernel import kernel
from mcts.params import Tactics
from mcts.tactics.capture import NO_LIMIT, find_region
from mcts.tactics.dfpn import (
    CAPTURED,
    SAFE,
    TABLE_BITS,
    ProofTask,
    ProofWork,
    easiest_move,
    new_proof_work,
    prove,
    set_position,
)
from mcts.tree_arrays import Batch, Tree

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
    most_liberties: int  # strings with more are left alone
    ladder: int  # and with as many a string that had less is still not safe
    prior: float  # what a move gets that settles a string of very many stones


def new_tactician(board_size: int, tactics: Tactics, is_root: bool) -> Tactician | None:
    """Return who looks at the strings of the root, or of other nodes; None where nobody is to."""
    nodes = tactics.root if is_root else tactics.leaf
    if nodes == 0:
        return None
    work = new_proof_work(board_size, min(TABLE_BITS, (ENTRIES * nodes).bit_length()))
    return Tactician(work, new_state(board_size), np.zeros(len(work.region), dtype=np.float32), nodes,
                     ROOT_LIBERTIES if is_root else LEAF_LIBERTIES, LADDER, tactics.prior)


@kernel
def prove_anew(work: ProofWork, state: State, to_move: int, question: ProofTask) -> int:
    """Return what is known about the string of a question when `to_move` begins. Modifies work."""
    set_position(work, state, to_move)
    return prove(work, question)[0]


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
        if prove_anew(work, state, to_move, question) != result:
            return NO_MOVE
    string_id = state.string_id[question.target]
    if wanted == CAPTURED and state.liberties[string_id] == 1:
        return find_liberty(state, string_id)
    set_position(work, state, color)
    pos, pn, dn = easiest_move(work, question)
    return NO_MOVE if pos == PASS or (pn if wanted == CAPTURED else dn) != 0 else pos


@kernel
def hint_string(tactician: Tactician, state: State, color: int, question: ProofTask) -> None:
    """Give the move that settles a string of n stones the least prior prior * (1 - 1 / n). Modifies tactician."""
    pos = find_settling_move(tactician.proof, state, color, question)
    if pos != NO_MOVE:
        least = tactician.prior * (1.0 - 1.0 / state.size[state.string_id[question.target]])
        tactician.hint[pos] = max(least, float(tactician.hint[pos]))


@kernel
def hint_position(tactician: Tactician, position: np.ndarray) -> None:
    """Look at all strings of two stones or more with few liberties, and moves around them; `position` is State.buffer.

    Modifies tactician.
    """
    state = tactician.position
    copy_words(state.buffer, position)
    for pos in range(len(tactician.hint)):
        tactician.hint[pos] = 0.0
    size, width = state.info[SIZE], state.info[WIDTH]
    for y in range(1, size + 1):
        for pos in range(y * width + 1, y * width + size + 1):
            if (state.stones[pos] != EMPTY and state.string_id[pos] == pos and state.size[pos] > 1
                    and state.liberties[pos] <= tactician.most_liberties):
                question = ProofTask(pos, int(state.stones[pos]), max(tactician.ladder, int(state.liberties[pos])),
                                     tactician.nodes)
                hint_string(tactician, state, state.info[TO_MOVE], question)


@kernel
def hint_leaves(tactician: Tactician, tree: Tree, batch: Batch, count: int) -> None:
    """Raise the least priors of the moves of the first leaves of a batch, which wait for their policies.

    Modifies tactician and tree.
    """
    for index in range(count):
        hint_position(tactician, batch.positions.now[index])
        first = tree.node_edge[batch.leaf[index]]
        for edge in range(first, first + tree.node_edges[batch.leaf[index]]):
            if tree.edge_pos[edge] != PASS:
                tree.edge_logit[edge] = max(tree.edge_logit[edge], tactician.hint[tree.edge_pos[edge]])


def hint_root(tactician: Tactician, board: GoBoard, color: Stone) -> np.ndarray:
    """Return the least priors [C] of the moves that settle a string for `color`. Modifies tactician."""
    tactician.hint[:] = 0.0
    for question in list_questions(tactician, board):
        hint_string(tactician, board.state, int(color), question)
    return tactician.hint


def list_questions(tactician: Tactician, board: GoBoard) -> Iterator[ProofTask]:
    """Yield what to ask about a position: the strings of `hint_position`, and those that are closed in.

    Before each, tactician.proof.region becomes its region.
    """
    for string in board.strings.string.values():
        target, liberties = string.get_origin(), string.get_num_liberties()
        if string.get_size() == 1:
            continue
        region = find_region(board, target)
        if not region and liberties > tactician.most_liberties:
            continue
        tactician.proof.region[:] = 0
        tactician.proof.region[region] = 1
        escape = NO_LIMIT if region else max(tactician.ladder, liberties)
        yield ProofTask(target, int(string.get_color()), escape, tactician.nodes)
