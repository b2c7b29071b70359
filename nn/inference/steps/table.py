"""A network as a table of steps, as it is made (nn/inference/steps/writer.py), kept in files and laid out in memory.

Needs no torch. Letters: K steps, M matrices, N positions, S board size, T = ceil(S / 3), A = S*S + 1 policy entries.
"""

import io
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from common.npz import DAMAGES
from nn.inference.board_evaluator import NetworkFacts
from nn.inference.steps.kernels import ANSWER, CHANNELS, CONVOLVE, FILTERS, KIND, MIX, OF_POINTS, START, WIDTH
from nn.inference.steps.winograd import FACTORS, ROWS, SPARE, TILE


class StepTableError(ValueError):
    """A file that holds no table of steps."""


class StepTable(NamedTuple):
    """A network for one board size."""

    facts: NetworkFacts
    steps: np.ndarray  # int64 [K, WIDTH]: see nn/inference/steps/kernels.py
    matrices: np.ndarray  # int64 [M, 3]: as there; a start is the number of the matrix in whose place it is
    numbers: np.ndarray  # float32: weights and biases
    parts: np.ndarray  # int64 [_, 4]: of an answer the matrix, the first column and the number of columns

    def to_bytes(self) -> bytes:
        """Return a file."""
        buffer = io.BytesIO()
        facts = np.frombuffer(self.facts.to_bytes(), dtype=np.uint8)
        np.savez(buffer, facts=facts, steps=self.steps, matrices=self.matrices, numbers=self.numbers, parts=self.parts)
        return buffer.getvalue()

    @classmethod
    def parse(cls, content: bytes) -> "StepTable":
        """Return what to_bytes wrote; raises StepTableError for anything else."""
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as file:
                table = cls(NetworkFacts.parse(file["facts"].tobytes()), *(file[name] for name in cls._fields[1:]))
        except (*DAMAGES, TypeError) as error:
            raise StepTableError(f"no table of steps: {error}") from error
        if table.steps.ndim != 2 or table.steps.shape[1] != WIDTH or table.numbers.dtype != np.float32:
            raise StepTableError("a table of steps of another version")
        return table

    def find_ends(self) -> list[int]:
        """Return where each answer begins in a row of answers, and where the last one ends."""
        ends = [0] * (2 + int(self.parts[-1, ANSWER]))
        for answer, matrix, _, count in self.parts:
            ends[answer + 1] += int(count * (self.facts.board_size**2 if self.matrices[matrix, OF_POINTS] else 1))
        return list(accumulate(ends))


class MemoryLayout(NamedTuple):
    """Where the matrices of a table lie in the memory for some positions."""

    matrices: np.ndarray  # int64 [M, 3]: start, columns, and whether rows are points
    work: int  # where the room for convolutions begins
    size: int  # of the memory


def tiles_of_board(board_size: int) -> int:
    """Return how many tiles cover a board."""
    return (-(-board_size // TILE)) ** 2


def find_work(table: StepTable, positions: int) -> int:
    """Return how many numbers the steps need as work space for so many positions."""
    steps, size = table.steps, table.facts.board_size
    convolutions = steps[steps[:, KIND] == CONVOLVE]
    rows = positions * tiles_of_board(size) + ROWS
    factors = SPARE + FACTORS * rows * int((convolutions[:, CHANNELS] + convolutions[:, FILTERS]).max(initial=0))
    products = (positions * size**2 + ROWS) * int(steps[steps[:, KIND] == MIX, FILTERS].max(initial=0))
    return max(factors, products)


def lay_out(table: StepTable, positions: int) -> MemoryLayout:
    """Return where everything lies for so many positions at a time."""
    matrices, end = table.matrices.copy(), 0
    for number, (place, columns, of_points) in enumerate(table.matrices):
        if place < number:
            matrices[number, START] = matrices[place, START]
            continue
        rows = positions * table.facts.board_size**2 if of_points else positions
        matrices[number, START], end = end, end + (rows + ROWS) * columns
    return MemoryLayout(matrices, end, end + find_work(table, positions))
