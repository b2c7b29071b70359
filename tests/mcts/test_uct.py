"""The search without a network beside its naive twin, and what must hold in its trees."""
from __future__ import annotations

import numpy as np
import pytest

from board.constant import PASS
from board.go_board import GoBoard
from board.ladder import find_ladders, new_ladder_work
from board.state import BLACK, WHITE
from board.stone import Stone
from mcts.node import MCTSNode
from mcts.params import SearchLimit
from mcts.restriction import Restriction
from mcts.uct import tree as uct_tree
from mcts.uct.params import PlayoutParams, UctParams, read_uct_params
from mcts.uct.pattern_features import (
    ATARI,
    ATARI_LADDER,
    CAPTURE_CAUGHT,
    CAPTURE_FREE,
    CAPTURE_LAST,
    CAPTURE_SAVES,
    CAPTURES,
    ESCAPE,
    ESCAPE_FAILS,
    ESCAPE_WORKS,
    FEATURES,
    LAST,
    LINE,
    PREVIOUS,
    SELF_ATARI,
    SELF_ATARI_MORE,
    SELF_ATARI_ONE,
    find_features,
)
from mcts.uct.priors import order_edges
from mcts.uct.selection import uct_value
from mcts.uct.tree import PlayoutCalls, PlayoutTree
from mcts.wishes import Wishes
from tests.mcts.trees import Game, check_line
from tests.reference.naive_uct import UctMove, UctNode, count_line, moves_compared
from tests.reference.twins import Twins

PLAIN = UctParams(ucb=0.7, rave=0.0, widening=0.0, prior=0.0, expand=1.0, patterns=0.0, near=0.0, answers=0.0,
                  nakade=0.0, self_atari=0.0, seki=0.0)
GOLDEN = "E4:49 D1:49 D5:49 C3:29 D6:26 F5:23"
VARIANTS = {
    "everything": UctParams(expand=1.0), "plain": PLAIN, "rave": PLAIN._replace(rave=50.0),
    "least error": PLAIN._replace(rave_bias=0.3), "widening": PLAIN._replace(widening=5.0),
    "priors": PLAIN._replace(prior=0.5), "late nodes": UctParams(expand=3.0, widening=4.0),
}


def new_tree(size: int, uct: UctParams | None = None, **others) -> PlayoutTree:
    """Return a small tree."""
    return PlayoutTree(size, PlayoutParams(uct=uct or UctParams(), tree_size=2000, **others))


def naive_node(node: MCTSNode) -> UctNode:
    """Return a twin without visits; the priors are the tree's own."""
    return UctNode([UctMove(int(pos), float(prior)) for pos, prior in
                    zip(node.action, node.children_policy, strict=True)])


def compare(node: MCTSNode, twin: UctNode) -> int:
    """Assert that a tree equals its twin in every node; return the number of nodes."""
    assert [move.pos for move in twin.moves] == node.action.tolist()
    first, count = int(node._tree.node_edge[node.index]), node.num_children
    assert [move.visits for move in twin.moves] == node.children_visits.tolist()
    assert [move.value_sum for move in twin.moves] == node.children_value_sum.tolist()
    assert [move.rave_visits for move in twin.moves] == node._tree.edge_rave_visits[first : first + count].tolist()
    assert [move.rave_sum for move in twin.moves] == node._tree.edge_rave_sum[first : first + count].tolist()
    assert node.node_visits == twin.visits and node.virtual_loss == 0
    return 1 + sum(compare(MCTSNode(node._tree, int(node.children_index[i])), move.node)
                   for i, move in enumerate(twin.moves) if move.node is not None)


@pytest.mark.parametrize("name", VARIANTS)
def test_the_tree_is_that_of_the_naive_search(name: str) -> None:
    params, game = VARIANTS[name], Game.random(4, 5, seed=3, komi=0.5)
    tree = new_tree(4, params)
    tree.search(game.board, game.stone, SearchLimit(1, strict=True))
    root = naive_node(tree.root)
    depths = set()
    calls = tree._calls
    assert isinstance(calls, PlayoutCalls)
    for visits in range(1, 151):
        if visits > 1:
            tree.search(game.board, game.stone, SearchLimit(visits, strict=True))
        lines, depth = calls.lines, int(calls.batch.length[0])
        way = count_line(root, lines.moves[0, : lines.length[0]].tolist(), depth, float(lines.score[0]), params,
                         game.stone == Stone.BLACK)
        child = int(tree.arrays.edge_child[calls.batch.path[0, depth - 1]])
        assert (child >= 0) == (way[-1].visits > params.expand and child >= 0)
        if child >= 0:
            way[-1].node = naive_node(MCTSNode(tree.arrays, child))
            assert tree.arrays.node_value[child] == pytest.approx(1 - way[-1].value_sum / way[-1].visits)
        game_and_line = [*(pos for _, pos in game.board.get_move_history()), *lines.moves[0, :depth]]
        assert lines.previous[0] == game_and_line[-2]
        depths.add(depth)
    assert compare(tree.root, root) == tree.num_nodes > 10
    assert max(depths) > 1


@pytest.mark.parametrize("name", VARIANTS)
def test_a_call_of_many_lines_searches_as_calls_of_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    game, found = Game.random(5, 6, seed=4), []
    for points_per_call in (1, 5000):
        monkeypatch.setattr(uct_tree, "POINTS_PER_CALL", points_per_call)
        tree = new_tree(5, VARIANTS[name])
        result = tree.search(game.board, game.stone, SearchLimit(500, strict=True))
        found.append([(c.pos, c.visits, c.winrate) for c in result.candidates])
        assert not tree.arrays.edge_virtual_loss.any() and not tree.arrays.node_virtual_loss.any()
    assert found[0] == found[1]


@pytest.mark.parametrize("threads", [1, 2])
def test_visits_add_up_with_any_number_of_threads(threads: int) -> None:
    game = Game.random(5, 6, seed=1)
    tree = new_tree(5, threads=threads)
    result = tree.search(game.board, game.stone, SearchLimit(500, strict=True))
    again = new_tree(5, threads=threads).search(game.board, game.stone, SearchLimit(500, strict=True))
    assert result.visits == result.total_visits == sum(c.visits for c in result.candidates) == 500
    assert [(c.pos, c.visits) for c in result.candidates] == [(c.pos, c.visits) for c in again.candidates]
    arrays = tree.arrays
    edges = int(arrays.counters[1])
    assert not arrays.edge_virtual_loss[:edges].any() and not arrays.node_virtual_loss[: tree.num_nodes].any()
    for node in range(tree.num_nodes):
        first = int(arrays.node_edge[node])
        own = arrays.edge_visits[first : first + arrays.node_edges[node]]
        assert own.sum() == arrays.node_visits[node]
        prior = arrays.edge_prior[first : first + arrays.node_edges[node]]
        assert prior.sum() == pytest.approx(1.0, abs=1e-4) and (np.diff(prior) <= 0).all()
    check_line(result.candidates[0].pv, result.pos, game.board, game.stone)


def test_the_tree_is_kept_from_move_to_move_and_grows() -> None:
    board, tree = GoBoard(5), PlayoutTree(5, PlayoutParams(tree_size=64))
    first = tree.search(board, Stone.BLACK, SearchLimit(800, strict=True))
    board.put_stone(first.pos, Stone.BLACK)
    kept = MCTSNode(tree.arrays, int(tree.root.children_index[tree.root.action.tolist().index(first.pos)]))
    edge = int(tree.arrays.node_edge[kept.index])
    visits, rave = kept.node_visits, tree.arrays.edge_rave_visits[edge : edge + kept.num_children].copy()
    second = tree.search(board, Stone.WHITE, SearchLimit(visits + 10, strict=True))
    assert second.visits == 10 and second.total_visits == visits + 10 and visits > 100
    assert (tree.arrays.edge_rave_visits[: len(rave)] >= rave).all() and rave.any()


def test_leads_are_those_of_the_side_that_moves() -> None:
    for color, komi in ((Stone.BLACK, -100.0), (Stone.WHITE, 100.0)):
        tree = new_tree(3)
        tree.search(GoBoard(3, komi=komi), color, SearchLimit(20, strict=True))
        assert (tree.root.children_lead_sum[tree.root.children_visits > 0] > 0).all()


def test_lines_that_wait_count_as_lost() -> None:
    tree = new_tree(3)
    tree.search(GoBoard(3, komi=0.5), Stone.BLACK, SearchLimit(20, strict=True))
    arrays, edge = tree.arrays, int(np.argmax(tree.root.children_visits))
    mean = arrays.edge_value_sum[edge] / arrays.edge_visits[edge]
    assert uct_value(arrays, edge, PLAIN) == pytest.approx(mean)
    arrays.edge_virtual_loss[edge] = arrays.edge_visits[edge]
    assert uct_value(arrays, edge, PLAIN) == pytest.approx(mean / 2)


def test_moves_change_places_with_all_that_is_known_of_them() -> None:
    tree = new_tree(3)
    tree.search(GoBoard(3, komi=0.5), Stone.BLACK, SearchLimit(100, strict=True))
    arrays, count = tree.arrays, tree.root.num_children
    arrays.edge_prior[:count] = arrays.edge_prior[:count][::-1]
    columns = [getattr(arrays, name) for name in arrays._fields if name.startswith("edge_")]
    before = {tuple(column[edge] for column in columns) for edge in range(count)}
    order_edges(arrays, 0)
    assert {tuple(column[edge] for column in columns) for edge in range(count)} == before
    assert (np.diff(arrays.edge_prior[:count]) <= 0).all()


def test_a_run_stops_when_it_is_told_to() -> None:
    result = new_tree(5, threads=2).run(GoBoard(5), Stone.BLACK, SearchLimit(1000, strict=True),
                                        Wishes(should_stop=lambda: True))
    assert result.visits < 1000


def test_moves_join_in_the_rhythm_of_the_paper() -> None:
    from mcts.uct.selection import open_edges
    params = UctParams(widening=40.0, growth=1.4)
    for visits in range(0, 3000, 7):
        assert open_edges(visits, 1000, params) == moves_compared(visits, params)
    assert open_edges(0, 5, params) == 1 and open_edges(10**6, 5, params) == 5
    assert open_edges(0, 5, params._replace(widening=0.0)) == 5


@pytest.mark.parametrize("size", [2, 3, 7, 9])
def test_it_plays_to_win(size: int) -> None:
    board, tree = GoBoard(size, komi=0.5 if size > 2 else -0.5), PlayoutTree(size)
    result = tree.search(board, Stone.BLACK, SearchLimit(300, strict=True))
    assert 0.0 <= result.winrate <= 1.0 and (result.pos != PASS or size == 2)
    if size == 3:
        assert board.coordinate.convert_to_gtp_format(result.pos) == "B2" and result.winrate > 0.8


def test_a_large_capture_is_found() -> None:
    game = Game.from_diagram("""
        . . . . .
        X X X X .
        O O O O .
        X X X X .
        . . . . .
    """, "b", komi=12.5)
    result = new_tree(5).search(game.board, Stone.BLACK, SearchLimit(400, strict=True))
    assert result.pos == game.twins.pos((5, 3))


def test_banned_moves_are_no_candidates() -> None:
    board, tree = GoBoard(5), new_tree(5)
    allowed = {board.onboard_pos[12], board.onboard_pos[0]}
    restriction = Restriction(5)
    restriction.avoid(Stone.BLACK, [pos for pos in (*board.onboard_pos, PASS) if pos not in allowed], 100)
    result = tree.search(board, Stone.BLACK, SearchLimit(60, strict=True), restriction=restriction)
    assert {c.pos for c in result.candidates} == allowed
    assert len(tree.search(board, Stone.BLACK, SearchLimit(60, strict=True)).candidates) == 26


def features_of(twins: Twins, point: tuple[int, int], color: int, previous: int = -1) -> np.ndarray:
    """Return the features of a move."""
    ladders, out = new_ladder_work(twins.size), np.zeros(len(FEATURES), dtype=np.int32)
    find_ladders(twins.fast.state, ladders)
    find_features(twins.fast.state, previous, ladders, twins.pos(point), color, out)
    return out


@pytest.mark.plain
def test_features_of_moves_on_a_drawing() -> None:
    twins = Twins.from_diagram("""
        . . . . . . .
        . . O . . . .
        . O X . . . .
        . . O . . . .
        . . . . . . .
        . . . . . . .
        X O . . . . .
    """)
    escape = features_of(twins, (4, 3), BLACK)
    assert escape[ESCAPE] == ESCAPE_WORKS and escape[CAPTURES] == 0 and escape[LINE] == 2
    assert features_of(twins, (4, 3), WHITE)[CAPTURES] == CAPTURE_SAVES + 2
    corner = features_of(twins, (1, 6), BLACK)
    assert corner[ESCAPE] in (ESCAPE_WORKS, ESCAPE_FAILS) and corner[SELF_ATARI] == 0 and corner[LINE] == 0
    twins.play((6, 6), "b")
    assert features_of(twins, (6, 5), WHITE)[LAST] == 1 and features_of(twins, (5, 5), WHITE)[LAST] == 2


@pytest.mark.plain
def test_what_a_capture_gains_is_told_apart() -> None:
    twins = Twins.from_diagram("""
        O X . . . . .
        . X . . X . .
        . . . X . X .
        . X . . . . .
        X O X . . . .
        . . . . . . .
        . . . . . . .
    """)
    twins.play((5, 3), "w")
    kinds = [features_of(twins, point, BLACK)[CAPTURES] for point in ((5, 4), (2, 6), (1, 2))]
    assert kinds == [CAPTURE_LAST, CAPTURE_FREE, CAPTURE_CAUGHT]


@pytest.mark.plain
@pytest.mark.parametrize(("breaker", "escape"), [(".", ESCAPE_FAILS), ("O", ESCAPE_WORKS)])
def test_running_into_a_ladder_is_no_escape(breaker: str, escape: int) -> None:
    twins = Twins.from_diagram(f"""
        . . . . . . .
        . . . . . . .
        . . . X . . .
        . . X O X . .
        . . X . . . .
        . . . . . {breaker} .
        . . . . . . .
    """)
    assert features_of(twins, (4, 5), WHITE)[ESCAPE] == escape


@pytest.mark.plain
def test_self_ataris_of_one_stone_are_told_from_larger_ones() -> None:
    twins = Twins.from_diagram("""
        . X . . .
        . . . . .
        . . . . .
        X X . . .
        O . X . .
    """)
    assert [features_of(twins, point, WHITE)[SELF_ATARI] for point in ((1, 1), (2, 5), (4, 2))] == [
        SELF_ATARI_ONE, SELF_ATARI_MORE, 0]


def test_a_recent_move_that_was_taken_off_is_near() -> None:
    """Its point is distance 0 from itself, which is no value of the feature (it indexed the last one)."""
    twins = Twins(5)
    out = features_of(twins, (3, 3), BLACK, previous=twins.pos((3, 3)))
    assert out[PREVIOUS] == 1


def test_a_ladder_is_a_feature() -> None:
    twins = Twins.from_diagram("""
        . . . . . . .
        . . . . . . .
        . . X X X . .
        . . X O . . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
    """)
    assert ATARI_LADDER in (features_of(twins, (4, 5), BLACK)[ATARI], features_of(twins, (5, 4), BLACK)[ATARI])


def test_a_golden_tree() -> None:
    """A literal that a change of the search's meaning must change, and nothing else may."""
    game = Game.random(7, 12, seed=7)
    params = UctParams(rave=500.0, widening=0.0, prior=0.0, patterns=0.0, near=0.0, answers=0.0)
    result = new_tree(7, params).search(game.board, game.stone, SearchLimit(300, strict=True))
    name = game.board.coordinate.convert_to_gtp_format
    assert " ".join(f"{name(c.pos)}:{c.visits}" for c in result.candidates[:6]) == GOLDEN


@pytest.mark.parametrize(("text", "complaint"), [
    ("speed=3", "speed is none of ucb, fpu"), ("rave", "rave is a number from 0"), ("rave=-1", "from 0 to"),
    ("expand=0", "a whole number from 1"), ("patterns=0.5", "a whole number from 0 to 1"),
    ("ucb=nan", "ucb is a number"),
    ("rave=1,rave=2", "rave is given twice"), ("growth=1", "growth is a number from 1.01 to 10"),
])
def test_numbers_that_make_no_sense_are_refused(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        read_uct_params(text)


def test_numbers_are_read() -> None:
    assert read_uct_params("") == UctParams()
    assert read_uct_params("rave=0, widening=0,ucb=0.5") == UctParams(rave=0.0, widening=0.0, ucb=0.5)


def test_temperatures_of_a_policy_mean_nothing_where_there_is_none() -> None:
    """They leave the tree as it is, and whoever undoes them to tell the priors is told so."""
    tree, board = new_tree(5, policy_temperature=2.0), GoBoard(5)
    for visits in (30, 50):
        result = tree.search(board, Stone.BLACK, SearchLimit(visits, strict=True), root_temperature=1.5)
        assert result.temperature == 1.0
    assert (result.visits, result.total_visits) == (20, 50)


def test_the_tree_keeps_within_its_memory_with_what_rave_needs() -> None:
    tree = PlayoutTree(9, PlayoutParams(max_memory_mb=8))
    assert 7 * 2**20 < 2 * sum(array.nbytes for array in tree.arrays) < 8 * 2**20 + 1000
