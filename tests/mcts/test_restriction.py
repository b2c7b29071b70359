"""Restricted searches: which moves are candidates, and when a tree may be reused."""

import numpy as np
import pytest

from board.constant import PASS
from board.go_board import GoBoard
from board.stone import Stone
from mcts.node import MCTSNode
from mcts.params import SearchLimit, SearchParams
from mcts.restriction import Restriction
from mcts.tree import MCTSTree
from tests.mcts.evaluators import HashEvaluator
from tests.mcts.trees import child_of
from tests.reference.twins import Twins

BLACK, WHITE = Stone.BLACK, Stone.WHITE
SIZE = 4


class Counter:
    """Takes all moves for equally good and counts the positions it is asked about."""

    def __init__(self) -> None:
        self.positions = 0

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self.positions += len(planes)
        policy = np.zeros((len(planes), SIZE * SIZE + 1), dtype=np.float32)
        return policy, np.full((len(planes), 3), 1 / 3, dtype=np.float32)


def new_tree() -> MCTSTree:
    return MCTSTree(Counter(), SIZE, SearchParams(batch_size=1, tree_size=500))


def actions_by_depth(node: MCTSNode, depth: int = 0, found: dict[int, set[int]] | None = None) -> dict[int, set[int]]:
    """Return the candidates of all evaluated positions, by their distance from the root."""
    found = {} if found is None else found
    found.setdefault(depth, set()).update(int(pos) for pos in node.action)
    for i in range(node.num_children):
        child = node.child(i)
        if child is not None:
            actions_by_depth(child, depth + 1, found)
    return found


def test_banned_moves_are_no_candidates_for_so_many_plies():
    board = GoBoard(SIZE)
    a, b, *others = board.onboard_pos
    restriction = Restriction(SIZE)
    restriction.avoid(BLACK, [a, PASS], 3)
    restriction.allow(WHITE, [b, PASS], 2)
    tree = new_tree()
    tree.search(board, BLACK, SearchLimit(400, strict=True), restriction=restriction)
    found = actions_by_depth(tree.root)
    assert found[0] == {b, *others}
    assert found[1] <= {b, PASS} and PASS in found[1]
    assert a not in found[2] and PASS not in found[2]
    assert found[3] == set(board.onboard_pos) | {PASS}
    assert PASS in found[4]


def test_pass_stays_when_nothing_else_does():
    board = GoBoard(SIZE)
    restriction = Restriction(SIZE)
    restriction.avoid(BLACK, [*board.onboard_pos, PASS], 1)
    for search in ("search", "search_with_sequential_halving"):
        result = getattr(new_tree(), search)(board, BLACK, SearchLimit(5, strict=True), restriction=restriction)
        assert [move.pos for move in result.candidates] == [PASS]


def test_a_tree_is_reused_only_under_the_same_restriction():
    board = GoBoard(SIZE)
    first, second = Restriction(SIZE), Restriction(SIZE)
    for restriction in (first, second):
        restriction.avoid(BLACK, board.onboard_pos[:2], 1)
    tree = new_tree()
    limit = SearchLimit(30, strict=True)
    assert tree.search(board, BLACK, limit, restriction=first).visits == 30
    assert tree.search(board, BLACK, limit, restriction=second).visits == 0
    assert tree.search(board, BLACK, limit).visits == 30
    assert tree.search(board, BLACK, limit).visits == 0
    assert tree.search(board, BLACK, limit, restriction=first).visits == 30
    best = tree.result().pos
    board.put_stone(best, BLACK)
    assert tree.search(board, WHITE, limit, restriction=second).visits == 30  # plies count from the new position
    second.avoid(BLACK, [PASS], 1)
    assert tree.search(board, WHITE, limit, restriction=second).visits == 30


def test_a_search_that_was_refused_leaves_no_tree_that_its_restriction_has_not_shaped():
    board, limit = GoBoard(SIZE), SearchLimit(30, strict=True)
    tree, restriction = new_tree(), Restriction(SIZE)
    restriction.avoid(BLACK, [tree.search(board, BLACK, limit).pos], 1)
    with pytest.raises(ValueError, match="cannot search a board"):
        tree.search(GoBoard(SIZE + 1), BLACK, limit, restriction=restriction)
    found = tree.search(board, BLACK, limit, restriction=restriction)
    assert found.visits == 30 and not any(restriction.bans(BLACK, move.pos) for move in found.candidates)


@pytest.mark.parametrize("color", ["black", None])
def test_what_is_no_color_is_named(color: object):
    with pytest.raises(ValueError, match=f"{color!r} is not a valid Stone"):
        new_tree().search(GoBoard(SIZE), color, SearchLimit(1))  # type: ignore[arg-type]


def test_restrictions():
    restriction = Restriction(SIZE)
    restriction.avoid(BLACK, [7], 2)
    restriction.avoid(BLACK, [7], 1)
    assert restriction.bans(BLACK, 7) and not restriction.bans(WHITE, 7)
    assert restriction.plies[BLACK, 7] == 2
    restriction.avoid(WHITE, [PASS], 10**9)
    assert restriction.plies[WHITE, PASS] == 2**15 - 1
    assert not Restriction(SIZE).plies.any()


def test_a_root_temperature_flattens_the_priors_of_the_root_alone():
    board, limit = GoBoard(SIZE), SearchLimit(30, strict=True)

    def search(tree: MCTSTree, temperature: float = 1.0) -> MCTSNode:
        tree.search(board, BLACK, limit, root_temperature=temperature)
        return tree.root

    def new() -> MCTSTree:
        return MCTSTree(HashEvaluator(SIZE), SIZE, SearchParams(batch_size=1, tree_size=500))

    plain, tree = search(new()), new()
    wide = search(tree, 2.0)
    priors = dict(zip(plain.action.tolist(), np.sqrt(plain.children_policy), strict=True))
    total = sum(priors.values())
    for pos, prior in zip(wide.action.tolist(), wide.children_policy, strict=True):
        assert np.isclose(prior, priors[pos] / total, atol=1e-5)
    children = {pos: plain.child(i) for i, pos in enumerate(plain.action.tolist())}
    both = [(children[pos], child) for i, pos in enumerate(wide.action.tolist())
            if (child := wide.child(i)) is not None and children[pos] is not None]
    assert both
    for one, other in both:
        assert one is not None and np.array_equal(np.sort(one.children_policy), np.sort(other.children_policy))
    # A wide tree is not taken for a plain one afterwards.
    assert np.array_equal(np.sort(search(tree).children_policy), np.sort(plain.children_policy))


def test_moves_into_pass_alive_areas_are_no_candidates_but_where_dead_stones_stand() -> None:
    board = Twins.from_diagram("""
        . O X O .
        X X X O .
        . . X O O
        X X X O .
        . X X O .
    """).fast
    capture, eye = board.POS(1, 1), board.POS(1, 3)
    trees = [MCTSTree(HashEvaluator(5), 5, SearchParams(batch_size=1, tree_size=500, skip_settled=skips))
             for skips in (False, True)]
    for color in (BLACK, WHITE):
        for tree in trees:
            tree.search(board, color, SearchLimit(20, strict=True))
        everything, unsettled = ({int(pos) for pos in tree.root.action} for tree in trees)
        assert eye in everything and unsettled == ({capture, PASS} if color == BLACK else {PASS})
    asked = Restriction(5)
    asked.allow(WHITE, [eye], 1)
    trees[1].search(board, WHITE, SearchLimit(5, strict=True), restriction=asked)
    assert [int(pos) for pos in trees[1].root.action] == [eye], "what somebody asks for is searched"


def test_what_has_just_become_pass_alive_is_no_candidate_of_a_kept_tree() -> None:
    board = Twins.from_diagram("""
        . . . . . . .
        . . O . O . .
        . . . . . . .
        . . O . O . .
        . . . . . . .
        X X X X X X .
        . . . . . X .
    """).fast
    tree = MCTSTree(HashEvaluator(7), 7, SearchParams(batch_size=1, tree_size=5000, skip_settled=True))
    tree.search(board, BLACK, SearchLimit(800, strict=True))
    board.put_stone(board.POS(3, 7), BLACK)  # two eyes
    settled = {board.POS(x, 7) for x in (1, 2, 4, 5)}
    assert settled & {int(pos) for pos in child_of(tree.root, board.POS(3, 7)).action}, "candidates before the move"
    tree.search(board, WHITE, SearchLimit(20, strict=True))
    kept = {int(pos) for pos in tree.root.action}
    tree.clear()
    tree.search(board, WHITE, SearchLimit(20, strict=True))
    assert kept == {int(pos) for pos in tree.root.action} and not kept & settled
