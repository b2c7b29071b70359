"""Who wins where all but a small part of the board is settled: every move there is looked at, to a proof.

Points are certain that belong to pass-alive strings (Benson 1976, board/benson.py) or lie where the opponent cannot
live. A side has won as soon as its certain points alone are enough for komi, whatever else happens. Where few points
are left that are certain for nobody, the search plays them out: life and death, races and the last boundaries at once,
since all that it asks is whether that side comes to have enough.

The side that claims to win neither passes nor takes a ko nor repeats a position of the game, which superko may forbid,
and a repetition of the line is none of its plans; the other one may pass at any time, which stands for all moves
elsewhere. So what is proven holds without any ko threat. What is not proven is open: nothing that ends by two passes,
as a seki does, is seen here (mcts/solver.py sees it).

C: cells of the padded board, D depth.
"""

from typing import NamedTuple

import numpy as np

from board.benson import AreaWork, find_alive, is_safe_region, new_area_work
from board.constant import NO_MOVE, PASS
from board.go_board import GoBoard
from board.ladder import is_ko_mouth
from board.rules import is_legal, play
from board.state import (
    BLACK,
    EMPTY,
    KO_POS,
    OUT_OF_BOARD,
    PASSES,
    SIZE,
    TO_MOVE,
    WHITE,
    History,
    State,
    copy_words,
    new_history,
    new_state,
    turn_to,
)
from board.stone import Stone
from common.kernel import kernel
from mcts.tree_arrays import LOST, UNPROVEN, WON

# So many empty points may be certain for nobody; moves in a line, at most.
MOST_OPEN = 14
DEPTH = 40
# Positions that are looked at for each side that may have won, where a user asks.
MOST_NODES = 20_000
# What is known of a claim to win.
OPEN, PROVEN, REFUTED = 0, 1, 2


class EndingWork(NamedTuple):
    """Work space of a search."""

    state: State  # the position that is looked at
    game: History  # what led to the first one of the line, as far as its positions must not come again
    area: AreaWork
    is_open: np.ndarray  # bool [C]: points that are certain for nobody
    saved: np.ndarray  # uint64 [D, W]: the buffers of the positions of the line
    hashes: np.ndarray  # uint64 [D]: and the hashes of their stones
    moves: np.ndarray  # int16 [D, C]
    counts: np.ndarray  # int16 [D]: moves of each
    tried: np.ndarray  # int16 [D]: and how many of them were looked at


class ProvenEnding(NamedTuple):
    """What is proven of a position."""

    winner: Stone  # EMPTY where nothing is
    move: int  # by which the side to move wins; NO_MOVE where any does, or none is known to


class Claim(NamedTuple):
    """What is asked: whether a color wins."""

    color: int
    margin: float  # by more than so many points of area, komi for Black
    nodes: int  # positions to look at, at most


def new_ending_work(board_size: int) -> EndingWork:
    """Return work space for a board size."""
    state = new_state(board_size)
    cells = len(state.stones)
    return EndingWork(state, new_history(0), new_area_work(board_size), np.zeros(cells, dtype=np.bool_),
                      np.zeros((DEPTH, len(state.buffer)), dtype=np.uint64), np.zeros(DEPTH, dtype=np.uint64),
                      np.zeros((DEPTH, cells), dtype=np.int16), np.zeros(DEPTH, dtype=np.int16),
                      np.zeros(DEPTH, dtype=np.int16))


@kernel
def is_certain(state: State, pos: int, color: int, area: AreaWork) -> bool:
    """Return whether a point is a color's for good; `area` is what find_alive says of that color."""
    if state.stones[pos] == color:
        return bool(area.alive[state.string_id[pos]])
    number = area.region[pos]
    return number >= 0 and is_safe_region(area, number)


@kernel
def count_certain(state: State, color: int, area: AreaWork) -> int:
    """Return how many points are a color's for good. Modifies area."""
    find_alive(state, color, area)
    count = 0
    for pos in range(len(state.stones)):
        count += is_certain(state, pos, color, area)
    return count


@kernel
def mark_open(work: EndingWork) -> int:
    """Mark the points of work.state that are certain for nobody; return how many of them are empty. Modifies work."""
    state, count = work.state, 0
    for pos in range(len(state.stones)):
        work.is_open[pos] = state.stones[pos] != OUT_OF_BOARD
    for color in (BLACK, WHITE):
        find_alive(state, color, work.area)
        for pos in range(len(state.stones)):
            work.is_open[pos] = work.is_open[pos] and not is_certain(state, pos, color, work.area)
    for pos in range(len(state.stones)):
        count += work.is_open[pos] and state.stones[pos] == EMPTY
    return count


@kernel
def judge_claim(work: EndingWork, claim: Claim) -> int:
    """Return what the certain points of work.state say of a claim. Modifies work.area."""
    points = work.state.info[SIZE] * work.state.info[SIZE]
    if 2 * count_certain(work.state, claim.color, work.area) - points > claim.margin:
        return PROVEN
    if points - 2 * count_certain(work.state, 3 - claim.color, work.area) <= claim.margin:
        return REFUTED
    return OPEN


@kernel
def list_moves(work: EndingWork, depth: int, claim: Claim) -> None:
    """Make work.state the position at a depth of the line, with its moves. Modifies work."""
    state, count = work.state, 0
    color = state.info[TO_MOVE]
    for pos in range(len(state.stones)):
        if (work.is_open[pos] and state.stones[pos] == EMPTY and is_legal(state, pos, color)
                and not (color == claim.color and is_ko_mouth(state, pos, color))):
            work.moves[depth, count] = pos
            count += 1
    if color != claim.color:
        work.moves[depth, count] = PASS
        count += 1
    work.counts[depth], work.tried[depth] = count, 0
    copy_words(work.saved[depth], state.buffer)
    work.hashes[depth] = state.hash[0]


@kernel
def is_repetition(work: EndingWork, depth: int, moves: int) -> bool:
    """Return whether the stones of work.state stood in the line, up to a depth, or in the first `moves` of the game."""
    for earlier in range(depth + 1):
        if work.hashes[earlier] == work.state.hash[0]:
            return True
    for move in range(moves):
        if work.game.hash[move] == work.state.hash[0]:
            return True
    return False


@kernel
def look_at_move(work: EndingWork, depth: int, deepest: int, claim: Claim) -> int:
    """Play the next move of the position at a depth; return what is known after it at once. Modifies work.

    A position that `deepest` moves from the first one are not enough for is as good as refuted.
    """
    state = work.state
    copy_words(state.buffer, work.saved[depth])
    pos = work.moves[depth, work.tried[depth]]
    work.tried[depth] += 1
    # The other side may repeat the game where superko does not bind it; to let it do so claims no more.
    forbidden = work.game.length[0] if state.info[TO_MOVE] == claim.color else 0
    play(state, pos, state.info[TO_MOVE])
    if pos != PASS and is_repetition(work, depth, forbidden):
        return REFUTED
    verdict = judge_claim(work, claim)
    return REFUTED if verdict == OPEN and depth + 1 == deepest else verdict


@kernel
def prove_within(work: EndingWork, deepest: int, nodes: int, claim: Claim) -> tuple[int, int]:
    """Look at lines of up to `deepest` moves from work.saved[0]; return what they say, and `nodes` more than so many.

    One proven move decides the positions in which the claimant is to move, one that is refuted the others; work.tried
    then stands behind it. Modifies work.
    """
    state, verdict, depth = work.state, OPEN, 0
    copy_words(state.buffer, work.saved[0])
    begins = state.info[TO_MOVE] == claim.color
    list_moves(work, 0, claim)
    while depth >= 0:
        if work.tried[depth] == work.counts[depth]:
            verdict, depth = REFUTED if begins == (depth % 2 == 0) else PROVEN, depth - 1
        elif nodes == claim.nodes:
            return OPEN, nodes
        else:
            nodes += 1
            verdict = look_at_move(work, depth, deepest, claim)
            if verdict == OPEN:
                depth += 1
                list_moves(work, depth, claim)
        while verdict != OPEN and depth >= 0 and (begins == (depth % 2 == 0)) == (verdict == PROVEN):
            depth -= 1
    return verdict, nodes


@kernel
def prove_claim(work: EndingWork, claim: Claim) -> tuple[int, int]:
    """Return PROVEN or OPEN for work.state, and the move that proves it, NO_MOVE where any does.

    Short lines first, then longer ones (iterative deepening), since most proofs are short. Modifies work.
    """
    nodes, verdict, deepest = 1, judge_claim(work, claim), 0
    if verdict != OPEN:
        return PROVEN if verdict == PROVEN else OPEN, NO_MOVE
    begins = work.state.info[TO_MOVE] == claim.color
    copy_words(work.saved[0], work.state.buffer)
    while verdict != PROVEN and nodes < claim.nodes and deepest < DEPTH:
        deepest += 1
        verdict, nodes = prove_within(work, deepest, nodes, claim)
    if verdict != PROVEN:
        return OPEN, NO_MOVE
    return PROVEN, int(work.moves[0, work.tried[0] - 1]) if begins else NO_MOVE


@kernel
def prove_ending(work: EndingWork, position: np.ndarray, komi: float, nodes: int) -> tuple[int, int]:
    """Return what is proven for the side to move in a position, State.buffer, and the move that wins.

    WON, LOST or UNPROVEN; NO_MOVE where any move wins, or none is known to. Looks at `nodes` positions for each side,
    at one where much is open. A player who has just passed claims nothing: the next pass would end the game. Modifies
    work.
    """
    state = work.state
    copy_words(state.buffer, position)
    color, passes, most = state.info[TO_MOVE], state.info[PASSES], nodes if mark_open(work) <= MOST_OPEN else 1
    for claimant in (BLACK, WHITE):  # one call for both, which is compiled once
        if claimant == color or passes == 0:
            copy_words(state.buffer, position)
            state.info[KO_POS] = 0  # the opponent may take it, after a threat; the claimant never does
            verdict, move = prove_claim(work, Claim(claimant, komi if claimant == BLACK else -komi, most))
            if verdict == PROVEN:
                return WON if claimant == color else LOST, move
    return UNPROVEN, NO_MOVE


def solve_ending(board: GoBoard, to_move: Stone, nodes: int = MOST_NODES) -> ProvenEnding:
    """Return who wins on a board, by its komi, with `to_move` to begin; `nodes` as for prove_ending."""
    work = new_ending_work(board.board_size)._replace(game=board.history)
    position = new_state(board.board_size)
    position.buffer[:] = board.state.buffer
    turn_to(position, int(to_move))
    outcome, move = prove_ending(work, position.buffer, float(board.get_komi()), nodes)
    winner = {WON: Stone(to_move), LOST: Stone.get_opponent_color(Stone(to_move))}.get(outcome, Stone.EMPTY)
    return ProvenEnding(winner, int(move))
