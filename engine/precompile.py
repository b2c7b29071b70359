"""What a first start compiles, in two processes: rules and search with a network in a child, planes and network here.

numba compiles on one core, since it holds a lock; the cache on disk is where the two meet. Later starts find all there.
Each half takes about as long as the other, loading torch and the network included. What the first moves do not need,
another child compiles after that, while the game has begun; whoever asks for it before compiles it himself.

The search by playouts is one kernel, whose parts are kept on disk, too: a child compiles those of the playouts and what
a game needs beside the search, while this process compiles those of the tree and finds the others there.
"""

import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

import numpy as np

from board.benson import find_pass_alive
from board.go_board import GoBoard
from board.playout import run_playouts
from board.stone import Stone
from common.cores import count_usable_cores
from common.interrupt import block_interrupts
from common.kernel import without_compiler
from common.kernel_cache import is_cached
from common.parallel import end_with_parent
from engine.move_choice import first_playable, lead_at_end
from mcts.analysis import CandidateMove
from mcts.params import SearchLimit, Tactics
from mcts.score_estimate import ScoreEstimator
from mcts.search_kernels import back_up_batch, select_batch
from mcts.tactics.hints import hint_leaf, new_tactician
from mcts.tree import MCTSTree
from mcts.tree_arrays import new_batch
from mcts.uct.params import UctParams
from nn.feature import BASIC, Encoder, PlaneSet, Positions, encode_board

# Compiled code serves every size.
SIZE = 5
VISITS = 4


def encode_nothing(positions: Positions, count: int, komi: np.ndarray, work: Any, out: np.ndarray) -> None:
    """Stand in for the encoder of a plane set, which is compiled for the network that is played with."""


BLIND = replace(BASIC, encode=encode_nothing)


class EvenEvaluator:
    """Stands in for a network: all moves alike, every game even."""

    plane_set = BLIND

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return logits [N, A] and chances to lose, draw and win [N, 3]."""
        actions = planes.shape[-1] ** 2 + 1
        return np.zeros((len(planes), actions), dtype=np.float32), np.full((len(planes), 3), 1 / 3, dtype=np.float32)


def compile_search() -> None:
    """Compile what a search calls, as one does that goes on after a move."""
    with without_compiler():
        board, tree = GoBoard(SIZE), MCTSTree(EvenEvaluator(), SIZE)
    for color in (Stone.BLACK, Stone.WHITE):
        pos = tree.search(board, color, SearchLimit(VISITS, strict=True)).pos
        with without_compiler():
            board.put_stone(pos, color)


def compile_rules() -> None:
    """Compile what a game calls beside the search."""
    board, color = GoBoard(SIZE), Stone.BLACK
    board.put_stone(board.onboard_pos[0], color)
    first_playable(board, Stone.WHITE, board.onboard_pos)
    lead_at_end(board, color, all_alive=True)
    find_pass_alive(board.state, int(color))
    board.check_self_atari_stone(board.onboard_pos[-1], color)
    board.copy().undo()


def compile_estimates() -> None:
    """Compile what counts a position that is not played out, and what shows one to the network outside of a search."""
    board, color = GoBoard(SIZE), Stone.BLACK
    move = CandidateMove(board.onboard_pos[0], 1, 0.5, 0.5, 0.5, 0, pv=board.onboard_pos[:1])
    ScoreEstimator(board, color).estimate_moves([move])
    encode_board(board, color, BLIND)


def compile_planes(plane_set: PlaneSet, size: int = SIZE) -> np.ndarray:
    """Compile what makes the planes that the network wants; return those of the empty board, [1, P, size, size]."""
    positions = plane_set.new_positions(size, 1)
    positions.now[:] = positions.past[:] = GoBoard(size).state.buffer
    return Encoder(plane_set, size, plane_set.new_planes(size, 1))(positions, 1, 0.0)


def compile_in_child(done: Connection, *more: Callable[[], None]) -> None:
    """Compile search, rules and more, and say so; in a process that ends with its parent."""
    end_with_parent()
    for work in (compile_search, compile_rules, *more):
        work()
    done.close()


def compile_estimates_in_child() -> None:
    """Compile the estimates, in a process that ends with its parent."""
    end_with_parent()
    compile_estimates()


def begin_estimates() -> None:
    """Have another process compile the estimates, unless they are: the first pass to be judged comes on the clock."""
    if not is_cached(run_playouts):
        begin(multiprocessing.get_context("spawn").Process(target=compile_estimates_in_child, daemon=True))


def compile_playouts() -> None:
    """Compile what a playout calls."""
    from mcts.uct.kernels import UctPlan, new_lines, play_out_lines
    from mcts.uct.playout_board import new_playout_work
    from mcts.uct.playout_rules import load_prior_table, make_rules
    from mcts.uct.priors import new_finder
    with without_compiler():
        board = GoBoard(SIZE)
    finder = new_finder(load_prior_table(), SIZE)
    batch, plan = new_batch(SIZE, 1), UctPlan(UctParams(), finder, make_rules(UctParams()), 0.0)
    batch.positions.now[0] = board.state.buffer
    play_out_lines(new_playout_work(SIZE), batch, new_lines(SIZE, 1), 0, 1, plan)


def compile_tactics() -> None:
    """Compile what looks at strings."""
    with without_compiler():
        board = GoBoard(SIZE)
    tactician = new_tactician(SIZE, Tactics(leaf=1), is_root=False)
    assert tactician is not None
    hint_leaf(tactician, board.state.buffer)


def compile_in_uct_child(with_tactics: bool) -> None:
    """Compile what the search by playouts needs beside its tree; in a process that ends with its parent."""
    end_with_parent()
    compile_playouts()
    if with_tactics:
        compile_tactics()
    compile_rules()


def begin(child: BaseProcess) -> bool:
    """Start a child; return whether there is room for one: without it all is compiled here, which takes longer."""
    try:
        with block_interrupts():
            child.start()
    except OSError:  # no memory, too many processes, the current folder is gone
        return False
    return True


@contextmanager
def running(child: BaseProcess) -> Iterator[bool]:
    """Start a child, which does not outlive a failure of what is done inside; tell whether there is one."""
    has_begun = begin(child)
    try:
        yield has_begun
    except BaseException:
        if has_begun:
            child.terminate()
            child.join()
        raise


@contextmanager
def compiling_playouts(with_tactics: bool) -> Iterator[None]:
    """On a first start of the search by playouts, compile its playouts, and tactics, beside what is done inside."""
    from mcts.uct.kernels import search_lines
    if count_usable_cores() < 2 or is_cached(search_lines):
        yield
        return
    child = multiprocessing.get_context("spawn").Process(
        target=compile_in_uct_child, args=(with_tactics,), daemon=True)
    with running(child) as has_begun:
        yield
    if has_begun:
        child.join()


@contextmanager
def compiling(*more: Callable[[], None]) -> Iterator[None]:
    """On a first start, compile beside what is done inside, `more` after the search; leave when a move can be made."""
    if count_usable_cores() < 2 or all(map(is_cached, (select_batch, back_up_batch))):
        yield
        return
    context = multiprocessing.get_context("spawn")
    told, done = context.Pipe(duplex=False)
    child = context.Process(target=compile_in_child, args=(done, *more), daemon=True)
    with told:
        with running(child):
            done.close()
            yield
        told.poll(None)  # ends when the child says so or is gone; should it have failed, the first search compiles
