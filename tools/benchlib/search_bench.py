"""Speed of the search on one core when the network costs nothing."""

from collections.abc import Iterator

from board.go_board import GoBoard
from mcts.params import SearchLimit, SearchParams
from mcts.tree import MCTSTree
from tools.benchlib.evaluators import FreeEvaluator
from tools.benchlib.measure import BenchSettings, Figure, Workload, measure
from tools.benchlib.positions import MIDGAME_9X9, make_board

TAMAGO_VISITS = 2100
VISITS_TARGET = 100000
SHOT_VISITS = 1600
BATCH_SIZES = (1, 16, 64)


def make_search_work(board: GoBoard, batch_size: int, visits: int, shot: bool = False) -> Workload:
    """Return a search of exactly so many visits from an empty tree, by PUCT or by SHOT."""
    tree = MCTSTree(FreeEvaluator(board.board_size), board.board_size, SearchParams(batch_size=batch_size))
    color, limit = board.get_to_move(), SearchLimit(visits, strict=True)

    def work() -> int:
        tree.clear()
        search = tree.search_with_sequential_halving if shot else tree.search
        return search(board, color, limit).visits

    return work


def measure_search(settings: BenchSettings) -> Iterator[Figure | str]:
    """Yield visits a second of both searches, by batch size, from the empty board and from a midgame position."""
    yield f"search, one core, free evaluator, 9x9: PUCT with {settings.search_visits} visits, SHOT with {SHOT_VISITS}"
    boards = {"empty board": GoBoard(9), "midgame": make_board(MIDGAME_9X9)}
    for batch_size in BATCH_SIZES:
        for place, board in boards.items():
            work = make_search_work(board, batch_size, settings.search_visits)
            yield measure(f"PUCT, batch {batch_size}, {place}", "visits/s", work, settings,
                          target=VISITS_TARGET, tamago=TAMAGO_VISITS)
    for batch_size in BATCH_SIZES:
        for place, board in boards.items():
            work = make_search_work(board, batch_size, SHOT_VISITS, shot=True)
            yield measure(f"SHOT, batch {batch_size}, {place}", "visits/s", work, settings)
