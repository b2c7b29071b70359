"""Moves that settle a string: what every player knows, the naive reader on small boards, and priors in the trees."""
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

import main
from board.constant import NO_MOVE
from board.state import TO_MOVE
from common.kernel import without_compiler
from engine.options import EngineOptions
from mcts.params import NETWORK_ALONE, SearchLimit, Tactics
from mcts.tactics.capture import ANY_LIBERTIES, MOST_POINTS
from mcts.tactics.dfpn import ProofTask
from mcts.tactics.hints import Tactician, find_settling_move, hint_leaf, hint_root, new_tactician
from mcts.tactics.region import mark_region
from mcts.tree import MCTSTree
from mcts.uct.params import PlayoutParams
from mcts.uct.priors import order_edges
from mcts.uct.tree import PlayoutTree
from tests.mcts.evaluators import ConstantEvaluator
from tests.mcts.test_capture import LADDER, NET, THREE, random_problem
from tests.mcts.trees import Game, check_tree, small_params
from tests.reference.naive_capture import TooLargeError, is_captured
from tests.reference.slow_board import OTHER
from tests.reference.twins import STONES

PRIOR = 0.3
LEAST = PRIOR * 3 / 4  # of a move that settles four stones
# Black takes three stones at C2, or White saves them by an atari at D2.
SAVE = """
. . . . . .
. X X X . .
X O O O X .
. X O X O .
. X . . O .
. . X O . .
"""
# Whatever Black does, White lives with two eyes; whatever White does, Black's single eye is none.
SETTLED = """
X X . . O .
O O O O O .
. O . O . .
O O O O . .
X X X X O .
. X X . X O
"""


def make(size: int, nodes: int = 2000, is_root: bool = True) -> Tactician:
    """Return who looks at strings."""
    tactician = new_tactician(size, Tactics(nodes, nodes, PRIOR), is_root)
    assert tactician is not None
    return tactician


def hints(diagram: str, color: str, nodes: int = 2000) -> dict[str, float]:
    """Return the least priors at the root of a drawing."""
    game = Game.from_diagram(diagram, color)
    least = hint_root(make(game.board.board_size, nodes), game.board, game.stone)
    return {game.board.coordinate.convert_to_gtp_format(int(pos)): float(least[pos]) for pos in np.flatnonzero(least)}


@pytest.mark.parametrize(("diagram", "color", "move", "stones"), [
    (THREE, "b", "B2", 5), (THREE, "w", "B2", 5), (SAVE, "b", "C2", 4), (SAVE, "w", "D2", 4), (NET, "b", "E5", 2),
    (LADDER, "b", "E5", 2),
], ids=["three, attacker", "three, defender", "atari, attacker", "atari, defender", "net", "ladder"])
def test_the_move_that_settles_a_string_has_a_least_prior(diagram: str, color: str, move: str, stones: int,
                                                          ) -> None:
    found = hints(diagram, color)
    assert found == {move: pytest.approx(PRIOR * (1 - 1 / stones))}


def test_a_string_that_is_lost_anyway_asks_for_no_move() -> None:
    assert hints(SETTLED, "b") == hints(SETTLED, "w") == {}


def test_too_short_a_search_says_nothing() -> None:
    assert hints(LADDER, "b", nodes=2) == {}


@pytest.mark.parametrize("seed", range(12))
def test_what_settles_a_string_is_what_the_naive_reader_says(seed: int) -> None:
    game, target = random_problem(seed)
    twins, slow = game.twins, game.twins.slow.copy()
    slow.ko = None
    defender, point = slow.grid[twins.point(target)], twins.point(target)
    work = make(4).proof
    mark_region(game.board.state, target, MOST_POINTS, work.region, work.queue)
    region = {twins.point(int(pos)) for pos in np.flatnonzero(work.region)}
    for mover in "bw":
        question = ProofTask(target, int(STONES[defender]), ANY_LIBERTIES, 20000)
        with without_compiler():
            pos = find_settling_move(work, game.board.state, int(STONES[mover]), question)
        try:
            first, second = (is_captured(slow.copy(), point, region, color, 4000) for color in (mover, OTHER[mover]))
            is_at_stake = first != second and first == (mover != defender)
            assert (pos != NO_MOVE) == is_at_stake
            if is_at_stake:
                slow_after = slow.copy()
                slow_after.play(twins.point(pos), mover)
                assert is_captured(slow_after, point, region, OTHER[mover], 4000) == first
        except TooLargeError:
            continue


@pytest.mark.parametrize("color", ["b", "w"])
def test_below_the_root_strings_of_two_liberties_are_looked_at(color: str) -> None:
    board = Game.from_diagram(LADDER, color).board
    board.state.info[TO_MOVE] = int(STONES[color])
    for nodes, found in ((400, ["E5"]), (20, [])):
        tactician = make(6, nodes, is_root=False)
        with without_compiler():
            hint_leaf(tactician, board.state.buffer)
        assert [board.coordinate.convert_to_gtp_format(int(pos)) for pos in np.flatnonzero(tactician.hint)] == found


@pytest.mark.parametrize("tactics", [Tactics(root=2000, prior=PRIOR), Tactics(leaf=200, prior=PRIOR)],
                         ids=["root", "leaves"])
def test_a_move_that_the_network_overlooks_is_a_candidate_of_the_search(tactics: Tactics) -> None:
    game = Game.from_diagram(SAVE, "b")
    pos = game.board.coordinate.convert_from_gtp_format("C2")
    network = ConstantEvaluator(6, {pos: -30.0})
    for wanted, seen in ((Tactics(), False), (tactics, True)):
        params = replace(small_params(selection=NETWORK_ALONE), tactics=wanted)
        tree = MCTSTree(network, 6, params)
        with without_compiler():
            tree.search(game.board, game.stone, SearchLimit(20, strict=True))
        index = tree.root.action.tolist().index(pos)
        assert (tree.root.child(index) is not None) == seen
        assert tree.root.children_policy[index] == pytest.approx(LEAST / (1 + LEAST) if seen else 0.0, abs=1e-6)
        check_tree(tree)


def test_the_tree_that_is_kept_learns_of_the_root_too() -> None:
    game = Game.from_diagram(SAVE, "w")
    pos = game.board.coordinate.convert_from_gtp_format("C2")
    params = replace(small_params(selection=NETWORK_ALONE), tactics=Tactics(root=2000, prior=PRIOR))
    network = ConstantEvaluator(6, {pos: -30.0, game.twins.pos((6, 3)): 9.0})
    tree = MCTSTree(network, 6, params)
    with without_compiler():
        tree.search(game.board, game.stone, SearchLimit(20, strict=True))
        game.play((6, 3))
        kept = tree.search(game.board, game.stone, SearchLimit(25, strict=True))
        priors = tree.root.children_policy.copy()
        again = tree.search(game.board, game.stone, SearchLimit(25, strict=True))
    assert not again.visits and (tree.root.children_policy == priors).all(), "they are raised once"
    index = tree.root.action.tolist().index(pos)
    assert kept.visits < 25, "the tree was kept"
    assert tree.root.children_policy[index] > 0.1 and tree.root.child(index) is not None
    check_tree(tree)


def test_playouts_come_to_it_too_and_nothing_is_lost_where_edges_change_places() -> None:
    game = Game.from_diagram(THREE, "b")
    both = Tactics(), Tactics(2000, 0, 0.9)
    trees = [PlayoutTree(5, PlayoutParams(tree_size=500, tactics=tactics)) for tactics in both]
    with without_compiler():
        for tree in trees:
            tree.search(game.board, game.stone, SearchLimit(30, strict=True))
        before = {int(pos): int(n) for pos, n in zip(trees[0].root.action, trees[0].root.children_visits, strict=True)}
        order_by_chance(trees[0])
    after = {int(pos): int(n) for pos, n in zip(trees[0].root.action, trees[0].root.children_visits, strict=True)}
    assert before == after and (np.diff(trees[0].root.children_policy) <= 0.0).all()
    root = trees[1].root
    assert game.board.coordinate.convert_to_gtp_format(int(root.action[0])) == "B2"
    assert root.children_policy[0] > 0.4 and root.children_policy.sum() == pytest.approx(1.0, abs=1e-6)


def order_by_chance(tree: PlayoutTree) -> None:
    """Give the root's edges other priors and put them in their order."""
    node = tree.root
    first = int(tree.arrays.node_edge[node.index])
    end = first + node.num_children
    tree.arrays.edge_prior[first:end] = np.random.default_rng(5).dirichlet(np.ones(end - first))
    order_edges(tree.arrays, node.index)


def test_the_options_reach_the_search_and_refuse_what_means_nothing() -> None:
    assert EngineOptions(tactics=500, leaf_tactics=20, tactics_prior=0.2).search_params().tactics == (500, 20, 0.2)
    assert EngineOptions().search_params().tactics[:2] == (0, 0)
    for words, line in ((["--tactics", "-1"], "--tactics"), (["--leaf-tactics", "many"], "--leaf-tactics"),
                        (["--tactics-prior", "0"], "--tactics-prior")):
        run = CliRunner().invoke(main.main, words)
        assert run.exit_code == 2 and line in run.output
