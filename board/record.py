"""The moves of a game with the hash of every position, of any length."""

import numpy as np

from board.constant import PASS
from board.state import History, State, copy_history, new_history, start_history
from board.stone import Stone

FIRST_CAPACITY = 256


class Record:
    """Face of a History; entry 0 is the start position, entry n the n-th move."""

    def __init__(self, state: State) -> None:
        """Begin a record at the position `state`."""
        self.history: History = new_history(FIRST_CAPACITY)
        self.handicap_pos: list[int] = []
        start_history(self.history, state)

    def clear(self, state: State) -> None:
        """Begin again at the position `state`."""
        self.handicap_pos.clear()
        start_history(self.history, state)

    def __len__(self) -> int:
        """Return the number of moves and passes."""
        return int(self.history.length[0]) - 1

    def reserve(self, moves: int) -> None:
        """Make room for `moves` more moves."""
        needed = int(self.history.length[0]) + moves
        if needed > len(self.history.pos):
            larger = new_history(max(needed, 2 * len(self.history.pos)))
            copy_history(larger, self.history)
            self.history = larger

    def save_handicap(self, pos: int) -> None:
        """Remember a handicap stone."""
        self.handicap_pos.append(pos)

    @property
    def color(self) -> list[Stone]:
        """Color of each entry, EMPTY for entry 0."""
        return [Stone(int(c)) for c in self.history.color[: len(self) + 1]]

    @property
    def pos(self) -> list[int]:
        """Move of each entry, PASS for entry 0."""
        return [int(p) for p in self.history.pos[: len(self) + 1]]

    @property
    def hash_value(self) -> np.ndarray:
        """Hash of the position after each entry, uint64."""
        return self.history.hash[: len(self) + 1]

    def has_same_hash(self, hash_value: int) -> bool:
        """Return whether a position of the game had this hash."""
        return bool((self.hash_value == np.uint64(hash_value)).any())

    def get(self, move_number: int) -> tuple[Stone, int, int]:
        """Return color, pos and hash of an entry; raises IndexError for one that is not there."""
        if not 0 <= move_number <= len(self):
            raise IndexError(f"move {move_number} of {len(self)}")
        history = self.history
        return (Stone(int(history.color[move_number])), int(history.pos[move_number]),
                int(history.hash[move_number]))

    def get_last_pos(self) -> int:
        """Return the last move; PASS when there is none."""
        return int(self.history.pos[len(self)]) if len(self) else PASS

    def get_hash_history(self) -> list[int]:
        """Return the hashes of all positions."""
        return [int(h) for h in self.hash_value]

    def copy_from(self, other: "Record") -> None:
        """Become equal to another record."""
        self.handicap_pos = list(other.handicap_pos)
        if len(self.history.pos) < int(other.history.length[0]):
            self.history = new_history(len(other.history.pos))
        copy_history(self.history, other.history)
