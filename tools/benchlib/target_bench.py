"""How good a policy a short search teaches: that of self-play, for several visits and --target-scale.

A long search of the same network, with a wide root, says what the policy should have been: its share of visits. A
search of few visits teaches something where its improved policy is nearer to that than the network's own policy is.
"""

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from board.go_board import GoBoard, IllegalMoveError
from board.stone import Stone
from mcts.params import SearchLimit, SearchParams
from mcts.tree import MCTSTree
from nn.utility import load_evaluator
from sgf.grammar import SGFError
from sgf.reader import SGFReader
from tools.benchlib.measure import Figure, Settings

VISITS = (16, 32, 64)
SCALES = (0.05, 0.1, 0.2, 0.4, 1.0)
FIRST_MOVE, LAST_MOVE = 4, 50
ROOT_TEMPERATURE = 1.3  # of the long search
SMALLEST_SHARE = 1e-6  # keeps the cross entropy finite
SHUFFLE_SEED = 11


class NoPositionsError(ValueError):
    """The folder has no game from which a position could be taken."""


def draw_position(path: Path, board_size: int, rng: random.Random) -> GoBoard | None:
    """Return the position before a random move of a game, None if the game is too short or cannot be played."""
    try:
        game = SGFReader(path, board_size)
        if len(game.moves) <= FIRST_MOVE:
            return None
        board = GoBoard(board_size, game.komi)
        for number in range(rng.randrange(FIRST_MOVE, min(len(game.moves), LAST_MOVE))):
            board.put_stone(game.moves[number], Stone(game.colors[number]))
        return board
    except (SGFError, IllegalMoveError, OSError):
        return None


def collect_positions(settings: Settings) -> list[GoBoard]:
    """Return one position of so many games of the folder, drawn at random; raises NoPositionsError."""
    assert settings.kifu_dir is not None
    positions: list[GoBoard] = []
    rng = random.Random(SHUFFLE_SEED)
    paths = sorted(settings.kifu_dir.rglob("*.sgf"))
    rng.shuffle(paths)
    for path in paths:
        if len(positions) >= settings.games:
            break
        board = draw_position(path, settings.board_size, rng)
        if board is not None:
            positions.append(board)
    if not positions:
        raise NoPositionsError(f"{settings.kifu_dir}: no game of more than {FIRST_MOVE} moves on {settings.board_size}x"
                               f"{settings.board_size}")
    return positions


def spread(tree: MCTSTree, values: np.ndarray) -> np.ndarray:
    """Return the values of the root's candidates as a policy over all actions, float64 [A]."""
    policy = np.zeros(len(tree.geometry.policy_pos))
    policy[tree.geometry.policy_index[tree.root.action]] = values
    return policy / policy.sum()


def measure_targets(settings: Settings) -> Iterator[Figure | str]:
    """Yield a line for the network's policy and one for each visits and target scale; raises NoPositionsError."""
    positions = collect_positions(settings)
    evaluator = load_evaluator(settings.model, settings.board_size, settings.use_gpu)
    judge = MCTSTree(evaluator, settings.board_size)
    pupil = MCTSTree(evaluator, settings.board_size, SearchParams(batch_size=16))
    names = ["network", *(f"{visits} visits, scale {scale}" for visits in VISITS for scale in SCALES)]
    scores: dict[str, list[tuple[float, ...]]] = {name: [] for name in names}
    rng = np.random.default_rng(SHUFFLE_SEED)
    for board in positions:
        color = board.get_to_move()
        judge.clear()
        judge.search(board, color, SearchLimit(settings.engine_visits, strict=True), root_temperature=ROOT_TEMPERATURE)
        truth = spread(judge, judge.root.children_visits)
        true_value = judge.policy_value(truth)
        for visits in VISITS:
            pupil.search_with_sequential_halving(board, color, SearchLimit(visits), rng)
            for scale in SCALES:
                policy = pupil.improved_policy(scale)
                error = pupil.policy_value(policy) - true_value
                scores[f"{visits} visits, scale {scale}"].append((*compare(policy, truth), error, error**2))
        error = pupil.root.raw_value - true_value
        scores["network"].append((*compare(spread(pupil, pupil.root.children_policy), truth), error, error**2))
    yield (f"targets: {len(positions)} positions; against the visits of a search of {settings.engine_visits}: cross "
           "entropy, its best move found, share of its visits that the policy's best move has; entropy of the policy; "
           "mean and root mean square error of the win rate")
    for name in names:
        loss, found, share, entropy, bias, square = np.mean(scores[name], axis=0)
        yield f"{name:<26} {loss:8.3f} {found:8.1%} {share:8.3f} {entropy:8.3f} {bias:+8.3f} {square ** 0.5:8.3f}"


def compare(policy: np.ndarray, truth: np.ndarray) -> tuple[float, float, float, float]:
    """Return cross entropy, whether both have the same best move, the truth's share of the policy's, and entropy."""
    best = int(policy.argmax())
    logarithm = np.log(np.maximum(policy, SMALLEST_SHARE))
    return (-float((truth * logarithm).sum()), float(best == truth.argmax()), float(truth[best]),
            -float((policy * logarithm).sum()))
