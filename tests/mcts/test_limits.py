"""When a search ends: visits, early stop, time, stop requests, memory, depth."""
from __future__ import annotations

import random
import time
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numba
import numpy as np
import pytest

from board.constant import PASS
from board.go_board import GoBoard
from board.stone import Stone
from engine.options import EngineOptions
from mcts.constant import MAX_DEPTH
from mcts.network_calls import Call, NetworkCalls
from mcts.node import MCTSNode
from mcts.params import SearchLimit, Selection
from mcts.progress import SearchProgress
from mcts.restriction import Restriction
from mcts.time_manager import StartOptions, TimeManager
from mcts.tree import MCTSTree
from mcts.tree_arrays import EDGES, NODES, Tree, copy_subtree
from tests.mcts.clocks import total_left
from tests.mcts.evaluators import Answer, ColorEvaluator, ConstantEvaluator, HashEvaluator
from tests.mcts.trees import Game, check_result, check_tree, small_params, snapshot


class Clock:
    """A clock that moves only when told."""

    def __init__(self) -> None:
        self.now = 100.0

    def perf_counter(self) -> float:
        return self.now

    monotonic = perf_counter

    def wait(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Replace the search's clock."""
    clock = Clock()
    for module in ("mcts.network_calls", "mcts.progress"):
        monkeypatch.setattr(f"{module}.time", clock)
    return clock


def test_a_small_tree_is_searched_in_small_batches_and_a_large_one_fast() -> None:
    evaluator, game = HashEvaluator(5), Game(5)
    tree = MCTSTree(evaluator, 5, replace(small_params(8), visits_per_leaf=16))
    tree.search(game.board, game.stone, SearchLimit(300, strict=True))
    leaves = np.array(evaluator.batches[1:])  # behind the root's own evaluation
    allowed = np.maximum(2, (np.cumsum(leaves) - leaves + 16) // 16)
    assert (leaves[:20] <= allowed[:20]).all() and leaves[:5].max() == 2 and leaves.max() == 8
    assert EngineOptions().search_params().visits_per_leaf > 0
    asked = EngineOptions(batch_size=4).search_params()
    assert (asked.batch_size, asked.visits_per_leaf) == (4, 0), "--batch-size is obeyed"


# Visits

@pytest.mark.parametrize("visits", [1, 2, 3, 17, 100])
@pytest.mark.parametrize("batch_size", [1, 7, 32])
def test_a_strict_search_makes_exactly_its_visits(visits: int, batch_size: int) -> None:
    game = Game(5)
    tree = MCTSTree(HashEvaluator(5), 5, small_params(batch_size))
    result = tree.search(game.board, game.stone, SearchLimit(visits, strict=True))
    assert result.visits == result.total_visits == tree.root.node_visits == visits
    check_tree(tree)


@pytest.mark.parametrize("batch_size", [1, 8])
def test_stopping_early_never_changes_the_move(batch_size: int) -> None:
    saved = 0
    for salt in range(60):
        game = Game.random(3, salt % 8, seed=salt, komi=0.5)
        results = []
        for strict in (True, False):
            tree = MCTSTree(HashEvaluator(3, salt, spread=8.0), 3, small_params(batch_size))
            results.append(tree.search(game.board, game.stone, SearchLimit(20 + salt, strict=strict)))
        full, early = results
        assert early.pos == full.pos and early.visits <= full.visits == 20 + salt
        saved += full.visits - early.visits
    assert saved > 100


@pytest.mark.parametrize("batch_size", [1, 16])
def test_a_settled_search_stops_as_soon_as_it_may(batch_size: int) -> None:
    board = GoBoard(5)
    params = small_params(batch_size, selection=Selection(c_puct=1.0))  # the prior of 1 outweighs the virtual losses
    tree = MCTSTree(ConstantEvaluator(5, {board.POS(3, 3): 30.0}), 5, params)
    result = tree.search(board, Stone.BLACK, SearchLimit(100))
    assert result.pos == board.POS(3, 3) and 50 < result.visits <= 51 + batch_size


# Time

@pytest.mark.parametrize("name", ["search", "search_with_sequential_halving"])
@pytest.mark.parametrize("batch_size", [1, 4])
def test_a_search_never_starts_a_batch_it_cannot_finish(clock: Clock, name: str, batch_size: int) -> None:
    board = GoBoard(9)
    tree = MCTSTree(ConstantEvaluator(9, before=lambda: clock.wait(0.25)), 9, small_params(batch_size))
    result = getattr(tree, name)(board, Stone.BLACK, SearchLimit(10**5, seconds=2.1, strict=True))
    # The root takes 0.25 s, seven batches 1.75 s; one more would end at 2.25 s.
    assert result.seconds == pytest.approx(2.0) and result.visits == 7 * batch_size
    check_tree(tree)


def test_a_slow_batch_is_remembered(clock: Clock) -> None:
    waits = iter([0.1, 0.1, 0.6, *[0.1] * 100])
    tree = MCTSTree(ConstantEvaluator(9, before=lambda: clock.wait(next(waits))), 9, small_params())
    result = tree.search(GoBoard(9), Stone.BLACK, SearchLimit(10**5, seconds=1.55, strict=True))
    # After 0.8 s a batch may take 0.6 s, after 0.9 s 0.57 s and after 1 s 0.54 s: one more, and none after 1.1 s.
    assert result.seconds == pytest.approx(1.1) and result.visits == 5


def test_a_stall_is_forgotten(clock: Clock) -> None:
    waits = iter([0.1, 0.1, 2.0])
    tree = MCTSTree(ConstantEvaluator(9, before=lambda: clock.wait(next(waits, 0.01))), 9, small_params())
    result = tree.search(GoBoard(9), Stone.BLACK, SearchLimit(10**5, seconds=10.0, strict=True))
    assert result.seconds > 9.5, "not a batch of 2 s before the end"


def test_the_search_is_settled_when_time_cannot_change_the_move(clock: Clock) -> None:
    board = GoBoard(5)
    tree = MCTSTree(ConstantEvaluator(5, {board.POS(3, 3): 30.0}, before=lambda: clock.wait(0.01)), 5, small_params())
    result = tree.search(board, Stone.BLACK, SearchLimit(10**6, seconds=1.0))
    assert result.pos == board.POS(3, 3)
    assert 45 <= result.visits <= 60, "half of the 100 visits there is time for"


def test_a_search_by_bounds_ends_early_on_a_clock_alone(clock: Clock) -> None:
    board = GoBoard(5)
    evaluator = ConstantEvaluator(5, {board.POS(3, 3): 30.0}, before=lambda: clock.wait(0.01))
    tree = MCTSTree(evaluator, 5, small_params(bound_share=0.1))
    assert 45 <= tree.search(board, Stone.BLACK, SearchLimit(10**6, seconds=1.0)).visits <= 60
    tree.clear()
    assert tree.search(board, Stone.BLACK, SearchLimit(100)).visits > 85


@pytest.mark.parametrize("visits", [3, 10, 60])
@pytest.mark.parametrize("share", [0.1, 0.6])
def test_a_search_by_bounds_goes_on_while_another_move_has_a_higher_mean(visits: int, share: float) -> None:
    tree = MCTSTree(HashEvaluator(5), 5, small_params())
    moves = tree.search(GoBoard(5), Stone.BLACK, SearchLimit(visits, strict=True)).candidates
    best = moves[0]
    better = [move for move in moves if move.visits >= max(1, share * best.visits) and move.winrate > best.winrate]
    assert tree.root.has_better(share) == bool(better)


def test_a_search_by_constant_time_takes_all_of_it_unless_there_is_nothing_to_choose(clock: Clock) -> None:
    """The move is settled after half of the time; the tree that the rest brings is the next search's."""
    board, limit = GoBoard(5), StartOptions(const_time=1.0).limit()
    tree = MCTSTree(ConstantEvaluator(5, {board.POS(3, 3): 30.0}, before=lambda: clock.wait(0.01)), 5, small_params())
    assert tree.search(board, Stone.BLACK, limit).visits > 90
    only_pass = Restriction(5)
    only_pass.allow(Stone.BLACK, [PASS], 1)
    assert tree.search(board, Stone.BLACK, limit, restriction=only_pass).visits <= 2
    tree.search(board, Stone.BLACK, SearchLimit(50, strict=True), restriction=only_pass)
    assert tree.root.node_visits == 50


def test_a_kept_tree_does_not_settle_a_timed_search_before_it_begins(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tick() -> float:
        clock.wait(1e-6)
        return clock.now

    board = GoBoard(5)
    tree = MCTSTree(ConstantEvaluator(5, {board.POS(3, 3): 30.0}, before=lambda: clock.wait(0.01)), 5, small_params())
    tree.search(board, Stone.BLACK, SearchLimit(20, strict=True))
    monkeypatch.setattr(clock, "perf_counter", tick)
    result = tree.search(board, Stone.BLACK, SearchLimit(10**6, seconds=1.0))
    assert 35 <= result.visits <= 60, "with 20 visits kept, 40 of the 100 there is time for settle it"


@pytest.mark.parametrize("slow_batches", [0, 1, 3])
def test_a_slow_start_does_not_settle_a_timed_search(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, slow_batches: int
) -> None:
    # The machine stalls while the kept tree is copied (no batch yet), or in the first batches.
    board = GoBoard(5)
    waits: list[float] = []
    line = {board.POS(3, 3): 60.0, board.POS(2, 2): 30.0}
    tree = MCTSTree(ConstantEvaluator(5, line, before=lambda: clock.wait(waits.pop() if waits else 0.001)), 5,
                    small_params())
    tree.search(board, Stone.BLACK, SearchLimit(60, strict=True))
    waits += [0.3] * slow_batches

    def copy_slowly(*arguments: Any) -> None:
        clock.wait(0.5)
        copy_subtree(*arguments)

    monkeypatch.setattr("mcts.tree.copy_subtree", copy_slowly)
    board.put_stone(tree.result().pos, Stone.BLACK)
    result = tree.search(board, Stone.WHITE, SearchLimit(10**6, seconds=3.0))
    assert result.visits > 600, "of some thousand that there is time for; with 50 kept, half of them settle it"


def test_no_time_at_all_still_gives_a_move() -> None:
    game = Game.random(9, 10, seed=1)
    tree = MCTSTree(HashEvaluator(9), 9, small_params())
    for name in ("search", "search_with_sequential_halving"):
        result = getattr(tree, name)(game.board, game.stone, SearchLimit(100, seconds=0.0))
        assert result.visits == 0 and game.board.is_legal(result.pos, game.stone)
        assert result.winrate == result.raw_value == tree.root.raw_value
        assert result.candidates[0].prior == max(c.prior for c in result.candidates)


@pytest.mark.parametrize(("visits", "values", "expected", "clear"), [
    ([60, 40, 2], [0.5, 0.4, 0.9], 0.5, True),
    ([60, 40, 2], [0.5, 0.505, 0.0], 0.5, True),
    ([60, 40, 2], [0.5, 0.6, 0.0], 0.5, False),  # the best by value has fewer visits
    ([60, 40, 2], [0.5, 0.4, 0.0], 0.6, False),  # worse than it was thought to be
    ([0, 0, 0], [0.0, 0.0, 0.0], 0.0, True),
])
def test_more_time_for_a_move_that_is_not_clear(
    clock: Clock, visits: list[int], values: list[float], expected: float, clear: bool
) -> None:
    count = np.array(visits)
    root = SimpleNamespace(children_visits=count, children_value_sum=count * values, most_visited=count.argmax,
                           contenders=lambda: np.arange(3))
    progress = SearchProgress(SearchLimit(1000, seconds=2.0, extra=1.0), expected)
    progress.judge(cast(MCTSNode, root))
    assert progress.time_limit == (2.0 if clear else 3.0)
    clock.wait(2.5)
    assert progress.out_of_time == clear
    progress.judge(cast(MCTSNode, SimpleNamespace(**{**vars(root), "children_value_sum": count * [1.0, 0.0, 0.0]})))
    assert progress.time_limit == 2.5 and progress.out_of_time, "now it is clear"


def test_a_search_goes_on_when_its_win_rate_has_fallen(clock: Clock) -> None:
    board = GoBoard(5)
    evaluator = ColorEvaluator(5, win=0.7, before=lambda: clock.wait(0.1))
    tree, seconds = MCTSTree(evaluator, 5, small_params()), []
    for win in (0.7, 0.7, 0.5, 0.5):
        evaluator.value[:] = 1.0 - win, 0.0, win
        seconds.append(tree.search(board, Stone.BLACK, SearchLimit(10**6, 3.0, extra=2.0)).seconds)
        for _ in range(2):
            board.put_stone(board.get_all_legal_pos(board.get_to_move())[0], board.get_to_move())
    assert seconds == pytest.approx([3.0, 3.0, 5.0, 3.0], abs=0.21)


class SlowHash(HashEvaluator):
    """Takes half a second of the search's clock for a call."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(9, spread=8.0)
        self.clock = clock

    def __call__(self, planes: np.ndarray) -> Answer:
        self.clock.wait(0.5)
        return super().__call__(planes)


@pytest.mark.parametrize("foreseen", [True, False])
def test_thirty_moves_use_the_clock(clock: Clock, foreseen: bool) -> None:
    manager = TimeManager(StartOptions(main_time=600.0))
    board, opponent = GoBoard(9), random.Random(1)
    tree = MCTSTree(SlowHash(clock), 9, small_params(4))
    for _ in range(30):
        now, begin = manager.limit(Stone.BLACK, 9, board.empty_points), clock.now
        found = tree.search(board, Stone.BLACK, now)
        board.put_stone(found.pos, Stone.BLACK)
        manager.finish(Stone.BLACK, clock.now - begin, found.visits, now, found.time_limit)
        line = found.candidates[0].pv
        replies = board.get_all_legal_pos(Stone.WHITE, fill_eyes=False)
        board.put_stone(line[1] if foreseen and len(line) > 1 else opponent.choice(replies), Stone.WHITE)
    assert 0 < total_left(manager.clocks[Stone.BLACK]) < 90.0, "85 % of ten minutes"


def test_a_slow_evaluator_ends_in_real_time() -> None:
    board = GoBoard(9)
    tree = MCTSTree(ConstantEvaluator(9, before=lambda: time.sleep(0.02)), 9, small_params())
    result = tree.search(board, Stone.BLACK, SearchLimit(10**5, seconds=0.4, strict=True))
    # Sleeping takes at least its time, so more visits are impossible; the rest is room for a busy machine.
    assert 1 <= result.visits <= 20 and result.seconds < 2.0


def test_progress() -> None:
    progress = SearchProgress(SearchLimit(5, seconds=1e9))
    assert progress.visits == 0 and 0.0 <= progress.seconds < 1e6 and not progress.out_of_time
    progress.longest_batch = 1e9
    assert progress.out_of_time
    assert not SearchProgress(SearchLimit(5)).out_of_time
    assert SearchProgress(SearchLimit(5, seconds=0.0)).out_of_time


# Callbacks

@pytest.mark.parametrize("name", ["search", "search_with_sequential_halving"])
def test_a_request_to_stop_is_obeyed(name: str) -> None:
    game = Game(5)
    for batches in (0, 1, 5):
        tree = MCTSTree(HashEvaluator(5), 5, small_params(4))
        calls = iter(range(1000))
        result = getattr(tree, name)(game.board, game.stone, SearchLimit(300, strict=True),
                                     should_stop=lambda calls=calls, end=batches: next(calls) >= end)
        assert batches <= result.visits <= 4 * batches and game.board.is_legal(result.pos, game.stone)
        check_tree(tree)


def test_reports_come_after_every_batch() -> None:
    game = Game(5)
    tree = MCTSTree(HashEvaluator(5), 5, small_params(4))
    totals: list[int] = []
    tree.search(game.board, game.stone, SearchLimit(50, strict=True),
                on_report=lambda running: totals.append(running.result().total_visits))
    assert totals[-1] == 50 and all(0 < b - a <= 4 for a, b in zip([0, *totals], totals, strict=False))


class Broken(HashEvaluator):
    """An evaluator that fails once."""

    def __init__(self, fail_at: int) -> None:
        super().__init__(5)
        self.fail_at = fail_at

    def __call__(self, planes: np.ndarray) -> Answer:
        if len(self.batches) == self.fail_at:
            self.fail_at = -1
            raise RuntimeError("the network is gone")
        return super().__call__(planes)


@pytest.mark.parametrize("fail_at", [0, 1, 6])
def test_after_a_failure_the_next_search_is_sound(fail_at: int) -> None:
    game = Game(5)
    tree = MCTSTree(Broken(fail_at), 5, small_params(4))
    with pytest.raises(RuntimeError, match="the network is gone"):
        tree.search(game.board, game.stone, SearchLimit(60, strict=True))
    result = tree.search(game.board, game.stone, SearchLimit(60, strict=True))
    assert result.total_visits == 60
    check_tree(tree)
    fresh = MCTSTree(HashEvaluator(5), 5, small_params(4))
    fresh.search(game.board, game.stone, SearchLimit(60, strict=True))
    assert snapshot(tree.root) == snapshot(fresh.root)


def test_a_board_of_another_size_is_refused() -> None:
    tree = MCTSTree(HashEvaluator(5), 5, small_params())
    for size in (4, 9):
        with pytest.raises(ValueError, match=f"size 5 cannot search a board of size {size}"):
            tree.search(GoBoard(size), Stone.BLACK, SearchLimit(5))


@pytest.mark.parametrize("color", [Stone.EMPTY, Stone.OUT_OF_BOARD])
@pytest.mark.parametrize("name", ["search", "search_with_sequential_halving"])
def test_only_players_are_to_move(color: Stone, name: str) -> None:
    tree = MCTSTree(HashEvaluator(5), 5, small_params())
    with pytest.raises(ValueError, match=f"{color!r} is no player: say Stone.BLACK or Stone.WHITE"):
        getattr(tree, name)(GoBoard(5), color, SearchLimit(5, strict=True))


# Memory

@pytest.mark.plain
@pytest.mark.parametrize("batch_size", [1, 16])
@pytest.mark.parametrize("name", ["search", "search_with_sequential_halving"])
def test_a_full_tree_ends_the_search(batch_size: int, name: str) -> None:
    game = Game(9)
    tree = MCTSTree(HashEvaluator(9), 9, small_params(batch_size, tree_size=2, max_memory_mb=1))
    result = getattr(tree, name)(game.board, game.stone, SearchLimit(5000, strict=True))
    assert tree.tree_is_full and result.tree_is_full
    assert 100 < result.visits < 1000, "1 MiB holds some hundred nodes"
    check_tree(tree)
    # The next position is searched as usual, with what the smaller tree leaves free.
    game.play(game.point(result.pos))
    following = tree.search(game.board, game.stone, SearchLimit(50, strict=True))
    assert following.total_visits >= 50 and not following.tree_is_full
    check_tree(tree)
    check_result(following, tree, game.board, game.stone)


@pytest.mark.parametrize("batch_size", [1, 4])
def test_a_full_tree_does_not_end_sequential_halving_before_the_last_two(batch_size: int) -> None:
    game = Game(5)
    tree = MCTSTree(HashEvaluator(5), 5, small_params(batch_size, tree_size=1, max_memory_mb=1))
    room = tree._capacity(10**5)[0]
    result = tree.search_with_sequential_halving(game.board, game.stone, SearchLimit(10**5, strict=True))
    visits = sorted(move.visits for move in result.candidates)[-4:]
    assert result.tree_is_full and room - 2 * batch_size - 2 <= result.visits < room
    assert visits[2] > 2 * visits[1] > 0


@pytest.mark.parametrize("tree_size", range(60, 80))
def test_what_memory_allows_may_not_be_enough_for_one_more_batch(tree_size: int) -> None:
    # Twice this size is more than 1 MiB allows, and what it allows is less than a batch more than is used.
    tree = MCTSTree(HashEvaluator(9), 9, small_params(16, tree_size=tree_size, max_memory_mb=1))
    tree._tree.counters[:2] = tree_size, tree_size * 82
    assert not tree._reserve() or len(tree._tree.node_edge) >= tree_size + 16
    while tree._reserve():
        tree._tree.counters[:2] += 16, 16 * 82
        assert tree._tree.counters[0] <= len(tree._tree.node_edge)
        assert tree._tree.counters[1] <= len(tree._tree.edge_pos)


def test_the_memory_allowed_holds_both_trees() -> None:
    game = Game(9)
    tree = MCTSTree(HashEvaluator(9), 9, small_params(16, tree_size=2, max_memory_mb=1))
    for _ in range(3):
        game.play(game.point(tree.search(game.board, game.stone, SearchLimit(5000, strict=True)).pos))
    assert tree._spare is not None
    assert sum(array.nbytes for array in (*tree._tree, *tree._spare)) <= 2**20


@pytest.mark.plain
@pytest.mark.parametrize("batch_size", [1, 3])
def test_the_smallest_memory_still_gives_a_move(batch_size: int) -> None:
    game = Game(9)
    tree = MCTSTree(HashEvaluator(9), 9, small_params(batch_size, tree_size=1, max_memory_mb=0))
    result = tree.search(game.board, game.stone, SearchLimit(100, strict=True))
    assert result.tree_is_full and 1 <= result.visits < 100
    check_tree(tree)


@pytest.mark.parametrize("name", ["search", "search_with_sequential_halving"])
def test_growing_keeps_the_tree(name: str) -> None:
    game = Game.random(5, 8, seed=2)
    snapshots = []
    for tree_size in (1, 7, 10_000):
        tree = MCTSTree(HashEvaluator(5), 5, small_params(4, tree_size=tree_size))
        result = getattr(tree, name)(game.board, game.stone, SearchLimit(300, strict=True))
        assert not result.tree_is_full
        check_tree(tree)
        snapshots.append(snapshot(tree.root))
    assert snapshots[0] == snapshots[1] == snapshots[2]


def test_growing_and_keeping_the_tree_go_together() -> None:
    # From move to move the tree is copied to another one, which may meanwhile be too small.
    game = Game(3, komi=0.5)
    trees = [MCTSTree(HashEvaluator(3), 3, small_params(tree_size=size)) for size in (1, 10_000)]
    for visits in (30, 200, 60, 400, 100, 700):
        results = [tree.search(game.board, game.stone, SearchLimit(visits, strict=True)) for tree in trees]
        assert results[0].candidates == results[1].candidates
        game.play(game.point(results[0].pos))
        for tree in trees:
            check_tree(tree)


# Depth

class FirstMove(ConstantEvaluator):
    """Is sure of the first legal point of the board, and of the pass where there is none."""

    def __call__(self, planes: np.ndarray) -> Answer:
        logits, value = super().__call__(planes)
        logits[:] = -20.0 * np.arange(logits.shape[1])
        return logits, value


@pytest.mark.plain
def test_lines_end_at_the_greatest_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    size, depth = 19, MAX_DEPTH
    if getattr(numba.config, "DISABLE_JIT", False):  # where 400 moves of 450 lines would take a long time
        size, depth = 7, 60
        for module in ("mcts.search_kernels", "mcts.tree_arrays"):
            monkeypatch.setattr(f"{module}.MAX_DEPTH", depth)
    tree = MCTSTree(FirstMove(size), size, small_params(selection=Selection(atari_prior=0.0)))
    tree.search(GoBoard(size), Stone.BLACK, SearchLimit(depth + 50, strict=True))
    assert check_tree(tree, max_depth=depth) == depth
    assert len(tree.result().candidates[0].pv) > 10


def test_pass_is_a_candidate_everywhere() -> None:
    for length in (0, 7, 30, 60):
        game = Game.random(5, length, seed=length)
        tree = MCTSTree(HashEvaluator(5), 5, small_params())
        tree.search(game.board, game.stone, SearchLimit(1))
        assert PASS in tree.root.action


@pytest.mark.plain
@pytest.mark.parametrize(("size", "batch_size"), [(2, 1), (2, 3), (3, 1)])
def test_a_call_finds_room_for_all_that_it_makes(
    size: int, batch_size: int, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On tiny boards most lines end the game: nodes that need no network, beyond the positions of the call."""
    most, start = 0, NetworkCalls.start

    def counted(calls: NetworkCalls, tree: Tree, *arguments: Any) -> Call:
        nonlocal most
        before = int(tree.counters[NODES])
        call = start(calls, tree, *arguments)
        most = max(most, int(tree.counters[NODES]) - before)
        assert tree.counters[NODES] <= len(tree.node_edge) and tree.counters[EDGES] <= len(tree.edge_pos)
        return call

    monkeypatch.setattr(NetworkCalls, "start", counted)
    tree = MCTSTree(HashEvaluator(size), size, small_params(batch_size, tree_size=1, ahead=6))
    for moves in range(4):
        game = Game.random(size, moves, seed=moves)
        tree.search(game.board, game.stone, SearchLimit(100, strict=True))
    assert most > batch_size
    check_tree(tree)
