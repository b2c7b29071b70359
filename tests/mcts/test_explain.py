"""The numbers that explain PUCT are those that it goes by."""
from __future__ import annotations

from collections import Counter

import pytest

from board.go_board import GoBoard
from board.stone import Stone
from mcts.explain import explain_puct, find_node
from mcts.params import SearchLimit, SearchParams, Selection
from mcts.puct import select_by_puct
from mcts.tree import MCTSTree
from mcts.tree_arrays import EXPANDED, PENDING, ROOT, TERMINAL
from tests.mcts.evaluators import HashEvaluator, TellingEvaluator
from tests.mcts.trees import Game, small_params


def test_the_greatest_sum_is_what_the_search_chooses_next() -> None:
    params = SearchParams(batch_size=1)
    tree = MCTSTree(HashEvaluator(5), 5, params)
    tree.search(GoBoard(5), Stone.BLACK, SearchLimit(300, strict=True))
    checked = 0
    for index in range(tree.num_nodes):
        if tree.arrays.node_kind[index] != EXPANDED or not tree.arrays.node_visits[index]:
            continue
        terms = explain_puct(tree.arrays, index, params.selection)
        chosen = int(tree.arrays.edge_pos[select_by_puct(tree.arrays, index, params.selection)])
        best = max(edge.value + edge.bonus for edge in terms.edges)
        (edge,) = (edge for edge in terms.edges if edge.pos == chosen)
        assert abs(edge.value + edge.bonus - best) < 1e-6
        checked += 1
    assert checked > 30


@pytest.mark.parametrize("selection", [Selection(solve=True), Selection(solve=True, lead_weight=0.3)])
def test_proven_ends_and_leads_are_what_the_search_goes_by(selection: Selection) -> None:
    params, game, proven = small_params(selection=selection), Game.random(2, 5, seed=0, komi=0.5), Counter[str]()
    tree = MCTSTree(TellingEvaluator(2), 2, params)
    tree.search(game.board, game.stone, SearchLimit(90, strict=True))
    for index in range(tree.num_nodes):
        if tree.arrays.node_kind[index] in (PENDING, TERMINAL) or not tree.arrays.node_visits[index]:
            continue
        terms = explain_puct(tree.arrays, index, selection)
        chosen = int(tree.arrays.edge_pos[select_by_puct(tree.arrays, index, selection)])
        best = max(edge.value + edge.bonus for edge in terms.edges)
        (edge,) = (edge for edge in terms.edges if edge.pos == chosen)
        assert edge.value + edge.bonus == pytest.approx(best)
        for edge in terms.edges:
            assert (edge.proven == "win") == (edge.value > 1e5) and (edge.proven == "loss") == (edge.value < -1e5)
            proven[edge.proven] += 1
    assert proven["win"] and proven["loss"] and proven[""]


def test_nodes_are_found_by_their_moves() -> None:
    tree = MCTSTree(HashEvaluator(5), 5)
    line = tree.search(GoBoard(5), Stone.BLACK, SearchLimit(100, strict=True)).candidates[0].pv
    assert find_node(tree.arrays, []) == ROOT
    node = find_node(tree.arrays, line[:2])
    assert node is not None and tree.arrays.node_visits[node] > 0
    assert find_node(tree.arrays, [line[0], line[0]]) is None and find_node(tree.arrays, [999]) is None
