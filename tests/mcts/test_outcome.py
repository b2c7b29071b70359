"""Playouts in the value of a position: how much they count, what they say, and that the tree holds it."""
from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from board.go_board import GoBoard
from board.state import TO_MOVE
from board.stone import Stone
from mcts.node import MCTSNode
from mcts.outcome import playout_share, playout_value
from mcts.params import SearchLimit, Selection
from mcts.tree import MCTSTree
from mcts.tree_arrays import Batch, new_batch
from mcts.uct.params import UctParams
from mcts.uct.playout_board import new_playout_work
from mcts.uct.playout_rules import make_rules
from mcts.uct.rollout import PatternRollouts, rollout_value
from nn.feature import take_position
from tests.mcts.evaluators import ConstantEvaluator, HashEvaluator
from tests.mcts.test_terminal import SEARCHES, SETTLED
from tests.mcts.trees import Game, check_positions, check_tree, small_params, snapshot

WITH_PLAYOUTS = Selection(playouts=6, playout_share=0.8, playout_begin=0.2, playout_full=0.5)

# Six white stones are caught in Black's area, and White is far behind with them gone, ahead were they alive.
CAUGHT = """
    . . . X O O . O .
    . X X X O . O O O
    X X O O X O O . O
    X O O . X X O O O
    X O O X . X X X O
    X X X X X . . X X
    . . . . . X . . .
    . X . . . . . X .
    . . . . X . . . .
"""


def judge(board: GoBoard, color: Stone, selection: Selection, batch: Batch, rollouts: PatternRollouts | None = None,
          ) -> tuple[float, float]:
    """Return the share of the playouts and their value for `color`, found from the position on the board."""
    copy = board.copy()
    copy.state.info[TO_MOVE] = int(color)
    empty = sum(1 for pos in board.onboard_pos if board.board[pos] == Stone.EMPTY)
    filled = 1 - empty / board.board_size**2
    ramp = (filled - selection.playout_begin) / (selection.playout_full - selection.playout_begin)
    share = selection.playout_share * min(1.0, max(0.0, ramp))
    if share == 0:
        return 0.0, 0.0
    if rollouts is None:
        return share, playout_value(copy.state.buffer, board.komi, selection.playouts, batch)
    take_position(batch.positions, 0, copy.state, copy.history, np.zeros((0, 0), dtype=np.uint64))
    rollouts(batch, 1, board.komi, selection)
    return share, float(batch.playout_value[0])


def check_values(node: MCTSNode, board: GoBoard, color: Stone, selection: Selection, batch: Batch,
                 rollouts: PatternRollouts | None = None) -> float:
    """Assert that every node's value is the network's and the playouts' in their shares; return the shares' sum."""
    share, won = judge(board, color, selection, batch, rollouts)
    assert 0.0 <= won <= 1.0 and round(2 * selection.playouts * won, 4).is_integer()
    assert math.isclose(node.value, (1 - share) * node.raw_value + share * won, abs_tol=1e-6)
    total, opponent = share, Stone.get_opponent_color(color)
    for i, pos in enumerate(node.action.tolist()):
        child = node.child(i)
        if child is None:
            continue
        if child.num_children == 0:  # counted, not judged
            assert child.value == child.raw_value
            continue
        after = board.copy()
        after.put_stone(pos, color)
        total += check_values(child, after, opponent, selection, batch, rollouts)
    return total


@pytest.mark.parametrize(("stones", "expected"), [(0, 0.0), (7, 0.0), (8, 0.0), (12, 0.35), (16, 0.7), (20, 0.7)])
def test_the_share_grows_while_the_board_fills(stones: int, expected: float) -> None:
    board = GoBoard(5)
    for pos in [*board.onboard_pos[:10], *board.onboard_pos[11:21]][:stones]:
        board.put_stone(pos, Stone.BLACK)
    selection = Selection(playouts=1, playout_share=0.7, playout_begin=8 / 25, playout_full=16 / 25)
    assert math.isclose(playout_share(board.state, selection), expected, abs_tol=1e-9)


@pytest.mark.plain
@pytest.mark.parametrize("color", ["b", "w"])
@pytest.mark.parametrize("komi", [-20.0, -1.5, -1.0, -0.5, 7.0])
def test_playouts_of_a_settled_position_end_as_it_stands(color: str, komi: float) -> None:
    game = Game.from_diagram(SETTLED, color, komi)
    margin = (-1 - komi) * (1 if color == "b" else -1)
    _, won = judge(game.board, game.stone, WITH_PLAYOUTS, new_batch(5, 1))
    assert won == (0.5 if margin == 0 else float(margin > 0))


@pytest.mark.parametrize("color", ["b", "w"])
@pytest.mark.parametrize("komi", [-20.0, -1.5, -1.0, -0.5, 7.0])
def test_rollouts_of_a_settled_position_end_as_it_stands(color: str, komi: float) -> None:
    game = Game.from_diagram(SETTLED, color, komi)
    margin = (-1 - komi) * (1 if color == "b" else -1)
    _, won = judge(game.board, game.stone, WITH_PLAYOUTS, new_batch(5, 1), PatternRollouts(5, UctParams()))
    assert won == (0.5 if margin == 0 else float(margin > 0))


def test_rollouts_know_the_last_two_moves() -> None:
    game, uct, selection = Game.random(7, 20, seed=5), UctParams(), Selection(playouts=40, playout_begin=-1.0)
    previous, last = (pos for _, pos in game.board.get_move_history()[-2:])
    batch = new_batch(7, 1)
    _, won = judge(game.board, game.stone, selection, batch, PatternRollouts(7, uct))
    by_moves = [rollout_value(new_playout_work(7), make_rules(uct), batch.positions.now[0], pos, 7.0, 40)
                for pos in (previous, last)]
    assert won == pytest.approx(by_moves[0]) and by_moves[0] != by_moves[1]


@pytest.mark.parametrize("batch_size", [1, 8])
def test_every_node_holds_what_rollouts_from_its_own_position_say(batch_size: int) -> None:
    game, rollouts = Game.random(7, 20, seed=5), PatternRollouts(7, UctParams())
    params = replace(small_params(batch_size, selection=WITH_PLAYOUTS), rollout="patterns")
    tree = MCTSTree(HashEvaluator(7), 7, params)
    tree.search(game.board, game.stone, SearchLimit(60, strict=True))
    check_tree(tree)
    assert check_values(tree.root, game.board, game.stone, WITH_PLAYOUTS, new_batch(7, 1), rollouts) > 1.0
    by_chance = judge(game.board, game.stone, Selection(playouts=400, playout_begin=-1.0), new_batch(7, 1))
    by_patterns = judge(game.board, game.stone, Selection(playouts=400, playout_begin=-1.0), new_batch(7, 1), rollouts)
    assert by_chance != by_patterns


@pytest.mark.parametrize("color", ["b", "w"])
def test_playouts_see_a_caught_string_that_the_network_does_not(color: str) -> None:
    game = Game.from_diagram(CAUGHT, color)
    tree = MCTSTree(ConstantEvaluator(9), 9, small_params(4, selection=Selection(playouts=16)))
    result = tree.search(game.board, game.stone, SearchLimit(60, strict=True))
    assert result.raw_value == tree.root.raw_value == 0.5
    assert (tree.root.value > 0.75) if color == "b" else (tree.root.value < 0.25)
    assert (result.winrate > 0.75) if color == "b" else (result.winrate < 0.25)


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize(("size", "moves"), [(5, 4), (5, 14), (7, 20)])
@pytest.mark.parametrize("batch_size", [1, 8])
def test_every_node_holds_what_its_own_position_says(name: str, size: int, moves: int, batch_size: int) -> None:
    game = Game.random(size, moves, seed=size + moves)
    tree = MCTSTree(HashEvaluator(size), size, small_params(batch_size, selection=WITH_PLAYOUTS))
    getattr(tree, name)(game.board, game.stone, SearchLimit(60, strict=True))
    check_tree(tree)
    assert check_values(tree.root, game.board, game.stone, WITH_PLAYOUTS, new_batch(size, 1)) > 1.0
    assert check_positions(tree.root, game.board, game.stone, HashEvaluator(size), 7.0) == tree.num_nodes


def test_values_stay_right_when_the_tree_is_kept_and_when_it_grows() -> None:
    game = Game.random(7, 16, seed=3)
    params = replace(small_params(4, selection=WITH_PLAYOUTS), tree_size=16)
    tree = MCTSTree(HashEvaluator(7), 7, params)
    for _ in range(4):
        pos = tree.search(game.board, game.stone, SearchLimit(150, strict=True)).pos
        check_tree(tree)
        check_values(tree.root, game.board, game.stone, WITH_PLAYOUTS, new_batch(7, 1))
        game.play(game.point(pos))


def test_the_same_game_gives_the_same_tree() -> None:
    game = Game.random(7, 20, seed=8)
    trees = []
    for _ in range(2):
        tree = MCTSTree(HashEvaluator(7), 7, small_params(2, selection=WITH_PLAYOUTS))
        tree.search(game.board, game.stone, SearchLimit(30, strict=True))
        tree.clear()  # what was searched before must leave no trace
        tree.search(game.board, game.stone, SearchLimit(200, strict=True))
        trees.append(snapshot(tree.root))
    assert trees[0] == trees[1]


def test_before_the_board_fills_playouts_change_nothing() -> None:
    game = Game(9)
    trees = []
    for selection in (Selection(), Selection(playouts=16)):
        tree = MCTSTree(HashEvaluator(9), 9, small_params(4, selection=selection))
        tree.search(game.board, game.stone, SearchLimit(200, strict=True))
        trees.append(snapshot(tree.root))
    assert trees[0] == trees[1]
