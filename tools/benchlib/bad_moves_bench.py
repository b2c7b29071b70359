"""How well bad moves are known: the paper's table for a classifier and for a network's policy, and what each costs.

The games that `train.py --task bad-moves` keeps back are looked at, one in twenty of the folder.
"""

from collections.abc import Iterator

import numpy as np

from board.constant import PASS
from board.go_board import GoBoard
from board.state import BLACK, WHITE
from board.stone import Stone
from nn.classifier import judge_points, new_judge, read_classifier, weigh
from nn.data.data_file import DataError
from nn.data.move_samples import KEPT_BACK, GameMarker, MoveSamples, read_games
from nn.feature import Evaluator, generate_input_planes, plane_set_of
from nn.inference.loading import load_evaluator
from nn.point_marks import CANDIDATE
from nn.training.recall import Margins, format_table
from sgf.collection import Kifu
from tools.benchlib.measure import BenchSettings, Figure, NoGamesError, measure_nanoseconds


def list_boards(game: Kifu) -> Iterator[tuple[GoBoard, Stone]]:
    """Yield the positions of a game that are samples, and who is to move."""
    board = GoBoard(game.size, game.komi)
    black, white = (game.setup_pos[game.setup_color == color].tolist() for color in (BLACK, WHITE))
    board.set_up(black, white)
    for pos, number in zip(game.pos, game.color, strict=True):
        color = Stone(int(number))
        if not board.is_legal(int(pos), color):
            return
        if pos != PASS and board.is_legal_not_eye(int(pos), color):
            yield board, color
        board.put_stone(int(pos), color)


def margins_of_policy(evaluator: Evaluator, board: GoBoard, color: Stone, marks: np.ndarray) -> np.ndarray:
    """Return the margin of each point [S*S] by a network's policy over the candidates, 1 for other points."""
    logits = evaluator(generate_input_planes(board, color, 0, plane_set_of(evaluator))[np.newaxis])[0][0, :-1]
    margins = np.where(marks >> CANDIDATE & 1, logits, -np.inf)
    weigh(margins, len(margins))
    return margins


class JudgeBench:
    """A classifier that judges many positions of one size."""

    def __init__(self, path: str, samples: MoveSamples, board_size: int) -> None:
        """Load the classifier; raises ClassifierError."""
        self.samples, self._state = samples, GoBoard(board_size).state
        self._judge, self._next = new_judge(read_classifier(path), board_size, 1.0), 0

    def judge(self, n: int) -> np.ndarray:
        """Return the margins of a position, [S*S]."""
        self._judge.marks[:] = self.samples.marks[n]
        judge_points(self._judge, self._state)
        return self._judge.margin.copy()

    def work(self) -> int:
        """Judge the next position."""
        self._next = (self._next + 1) % len(self.samples.marks)
        self.judge(self._next)
        return 1


def collect(games: list[Kifu], most: int, board_size: int) -> tuple[MoveSamples, list[tuple[GoBoard, Stone]]]:
    """Return up to so many positions of the games that are kept back, as samples and as boards."""
    marker, found, boards = GameMarker(board_size), list[MoveSamples](), list[tuple[GoBoard, Stone]]()
    for game in games[::KEPT_BACK]:
        found.append(marker.mark(game))
        boards += [(board.copy(), color) for board, color in list_boards(game)]
        if len(boards) >= most:
            break
    return MoveSamples(*(np.concatenate(parts)[:most] for parts in zip(*found, strict=True))), boards[:most]


def measure_bad_moves(settings: BenchSettings) -> Iterator[Figure | str]:
    """Yield the table and the cost of the classifier and of the network; raises NoGamesError and ClassifierError."""
    assert settings.kifu_dir is not None
    size = settings.board_size
    try:
        games = read_games(settings.kifu_dir, size)
    except DataError as error:
        raise NoGamesError(str(error)) from None
    samples, boards = collect(games, settings.games, size)
    if not boards:
        raise NoGamesError(f"{settings.kifu_dir}: no move to judge in the games kept back, one in {KEPT_BACK}")
    candidates = (samples.marks >> CANDIDATE & 1).sum(axis=1).mean()
    yield f"bad moves: {len(boards)} positions of games kept back, {candidates:.1f} moves in each"
    bench = JudgeBench(settings.classifier, samples, size)
    margins = np.stack([bench.judge(n) for n in range(len(boards))])
    yield f"{settings.classifier}\n{format_table(Margins.of(margins, samples))}"
    evaluator = load_evaluator(settings.model, size, settings.use_gpu)
    margins = np.stack([margins_of_policy(evaluator, board, color, marks)
                        for (board, color), marks in zip(boards, samples.marks, strict=True)])
    yield f"policy of {settings.model}\n{format_table(Margins.of(margins, samples))}"
    yield measure_nanoseconds("classifier, a position", bench.work, settings)
    planes = np.stack([generate_input_planes(board, color, 0, plane_set_of(evaluator)) for board, color in boards[:64]])

    def ask() -> int:
        evaluator(planes)
        return len(planes)

    yield measure_nanoseconds("network, a position of 64 at a time", ask, settings, one_core=False)
