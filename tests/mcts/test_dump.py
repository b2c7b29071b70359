"""The tree as JSON, in the format of TamaGo's `tamago-dump_tree`."""
from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from board.stone import Stone
from mcts.dump import dump_tree
from mcts.node import MCTSNode
from mcts.params import SearchLimit
from mcts.tree import MCTSTree
from program import PROGRAM_NAME, PROTOCOL_VERSION, VERSION
from tests.mcts.evaluators import HashEvaluator
from tests.mcts.trees import Game, small_params

SIZE = 3
TOP = {"dump_version", "tree", "board_size", "komi", "move_history", "handicap_history", "superko", "name", "version",
       "protocol_version"}
TREE = {"node", "num_nodes", "root", "current_root", "batch_size", "cgos_mode", "to_move"}
LISTS = {"action", "children_index", "children_value", "children_visits", "children_policy", "children_virtual_loss",
         "children_value_sum", "noise"}
NODE = LISTS | {"node_visits", "virtual_loss", "node_value_sum", "raw_value", "num_children"}


@pytest.fixture
def game() -> Game:
    """Return a game with a few moves."""
    game = Game(SIZE, komi=0.5)
    for move in ((2, 2), None, (1, 1)):
        game.play(move)
    return game


@pytest.fixture
def tree(game: Game) -> MCTSTree:
    """Return the tree of a search that met the end of the game."""
    tree = MCTSTree(HashEvaluator(SIZE), SIZE, small_params(4))
    tree.search(game.board, game.stone, SearchLimit(150, strict=True))
    return tree


def load(tree: MCTSTree, cgos_mode: bool = False) -> dict[str, Any]:
    """Return the dump, read back."""
    text = dump_tree(tree, cgos_mode)
    assert "\n" not in text
    return json.loads(text)


def test_fields_and_lengths(tree: MCTSTree, game: Game) -> None:
    dump = load(tree)
    assert set(dump) == TOP and set(dump["tree"]) == TREE
    assert dump["tree"]["num_nodes"] == len(dump["tree"]["node"]) == tree.num_nodes > 100
    for node in dump["tree"]["node"]:
        assert set(node) == NODE
        assert {len(node[name]) for name in LISTS} == {SIZE * SIZE + 1}


def test_the_game_is_told(tree: MCTSTree, game: Game) -> None:
    dump = load(tree, cgos_mode=True)
    pos = game.board.POS
    assert dump["dump_version"] == 2 and dump["board_size"] == SIZE and dump["komi"] == 0.5
    assert dump["move_history"] == [["black", pos(2, 2)], ["white", 0], ["black", pos(1, 1)]]
    assert (dump["handicap_history"], dump["superko"]) == ([], True)
    assert (dump["name"], dump["version"], dump["protocol_version"]) == (PROGRAM_NAME, VERSION, PROTOCOL_VERSION)
    inner = dump["tree"]
    assert (inner["root"], inner["current_root"], inner["batch_size"]) == (0, 0, 4)
    assert inner["cgos_mode"] is True and inner["to_move"] == "white"


def test_the_game_is_the_one_that_was_searched(tree: MCTSTree, game: Game) -> None:
    before = load(tree)
    game.play(game.point(tree.result().pos))
    assert load(tree) == before
    tree.search(game.board, game.stone, SearchLimit(5))
    assert len(load(tree)["move_history"]) == len(before["move_history"]) + 1
    tree.search(game.board, Stone.get_opponent_color(game.stone), SearchLimit(5))
    assert load(tree)["tree"]["to_move"] == "white", "the color that was asked for, not whose turn it is"


def test_handicap_stones_are_told() -> None:
    game = Game(5)
    game.board.put_handicap_stone(game.board.POS(2, 2), Stone.BLACK)
    game.color = "w"
    tree = MCTSTree(HashEvaluator(5), 5, small_params())
    tree.search(game.board, game.stone, SearchLimit(5))
    dump = load(tree)
    assert dump["handicap_history"] == [game.board.POS(2, 2)] and dump["tree"]["to_move"] == "white"


def test_nodes_hold_what_the_tree_holds(tree: MCTSTree, game: Game) -> None:
    nodes = load(tree)["tree"]["node"]
    assert nodes[0]["node_visits"] == 150
    waiting, met = [tree.root], 0
    while waiting:
        node = waiting.pop()
        check_node(nodes, nodes[node.index], node)
        met += 1
        waiting.extend(child for i in range(node.num_children) if (child := node.child(i)) is not None)
    assert met == len(nodes)


def check_node(nodes: list[dict[str, Any]], dumped: dict[str, Any], node: MCTSNode) -> None:
    """Compare a dumped node with the tree's; what follows the candidates is filled up."""
    count = node.num_children
    assert dumped["num_children"] == count and dumped["node_visits"] == node.node_visits
    assert dumped["virtual_loss"] == 0 and dumped["raw_value"] == node.raw_value
    assert dumped["node_value_sum"] == pytest.approx(sum(dumped["children_value_sum"]))
    for name in ("action", "children_index", "children_visits", "children_policy", "children_value_sum",
                 "children_virtual_loss"):
        np.testing.assert_array_equal(dumped[name][:count], getattr(node, name))
        assert set(dumped[name][count:]) <= {-1 if name == "children_index" else 0}
    assert not any(dumped["noise"])
    for index, value in zip(dumped["children_index"], dumped["children_value"], strict=True):
        assert value == (0.0 if index == -1 else pytest.approx(1.0 - nodes[index]["raw_value"]))


def test_a_tree_without_a_search_can_be_dumped() -> None:
    dump = load(MCTSTree(HashEvaluator(SIZE), SIZE, small_params()))
    assert set(dump) == TOP and dump["tree"]["node"] == [] and dump["tree"]["num_nodes"] == 0
