"""How good a policy a short search teaches: that of self-play, for several visits and --target-scale.

A long search of the same network, with a wide root, says what the policy should have been: its share of visits. A
search of few visits teaches something where its improved policy is nearer to that than the network's own policy is.
"""

import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from board.go_board import GoBoard
from mcts.params import NETWORK_ALONE, SearchLimit, SearchParams
from mcts.tree import MCTSTree
from nn.inference.loading import load_evaluator
from sgf.reader import SGFReader
from tools.benchlib.measure import BenchSettings, Figure
from tools.benchlib.positions import after_moves, sample_games

VISITS = (16, 32, 64)
SCALES = (0.05, 0.1, 0.2, 0.4, 1.0)
FIRST_MOVE, LAST_MOVE = 4, 50
ROOT_TEMPERATURE = 1.3  # of the long search
NOISE_SEED = 11
SMALLEST_SHARE = 1e-6  # keeps the cross entropy finite


def draw_positions(path: Path, board_size: int, rng: random.Random, count: int) -> list[GoBoard]:
    """Return the positions before up to `count` random moves of a game, nothing if the game is too short.

    Raises ValueError and OSError.
    """
    game = SGFReader(path, board_size)
    if len(game.moves) <= FIRST_MOVE:
        return []
    wanted = {rng.randrange(FIRST_MOVE, min(len(game.moves), LAST_MOVE)) for _ in range(count)}
    return [after_moves(game, number) for number in sorted(wanted)]


def collect_positions(settings: BenchSettings, per_game: int = 1) -> list[GoBoard]:
    """Return `settings.games` positions or a few more, up to `per_game` of a game; raises NoGamesError."""
    assert settings.kifu_dir is not None
    size = settings.board_size
    return sample_games(settings.kifu_dir, settings.games, lambda path, rng: draw_positions(path, size, rng, per_game),
                        f"game of more than {FIRST_MOVE} moves on {size}x{size}")


def spread(tree: MCTSTree, values: np.ndarray) -> np.ndarray:
    """Return the values of the root's candidates as probabilities of all actions, float64 [A]."""
    policy = tree.spread(values)
    return policy / policy.sum()


def list_policies(
    pupil: MCTSTree, board: GoBoard, rng: np.random.Generator
) -> Iterator[tuple[str, np.ndarray, float]]:
    """Yield name, policy and win rate: for each visits and target scale, then the network's own."""
    for visits in VISITS:
        pupil.search_with_sequential_halving(board, board.get_to_move(), SearchLimit(visits), rng)
        for scale in SCALES:
            policy = pupil.improved_policy(scale)
            yield f"{visits} visits, scale {scale}", policy, pupil.policy_value(policy)
    yield "network", spread(pupil, pupil.root.children_policy), pupil.root.raw_value


def measure_targets(settings: BenchSettings) -> Iterator[Figure | str]:
    """Yield a line for the network's policy and one for each visits and target scale; raises NoGamesError."""
    positions = collect_positions(settings)
    evaluator = load_evaluator(settings.model, settings.board_size, settings.use_gpu)
    judge = MCTSTree(evaluator, settings.board_size)
    pupil = MCTSTree(evaluator, settings.board_size, SearchParams(NETWORK_ALONE, batch_size=16))
    limit = SearchLimit(settings.engine_visits, strict=True)
    scores: defaultdict[str, list[tuple[float, ...]]] = defaultdict(list, network=[])
    rng = np.random.default_rng(NOISE_SEED)
    for board in positions:
        judge.clear()
        judge.search(board, board.get_to_move(), limit, root_temperature=ROOT_TEMPERATURE)
        truth = spread(judge, judge.root.children_visits)
        true_value = judge.policy_value(truth)
        for name, policy, value in list_policies(pupil, board, rng):
            error = value - true_value
            scores[name].append((*compare(policy, truth), error, error**2))
    yield (f"targets: {len(positions)} positions; against the visits of a search of {settings.engine_visits}: cross "
           "entropy, its best move found, share of its visits that the policy's best move has; entropy of the policy; "
           "mean and root mean square error of the win rate")
    for name, rows in scores.items():
        loss, found, share, entropy, bias, square = np.mean(rows, axis=0)
        yield f"{name:<26} {loss:8.3f} {found:8.1%} {share:8.3f} {entropy:8.3f} {bias:+8.3f} {square ** 0.5:8.3f}"


def compare(policy: np.ndarray, truth: np.ndarray) -> tuple[float, float, float, float]:
    """Return cross entropy, whether both have the same best move, the truth's share of the policy's, and entropy."""
    best = int(policy.argmax())
    logarithm = np.log(np.maximum(policy, SMALLEST_SHARE))
    return (-float((truth * logarithm).sum()), float(best == truth.argmax()), float(truth[best]),
            -float((policy * logarithm).sum()))
