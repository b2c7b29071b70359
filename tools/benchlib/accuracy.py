"""How near what a runtime says is to what the network says in float32, on positions of games that it plays itself."""

from collections.abc import Iterator

import numpy as np

from board.constant import PASS
from board.go_board import GoBoard
from nn.feature import generate_input_planes
from nn.inference.board_evaluator import BoardEvaluator
from nn.inference.evaluator import evaluate_exactly
from tools.benchlib.measure import Figure

GAMES, MOVES = 16, 60
SEED = 5


def collect_positions(evaluator: BoardEvaluator) -> np.ndarray:
    """Return the planes float32 [N, P, S, S] of games whose moves are drawn from the network's policy."""
    size, rng = evaluator.board_size, np.random.default_rng(SEED)
    boards, collected = [GoBoard(size) for _ in range(GAMES)], []
    for _ in range(min(MOVES, size * size)):
        planes = np.stack([
            generate_input_planes(board, board.get_to_move(), plane_set=evaluator.plane_set) for board in boards])
        collected.append(planes)
        for board, logits in zip(boards, evaluator(planes)[0], strict=True):
            legal = board.get_all_legal_pos(board.get_to_move(), fill_eyes=False)
            likely = [logits[board.onboard_pos.index(pos)] for pos in legal]
            order = np.argsort(np.array(likely) + rng.gumbel(size=len(legal)))  # Gumbel noise draws from a softmax
            board.put_stone(legal[order[-1]] if legal else PASS, board.get_to_move())
    return np.concatenate(collected)


def measure_accuracy(model: str, evaluators: dict[str, BoardEvaluator]) -> Iterator[Figure]:
    """Yield, for runtimes of a model file by their names, how often their first choice is that of float32, and more."""
    planes = collect_positions(next(iter(evaluators.values())))
    exact_logits, exact_chances = evaluate_exactly(model, planes)
    for name, evaluator in evaluators.items():
        logits, chances = evaluator.evaluate_plainly(planes)[:2]
        same = np.argmax(logits, axis=1) == np.argmax(exact_logits, axis=1)
        off = (chances - exact_chances) @ np.array([0.0, 0.5, 1.0])
        yield Figure(f"first choice that of float32, {name}", "%", (100.0 * float(same.mean()),), target=99.0)
        yield Figure(f"win rate off float32, {name}", "% (rms)", (100.0 * float(np.sqrt(np.mean(off**2))),))
