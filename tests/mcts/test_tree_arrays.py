"""The memory of a tree."""
from __future__ import annotations

from itertools import pairwise
from mmap import PAGESIZE
from pathlib import Path

import pytest

from mcts.tree_arrays import DTYPES, new_tree, node_bytes, tree_shapes

STATUS = Path("/proc/self/statm")  # of this process, in pages
NODES, EDGES, POINTS = 30_000, 30_000 * 82, 81


def used_memory() -> int:
    """Return the bytes of this process that lie in memory."""
    return int(STATUS.read_text().split()[1]) * PAGESIZE


def test_arrays_are_as_they_say_and_apart() -> None:
    for has_rave in (False, True):
        tree = new_tree(3, 7, 5, has_rave)
        for name, array in tree._asdict().items():
            assert array.shape == tree_shapes(3, 7, 5, has_rave)[name] and array.dtype == DTYPES[name], name
            assert array.flags.c_contiguous and array.flags.aligned and array.flags.writeable and not array.any(), name
        for number, array in enumerate(tree):
            array.fill(number)
        assert all((array == number).all() for number, array in enumerate(tree))
        places = sorted((array.ctypes.data, array.nbytes) for array in tree if array.nbytes)
        assert all(start + length <= following for (start, length), (following, _) in pairwise(places))


def test_a_node_takes_what_its_arrays_take() -> None:
    one, two = (sum(array.nbytes for array in new_tree(nodes, 9 * nodes, 4)[1:]) for nodes in (1, 2))
    assert node_bytes(9, 4) == one == two - one


@pytest.mark.skipif(not STATUS.exists(), reason="no /proc")
def test_a_tree_has_memory_for_what_is_used_and_gives_it_back() -> None:
    """An engine makes trees as long as it runs: for another board, for each tab of the page, for a moved root.

    What malloc takes from its own heap stays there, and is cleared before it is used again.
    """
    for used in (0, 1):  # once something that large was given back, malloc has it in its heap
        before, trees = used_memory(), [new_tree(NODES, EDGES, POINTS) for _ in range(3)]
        assert used_memory() - before < 2**23
        for array in (*trees[0], *trees[1], *trees[2]):
            array.fill(used)
        del trees[:2], array
        size = sum(array.nbytes for array in trees[0])
        assert size - 2**23 < used_memory() - before < 1.1 * size
        del trees
