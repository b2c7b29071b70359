"""What is certain of a string although moves are played elsewhere, where strings around it may be captured."""

from board.state import State
from common.kernel import kernel
from mcts.tactics.dfpn import SAFE, UNKNOWN, ProofTask, ProofWork, prove, set_position
from mcts.tactics.region import INSIDE, mark_standing


@kernel
def play_on_here(question: ProofTask) -> ProofTask:
    """Return the question in which nothing happens elsewhere."""
    return ProofTask(question.target, question.defender, question.most_liberties, question.nodes, 0)


@kernel
def settle(work: ProofWork, state: State, to_move: int, question: ProofTask) -> tuple[int, int]:
    """Return CAPTURED, SAFE or UNKNOWN for a position with `to_move` to begin, and how many positions it looked at.

    CAPTURED holds although the defender plays elsewhere, SAFE although he need not: where a string around may be taken
    from there in time, but might get away as well, nothing is known. Modifies work.
    """
    if work.region[question.target] == INSIDE:
        mark_standing(state, work.region)
    asked, nodes, is_sure = question, 0, True
    while True:
        set_position(work, state, to_move)
        result, more = prove(work, asked)
        nodes += more
        if result != SAFE or asked.elsewhere == 0:
            return result if is_sure or result == SAFE else UNKNOWN, nodes
        asked, is_sure = play_on_here(question), False
