"""Strings (connected stones of one color) with exact liberties: kernels first, then the friendly faces.

A string is named by the pos of one of its stones, its id. `liberties[id]` and `size[id]` are exact at all times;
`string_next` links the stones of a string into a ring.
"""

from collections.abc import Iterable

import numpy as np

from board.state import BLACK, EMPTIES, EMPTY, WIDTH, State
from board.stone import Stone
from board.zobrist_hash import HASH_TABLE
from common.kernel import kernel


@kernel
def change_neighbor_liberties(state: State, pos: int, change: int) -> None:
    """Add `change` to the liberties of each string beside `pos`, once per string. Modifies state.liberties.

    Without a branch: nothing is added to a string that came before, nor to the id 0, which is no string's.
    """
    ids, liberties, width = state.string_id, state.liberties, state.info[WIDTH]
    a, b, c, d = ids[pos - width], ids[pos - 1], ids[pos + 1], ids[pos + width]
    liberties[a] += change * int(a > 0)
    liberties[b] += change * int((b > 0) & (b != a))
    liberties[c] += change * int((c > 0) & (c != a) & (c != b))
    liberties[d] += change * int((d > 0) & (d != a) & (d != b) & (d != c))


@kernel
def make_string(state: State, pos: int, color: int) -> None:
    """Put a stone on the empty point `pos` as a string of its own, without captures or connections.

    Modifies all fields of state but the scalars other than EMPTIES.
    """
    info, stones, width = state.info, state.stones, state.info[WIDTH]
    last = info[EMPTIES] - 1
    index, moved = state.empty_index[pos], state.empties[last]
    state.empties[index] = moved
    state.empty_index[moved] = index
    info[EMPTIES] = last
    stones[pos] = color
    state.hash[0] ^= HASH_TABLE[color, pos]
    state.string_id[pos] = pos
    state.string_next[pos] = pos
    state.size[pos] = 1
    count = 0
    for neighbor in (pos - width, pos - 1, pos + 1, pos + width):
        if stones[neighbor] == EMPTY:
            count += 1
    change_neighbor_liberties(state, pos, -1)
    state.liberties[pos] = count


@kernel
def remove_string(state: State, string_id: int) -> int:
    """Take the string off the board and return the number of its stones. Modifies all fields of state."""
    info, color = state.info, state.stones[string_id]
    pos, count = string_id, 0
    while True:
        following = state.string_next[pos]
        state.stones[pos] = EMPTY
        state.string_id[pos] = 0
        state.hash[0] ^= HASH_TABLE[color, pos]
        index = info[EMPTIES]
        state.empties[index] = pos
        state.empty_index[pos] = index
        info[EMPTIES] = index + 1
        change_neighbor_liberties(state, pos, 1)
        count += 1
        if following == string_id:
            break
        pos = following
    return count


@kernel
def touches_string(state: State, pos: int, string_id: int) -> bool:
    """Return whether a stone of the string stands beside `pos`."""
    ids, width = state.string_id, state.info[WIDTH]
    return ((ids[pos - width] == string_id) | (ids[pos - 1] == string_id)
            | (ids[pos + 1] == string_id) | (ids[pos + width] == string_id))


@kernel
def stands_beside_atari(state: State, pos: int) -> bool:
    """Return whether a string beside `pos`, of either color, has one liberty; without a branch."""
    ids, liberties, width = state.string_id, state.liberties, state.info[WIDTH]
    a, b = liberties[ids[pos - width]] == 1, liberties[ids[pos - 1]] == 1  # no string has the id 0
    c, d = liberties[ids[pos + 1]] == 1, liberties[ids[pos + width]] == 1
    return (a | b) | (c | d)


@kernel
def stones_in_atari(state: State, pos: int) -> int:
    """Return the stones of the largest string, of either color, that has its last liberty at `pos`; 0 if none has."""
    width, most = state.info[WIDTH], 0
    for neighbor in (pos - width, pos - 1, pos + 1, pos + width):
        string_id = state.string_id[neighbor]
        if string_id > 0 and state.liberties[string_id] == 1:
            most = max(most, state.size[string_id])
    return most


@kernel
def find_liberty(state: State, string_id: int, other: int = 0) -> int:
    """Return the first liberty of a string that is not `other`, walking along its stones; 0 if it has none."""
    width = state.info[WIDTH]
    stone = string_id
    while True:
        for neighbor in (stone - width, stone - 1, stone + 1, stone + width):
            if state.stones[neighbor] == EMPTY and neighbor != other:
                return int(neighbor)
        stone = state.string_next[stone]
        if stone == string_id:
            return 0


@kernel
def connect_string(state: State, first: int, second: int) -> int:
    """Join two strings and return the id of the union, which is that of the larger one.

    A liberty of the smaller string is new when no stone that already belongs to the union stands beside it. That is
    asked without a branch; for a neighbor that is not empty `pos` itself stands, whose neighbors all exist.
    Modifies state.string_id, string_next, liberties and size.
    """
    if state.size[first] < state.size[second]:
        first, second = second, first
    width, pos, new = state.info[WIDTH], second, 0
    while True:
        for neighbor in (pos - width, pos - 1, pos + 1, pos + width):
            is_empty = int(state.stones[neighbor] == EMPTY)
            new += is_empty * int(not touches_string(state, pos + (neighbor - pos) * is_empty, first))
        state.string_id[pos] = first
        pos = state.string_next[pos]
        if pos == second:
            break
    state.liberties[first] += new
    swap = state.string_next[first]
    state.string_next[first] = state.string_next[second]
    state.string_next[second] = swap
    state.size[first] += state.size[second]
    return first


@kernel
def set_up_stones(state: State, positions: np.ndarray, colors: np.ndarray) -> int:
    """Put stones on the empty board as they stand, without captures; return the first pos that cannot be, or 0.

    A point that holds a stone already, and a string without a liberty, cannot be. Modifies state.
    """
    width = state.info[WIDTH]
    for i in range(len(positions)):
        if state.stones[positions[i]] != EMPTY:
            return int(positions[i])
        make_string(state, positions[i], colors[i])
    for i in range(len(positions)):
        pos = positions[i]
        for neighbor in (pos - width, pos - 1, pos + 1, pos + width):
            if state.stones[neighbor] == colors[i] and state.string_id[neighbor] != state.string_id[pos]:
                connect_string(state, state.string_id[pos], state.string_id[neighbor])
    for i in range(len(positions)):
        if state.liberties[state.string_id[positions[i]]] == 0:
            return int(positions[i])
    return 0


def points_beside(state: State, points: Iterable[int]) -> set[int]:
    """Return the pos next to any of the given ones, those off the board among them."""
    width = int(state.info[WIDTH])
    return {pos + step for pos in points for step in (-width, -1, 1, width)}


class String:
    """One string of a position, named by its id; a view that stays valid until the next move."""

    def __init__(self, state: State, string_id: int) -> None:
        """Look at the string `string_id` of `state`."""
        self._state = state
        self._id = string_id

    def exist(self) -> bool:
        """Return whether a string has this id."""
        return self._id > 0 and int(self._state.string_id[self._id]) == self._id

    @property
    def flag(self) -> bool:
        """Whether a string has this id."""
        return self.exist()

    def get_color(self) -> Stone:
        """Return the color of the stones."""
        return Stone(int(self._state.stones[self._id]))

    color = property(get_color)

    def get_stones(self) -> list[int]:
        """Return the pos of all stones, ascending."""
        stones, pos = [self._id], int(self._state.string_next[self._id])
        while pos != self._id:
            stones.append(pos)
            pos = int(self._state.string_next[pos])
        return sorted(stones)

    def get_origin(self) -> int:
        """Return the smallest pos of the string."""
        return self.get_stones()[0]

    origin = property(get_origin)

    def get_size(self) -> int:
        """Return the number of stones."""
        return int(self._state.size[self._id])

    size = property(get_size)

    def get_num_liberties(self) -> int:
        """Return the number of liberties."""
        return int(self._state.liberties[self._id])

    libs = property(get_num_liberties)

    def _cells_beside(self) -> set[int]:
        return points_beside(self._state, self.get_stones())

    def get_liberties(self) -> list[int]:
        """Return the pos of all liberties, ascending."""
        return sorted({pos for pos in self._cells_beside() if self._state.stones[pos] == EMPTY})

    lib = property(get_liberties)

    def get_neighbors(self) -> list[int]:
        """Return the ids of the opponent's strings that touch this one, ascending."""
        ids = {int(self._state.string_id[pos]) for pos in self._cells_beside()}
        return sorted(ids - {0, self._id})

    neighbor = property(get_neighbors)

    @property
    def neighbors(self) -> int:
        """Number of the opponent's strings that touch this one."""
        return len(self.get_neighbors())


class StringData:
    """All strings of a position."""

    def __init__(self, state: State) -> None:
        """Look at the strings of `state`."""
        self._state = state

    @property
    def string_id(self):
        """Id of the string on each cell, 0 where no stone is; int16 [C]."""
        return self._state.string_id

    @property
    def string_next(self):
        """Next stone in the ring of each stone's string; int16 [C]."""
        return self._state.string_next

    @property
    def string(self) -> dict[int, String]:
        """All strings by id."""
        return {i: String(self._state, i) for i in sorted({int(i) for i in self._state.string_id} - {0})}

    def get_id(self, pos: int) -> int:
        """Return the id of the string on `pos`, 0 if there is none."""
        return int(self._state.string_id[pos])

    def get_stone_coordinates(self, string_id: int) -> list[int]:
        """Return the pos of the string's stones, ascending; empty when no string has this id."""
        string = String(self._state, string_id)
        return string.get_stones() if string.exist() else []

    def get_num_liberties(self, pos: int) -> int:
        """Return the liberties of the string on `pos`, 0 if there is none."""
        string_id = self.get_id(pos)
        return int(self._state.liberties[string_id]) if string_id else 0

    def get_display_lines(self) -> list[str]:
        """Describe every string: color, size, liberties and neighbors, one line each."""
        return [
            f"id {i} {'black' if s.get_color() == BLACK else 'white'} stones {s.get_stones()} "
            f"liberties {s.get_liberties()} neighbors {s.get_neighbors()}"
            for i, s in self.string.items()
        ]
