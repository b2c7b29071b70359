"""What it costs a search that several leaves wait for the network: how often it plays what single leaves play.

A search of single leaves knows all that was found before; one that starts more at a time chooses some of them without.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from mcts.params import SearchLimit
from mcts.tree import MCTSTree
from nn.inference.evaluation_cache import CachedEvaluator
from nn.inference.loading import load_evaluator
from tools.benchlib.evaluators import CountingEvaluator
from tools.benchlib.measure import BenchSettings
from tools.benchlib.search_bench import params_of
from tools.benchlib.target_bench import collect_positions

PER_GAME = 2

# Leaves at a time: fields of SearchParams.
SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "calls not filled": {"ahead": 0},
    "a leaf for 16 visits": {"visits_per_leaf": 16},
    "a leaf for 16, calls not filled": {"visits_per_leaf": 16, "ahead": 0},
    "a leaf for 4 visits": {"visits_per_leaf": 4},
    "batch 16": {"batch_size": 16, "visits_per_leaf": 0},
    "batch 16, calls not filled": {"batch_size": 16, "visits_per_leaf": 0, "ahead": 0},
    "batch 64": {"batch_size": 64, "visits_per_leaf": 0},
}


def measure_batches(settings: BenchSettings) -> Iterator[str]:
    """Yield for each setting how many moves are those of single leaves, and by how much visits differ.

    Raises NoGamesError.
    """
    network = load_evaluator(settings.model, settings.board_size, settings.use_gpu)
    evaluator, params = CachedEvaluator(network), params_of(network, settings)
    boards, limit = collect_positions(settings, PER_GAME), SearchLimit(settings.search_visits, strict=True)

    def search(changes: dict[str, Any]) -> tuple[list[int], np.ndarray, float]:
        counter = CountingEvaluator(evaluator)
        tree = MCTSTree(counter, settings.board_size, replace(params, **changes))
        moves, shares = [], []
        for board in boards:
            tree.clear()
            moves.append(tree.search(board, board.get_to_move(), limit).pos)
            shares.append(tree.spread(tree.root.children_visits / settings.search_visits))
        return moves, np.stack(shares), counter.positions / max(1, counter.calls)

    reference, visits, _ = search({"batch_size": 1, "visits_per_leaf": 0})
    yield (f"batches: {len(boards)} positions, {settings.search_visits} visits; moves that are those of single leaves, "
           "total variation of the root's visits, mean positions of a call")
    for name, changes in SETTINGS.items():
        moves, shares, leaves = search(changes)
        same = sum(a == b for a, b in zip(moves, reference, strict=True))
        variation = np.abs(shares - visits).sum(axis=1).mean() / 2
        yield f"{name:<30} {same:5d} of {len(boards)} {variation:8.3f} {leaves:6.2f}"
