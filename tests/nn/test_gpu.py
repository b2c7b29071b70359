"""What a GPU calculates is what a CPU does in float32, to the exactness of its format. Skipped where there is none."""
from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from board.ruleset import Rules
from mcts.params import SearchLimit, SearchParams
from mcts.tree import MCTSTree
from nn.inference import evaluator as evaluator_module
from nn.inference.batch_evaluator import load_batch_evaluator
from nn.inference.board_evaluator import BoardEvaluator
from nn.inference.cuda_call import CALL_SIZES
from nn.inference.cuda_evaluator import CudaEvaluator
from nn.inference.evaluator import evaluate_exactly
from nn.inference.loading import load_evaluator
from nn.inference.orientation import Orientation
from nn.inference.runtime import RUNTIME_VARIABLE
from nn.network.dual_net import DualNet
from nn.network.pooled_net import PooledConfig, PooledNet
from nn.network.weights import load_network, save_network
from nn.training.learn import SUPERVISED, TrainConfig, train
from nn.training.trainer import Trainer
from selfplay.batch import SelfPlay
from selfplay.game import GameRecord, draw_game
from selfplay.games import new_terms
from tests.mcts.trees import Game, check_tree, snapshot
from tests.nn.samples import write_data
from tests.reference.katago_model import PLAIN, POOLING, TinyNetwork

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")

SIZE = 7
TOLERANCE = 0.03  # of chances, leads in points and ownership: bfloat16 has three digits
KINDS = ["lecture", "res", "se", "gpool", "bottleneck", "swish", "mish", "no norm", "katago"]


@pytest.fixture(autouse=True)
def runtime_is_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(RUNTIME_VARIABLE)


def make_model(kind: str, path: Path) -> Path:
    """Write a network of a kind whose norms do something."""
    torch.manual_seed(3)
    if kind == "katago":
        path.write_bytes(TinyNetwork(15, "ACTIVATION_MISH", [PLAIN, POOLING, [PLAIN, POOLING]]).content(True))
        return path
    shapes: dict[str, dict[str, Any]] = {
        "swish": {"activation": "swish"}, "mish": {"activation": "mish"}, "no norm": {"norm": "none"}}
    shape = shapes.get(kind, {"block": kind})
    network = (DualNet(torch.device("cpu"), SIZE, 16, 2) if kind == "lecture"
               else PooledNet(PooledConfig(filters=16, blocks=2, **shape)))
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm2d) and module.running_mean is not None:
            assert module.running_var is not None
            module.running_mean.normal_(0.0, 0.3)
            module.running_var.uniform_(0.5, 2.0)
    save_network(network.eval(), path)
    return path


@pytest.fixture(scope="module", params=KINDS)
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(request.param, tmp_path_factory.mktemp("gpu") / "model.bin")


def planes_of(evaluator: BoardEvaluator | CudaEvaluator, count: int) -> np.ndarray:
    planes = evaluator.plane_set.planes
    return np.random.default_rng(count).integers(0, 2, (count, planes, SIZE, SIZE)).astype(np.float32)


def check_near(answers: tuple[np.ndarray, ...], expected: tuple[np.ndarray, ...]) -> None:
    """Compare chances of moves and results."""
    assert answers[0].dtype == answers[1].dtype == np.float32
    first, second = (np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
                     for logits in (answers[0], expected[0]))
    assert np.abs(first - second).max() < TOLERANCE
    for one, other in zip(answers[1:], expected[1:], strict=False):
        assert one.shape == other.shape and np.abs(one - other).max() < TOLERANCE * max(1.0, np.abs(other).max())


def test_every_kind_says_what_it_says_on_a_cpu(model: Path) -> None:
    """In calls that fill a graph, that fill part of one, and that are larger than any."""
    evaluator = load_evaluator(str(model), SIZE, use_gpu=True)
    assert "cuda" in evaluator.description and evaluator.on_gpu and evaluator.calls_at_once == 1
    for number in (1, 3, CALL_SIZES[-1], CALL_SIZES[-1] + 44, 2):
        planes = planes_of(evaluator, number)
        answers = evaluator.evaluate_plainly(planes)
        check_near(answers, evaluate_exactly(str(model), planes))
        again = evaluator.evaluate_plainly(planes)
        assert all(np.array_equal(one, other) for one, other in zip(answers, again, strict=True))


def test_the_batches_of_self_play(model: Path) -> None:
    """Both buffers are in flight at once, with counts that change, and a buffer is filled again after its answer."""
    batches, description = load_batch_evaluator(str(model), SIZE, True, 1, 24)
    assert isinstance(batches, CudaEvaluator) and "cuda" in description and batches.on_gpu
    for counts in ((24, 24), (1, 17), (24, 3)):
        planes = [planes_of(batches, number) for number in counts]
        for buffer in (0, 1):
            batches.planes[buffer][:counts[buffer]] = planes[buffer]
            batches.start(buffer, counts[buffer])
        for buffer in (1, 0):
            orientation = Orientation(SIZE, batches.plane_set.planes)
            turned, chosen = orientation.turn(planes[buffer])
            logits, values = evaluate_exactly(str(model), turned)
            check_near(batches.finish(buffer), (orientation.turn_back(logits, chosen), values))


def test_threads_do_not_get_each_others_answers(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluator_module, "LARGE_NETWORK", 1)
    evaluator = load_evaluator(str(model), SIZE, use_gpu=True)
    batches = [planes_of(evaluator, 1 + number % 20) for number in range(60)]
    expected = [evaluator.evaluate_plainly(planes) for planes in batches]
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(evaluator.evaluate_alone, batches * 4))
    for number, answers in enumerate(found):
        for one, other in zip(answers, expected[number % len(batches)], strict=True):
            assert np.array_equal(one, other)


@pytest.mark.parametrize("calls", [1, 2])
def test_a_search_is_the_same_each_time(model: Path, calls: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluator_module, "LARGE_NETWORK", 1 if calls == 2 else 1 << 22)
    evaluator, trees = load_evaluator(str(model), SIZE, use_gpu=True), []
    assert evaluator.calls_at_once == calls
    for _ in range(2):
        game, tree = Game(SIZE), MCTSTree(evaluator, SIZE, SearchParams(batch_size=32))
        assert tree.search(game.board, game.stone, SearchLimit(200, strict=True)).visits == 200
        check_tree(tree)
        trees.append(snapshot(tree.root))
    assert trees[0] == trees[1]


def test_an_ensemble_and_a_gpu_by_number(tmp_path: Path) -> None:
    path = make_model("res", tmp_path / "res.bin")
    single, both = load_evaluator(str(path), SIZE, gpus=(0,)), load_evaluator(f"{path},{path}", SIZE, gpus=(0,))
    planes = planes_of(single, 5)
    check_near(both(planes), single(planes))
    batches, _ = load_batch_evaluator(f"{path},{path}", SIZE, True, 1, 24)
    batches.planes[0][:5] = planes
    batches.start(0, 5)
    check_near(batches.finish(0), single(planes))


def test_self_play_to_the_end(model: Path) -> None:
    batches, _ = load_batch_evaluator(str(model), SIZE, True, 1, 64)
    numbers, records = count(1), list[GameRecord]()
    play = SelfPlay(batches, new_terms(SIZE, 16, Rules.of(7.0, True), 0.0), lambda: draw_game(next(numbers), (1,), 0.0))
    while len(records) < 5:
        records += play.step()
    assert all(record.moves for record in records) and len({record.number for record in records}) == len(records)


@pytest.fixture
def config(tmp_path: Path) -> TrainConfig:
    return TrainConfig(board_sizes=(5,), filters=16, blocks=2, batch_size=32, epochs=4, learning_rate=0.02,
                       use_gpu=True, data_dir=write_data(tmp_path / "data", [256]), output=tmp_path / "sl-model.bin")


def test_training_learns_as_on_a_cpu(config: TrainConfig) -> None:
    """The same first losses, to the exactness of the format; and both get better."""
    losses = []
    for use_gpu in (True, False):
        trainer = Trainer(replace(config, use_gpu=use_gpu), SUPERVISED)
        assert trainer.device.type == ("cuda" if use_gpu else "cpu")
        trainer.network.train()
        losses.append([trainer.step(*batch).item() for epoch in range(6)
                       for batch in trainer.data.training_batches(epoch)])
    assert np.allclose(losses[0][:4], losses[1][:4], atol=0.05), losses
    assert all(np.mean(run[-4:]) < np.mean(run[:4]) - 0.1 for run in losses)


@pytest.mark.parametrize("optimizer", ["sgd", "adamw", "nadam", "sam", "muon"])
def test_a_run_that_was_begun_on_a_gpu_goes_on_on_a_cpu(optimizer: str, config: TrainConfig) -> None:
    """And back; the file of the network is one for both."""
    config = replace(config, optimizer=optimizer, ema=0.9)
    train(config)
    weights = torch.load(config.output, weights_only=True)
    assert all(tensor.device.type == "cpu" for tensor in weights.values() if isinstance(tensor, torch.Tensor))
    for epochs, use_gpu in ((5, False), (6, True)):
        train(replace(config, epochs=epochs, use_gpu=use_gpu))
    load_network(config.output, 5)
