"""A network of this program that judges the positions of games, many at a time, each by one answer and no search.

Letters: G games, N of them that go on.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from board.state import new_state
from common.cores import count_usable_cores
from nn.data.labels import Labels
from nn.inference.loading import load_evaluator
from sgf.collection import Kifu
from tools.labellib.judging import Judge, check_tells_lead, find_network, naming_option, new_judged
from tools.labellib.walks import new_walks, set_up_walk, show_walks, walk_along

MODEL_SUFFIXES = (".bin", ".gz", ".ckpt", ".pt")
# Games that are walked through side by side: as many positions a call.
GAMES_AT_ONCE = 64


def names_model(command: str) -> bool:
    """Tell whether a command is none but the path of a model file."""
    return command.endswith(MODEL_SUFFIXES) and (len(command.split()) == 1 or Path(command).is_file())


class NetworkTeacher:
    """Labels games as Teacher does (tools/labellib/teacher.py)."""

    def __init__(self, model: str, board_size: int, use_gpu: bool) -> None:
        """Load the network; raises LabelError."""
        path, self._size = find_network("--teacher", model), board_size
        with naming_option("--teacher"):
            evaluator = load_evaluator(path, board_size, use_gpu, threads=count_usable_cores())
        check_tells_lead(evaluator, path)
        self._judge, self._plane_set = Judge(evaluator, GAMES_AT_ONCE), evaluator.plane_set
        self._positions = evaluator.plane_set.new_positions(board_size, GAMES_AT_ONCE)
        self._state = new_state(board_size)

    def label(self, games: Iterable[tuple[str, Kifu]]) -> Iterator[tuple[str, Labels]]:
        """Yield the names of games and their labels."""
        left = iter(games)
        while some := list(islice(left, GAMES_AT_ONCE)):
            yield from zip([name for name, _ in some], self._label([game for _, game in some]), strict=True)

    def _label(self, games: list[Kifu]) -> list[Labels]:
        """Return the labels of up to GAMES_AT_ONCE games."""
        size, lengths = self._size, np.array([len(game.pos) for game in games])
        komi, longest = np.array([game.komi for game in games]), int(lengths.max())
        walks = new_walks(len(games), size, self._plane_set.looks_back, longest, np.random.default_rng(0))
        for g, game in enumerate(games):
            set_up_walk(walks, g, self._state, size, game.setup_pos, game.setup_color, game.color[0])
        judged, moves = new_judged(len(games), longest, size), np.zeros(len(games), dtype=np.int16)
        for move in range(longest):
            rows = np.flatnonzero(lengths > move)
            show_walks(walks, rows, self._state, self._positions)
            judged.keep(rows, move, *self._judge.ask(walks, rows, self._positions, komi[rows]))
            moves[:len(rows)] = [games[g].pos[move] for g in rows]
            walk_along(walks, rows, self._state, moves)
        return [judged.labels(g, int(length)) for g, length in enumerate(lengths)]

    def close(self) -> None:
        """Do nothing: there is no process to end."""
