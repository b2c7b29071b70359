"""The numbers that explain PUCT are those that it goes by."""
from __future__ import annotations

from board.go_board import GoBoard
from board.stone import Stone
from mcts.explain import explain_puct, find_node
from mcts.params import SearchLimit, SearchParams
from mcts.puct import select_by_puct
from mcts.tree import MCTSTree
from mcts.tree_arrays import EXPANDED, ROOT
from tests.mcts.evaluators import HashEvaluator


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


def test_nodes_are_found_by_their_moves() -> None:
    tree = MCTSTree(HashEvaluator(5), 5)
    line = tree.search(GoBoard(5), Stone.BLACK, SearchLimit(100, strict=True)).candidates[0].pv
    assert find_node(tree.arrays, []) == ROOT
    node = find_node(tree.arrays, line[:2])
    assert node is not None and tree.arrays.node_visits[node] > 0
    assert find_node(tree.arrays, [line[0], line[0]]) is None and find_node(tree.arrays, [999]) is None
