"""Proven wins, draws and losses: what the tree says must follow from its finished games, and must be played."""
from __future__ import annotations

import pytest

from board.constant import PASS
from mcts.node import MCTSNode
from mcts.params import SearchLimit, Selection
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
