"""The evaluator by kernels: a network as one compiled call, in float32, without torch (nn/inference/steps/kernels.py).

A single position costs as much as one of many, since weights are read in the order in which they are needed and nothing
is handed from call to call.

Letters: N positions, P planes, S board size, A = S*S + 1 policy entries.
"""

import threading
from itertools import pairwise

import numpy as np

from nn.evaluation import Answers
from nn.inference.board_evaluator import BoardEvaluator
from nn.inference.steps.kernels import run_steps_by_parts
from nn.inference.steps.table import StepTable, lay_out, tiles_of_board

# Tiles whose factors and products stay in the cache.
TILES = 18
BATCH_LIMIT = 256


class KernelEvaluator(BoardEvaluator):
    """A network run by kernels in the thread that calls; other threads that call it meanwhile wait."""

    full_call = 1

    def __init__(self, table: StepTable, symmetries: int = 1) -> None:
        """Take a table, which several evaluators may share; the memory is this one's."""
        super().__init__(table.facts, "on cpu, float32, kernels", BATCH_LIMIT, symmetries)
        self._positions = max(1, TILES // tiles_of_board(self.board_size))
        self._table, layout = table, lay_out(table, self._positions)
        self._matrices, self._work = layout.matrices, layout.work
        self._memory = np.zeros(layout.size, dtype=np.float32)
        self._ends = table.find_ends()
        self._lock = threading.Lock()

    def _evaluate(self, planes: np.ndarray) -> Answers:
        """Evaluate at most batch_limit positions, in this thread."""
        table, planes = self._table, np.ascontiguousarray(planes, dtype=np.float32)
        answers = np.empty((len(planes), self._ends[-1]), dtype=np.float32)
        with self._lock:
            run_steps_by_parts(table.steps, self._matrices, table.numbers, planes, table.parts, self._memory,
                               self._work, answers, self._positions)
        logits, value, *others = (answers[:, begin:end].copy() for begin, end in pairwise(self._ends))
        return (logits, value, others[0][:, 0], others[1]) if others else (logits, value)
