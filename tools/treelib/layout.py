"""Where the nodes of a tree stand: columns by depth, every leaf in a row of its own, parents beside their first child.

Subtrees take rows that follow each other, so no two nodes share a place, and the main line is the first row.
"""

from dataclasses import dataclass

from tools.treelib.view import ViewNode


@dataclass(frozen=True)
class Place:
    """Column (depth below the root) and row of a node, each from 0."""

    column: int
    row: int


def lay_out(root: ViewNode) -> dict[int, Place]:
    """Return the place of each node, by its index."""
    places: dict[int, Place] = {}
    rows = 0
    waiting = [(root, 0, True)]
    while waiting:
        node, column, begins_row = waiting.pop()
        if not begins_row:
            rows += 1
        places[node.index] = Place(column, rows)
        waiting += [(child, column + 1, i == 0) for i, child in reversed(list(enumerate(node.children)))]
    return places
