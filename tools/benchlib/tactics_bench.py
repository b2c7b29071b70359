"""What proof-number search finds out about strings, by how many positions it may look at, and what came of them.

The strings are those that a search asks about at its root (mcts/tactics/hints.py), in positions of games that were
played until no dead stones were left: what is proven dead should be gone at the end, what is safe should be there.
"""

import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from board.geometry import get_geometry
from board.go_board import GoBoard
from board.state import BLACK
from board.stone import Stone
from mcts.params import Tactics
from mcts.tactics.dfpn import CAPTURED, SAFE
from mcts.tactics.hints import Tactician, ask, new_tactician
from mcts.tactics.settle import settle
from tools.benchlib.measure import BenchSettings, Figure
from tools.benchlib.ownership_bench import collect_samples

NODES = (20, 100, 500, 2000, 10000, 50000)
MICROSECONDS = 1e6


class StringFate(NamedTuple):
    """What is known of a string."""

    first: int  # when its opponent begins: CAPTURED, SAFE or UNKNOWN
    second: int  # and when its owner does
    survived: bool  # whether its point was its owner's at the end
    seconds: float


def judge_strings(tactician: Tactician, board: GoBoard, truth: np.ndarray) -> Iterator[StringFate]:
    """Yield what is known of each string; `truth` [P] are the owners at the end, 1 for Black."""
    place = {int(pos): i for i, pos in enumerate(get_geometry(board.board_size).points)}
    for string in board.strings.string.values():
        question = ask(tactician, board.state, string.get_origin())
        if string.get_size() == 1 or question.nodes == 0:
            continue
        own = 1.0 if question.defender == BLACK else -1.0
        opponent = int(Stone.get_opponent_color(Stone(question.defender)))
        begin = time.perf_counter()
        tactician.proof.table_keys[:] = 0
        first = settle(tactician.proof, board.state, opponent, question)[0]
        second = settle(tactician.proof, board.state, question.defender, question)[0]
        yield StringFate(first, second, bool(truth[place[question.target]] == own), time.perf_counter() - begin)


def describe(nodes: int, fates: list[StringFate]) -> str:
    """Return one line of the table."""
    kinds = ((CAPTURED, CAPTURED), (CAPTURED, SAFE), (SAFE, SAFE))
    cells = [f"{nodes:10,}", f"{MICROSECONDS * np.mean([fate.seconds for fate in fates]):10,.0f}"]
    known = sum((fate.first, fate.second) in kinds for fate in fates)
    cells.append(f"{known / len(fates):9.1%}")
    for kind in kinds:
        alike = [fate.survived for fate in fates if (fate.first, fate.second) == kind]
        cells.append(f"{len(alike):7,}  {np.mean(alike):6.1%}" if alike else f"{0:7,}       -")
    return "  ".join(cells)


def measure_tactics(settings: BenchSettings) -> Iterator[Figure | str]:
    """Yield a table: one line for each number of positions; raises NoGamesError."""
    samples = collect_samples(settings)
    yield f"strings of two stones or more, of {len(samples)} positions, and the share of them that are there at the end"
    yield " positions  us a string    known       dead            at stake           safe"
    for nodes in NODES:
        tactician = new_tactician(settings.board_size, Tactics(root=nodes), is_root=True)
        assert tactician is not None
        next(judge_strings(tactician, samples[-1].board, samples[-1].truth), None)  # compiles
        fates = [fate for sample in samples for fate in judge_strings(tactician, sample.board, sample.truth)]
        if fates:
            yield describe(nodes, fates)
