"""Speed of the search on one core when the network costs nothing."""

from collections.abc import Iterator
from typing import Any

from board.go_board import GoBoard
from engine.options import EngineOptions
from mcts.constant import GUMBEL, PUCT
from mcts.params import SearchLimit, SearchParams
from mcts.tree import MCTSTree
from mcts.wishes import Wishes
from nn.inference.board_evaluator import BoardEvaluator
from tools.benchlib.evaluators import FreeEvaluator
from tools.benchlib.measure import BenchSettings, Figure, Workload, measure
from tools.benchlib.positions import MIDGAME_9X9, make_board

TAMAGO_VISITS = 2100
VISITS_TARGET = 100000
SHOT_VISITS = 1600
BATCH_SIZES = (1, 16, 64)


def params_of(evaluator: BoardEvaluator, settings: BenchSettings, **options: Any) -> SearchParams:
    """Return what the engine searches with that has this evaluator, and these options."""
    return EngineOptions(model=settings.model, use_gpu=evaluator.on_gpu, **options).for_model().search_params()


def make_search_work(tree: MCTSTree, board: GoBoard, visits: int) -> Workload:
    """Return a search of exactly so many visits from an empty tree."""
    limit = SearchLimit(visits, strict=True)

    def search() -> int:
        tree.clear()
        return tree.run(board, board.get_to_move(), limit, Wishes()).visits

    return search


def make_free_tree(board: GoBoard, batch_size: int, algorithm: int) -> MCTSTree:
    """Return a tree of one of the searches (mcts/searches.py) whose network costs nothing."""
    params = SearchParams(batch_size=batch_size, algorithm=algorithm)
    return MCTSTree(FreeEvaluator(board.board_size), board.board_size, params)


def measure_search(settings: BenchSettings) -> Iterator[Figure | str]:
    """Yield visits a second of both searches, by batch size, from the empty board and from a midgame position."""
    yield f"search, one core, free evaluator, 9x9: PUCT with {settings.search_visits} visits, SHOT with {SHOT_VISITS}"
    boards = {"empty board": GoBoard(9), "midgame": make_board(MIDGAME_9X9)}
    for batch_size in BATCH_SIZES:
        for place, board in boards.items():
            work = make_search_work(make_free_tree(board, batch_size, PUCT), board, settings.search_visits)
            yield measure(f"PUCT, batch {batch_size}, {place}", "visits/s", work, settings,
                          target=VISITS_TARGET, tamago=TAMAGO_VISITS)
    for batch_size in BATCH_SIZES:
        for place, board in boards.items():
            work = make_search_work(make_free_tree(board, batch_size, GUMBEL), board, SHOT_VISITS)
            yield measure(f"SHOT, batch {batch_size}, {place}", "visits/s", work, settings)
