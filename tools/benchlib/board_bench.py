"""Speed of the board, on one core."""

from collections.abc import Iterator

import numpy as np

from board.go_board import GoBoard
from board.playout import NEVER, NO_LIMIT, run_playouts
from board.random_state import new_random_state
from board.rules import list_legal_moves
from board.state import BLACK, MOVES, History, State, copy_state, new_state
from common.kernel import kernel
from tools.benchlib.measure import BenchSettings, Figure, Workload, measure, measure_nanoseconds
from tools.benchlib.positions import make_random_board

# Figures of TamaGo 0.10.0: random 9x9 games a second, and nanoseconds of its copy_board.
TAMAGO_PLAYOUTS = 156
TAMAGO_COPY = 23000
AYA_PLAYOUTS = "Aya played 7,890 random 9x9 games/s in 2008"
# Targets by board size: random games a second.
PLAYOUT_TARGETS = {9: 30000, 19: 5000}
COPY_TARGET = 100

# Units of one piece of work: short against the shortest run, long against a call from Python.
PLAYOUTS = 50
COPIES = 20000
GENERATIONS = 1000


@kernel
def copy_back_and_forth(first: State, second: State, count: int) -> int:
    """Copy a position 2 * `count` times, changing it between; return its move number. Modifies both states."""
    for _ in range(count):
        copy_state(second, first)
        second.info[MOVES] += 1
        copy_state(first, second)
    return first.info[MOVES]


@kernel
def generate_moves(state: State, history: History, count: int, out: np.ndarray) -> int:
    """List the legal moves of a position `count` times, for both colors in turn; return how many there were.

    Own eyes are left out and superko is observed, as in the search. Modifies out.
    """
    total = 0
    for i in range(count):
        total += list_legal_moves(state, history, BLACK + i % 2, True, False, out)
    return total


class PlayoutWork:
    """Random games from the empty board to its end, scored."""

    def __init__(self, board_size: int) -> None:
        """Make the work space."""
        self._start, self._state = new_state(board_size), new_state(board_size)
        cells = len(self._start.stones)
        self._random_state = new_random_state(np.random.Generator(np.random.PCG64(0)))
        self._owner, self._queue = np.empty(cells, dtype=np.int8), np.empty(cells, dtype=np.int16)
        self._counts = np.zeros((2, cells), dtype=np.int32)

    def count_moves(self) -> int:
        """Play PLAYOUTS games and return their moves."""
        return int(run_playouts(self._start, PLAYOUTS, NO_LIMIT, NEVER, self._random_state, self._state, self._owner,
                                self._queue, self._counts[0], self._counts[1]))

    def count_games(self) -> int:
        """Play PLAYOUTS games and return their number."""
        self.count_moves()
        return PLAYOUTS


def make_copy_work(board_size: int) -> Workload:
    """Return the copying of a position within compiled code."""
    first, second = make_random_board(board_size, board_size * 3, seed=1).state, new_state(board_size)

    def work() -> int:
        copy_back_and_forth(first, second, COPIES // 2)
        return COPIES

    return work


def make_generation_work(board: GoBoard) -> Workload:
    """Return the listing of all legal moves of a position within compiled code."""
    out = np.empty(board.board_size * board.board_size, dtype=np.int32)

    def work() -> int:
        generate_moves(board.state, board.history, GENERATIONS, out)
        return GENERATIONS

    return work


def make_game_work(game: GoBoard) -> Workload:
    """Return the replay of a game through GoBoard.put_stone, called from Python."""
    board, moves = GoBoard(game.board_size), game.get_move_history()

    def work() -> int:
        board.clear()
        for color, pos in moves:
            board.put_stone(pos, color)
        return len(moves)

    return work


def measure_board(settings: BenchSettings) -> Iterator[Figure | str]:
    """Yield the figures of 9x9 and 19x19."""
    yield f"board, one core ({AYA_PLAYOUTS})"
    for size, target in PLAYOUT_TARGETS.items():
        playouts, game = PlayoutWork(size), make_random_board(size, size * size * 3 // 4, seed=2)
        middle = make_random_board(size, size * size * 2 // 5, seed=3)
        small, name = size == 9, f"{size}x{size}"
        yield measure(f"{name} random games", "games/s", playouts.count_games, settings, target=target,
                      tamago=TAMAGO_PLAYOUTS if small else None)
        yield measure(f"{name} moves in random games", "moves/s", playouts.count_moves, settings)
        yield measure_nanoseconds(f"{name} copy of a position", make_copy_work(size), settings, target=COPY_TARGET,
                                  tamago=TAMAGO_COPY if small else None)
        yield measure(f"{name} lists of all legal moves", "lists/s", make_generation_work(middle), settings)
        yield measure(f"{name} GoBoard.put_stone from Python", "moves/s", make_game_work(game), settings)
