"""One network on several devices: a call for each at a time, the same answers. CPUs stand for GPUs here."""
from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch

from mcts.params import SearchLimit, SearchParams
from mcts.tree import MCTSTree
from nn import device
from nn.inference import evaluator as evaluator_module
from nn.inference.board_evaluator import BoardEvaluator, NetworkFacts
from nn.inference.evaluation_cache import CachedEvaluator
from nn.inference.evaluator import NetworkEvaluator, share_cores, share_devices
from nn.inference.joined import make_ensemble
from nn.inference.loading import load_evaluator
from nn.inference.shared import SharedEvaluator
from nn.network.pooled_net import PooledConfig, PooledNet
from nn.network.weights import load_network, save_network
from tests.mcts.trees import Game, check_tree, snapshot

SIZE = 5


class Device(BoardEvaluator):
    """Notes how many positions each call has, and waits until `go` is set."""

    def __init__(self, number: int) -> None:
        super().__init__(NetworkFacts("basic", SIZE, (SIZE, SIZE), False, 4, 2, (SIZE,)), "", 8, 1)
        self.number, self.calls, self.threads, self.go = number, [0], set[int](), threading.Event()

    def _evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, ...]:
        assert self.go.wait(60)
        self.calls.append(len(planes))
        self.threads.add(threading.get_ident())
        return np.zeros((len(planes), SIZE * SIZE + 1)), np.full((len(planes), 3), float(self.number))


def planes_of(count: int, planes: int = 6) -> np.ndarray:
    return np.random.default_rng(count).random((count, planes, SIZE, SIZE), dtype=np.float32)


def test_each_thread_that_asks_has_a_device_to_itself() -> None:
    devices, begun = [Device(number) for number in range(3)], list[int]()
    shared = SharedEvaluator(devices, begin=lambda: begun.append(threading.get_ident()))
    assert shared.calls_at_once == 3
    prepared = [shared.start(planes_of(count)) for count in (1, 2, 3)]
    with ThreadPoolExecutor(3) as pool:
        runs = [pool.submit(evaluation.calculate) for evaluation in prepared]
        for one in devices:
            one.go.set()
        for run in runs:
            run.result()
    answers = [evaluation.take() for evaluation in prepared]
    assert [len(answer[0]) for answer in answers] == [1, 2, 3]
    assert sorted(float(answer[1][0, 0]) for answer in answers) == [0.0, 1.0, 2.0], "none waits for another"
    assert set.union(*(one.threads for one in devices)) == set(begun), "they calculate in the threads that ask"


def test_a_device_may_have_several_calls() -> None:
    device = Device(0)
    shared, planes = SharedEvaluator([device], calls_each=2), planes_of(1)
    assert shared.calls_at_once == 2
    device.go.set()
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(shared.start(planes).answer) for _ in range(8)]
        assert all(len(run.result()[0]) == 1 for run in runs)
    assert device.calls == [0] + [1] * 8


def test_what_stands_for_several_tells_whether_they_are_on_gpus() -> None:
    first, second = Device(0), Device(1)
    for on_gpu in (False, True):
        first.on_gpu = on_gpu
        for one in (SharedEvaluator([first]), make_ensemble([second, SharedEvaluator([first])])):
            assert one.on_gpu is CachedEvaluator(one).on_gpu is on_gpu


@pytest.mark.parametrize(("count", "parts"), [(1, [1]), (2, [1, 1]), (7, [4, 3]), (20, [8, 8, 2, 2])])
def test_a_large_call_is_cut(count: int, parts: list[int]) -> None:
    devices = [Device(0), Device(1)]
    for one in devices:
        one.go.set()
    assert len(SharedEvaluator(devices)(planes_of(count))[0]) == count
    assert sorted(devices[0].calls[1:] + devices[1].calls[1:]) == sorted(parts)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.manual_seed(5)
    path = tmp_path_factory.mktemp("model") / "pooled.bin"
    save_network(PooledNet(PooledConfig(filters=4, blocks=1)), path)
    return path


def check_same(found: BoardEvaluator, model: Path) -> None:
    """Compare with the network on one device, in calls of several sizes and in a search."""
    single = NetworkEvaluator(load_network(model), board_size=SIZE)
    for count in (1, 2, 9):
        for answers in (found(planes_of(count, 24)), found.start(planes_of(count, 24)).answer()):
            expected = single(planes_of(count, 24))
            chances, same = (np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
                             for logits in (answers[0], expected[0]))
            for one, other in ((chances, same), *zip(answers[1:], expected[1:], strict=True)):
                assert np.allclose(one, other, atol=1e-5)
    trees = []
    for _ in range(2):
        game, tree = Game(SIZE), MCTSTree(found, SIZE, SearchParams(batch_size=8))
        tree.search(game.board, game.stone, SearchLimit(60, strict=True))
        check_tree(tree)
        trees.append(snapshot(tree.root))
    assert trees[0] == trees[1], "the devices take turns, so that a search stays the same"


def test_two_devices_and_two_cores_answer_as_one(model: Path) -> None:
    before = torch.get_num_threads()
    check_same(share_devices(load_network(model), SIZE, 1, [torch.device("cpu")] * 2), model)
    cores = share_cores(load_network(model), SIZE, 1, 2)
    assert cores.calls_at_once == 2 and torch.get_num_threads() == before
    check_same(cores, model)


@pytest.mark.parametrize(("kind", "gpus", "calls"), [
    ("one model", (0, 1), 2), ("one model", (1,), 1), ("two models", (0, 1), 1), ("two models", (0,), 1),
    ("two models", (0, 1, 2, 3), 2),
])
@pytest.mark.parametrize("is_large", [False, True], ids=["small", "large"])
def test_gpus_share_one_model_and_several_are_dealt_out(model: Path, kind: str, gpus: tuple[int, ...], calls: int,
                                                        is_large: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has a call of a small network at a time, and two of a large one."""
    asked: list[tuple[int, ...]] = []

    def fake(numbers: tuple[int, ...]) -> list[torch.device]:
        asked.append(tuple(numbers))
        return [torch.device("cpu")] * len(numbers)

    monkeypatch.setattr(evaluator_module, "get_gpus", fake)
    monkeypatch.setattr(evaluator_module, "LARGE_NETWORK", 1 if is_large else 1 << 22)
    name = str(model) if kind == "one model" else f"{model},{model}"
    evaluator = load_evaluator(name, SIZE, use_gpu=True, gpus=gpus)
    assert evaluator.calls_at_once == (2 * calls if is_large else calls)
    assert asked == ([gpus] if kind == "one model" else [gpus[:1]] * 2 if len(gpus) == 1 else [gpus[::2], gpus[1::2]])
    check_same(evaluator, model)


def test_threads_are_calls_at_a_time(model: Path) -> None:
    for threads in (1, 3):
        assert load_evaluator(model, SIZE, threads=threads).calls_at_once == threads


@pytest.mark.parametrize(("there", "known"), [(0, "no CUDA device"), (1, "one CUDA device, 0"), (2, "0 to 1")])
def test_a_gpu_that_is_missing_is_named(there: int, known: str) -> None:
    reason = device.find_missing((0, 2), there)
    assert reason.startswith(f"--gpus {2 if there else 0}: torch finds") and known in reason
    assert not device.find_missing((0,), 1) and not device.find_missing((), 0)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_a_gpu_where_there_is_none(model: Path) -> None:
    with pytest.raises(ValueError, match="--gpus 0: torch finds no CUDA device"):
        load_evaluator(model, SIZE, use_gpu=True, gpus=(0,))
