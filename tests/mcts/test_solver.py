"""Proven wins, draws and losses: what the tree says must follow from its finished games, and must be played."""
from __future__ import annotations

import numpy as np
import pytest

from board.constant import PASS
from board.stone import Stone
from mcts.node import MCTSNode
from mcts.params import SearchLimit, Selection
from mcts.puct import edge_worth
from mcts.tree import MCTSTree
from mcts.tree_arrays import DRAWN, LOST, TERMINAL, UNPROVEN, WON
from tests.mcts.evaluators import ConstantEvaluator, HashEvaluator
from tests.mcts.test_terminal import settled
from tests.mcts.trees import Game, child_of, small_params

SOLVE = Selection(solve=True)


def check_outcomes(tree: MCTSTree, node: MCTSNode, counts: dict[int, int]) -> int:
    """Assert that the outcomes below a node are what finished games prove, and return the node's own."""
    kind = int(tree.arrays.node_kind[node.index])
    if kind == TERMINAL:
        return {0.0: LOST, 0.5: DRAWN, 1.0: WON}[node.raw_value]
    after = [(node.child(i), int(node.children_visits[i])) for i in range(node.num_children)]
    mine = [UNPROVEN if child is None or not count else check_outcomes(tree, child, counts) for child, count in after]
    best = WON if LOST in mine else UNPROVEN if UNPROVEN in mine else DRAWN if DRAWN in mine else LOST
    assert (kind if kind >= LOST else UNPROVEN) == best
    counts[best] += 1
    return best


@pytest.mark.plain
@pytest.mark.parametrize("batch_size", [1, 4])
def test_outcomes_follow_from_finished_games(batch_size: int) -> None:
    counts = dict.fromkeys((UNPROVEN, LOST, DRAWN, WON), 0)
    for seed, komi in enumerate([0.5, 0.0, 4.0]):
        tree = MCTSTree(HashEvaluator(2, salt=seed), 2, small_params(batch_size, selection=SOLVE))
        game = Game.random(2, 5, seed, komi)
        tree.search(game.board, game.stone, SearchLimit(90, strict=True))
        assert tree.root.node_visits == 90
        check_outcomes(tree, tree.root, counts)
    assert all(counts.values()), counts


@pytest.mark.plain
def test_a_proven_loss_is_left_alone_and_a_proven_win_is_played_however_late_it_was_found() -> None:
    visits = {}
    for solve in (False, True):
        game = settled("b", 7.0)  # a pass ends the game and loses it
        tree = MCTSTree(ConstantEvaluator(5, {PASS: 5.0}), 5, small_params(selection=Selection(solve=solve)))
        tree.search(game.board, game.stone, SearchLimit(60, strict=True))
        visits[solve] = {int(p): int(n) for p, n in zip(tree.root.action, tree.root.children_visits, strict=True)}[PASS]
    assert visits[True] == 1 < visits[False]

    game = settled("b", -1.5)  # a pass wins, and the network likes everything else
    tree = MCTSTree(ConstantEvaluator(5, {PASS: -1.0}, win=0.1), 5, small_params(selection=SOLVE))
    result = tree.search(game.board, game.stone, SearchLimit(200, strict=True))
    passing = child_of(tree.root, PASS)
    assert tree.arrays.node_kind[passing.index] == TERMINAL and tree.arrays.node_kind[0] == WON
    assert result.pos == PASS and result.total_visits == 200
    tree.search(game.board, game.stone, SearchLimit(210, strict=True))
    assert tree.root.node_visits == 210, "a proven root is kept and searched on"


def test_a_move_that_is_proven_to_lose_is_not_played_while_another_is_open() -> None:
    """However many visits it had before the proof; the principal variation and the order of the moves heed it, too."""
    beaten = 0
    for seed in range(60):
        game = Game.random(2, 7, seed % 6, 0.5)
        tree = MCTSTree(HashEvaluator(2, salt=seed), 2, small_params(selection=SOLVE))
        result = tree.search(game.board, game.stone, SearchLimit(10))
        root = tree.root
        children = [root.child(i) for i in range(root.num_children)]
        lost = [child is not None and int(tree.arrays.node_kind[child.index]) == WON for child in children]
        if any(lost) and tree.arrays.node_kind[root.index] < LOST:
            rank = {move.pos: move.order for move in result.candidates}
            orders = [rank[int(pos)] for pos in root.action]
            assert max(o for o, is_lost in zip(orders, lost, strict=True) if not is_lost) < min(
                o for o, is_lost in zip(orders, lost, strict=True) if is_lost), seed
            beaten += int(root.children_visits[lost].max() >= root.children_visits.max())
    assert beaten, "a lost move that has the most visits"


def test_a_pass_that_ends_the_game_and_loses_it_is_a_proven_loss_too() -> None:
    game = settled("b", 7.0)  # a pass ends the game and loses it
    tree = MCTSTree(ConstantEvaluator(5, {PASS: 5.0}), 5, small_params(selection=SOLVE))
    result = tree.search(game.board, game.stone, SearchLimit(1, strict=True))
    assert result.pos != PASS and result.candidates[-1].pos == PASS and result.candidates[-1].visits == 1

    game = Game.random(2, 5, 3, 40.0)  # nothing wins for Black
    game.board.put_stone(PASS, Stone.WHITE)
    tree = MCTSTree(ConstantEvaluator(2, {PASS: 5.0}), 2, small_params(selection=SOLVE))
    tree.search(game.board, Stone.BLACK, SearchLimit(3000, strict=True))
    assert tree.arrays.node_kind[0] == LOST
    assert len(tree.root.contenders()) == tree.root.num_children, "all of a lost node"


def test_a_won_position_ends_the_search() -> None:
    game = settled("b", -1.5)  # a pass wins
    tree = MCTSTree(ConstantEvaluator(5, {PASS: 1.0}), 5, small_params(selection=SOLVE))
    result = tree.search(game.board, game.stone, SearchLimit(1000))
    assert result.pos == PASS and result.total_visits < 20


def test_a_proven_draw_is_worth_a_draw_whatever_lead_was_thought_of() -> None:
    tree = MCTSTree(HashEvaluator(2), 2, small_params(selection=SOLVE))
    game = Game.random(2, 5, 1, 0.0)
    tree.search(game.board, game.stone, SearchLimit(20, strict=True))
    arrays, selection = tree.arrays, Selection(solve=True, lead_weight=0.12)
    edge = int(np.flatnonzero(tree.root.children_visits)[0])
    arrays.edge_lead_sum[edge] = 10.0 * arrays.edge_visits[edge]
    worth = {}
    for outcome in (UNPROVEN, DRAWN):
        arrays.node_kind[arrays.edge_child[edge]] = outcome
        worth[outcome] = edge_worth(arrays, edge, selection)
    mean = arrays.edge_value_sum[edge] / arrays.edge_visits[edge]
    assert worth == {UNPROVEN: pytest.approx(mean + 0.06), DRAWN: 0.5}
