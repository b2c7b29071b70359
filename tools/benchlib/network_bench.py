"""Speed of the network alone, and of the search that uses it, on all cores."""

from collections.abc import Iterator

import numpy as np

from board.geometry import SYMMETRIES
from board.go_board import GoBoard
from common.cores import count_usable_cores
from mcts.params import SearchLimit
from mcts.tree import MCTSTree
from nn.feature import PlaneSet, generate_input_planes
from nn.inference.board_evaluator import BoardEvaluator
from nn.inference.evaluation_cache import CachedEvaluator
from nn.inference.evaluator import load_on_torch
from nn.inference.loading import load_evaluator
from nn.inference.runtime import Runtime, choose_runtime, find_gpu
from nn.model_file import RANDOM_MODEL, split_models
from tools.benchlib.accuracy import measure_accuracy
from tools.benchlib.company_bench import measure_company
from tools.benchlib.evaluators import CountingEvaluator
from tools.benchlib.measure import BenchSettings, Figure, Workload, interleave, measure
from tools.benchlib.positions import LATE_9X9, MIDGAME_9X9, make_board, make_random_board
from tools.benchlib.search_bench import make_search_work, params_of

BATCH_SIZES = (1, 2, 8, 16, 64, 256)
# TamaGo 0.10.0's visits a second by batch size, 1,000 visits from the empty board, on two cores.
TAMAGO_ENGINE = {1: (144.0, 144.0), 16: (307.0, 388.0)}
# Percent of the network's own speed that the search keeps at batch 16.
SHARE_TARGETS = {1: None, 16: 80.0}
LATE_SIZE = 9
# Size of the network's calls beside a search with default settings.
USUAL_CALL = 16


def make_planes(plane_set: PlaneSet, board_size: int, count: int) -> np.ndarray:
    """Return the planes of `count` different random positions, float32 [N, P, S, S]."""
    planes = []
    for seed in range(-(-count // SYMMETRIES)):
        board = make_random_board(board_size, 1 + seed % (board_size * board_size // 2), seed)
        planes += [generate_input_planes(board, board.get_to_move(), sym, plane_set) for sym in range(SYMMETRIES)]
    return np.stack(planes[:count])


def make_network_work(evaluator: BoardEvaluator, batch_size: int, calls: int = 1) -> Workload:
    """Return some calls of the network with full batches."""
    planes = make_planes(evaluator.plane_set, evaluator.board_size, batch_size)

    def work() -> int:
        for _ in range(calls):
            evaluator(planes)
        return calls * batch_size

    return work


def measure_network(settings: BenchSettings) -> Iterator[Figure | str]:
    """Yield positions a second by batch size, and how near the runtimes are to float32, of a single network."""
    evaluator = load_evaluator(settings.model, use_gpu=settings.use_gpu)
    yield f"network alone: {evaluator.description} ({settings.model})"
    for batch_size in BATCH_SIZES:
        work = make_network_work(evaluator, batch_size)
        yield measure(f"network, batch {batch_size}", "positions/s", work, settings, one_core=False)
    if len(split_models(settings.model)) > 1:
        return
    runtimes = {evaluator.description: evaluator}
    if choose_runtime(settings.use_gpu and find_gpu()) is not Runtime.TORCH:
        torch = load_on_torch(settings.model, None, False, 1, count_usable_cores(), ())
        yield from compare_with_torch(evaluator, torch, settings)
        runtimes |= {torch.description: torch}
    if settings.model != RANDOM_MODEL:
        yield from measure_accuracy(settings.model, runtimes)


def compare_with_torch(evaluator: BoardEvaluator, torch: BoardEvaluator, settings: BenchSettings) -> Iterator[Figure]:
    """Yield how many times faster than torch another runtime is by batch size, both in turn."""
    for batch_size in BATCH_SIZES:
        first, second = (make_network_work(runtime, batch_size) for runtime in (evaluator, torch))
        pairs = [interleave(first, second, settings.seconds) for _ in range(settings.runs)]
        yield Figure(f"network / torch, batch {batch_size}", "times", tuple(a / b for a, b in pairs))


def measure_search_of(board: GoBoard, place: str, batch_size: int | None, evaluator: BoardEvaluator,
                      settings: BenchSettings) -> Iterator[Figure]:
    """Yield the speed of the engine's search of a position, of the network alone in turn with it, and their ratio.

    `batch_size` None: as the engine sets it, beside the network in calls of USUAL_CALL.
    """
    counter = CountingEvaluator(evaluator)
    params = params_of(evaluator, settings, batch_size=batch_size)
    tree = MCTSTree(counter, board.board_size, params)
    plain = not place and batch_size is not None
    place += f", batch {batch_size}" if batch_size else ", default"
    batch_size = batch_size or USUAL_CALL
    search = make_search_work(tree, board, settings.engine_visits)
    network = make_network_work(evaluator, batch_size, -(-settings.engine_visits // batch_size))
    pairs = [interleave(search, network, settings.seconds) for _ in range(settings.runs)]
    visits, positions = zip(*pairs, strict=True)
    yield Figure(f"search{place}", "visits/s", visits, tamago=TAMAGO_ENGINE.get(batch_size) if plain else None)
    yield Figure(f"network alone{place}", "positions/s", positions)
    yield Figure(f"search{place} / network", "%", tuple(100 * a / b for a, b in pairs),
                 target=SHARE_TARGETS[batch_size])
    yield Figure(f"positions a network call{place}", "positions", (counter.positions / counter.calls,))


def measure_threads(settings: BenchSettings) -> Iterator[Figure]:
    """Yield how many times faster a search is on more threads, 2, 4, ... and as many as there are cores, in turn."""
    works = []
    cores = count_usable_cores()
    counts = [1, *(count for count in (2, 4, 8, 16, 32) if count < cores), *([cores] if cores > 1 else [])]
    for threads in counts:
        evaluator = load_evaluator(settings.model, use_gpu=settings.use_gpu, threads=threads)
        params = params_of(evaluator, settings, threads=threads)
        tree = MCTSTree(evaluator, evaluator.board_size, params)
        works.append(make_search_work(tree, GoBoard(tree.board_size), settings.engine_visits))
    for threads, work in zip(counts[1:], works[1:], strict=True):
        pairs = [interleave(work, works[0], settings.seconds) for _ in range(settings.runs)]
        yield Figure(f"search on {threads} threads / on one", "times", tuple(a / b for a, b in pairs))


def measure_saved(evaluator: BoardEvaluator, settings: BenchSettings) -> Iterator[Figure]:
    """Yield the share of a search's positions that its cache of evaluations does not know already."""
    params = params_of(evaluator, settings)
    boards = {"": GoBoard(evaluator.board_size)}
    if evaluator.board_size == LATE_SIZE:
        boards |= {" in midgame": make_board(MIDGAME_9X9), " late in a game": make_board(LATE_9X9)}
    for place, board in boards.items():
        cached = CachedEvaluator(evaluator)
        MCTSTree(cached, board.board_size, params).search(
            board, board.get_to_move(), SearchLimit(settings.engine_visits, strict=True))
        yield Figure(f"positions new to the cache{place}", "%", (100 - 100 * cached.found / cached.asked,))


def measure_engine(settings: BenchSettings) -> Iterator[Figure | str]:
    """Yield the speed of searches with the engine's own parameters, beside the network alone.

    They start from the empty board and, on 9x9, from a late position, where each new position is played out, too. The
    last rows have other programs on the same cores.
    """
    evaluator = load_evaluator(settings.model, use_gpu=settings.use_gpu)
    yield (f"engine: PUCT with {settings.engine_visits} visits, in turn with the network alone; "
           f"{evaluator.description} ({settings.model})")
    for batch_size in (*TAMAGO_ENGINE, None):
        yield from measure_search_of(GoBoard(evaluator.board_size), "", batch_size, evaluator, settings)
    if evaluator.board_size == LATE_SIZE:
        yield from measure_search_of(make_board(LATE_9X9), " late in a game", None, evaluator, settings)
    yield from measure_threads(settings)
    yield from measure_saved(evaluator, settings)
    yield from measure_company(evaluator, settings)
