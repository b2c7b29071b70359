"""What is kept from one search to the next, and what must not be."""
from __future__ import annotations

import random

import pytest

from board.constant import PASS
from board.stone import Stone
from mcts.params import SearchLimit, Selection
from mcts.tree import MCTSTree
from tests.mcts.evaluators import HashEvaluator
from tests.mcts.trees import (
    Game,
    check_positions,
    check_result,
    check_tree,
    child_of,
    compare_trees,
    edge_of,
    small_params,
    snapshot,
)
from tests.reference.naive_search import NaiveSearch
from tests.reference.slow_board import OTHER


def searched(game: Game, visits: int = 150, batch_size: int = 1) -> MCTSTree:
    """Return the tree of a search of the game's position."""
    tree = MCTSTree(HashEvaluator(game.board.board_size), game.board.board_size, small_params(batch_size))
    tree.search(game.board, game.stone, SearchLimit(visits, strict=True))
    return tree


def new_visits(tree: MCTSTree, game: Game, visits: int = 40) -> int:
    """Search again and return the visits that were not kept."""
    result = tree.search(game.board, game.stone, SearchLimit(visits, strict=True))
    assert result.total_visits == max(visits, result.total_visits - result.visits)
    check_tree(tree)
    check_result(result, tree, game.board, game.stone)
    check_positions(tree.root, game.board, game.stone, HashEvaluator(game.board.board_size), game.board.komi)
    return result.visits


@pytest.mark.plain
@pytest.mark.parametrize("batch_size", [1, 8])
def test_the_statistics_of_the_played_move_are_kept(batch_size: int) -> None:
    game = Game(3, komi=0.5)
    tree = searched(game, 200, batch_size)
    for _ in range(3):
        pos = tree.result().pos
        before = snapshot(child_of(tree.root, pos))
        game.play(game.point(pos))
        result = tree.search(game.board, game.stone, SearchLimit(1, strict=True))
        assert result.visits == 0 and result.total_visits == before["visits"] > 1
        assert snapshot(tree.root) == before
        check_tree(tree)


def test_two_moves_at_once_are_followed() -> None:
    game = Game(3)
    tree = searched(game, 300)
    first, second = tree.result().candidates[0].pv[:2]
    before = snapshot(child_of(child_of(tree.root, first), second))
    game.play(game.point(first))
    game.play(game.point(second))
    assert new_visits(tree, game, before["visits"]) == 0
    assert snapshot(tree.root) == before


@pytest.mark.parametrize("batch_size", [1, 4])
def test_a_kept_tree_goes_on_like_the_naive_one(batch_size: int) -> None:
    game = Game(3, komi=0.5)
    tree = searched(game, 150, batch_size)
    naive = NaiveSearch(HashEvaluator(3), Selection(), 0.5, batch_size)
    root = game.start(naive)
    naive.search(root, 150)
    for visits in (120, 90, 130):
        move = game.point(tree.result().pos)
        game.play(move)
        kept = edge_of(root, move).child
        assert kept is not None
        root = kept
        result = tree.search(game.board, game.stone, SearchLimit(visits, strict=True))
        before = root.visits
        naive.search(root, visits)
        assert result.total_visits == max(visits, before) and result.visits == max(0, visits - before)
        assert compare_trees(tree.root, root, game) == tree.num_nodes
        check_tree(tree)


def test_the_same_position_is_searched_further() -> None:
    game = Game(5)
    tree = searched(game, 50, batch_size=4)
    assert new_visits(tree, game, 50) == 0
    assert new_visits(tree, game, 80) == 30


def test_a_move_that_was_not_searched_starts_anew() -> None:
    game = Game(9)
    tree = searched(game, 5)
    untried = next(i for i, n in enumerate(tree.root.children_visits) if n == 0)
    game.play(game.point(int(tree.root.action[untried])))
    assert new_visits(tree, game) == 40


def play_and_search(game: Game) -> MCTSTree:
    """Search, play the best move, and search for the opponent."""
    tree = searched(game)
    game.play(game.point(tree.result().pos))
    tree.search(game.board, game.stone, SearchLimit(60, strict=True))
    return tree


def test_nothing_is_kept_after_undo() -> None:
    game = Game(3)
    tree = play_and_search(game)
    game.board.undo()
    game.color = OTHER[game.color]
    assert new_visits(tree, game) == 40


def test_nothing_is_kept_after_a_change_of_komi() -> None:
    game = Game(3)
    tree = searched(game)
    game.board.set_komi(6.5)
    assert new_visits(tree, game) == 40
    game.board.set_komi(7.0)
    assert new_visits(tree, game) == 40


def test_nothing_is_kept_after_clear() -> None:
    game = Game(3)
    tree = searched(game)
    tree.clear()
    assert new_visits(tree, game) == 40


def test_nothing_is_kept_from_another_game() -> None:
    tree = searched(Game.random(3, 4, seed=1))
    assert new_visits(tree, Game.random(3, 4, seed=2)) == 40
    assert new_visits(tree, Game.random(3, 6, seed=3)) == 40
    assert new_visits(tree, Game(3)) == 40


def test_another_order_of_moves_is_another_game() -> None:
    # The stones are the same; the last move and what superko forbids are not.
    orders = [[(1, 1), (3, 3), (2, 2), (3, 1)], [(2, 2), (3, 3), (1, 1), (3, 1)], [(1, 1), (3, 1), (2, 2), (3, 3)]]
    tree = None
    for order in orders:
        game = Game(3)
        for move in order:
            game.play(move)
        if tree is None:
            tree = searched(game)
        else:
            assert new_visits(tree, game) == 40


def test_other_handicap_stones_are_another_game() -> None:
    game = Game(5)
    game.board.put_handicap_stone(game.board.POS(2, 2), Stone.BLACK)
    tree = searched(game)
    other = Game(5)
    other.board.put_handicap_stone(game.board.POS(4, 4), Stone.BLACK)
    assert new_visits(tree, other) == 40


def test_the_other_color_to_move_is_another_root() -> None:
    game = Game(3)
    tree = searched(game)
    game.color = "w"
    assert new_visits(tree, game) == 40


def test_a_color_that_moves_twice() -> None:
    game = Game(3)
    tree = searched(game)
    first = game.point(tree.result().pos)
    game.play(first, "b")
    game.color = "b"  # White's turn is skipped
    assert new_visits(tree, game) == 40
    second = game.point(tree.result().pos)
    game.play(second, "b")
    before = child_of(tree.root, game.twins.pos(second)).node_visits
    assert new_visits(tree, game) == 40 - before, "from here on the colors alternate"
    reply = game.point(tree.result().pos)
    game.play(reply, "w")
    game.color = "w"
    assert new_visits(tree, game) == 40


def test_a_move_of_the_wrong_color_is_not_followed() -> None:
    game = Game(3)
    tree = searched(game)
    game.play(game.point(tree.result().pos), "w")  # Black was searched for this point
    game.color = "w"
    assert new_visits(tree, game) == 40


@pytest.mark.parametrize("passes", range(1, 6))
def test_passes_are_counted_alike_with_and_without_the_old_tree(passes: int) -> None:
    game = Game(2, komi=0.5)
    game.play((1, 1))
    tree = searched(game, 80)
    for _ in range(passes):
        game.play(None)
        tree.search(game.board, game.stone, SearchLimit(80, strict=True))
    fresh = searched(game, 80)
    ends = [child_of(t.root, PASS).num_children == 0 for t in (tree, fresh)]
    assert ends == [passes % 2 == 1] * 2
    check_tree(tree)


@pytest.mark.parametrize(("size", "batch_size", "seed"), [
    pytest.param(2, 1, 0, marks=pytest.mark.plain), (3, 3, 1), (3, 8, 2),
    (5, 4, 3), (4, 16, 4),
])
def test_any_way_of_using_a_tree_gives_right_trees(size: int, batch_size: int, seed: int) -> None:
    rng = random.Random(seed)
    evaluator = HashEvaluator(size, seed)
    tree = MCTSTree(evaluator, size, small_params(batch_size, tree_size=2))
    board = Game(size, komi=1.0).board
    color, kept = Stone.BLACK, 0
    for _ in range(30):
        event = rng.choices(["best", "random", "undo", "komi", "skip", "new", "halving"], [10, 4, 2, 1, 1, 1, 2])[0]
        if event == "undo" and board.moves > 1:
            board.undo()
        elif event == "komi":
            board.set_komi(rng.choice([0.0, 0.5, 7.0]))
        elif event == "new":
            board.clear()
        elif event == "skip":
            color = Stone.get_opponent_color(color)
        elif event in ("best", "random"):
            board.check_superko = True
            moves = [*board.get_all_legal_pos(color), PASS]
            best = tree.result().pos if tree.num_nodes and event == "best" else PASS
            board.put_stone(best if board.is_legal(best, color) else rng.choice(moves), color)
            color = Stone.get_opponent_color(color)
        search = tree.search_with_sequential_halving if event == "halving" else tree.search
        result = search(board, color, SearchLimit(rng.randrange(2, 60), strict=True))
        kept += result.total_visits - result.visits
        check_tree(tree)
        check_result_unless_halving(event, result, tree, board, color)
        single_passes = board.copy()
        if single_passes.is_over:
            continue  # a finished game that goes on counts passes anew, which check_positions does not know
        assert check_positions(tree.root, board, color, HashEvaluator(size, seed), board.komi) == tree.num_nodes
    assert kept > 40


def check_result_unless_halving(event: str, result, tree: MCTSTree, board, color: Stone) -> None:
    """Check a result; after sequential halving the first candidate is not ranked by visits and value."""
    if event != "halving":
        check_result(result, tree, board, color)


def test_an_interruption_before_the_search_leaves_no_tree_of_another_position(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    game = Game(3)
    tree = searched(game)
    game.play(game.point(tree.result().candidates[-1].pos))
    with monkeypatch.context() as patch:
        patch.setattr("mcts.tree.past_of", interrupt)
        with pytest.raises(KeyboardInterrupt):
            tree.search(game.board, game.stone, SearchLimit(40, strict=True))
    assert tree.is_empty and new_visits(tree, game) == 40
