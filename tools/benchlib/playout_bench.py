"""Speed of the search without a network: its playouts alone, with the tree, and with a thread on each core."""

from collections.abc import Iterator
from dataclasses import replace

from board.constant import NO_MOVE
from board.go_board import GoBoard
from board.state import State, copy_state, new_state
from common.cores import count_usable_cores
from common.kernel import kernel
from engine.options import EngineOptions
from mcts.uct.params import UctParams
from mcts.uct.playout_board import PlayoutGame, new_playout_work, start_playout
from mcts.uct.playout_policy import PlayoutRules, play_out, playout_score
from mcts.uct.playout_rules import make_rules
from mcts.uct.tree import PlayoutTree
from tools.benchlib.measure import BenchSettings, Figure, Workload, measure
from tools.benchlib.search_bench import make_search_work

# Targets by board size: playouts a second; Aya's, with patterns, in 2008.
PLAYOUT_TARGETS = {9: 25000, 19: 6000}
AYA_PLAYOUTS = "Aya made 7,890 on 9x9 and 1,830 on 19x19"
PLAYOUTS = 20
# Threads for which the speed is computed.
MANY_THREADS = 8
PLAIN = UctParams(patterns=0.0, near=0.0, answers=0.0, nakade=0.0, self_atari=0.0, seki=0.0)


@kernel
def run_weighted_playouts(start: State, work: PlayoutGame, rules: PlayoutRules, count: int) -> int:
    """Play `count` games from a position and score them; return their moves. Modifies work."""
    moves = 0
    for _ in range(count):
        copy_state(work.state, start)
        start_playout(work, rules.table, NO_MOVE)
        moves += play_out(work, rules)
        playout_score(work)
    return moves


def make_playout_work(board_size: int, params: UctParams) -> Workload:
    """Return playouts from the empty board."""
    start, work, rules = new_state(board_size), new_playout_work(board_size), make_rules(params)

    def play() -> int:
        run_weighted_playouts(start, work, rules, PLAYOUTS)
        return PLAYOUTS

    return play


def make_tree_work(board_size: int, visits: int, threads: int = 1) -> Workload:
    """Return a search of so many visits from an empty tree, as main.py searches by default."""
    params = replace(EngineOptions().playout_params(board_size), threads=threads)
    return make_search_work(PlayoutTree(board_size, params), GoBoard(board_size), visits)


def compute_speed(playouts: float, visits: float, threads: int) -> float:
    """Return the visits a second of so many threads, from the playouts and the visits a second of one.

    The playouts are shared out, what the tree takes beside them is not (Amdahl's law).
    """
    tree = max(0.0, 1.0 / visits - 1.0 / playouts)
    return 1.0 / (tree + 1.0 / (threads * playouts))


def measure_playouts(settings: BenchSettings) -> Iterator[Figure | str]:
    """Yield the figures of 9x9 and 19x19."""
    yield f"search without a network ({AYA_PLAYOUTS})"
    cores = count_usable_cores()
    for size, target in PLAYOUT_TARGETS.items():
        name = f"{size}x{size}"
        playouts = measure(f"{name} playouts", "playouts/s", make_playout_work(size, UctParams()), settings,
                           target=target)
        yield playouts
        yield measure(f"{name} playouts, nothing but chance", "playouts/s", make_playout_work(size, PLAIN), settings)
        text, work = f"{name} search of {settings.engine_visits} visits", make_tree_work(size, settings.engine_visits)
        search = measure(text, "visits/s", work, settings)
        yield search
        if cores > 1:
            work = make_tree_work(size, settings.engine_visits, cores)
            yield measure(f"{text}, {cores} threads", "visits/s", work, settings, one_core=False)
        assert playouts.per_cpu_second and search.per_cpu_second
        computed = compute_speed(playouts.per_cpu_second, search.per_cpu_second, MANY_THREADS)
        yield f"computed: {computed:,.0f} visits/s of {MANY_THREADS} threads"
