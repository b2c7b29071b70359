"""How well a network judges games that it has not learnt from: the moves that were played, and the recorded win rates.

Or, with labels, what a teacher says of their positions: the likeliest move, the win rate and the lead.

The last games of the folder are looked at, by the names of their files: those that training keeps back for testing.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from nn.data.dataset import Samples
from nn.data.game_encoder import GameEncoder
from nn.data.game_file import new_game_arrays
from nn.data.game_samples import GameSamples, NamedGames
from nn.data.labels import Labels, read_all_labels
from nn.evaluation import Answers
from nn.inference.board_evaluator import BoardEvaluator
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


def show_games(games: list[Kifu], evaluator: BoardEvaluator, labels: list[Labels] | None = None) -> GameSamples:
    """Return all positions of games as the network sees them; with labels, policy and win rate are those alone."""
    size = evaluator.board_size
    known: list[Labels | None] = [*labels] if labels else [None] * len(games)
    arrays = new_game_arrays(games, known, size)
    if labels:
        arrays = arrays._replace(win_rate=np.full_like(arrays.win_rate, np.nan))
    return GameSamples([NamedGames("games", arrays)], evaluator.plane_set, size, BATCH, 0, test_share=0.0,
                       teacher_weight=1.0)


def judge(samples: GameSamples, ask: Callable[[np.ndarray], Answers]) -> tuple[float, float]:
    """Return the share of moves that are the policy's first choice, and the error of the win rate (rms).

    The error is NaN where no win rate is recorded.
    """
    found, errors = [], []
    for batch, (logits, chances, *_) in _answers(samples, ask):
        found.append(np.argmax(logits, axis=1) == batch.move)
        errors.append(_win_rate(chances) - batch.win_rate)
    return float(np.concatenate(found).mean()), _rms(np.concatenate(errors))


def judge_by_teacher(samples: GameSamples, ask: Callable[[np.ndarray], Answers]) -> tuple[float, float, float]:
    """Return how far the answers are from the labels of all samples.

    That is the share of positions whose first choice is the teacher's, the error of the win rate (rms), and the mean
    error of the lead in points, NaN for a network that tells none.
    """
    found, rates, leads = [], [], []
    for batch, (logits, chances, lead, _) in _answers(samples, ask):
        found.append(np.argmax(logits, axis=1) == np.argmax(batch.policy, axis=1))
        rates.append(_win_rate(chances) - batch.win_rate)
        leads.append(np.abs(lead - batch.lead) if lead is not None else np.full(len(logits), np.nan))
    return float(np.concatenate(found).mean()), _rms(np.concatenate(rates)), float(np.concatenate(leads).mean())


def _answers(samples: GameSamples, ask: Callable[[np.ndarray], Answers]) -> Iterator[tuple[Samples, Answers]]:
    """Yield all samples, batch by batch, with what is said of them."""
    rows = np.arange(samples.train_count)
    for batch, _ in samples.batches(rows, np.zeros(len(rows), dtype=np.int64)):
        yield batch, ask(batch.planes)


def _win_rate(chances: np.ndarray) -> np.ndarray:
    """Return the win rates [N] of chances [N, 3], in which a draw is half a win."""
    return chances @ np.array([0.0, 0.5, 1.0])


def _rms(errors: np.ndarray) -> float:
    """Return the root of the mean square of the numbers that are known, NaN if none is."""
    known = errors[~np.isnan(errors)]
    return float(np.sqrt((known**2).mean())) if len(known) else np.nan


def measure_judgment(settings: BenchSettings) -> Iterator[Figure | str]:
    """Yield the figures for one look at each position and for the mean of eight; raises NoGamesError and DataError."""
    evaluator = load_evaluator(settings.model, settings.board_size, settings.use_gpu)
    assert settings.kifu_dir is not None
    games = read_last_games(settings.kifu_dir, settings.games, evaluator.board_size)
    looks = (("one look", evaluator), ("mean of eight", evaluator.average))
    if settings.labels:
        yield from _measure_by_teacher(settings, games, evaluator, looks)
        return
    samples = show_games(games, evaluator)
    yield f"judgment: {samples.train_count} positions of {len(games)} games, {evaluator.description}"
    for name, ask in looks:
        found, error = judge(samples, ask)
        yield Figure(f"moves played that are the first choice, {name}", "%", (100.0 * found,))
        if not np.isnan(error):
            yield Figure(f"win rate off the recorded one, {name}", "% (rms)", (100.0 * error,), lower_is_better=True)


def _measure_by_teacher(settings: BenchSettings, games: list[Kifu], evaluator: BoardEvaluator,
                        looks: Sequence[tuple[str, Callable[[np.ndarray], Answers]]]) -> Iterator[Figure | str]:
    """Yield the figures for those of the games that have labels."""
    teachers = read_all_labels(settings.labels)
    found = [(game, labels) for game in games
             if (labels := teachers.of_game(game.name, game.size, len(game.pos))) is not None]
    if not found:
        raise NoGamesError(f"{settings.kifu_dir}: none of its last {len(games)} games has labels in "
                           f"{', '.join(settings.labels)}")
    samples = show_games([game for game, _ in found], evaluator, [labels for _, labels in found])
    yield f"judgment: {samples.train_count} positions of {len(found)} games with labels, {evaluator.description}"
    for name, ask in looks:
        choice, rate, lead = judge_by_teacher(samples, ask)
        yield Figure(f"the teacher's first choice, {name}", "%", (100.0 * choice,))
        yield Figure(f"win rate off the teacher's, {name}", "% (rms)", (100.0 * rate,), lower_is_better=True)
        if not np.isnan(lead):
            yield Figure(f"lead off the teacher's, {name}", "points", (lead,), lower_is_better=True)
