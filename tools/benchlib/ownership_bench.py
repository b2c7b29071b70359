"""How well the owner of each point and the lead can be told before the end of a game, way by way.

The truth is the final position of games that were played until no dead stones were left, counted by area. Letters:
P points of the board. Ownership is Black's, from -1 to +1; the lead is its sum.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from board.constant import PASS
from board.geometry import get_geometry
from board.go_board import GoBoard
from board.playout import ANSWER_CHANCE, NEVER, SELF_ATARI_LIMIT, playout_ownership
from board.score import get_area
from board.state import BLACK, PASSES, SIZE, WHITE, State
from board.stone import Stone
from mcts.analysis import CandidateMove, SearchResult
from mcts.node import MCTSNode
from mcts.params import SearchLimit
from mcts.score_estimate import ScoreEstimator, after_line, mean_estimate
from mcts.tree import MCTSTree
from nn.feature import Evaluator, encode_board, plane_set_of
from nn.inference.loading import load_evaluator
from nn.inference.policy_player import to_policy
from sgf.reader import SGFReader
from tools.benchlib.measure import BenchSettings, Figure
from tools.benchlib.positions import after_moves, sample_games

STAGES = (10, 20, 30, 40, 50, 60)
PLAYOUTS = 128
POLICY_GAMES = 8
# Own stones that a careful player does not put into atari.
CAREFUL_LIMIT = 2


@dataclass(frozen=True)
class Sample:
    """A position of a game after `stage` moves, and who owned the points at the end, float64 [P]."""

    stage: int
    board: GoBoard
    truth: np.ndarray


Way = Callable[[Sample, SearchResult], np.ndarray]


def area_ownership(state: State) -> np.ndarray:
    """Return the owners of a position as it stands, float64 [P]."""
    owner = get_area(state)[1][get_geometry(int(state.info[SIZE])).points]
    return (owner == BLACK) * 1.0 - (owner == WHITE) * 1.0


def read_samples(path: Path, board_size: int) -> list[Sample]:
    """Return the positions of a game that two passes ended and that is longer than the last stage, else nothing.

    Raises ValueError and OSError.
    """
    game = SGFReader(path, board_size)
    end = after_moves(game)
    if not end.is_over or len(game.moves) <= STAGES[-1]:
        return []
    truth = area_ownership(end.state)
    return [Sample(stage, after_moves(game, stage), truth) for stage in STAGES]


def collect_samples(settings: BenchSettings) -> list[Sample]:
    """Return the positions of so many games of the folder, drawn at random; raises NoGamesError."""
    assert settings.kifu_dir is not None
    return sample_games(settings.kifu_dir, settings.games * len(STAGES),
                        lambda path, _: read_samples(path, settings.board_size),
                        f"finished game of more than {STAGES[-1]} moves")


# --- the ways -------------------------------------------------------------------------------------------------------


def play_out(state: State, count: int, seed: int, limit: int, chance: float) -> np.ndarray:
    """Return the ownership by playouts from one state, float64 [P]."""
    rng = np.random.Generator(np.random.PCG64(seed))
    return playout_ownership(state, count, rng, limit, chance)[get_geometry(int(state.info[SIZE])).points]


def from_root(limit: int, chance: float) -> Way:
    """Return the way that plays out the position itself."""
    return lambda sample, _: play_out(sample.board.state, PLAYOUTS, sample.stage, limit, chance)


def from_lines(limit: int, chance: float) -> Way:
    """Return the way that plays out the end of each principal variation, weighted by visits."""
    def estimate(sample: Sample, result: SearchResult) -> np.ndarray:
        moves = [move for move in result.candidates if move.visits > 0]
        visits, color = sum(move.visits for move in moves), int(sample.board.get_to_move())
        parts = []
        for move in moves:
            count = 2 * max(1, round(PLAYOUTS / 2 * move.visits / visits))
            state = after_line(sample.board.state, color, move.pv)
            parts.append(move.visits / visits * play_out(state, count, sample.stage, limit, chance))
        return np.sum(parts, axis=0)
    return estimate


def as_reported(sample: Sample, result: SearchResult) -> np.ndarray:
    """Return what the first report of an analysis says."""
    moves: list[CandidateMove] = [move for move in result.candidates if move.visits > 0]
    color = sample.board.get_to_move()
    ownership = mean_estimate(moves, ScoreEstimator(sample.board, color).estimate_moves(moves)).ownership
    return ownership if color == Stone.BLACK else -ownership


def from_leaves(tree: MCTSTree) -> Way:
    """Return the way that plays out leaves of the tree, drawn in proportion to visits."""
    def estimate(sample: Sample, _: SearchResult) -> np.ndarray:
        rng, color = np.random.Generator(np.random.PCG64(sample.stage)), int(sample.board.get_to_move())
        parts = []
        for number in range(PLAYOUTS // 2):
            node: MCTSNode | None = tree.root
            line: list[int] = []
            while node is not None and node.num_children and node.children_visits.sum() > 0:
                visits = np.asarray(node.children_visits, dtype=np.float64)
                edge = int(rng.choice(len(visits), p=visits / visits.sum()))
                line.append(int(node.action[edge]))
                node = node.child(edge)
            state = after_line(sample.board.state, color, line)
            parts.append(play_out(state, 2, number, SELF_ATARI_LIMIT, ANSWER_CHANCE))
        return np.mean(parts, axis=0)
    return estimate


def from_policy(evaluator: Evaluator) -> Way:
    """Return the way that plays whole games by the network's policy, all of them at once."""
    def estimate(sample: Sample, _: SearchResult) -> np.ndarray:
        rng = np.random.Generator(np.random.PCG64(sample.stage))
        boards = [sample.board.copy() for _ in range(POLICY_GAMES)]
        size = sample.board.board_size
        limit = 2 * size * size
        for board in boards:
            board.state.info[PASSES] = 0
        while limit and (live := [board for board in boards if not board.is_over]):
            planes = np.stack([encode_board(board, board.get_to_move(), plane_set_of(evaluator)) for board in live])
            for board, logits in zip(live, evaluator(planes)[0], strict=True):
                board.put_stone(draw_move(board, logits, rng), board.get_to_move())
            limit -= 1
        return np.mean([area_ownership(board.state) for board in boards], axis=0)
    return estimate


def draw_move(board: GoBoard, logits: np.ndarray, rng: np.random.Generator) -> int:
    """Return a move drawn from the policy (temperature 1) among legal ones that fill no own eye, and PASS."""
    moves = [PASS, *board.get_all_legal_pos(board.get_to_move(), fill_eyes=False)]
    index = get_geometry(board.board_size).policy_index
    values = np.array([logits[-1] if pos == PASS else logits[index[pos]] for pos in moves], dtype=np.float64)
    return moves[int(rng.choice(len(moves), p=to_policy(values)))]


def list_ways(tree: MCTSTree, evaluator: Evaluator) -> dict[str, Way]:
    """Return all ways by name."""
    return {
        "stones on the board": lambda sample, _: area_ownership(sample.board.state),
        "random, position": from_root(SELF_ATARI_LIMIT, NEVER),
        "answering, position": from_root(SELF_ATARI_LIMIT, ANSWER_CHANCE),
        "answering, careful, position": from_root(CAREFUL_LIMIT, ANSWER_CHANCE),
        "random, ends of lines": from_lines(SELF_ATARI_LIMIT, NEVER),
        "answering, ends of lines": from_lines(SELF_ATARI_LIMIT, ANSWER_CHANCE),
        "answering, careful, ends": from_lines(CAREFUL_LIMIT, ANSWER_CHANCE),
        "answering, leaves": from_leaves(tree),
        "first report": as_reported,
        f"{POLICY_GAMES} policy games": from_policy(evaluator),
    }


# --- the table ------------------------------------------------------------------------------------------------------


def measure_ownership(settings: BenchSettings) -> Iterator[Figure | str]:
    """Yield a line for each way with its errors at every stage, then the time of a call; raises NoGamesError."""
    samples = collect_samples(settings)
    evaluator = load_evaluator(settings.model, settings.board_size, settings.use_gpu)
    tree = MCTSTree(evaluator, settings.board_size)
    ways = list_ways(tree, evaluator)
    found: dict[str, list[np.ndarray]] = {name: [] for name in ways}
    seconds = dict.fromkeys(ways, 0.0)
    limit = SearchLimit(settings.engine_visits, strict=True)
    for sample in samples:
        tree.clear()
        result = tree.search(sample.board, sample.board.get_to_move(), limit)
        if sample is samples[0]:
            for way in ways.values():
                way(sample, result)  # compiles what it needs
        for name, way in ways.items():
            begin = time.perf_counter()
            found[name].append(way(sample, result))
            seconds[name] += time.perf_counter() - begin
    yield (f"ownership: {len(samples) // len(STAGES)} games, searches of {settings.engine_visits} visits; mean squared "
           "error of ownership / % of points right / mean error of the lead in points, after so many moves")
    yield f"{'way':<30}" + "".join(f"{f'move {stage}':>18}" for stage in STAGES) + f"{'all':>18}"
    for name, estimates in found.items():
        cells = [describe_errors(samples, estimates, stage) for stage in (*STAGES, None)]
        yield f"{name:<30}" + "".join(f"{cell:>18}" for cell in cells)
    for name, total in seconds.items():
        yield Figure(name, "ms a call", (1000 * total / len(samples),), lower_is_better=True)


def describe_errors(samples: list[Sample], estimates: list[np.ndarray], stage: int | None) -> str:
    """Return the three errors of a way at one stage, or over all."""
    pairs = [(estimate, sample.truth) for estimate, sample in zip(estimates, samples, strict=True)
             if stage in (None, sample.stage)]
    guess, truth = (np.array(part) for part in zip(*pairs, strict=True))
    square, right = np.mean((guess - truth) ** 2), np.mean(np.sign(guess) == truth)
    lead = np.mean(np.abs(guess.sum(axis=1) - truth.sum(axis=1)))
    return f"{square:.3f}/{right:4.0%}/{lead:4.1f}"
