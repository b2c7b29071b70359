"""The search tree as JSON, in the format of TamaGo's `tamago-dump_tree` (dump_version 2)."""

import json
from typing import Any

from mcts.constant import NOT_EXPANDED
from mcts.node import MCTSNode
from mcts.tree import MCTSTree
from program import PROGRAM_NAME, PROTOCOL_VERSION, VERSION

DUMP_VERSION = 2


def _padded(values: Any, length: int, filler: float) -> list:
    """Return a list of fixed length, as readers of the format expect."""
    items = [value.item() for value in values]
    return items + [filler] * (length - len(items))


def dump_node(node: MCTSNode, length: int) -> dict[str, Any]:
    """Return one node; its arrays are `length` (S*S + 1) long."""
    children = [node.child(i) for i in range(node.num_children)]
    child_values = [0.0 if child is None else 1.0 - child.raw_value for child in children]
    numbers = [NOT_EXPANDED if child is None else child.index for child in children]
    return {
        "node_visits": node.node_visits, "virtual_loss": node.virtual_loss,
        "node_value_sum": node.node_value_sum, "raw_value": node.raw_value,
        "action": _padded(node.action, length, 0),
        "children_index": numbers + [NOT_EXPANDED] * (length - len(numbers)),
        "children_value": child_values + [0.0] * (length - len(child_values)),
        "children_visits": _padded(node.children_visits, length, 0),
        "children_policy": _padded(node.children_policy, length, 0.0),
        "children_virtual_loss": _padded(node.children_virtual_loss, length, 0),
        "children_value_sum": _padded(node.children_value_sum, length, 0.0),
        "noise": [0.0] * length,
        "num_children": node.num_children,
    }


def dump_tree(tree: MCTSTree, cgos_mode: bool) -> str:
    """Return the tree and the game that leads to its root as one line of JSON."""
    board = tree.root_board
    length = board.board_size**2 + 1
    to_move = tree.root_color.name.lower()
    content = {
        "dump_version": DUMP_VERSION,
        "tree": {
            "node": [dump_node(MCTSNode(tree.arrays, i), length) for i in range(tree.num_nodes)],
            "num_nodes": tree.num_nodes, "root": 0, "current_root": 0,
            "batch_size": tree.params.batch_size, "cgos_mode": cgos_mode, "to_move": to_move,
        },
        "board_size": board.board_size, "komi": board.komi,
        "move_history": [[color.name.lower(), pos] for color, pos in board.get_move_history()],
        "handicap_history": board.get_handicap_history(), "superko": board.check_superko,
        "name": PROGRAM_NAME, "version": VERSION, "protocol_version": PROTOCOL_VERSION,
    }
    return json.dumps(content, separators=(",", ":"))
