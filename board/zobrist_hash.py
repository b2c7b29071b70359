"""Zobrist hashing with a fixed seed, so that hashes are the same in every run."""

import numpy as np

from board.constant import MAX_CELLS

HASH_SEED = 20230520

# uint64 [color, pos]: row EMPTY is no part of a position's hash; the opening book marks a ko and White's turn with it.
HASH_TABLE = np.random.Generator(np.random.PCG64(HASH_SEED)).integers(
    1, np.iinfo(np.uint64).max, size=(3, MAX_CELLS), dtype=np.uint64
)
HASH_TABLE.setflags(write=False)
