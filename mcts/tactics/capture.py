"""Whether a string lives or can be captured, whoever moves first: proof-number search (dfpn.py) on a board."""

from typing import NamedTuple

from board.constant import PASS
from board.go_board import GoBoard
from board.stone import Stone
from mcts.tactics.dfpn import (
    CAPTURED,
    SAFE,
    UNKNOWN,
    ProofTask,
    ProofWork,
    count_elsewhere,
    easiest_move,
    list_proof_moves,
    new_proof_work,
    set_position,
)
from mcts.tactics.region import mark_region, most_outside
from mcts.tactics.settle import play_on_here, settle

# Empty points of a region in which every move is looked at; around a string in a larger one only moves near to it are,
# and with more liberties than these it has got away.
MOST_POINTS = 14
MOST_LIBERTIES = 4
MOST_NODES = 200_000
LONGEST_LINE = 20
ANY_LIBERTIES = 1000
VERDICTS = {UNKNOWN: "not settled", CAPTURED: "captured", SAFE: "safe"}


class Proof(NamedTuple):
    """What is known about a string."""

    result: int  # UNKNOWN, CAPTURED or SAFE
    line: tuple[int, ...]  # how it goes on; it begins with the move that settles it
    nodes: int  # positions that were looked at


def solve(board: GoBoard, target: int, to_move: Stone, nodes: int = MOST_NODES) -> Proof:
    """Return whether the string at a point can be captured with `to_move` to begin."""
    work = new_proof_work(board.board_size)
    is_closed = mark_region(board.state, target, MOST_POINTS, work.region, work.queue)
    elsewhere = most_outside(board.state, target, work.region, work.queue) if is_closed else 0
    question = ProofTask(target, int(board.state.stones[target]), ANY_LIBERTIES if is_closed else MOST_LIBERTIES, nodes,
                         elsewhere)
    result, looked_at = settle(work, board.state, int(to_move), question)
    if result == SAFE:
        question = play_on_here(question)
    return Proof(result, tuple(_follow(board, to_move, result, question, work)), looked_at)


def find_last_liberty(board: GoBoard, target: int) -> int:
    """Return where the string at a point is taken at the next move, PASS where it is not in atari."""
    liberties = board.strings.string[board.strings.get_id(target)].get_liberties()
    return liberties[0] if len(liberties) == 1 else PASS


def _follow(board: GoBoard, to_move: Stone, result: int, question: ProofTask, work: ProofWork) -> list[int]:
    """Return the line that the search found for its result, as far as its table still knows it and the game allows it.

    Modifies work.
    """
    line: list[int] = []
    elsewhere = 0
    position, color = board.copy(), to_move
    while result != UNKNOWN and len(line) < LONGEST_LINE and position.board[question.target] == question.defender:
        set_position(work, position.state, int(color))
        list_proof_moves(work, 0, question)
        pos, pn, dn = easiest_move(work, question, elsewhere)
        last = find_last_liberty(position, question.target)
        if color != question.defender and last != PASS and result == CAPTURED:
            return [*line, last]
        if (pn if result == CAPTURED else dn) != 0 or (pos == PASS and color != question.defender):
            break
        if not position.is_legal(int(pos), color):  # a ko of the game, which the search does not know
            break
        line.append(int(pos))
        position.put_stone(int(pos), color)
        elsewhere = count_elsewhere(elsewhere, pos, question)
        color = Stone.get_opponent_color(color)
    return line
