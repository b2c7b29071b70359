"""How well a network judges games that it has not learnt from: the moves that were played, and the recorded win rates.

The last games of the folder are looked at, by the names of their files: those that training keeps back for testing.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np

from nn.data.game_encoder import GameEncoder
from nn.data.game_file import new_game_arrays
from nn.data.game_samples import GameSamples, NamedGames
from nn.inference.board_evaluator import Answers, BoardEvaluator
from nn.inference.loading import load_evaluator
from sgf.collection import Kifu, cut_into_pieces, list_sgf_files, read_pieces
from sgf.grammar import SGFError
from tools.benchlib.measure import BenchSettings, Figure, NoGamesError

BATCH = 256


def read_last_games(folder: Path, count: int, board_size: int) -> list[Kifu]:
    """Return the last `count` games of a folder that the rules allow, in their order; raises NoGamesError."""
    encoder, games = GameEncoder(board_size), []
    for path in reversed(list_sgf_files(folder)):
        for game in reversed(read_pieces(cut_into_pieces(path), [board_size])[0]):
            with suppress(SGFError):
                encoder.check(game)
                games.append(game)
        if len(games) >= count:
            break
    if not games:
        raise NoGamesError(f"{folder}: no game on {board_size}x{board_size}")
    return games[:count][::-1]


def show_games(games: list[Kifu], evaluator: BoardEvaluator) -> GameSamples:
    """Return all positions of games as the network sees them."""
    arrays, size = new_game_arrays(games, [None] * len(games), evaluator.board_size), evaluator.board_size
    files = [NamedGames("games", arrays)]
    return GameSamples(files, evaluator.plane_set, size, BATCH, 0, test_share=0.0, teacher_weight=1.0)


def judge(samples: GameSamples, ask: Callable[[np.ndarray], Answers]) -> tuple[float, float]:
    """Return the share of moves that are the policy's first choice, and the error of the win rate (rms).

    The error is NaN where no win rate is recorded.
    """
    found, errors = [], []
    rows = np.arange(samples.train_count)
    for batch, _ in samples.batches(rows, np.zeros(len(rows), dtype=np.int64)):
        logits, chances, *_ = ask(batch.planes)
        found.append(np.argmax(logits, axis=1) == batch.move)
        errors.append(chances @ np.array([0.0, 0.5, 1.0]) - batch.win_rate)
    squares = np.concatenate(errors) ** 2
    known = squares[~np.isnan(squares)]
    return float(np.concatenate(found).mean()), float(np.sqrt(known.mean())) if len(known) else np.nan


def measure_judgment(settings: BenchSettings) -> Iterator[Figure | str]:
    """Yield both figures for one look at each position and for the mean of eight; raises NoGamesError."""
    evaluator = load_evaluator(settings.model, settings.board_size, settings.use_gpu)
    assert settings.kifu_dir is not None
    games = read_last_games(settings.kifu_dir, settings.games, evaluator.board_size)
    samples = show_games(games, evaluator)
    yield f"judgment: {samples.train_count} positions of {len(games)} games, {evaluator.description}"
    for name, ask in (("one look", evaluator), ("mean of eight", evaluator.average)):
        found, error = judge(samples, ask)
        yield Figure(f"moves played that are the first choice, {name}", "%", (100.0 * found,))
        if not np.isnan(error):
            yield Figure(f"win rate off the recorded one, {name}", "% (rms)", (100.0 * error,), lower_is_better=True)
