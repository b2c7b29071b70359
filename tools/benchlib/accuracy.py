"""How near what a runtime says is to what the network says in float32, on positions of games that it plays itself."""

from collections.abc import Iterator

import numpy as np

from nn.inference.board_evaluator import BoardEvaluator
from nn.inference.calibration import play_games
from nn.inference.divergence import compare
from nn.inference.evaluator import evaluate_exactly
from tools.benchlib.measure import Figure

# Other games than those that integers are made to suit.
SEEDS = (5, 6)


def collect_positions(evaluator: BoardEvaluator) -> np.ndarray:
    """Return the planes float32 [N, P, S, S] of games that the network plays against itself."""
    def judge(planes: np.ndarray) -> np.ndarray:
        """Return its policy logits."""
        return evaluator(planes)[0]

    return np.concatenate([planes for seed in SEEDS
                           for planes in play_games(judge, evaluator.plane_set, evaluator.board_size, seed)])


def measure_accuracy(model: str, evaluators: dict[str, BoardEvaluator]) -> Iterator[Figure]:
    """Yield, for runtimes of a model file by their names, how often their first choice is that of float32, and more."""
    planes = collect_positions(next(iter(evaluators.values())))
    exact = evaluate_exactly(model, planes)
    for name, evaluator in evaluators.items():
        logits, chances = evaluator.evaluate_plainly(planes)[:2]
        same = np.argmax(logits, axis=1) == np.argmax(exact[0], axis=1)
        yield Figure(f"first choice that of float32, {name}", "%", (100.0 * float(same.mean()),), target=99.0)
        lost, off = compare(exact, (logits, chances))
        yield Figure(f"policy off float32, {name}", "nats", (lost,))
        yield Figure(f"win rate off float32, {name}", "% (rms)", (100.0 * off,))
