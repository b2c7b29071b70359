"""Several networks judge together: as an ensemble, or one for the policy and one for the value."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from board.stone import Stone
from engine.loader import make_engine
from engine.options import KNOWING_LEAD_WEIGHT, KNOWING_TEMPERATURE, EngineOptions
from mcts.params import SearchLimit, SearchParams
from mcts.tree import MCTSTree
from nn.feature import BASIC, encode_board
from nn.inference.board_evaluator import BoardEvaluator, NetworkFacts
from nn.inference.joined import make_ensemble, pair
from nn.inference.loading import load_evaluator
from nn.inference.runtime import RUNTIME_VARIABLE
from nn.model_file import ModelFileError, find_sizes, find_specialist, split_models, tells_lead
from nn.network.dual_net import DualNet
from nn.network.pooled_net import PooledConfig, PooledNet
from nn.network.weights import load_network, save_network
from nn.plane_sets import KATAGO, find_plane_set
from nn.rich_feature import RICH
from tests.mcts.trees import Game
from tests.reference.katago_model import TinyNetwork

SIZE = 5


class MadeUp(BoardEvaluator):
    """All moves alike but the first, which has a chance of `chance`; the rest is one number."""

    def __init__(self, chance: float, number: float, tells_lead: bool = True, features: str = "basic") -> None:
        super().__init__(NetworkFacts(features, 3, (3, 5), tells_lead, 4, 2, (3,)), f"at {number}", 8, 1)
        self.chance, self.number, self.asked, self.prepared = chance, number, [0.0], False

    def prepare(self) -> None:
        self.prepared = True

    def _evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, ...]:
        self.asked.append(float(planes.mean()))
        chances = np.tile([self.chance, *[(1 - self.chance) / 9] * 9], (len(planes), 1))
        others = [np.full((len(planes), *shape), self.number) for shape in ((3,), (), (9,))]
        return np.log(chances) + 7.0, *others[: 3 if self.tells_lead else 1]


def softmax(logits: np.ndarray) -> np.ndarray:
    return np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)


def ways_to_ask(evaluator: BoardEvaluator) -> list[Callable[[np.ndarray], tuple[np.ndarray, ...]]]:
    return [evaluator, lambda planes: evaluator.start(planes).answer(), evaluator.average, evaluator.evaluate_plainly]


@pytest.mark.parametrize("tells", [(True, True), (True, False), (False, False)])
def test_an_ensemble_is_the_mean_of_chances(tells: tuple[bool, bool]) -> None:
    parts = MadeUp(0.5, 1.0, tells[0]), MadeUp(0.1, 3.0, tells[1])
    ensemble, planes = make_ensemble(parts), np.zeros((4, 6, 3, 3), dtype=np.float32)
    assert ensemble.tells_lead == any(tells) and ensemble.board_size == 3 and ensemble.plane_set == BASIC
    for ask in ways_to_ask(ensemble)[1::2]:  # the others turn the board: what is turned back has its own place
        policy, value, *others = ask(planes)
        assert np.allclose(np.sort(softmax(policy)[0])[-1], 0.3) and np.allclose(value, 2.0)
        assert len(others) == (2 if any(tells) else 0)
        assert all(np.allclose(one, 2.0 if all(tells) else 1.0) for one in others)
    ensemble.prepare()
    assert parts[0].prepared and parts[1].prepared


@pytest.mark.parametrize("tells_lead", [False, True])
def test_each_of_a_pair_tells_its_part(tells_lead: bool) -> None:
    policy, value = MadeUp(0.5, 10.0, not tells_lead), MadeUp(0.1, 20.0, tells_lead)
    both, planes = pair(policy, value), np.zeros((4, 6, 3, 3), dtype=np.float32)
    for ask in ways_to_ask(both):
        answer = ask(planes)
        assert len(answer) == (4 if tells_lead else 2) and all(len(one) == 4 for one in answer)
        assert np.isclose(softmax(answer[0])[0].max(), 0.5) or ask == both.average
        assert all(np.allclose(one, 20.0) for one in answer[1:])
    assert both.tells_lead == tells_lead


def test_each_sees_its_own_planes() -> None:
    board = Game.random(SIZE, 9, seed=4).board
    planes = [encode_board(board, Stone.BLACK, plane_set) for plane_set in (RICH, BASIC, KATAGO)]
    joint = find_plane_set("rich+basic+katago")
    assert (joint.planes, joint.looks_back, joint.knows_ko) == (60, 2, True)
    assert np.array_equal(encode_board(board, Stone.BLACK, joint), np.concatenate(planes))
    parts = [MadeUp(0.5, 1.0, features=name) for name in ("rich", "basic", "rich")]
    ensemble = make_ensemble(parts)
    assert ensemble.plane_set.name == "rich+basic"
    seen = np.concatenate([np.full((24, 3, 3), 1.0), np.full((6, 3, 3), 5.0)])[np.newaxis].astype(np.float32)
    ensemble.evaluate_plainly(seen)
    assert [part.asked[-1] for part in parts] == [1.0, 5.0, 1.0]


def test_an_ensemble_may_be_a_part() -> None:
    """Its planes are several sets: --model a.bin,b.bin --value-model c.bin."""
    parts = [MadeUp(0.5, 1.0, features=name) for name in ("basic", "rich", "katago")]
    both = pair(make_ensemble(parts[:2]), parts[2])
    assert both.plane_set.name == "basic+rich+katago"
    begins = np.cumsum([0, 6, 24, 30])
    both.evaluate_plainly(np.repeat(np.arange(3.0), np.diff(begins)).reshape(1, -1, 1, 1) * np.ones((1, 60, 3, 3)))
    assert [part.asked[-1] for part in parts] == [0.0, 1.0, 2.0]


def test_calls_are_filled_as_those_of_the_parts() -> None:
    parts = MadeUp(0.5, 1.0), MadeUp(0.1, 3.0)
    for part, full_call in zip(parts, (1, 3), strict=True):
        part.full_call, part.call_sizes = full_call, (2, 4)
    for together in (make_ensemble(parts), pair(*parts)):
        assert together.full_call == 3 and together.call_sizes == (2, 4)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with networks of three kinds."""
    folder = tmp_path_factory.mktemp("models")
    torch.manual_seed(3)
    save_network(DualNet(torch.device("cpu"), SIZE, 4, 1), folder / "five.bin")
    save_network(DualNet(torch.device("cpu"), 9, 4, 1), folder / "nine.bin")
    save_network(PooledNet(PooledConfig(filters=4, blocks=1)), folder / "pooled.bin")
    (folder / "katago.bin.gz").write_bytes(TinyNetwork(8).content(True))
    return folder


def test_files_of_several_kinds_search_together(files: Path) -> None:
    model = f"{files / 'pooled.bin'},{files / 'nine.bin'},{files / 'katago.bin.gz'}"
    assert find_sizes(model) == range(9, 10) and not tells_lead(model)
    assert tells_lead(f"{files / 'pooled.bin'},{files / 'katago.bin.gz'}")
    evaluator, game = load_evaluator(model, threads=1), Game(9)
    assert evaluator.board_size == 9 and evaluator.plane_set.name == "rich+basic+katago"
    singles = [load_evaluator(path, 9, threads=1) for path in split_models(model)]
    result = MCTSTree(evaluator, 9, SearchParams()).search(game.board, game.stone, SearchLimit(20, strict=True))
    assert result.visits == 20
    planes = encode_board(game.board, game.stone, evaluator.plane_set)[np.newaxis]
    begins, together = [0, 24, 30, 60], evaluator.evaluate_plainly(planes)
    alone = [one.evaluate_plainly(planes[:, begins[n]:begins[n + 1]]) for n, one in enumerate(singles)]
    assert np.allclose(together[1], np.mean([answer[1] for answer in alone], axis=0), atol=1e-5)
    assert np.allclose(softmax(together[0]), np.mean([softmax(answer[0]) for answer in alone], axis=0), atol=1e-5)


def test_a_value_network_may_see_other_planes(files: Path) -> None:
    options = EngineOptions(model=str(files / "five.bin"), value_model=str(files / "pooled.bin"), visits=4)
    engine = make_engine(options)
    assert engine.evaluator.plane_set.name == "basic+rich"  # type: ignore[attr-defined]
    assert engine.look(Stone.BLACK).total_visits == 4


@pytest.mark.parametrize("model, value_model, temperature, playouts, lead_weight", [
    ("five.bin", "pooled.bin", 2.0, 0, KNOWING_LEAD_WEIGHT), ("pooled.bin", "five.bin", KNOWING_TEMPERATURE, 16, 0.0),
])
def test_who_tells_the_values_says_whether_playouts_correct_them_and_leads_count(
    files: Path, model: str, value_model: str, temperature: float, playouts: int, lead_weight: float,
) -> None:
    options = EngineOptions(model=str(files / model), value_model=str(files / value_model)).for_model()
    params = options.search_params()
    assert (params.policy_temperature, params.selection.playouts) == (temperature, playouts)
    assert params.selection.lead_weight == lead_weight


def test_a_board_that_the_value_network_does_not_know_is_not_the_networks(files: Path) -> None:
    """It is left to playouts, as one that the policy network does not know."""
    options = EngineOptions(model=str(files / "pooled.bin"), value_model=str(files / "five.bin"))
    assert make_engine(options).sizes == range(5, 6)
    broken = files / "broken.bin"
    broken.write_bytes(b"nothing")
    with pytest.raises(ModelFileError, match="broken.bin: .*give another file with --value-model"):
        make_engine(replace(options, value_model=str(broken))).load()


def test_networks_without_a_board_in_common_are_refused(files: Path) -> None:
    with pytest.raises(ModelFileError, match="nine.bin: it plays 9, what stands before it 5; an ensemble needs"):
        load_evaluator(f"{files / 'pooled.bin'},{files / 'five.bin'},{files / 'nine.bin'}")
    with pytest.raises(ModelFileError, match="missing.bin: there is no such file"):
        load_evaluator(f"{files / 'pooled.bin'},{files / 'missing.bin'}", SIZE)


@pytest.mark.parametrize("runtime", ["kernels", "torch"])
def test_a_file_that_does_not_tell_its_size_is_held_to_the_others(
    runtime: str, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As torch wrote files before they were archives."""
    monkeypatch.setenv(RUNTIME_VARIABLE, runtime)
    old = tmp_path / "old.bin"
    torch.save(load_network(files / "nine.bin").state_dict(), old, _use_new_zipfile_serialization=False)
    assert find_sizes(old) is None and load_evaluator(f"{old},{files / 'pooled.bin'}", threads=1).board_size == 9
    with pytest.raises(ModelFileError, match="five.bin: it is for board size 5, not 9"):
        load_evaluator(f"{old},{files / 'five.bin'}", threads=1)
    with pytest.raises(ModelFileError, match="old.bin: it is for board size 9, not 5"):
        load_evaluator(f"{files / 'five.bin'},{old}", threads=1)


def test_a_file_with_a_comma_in_its_name_is_one(tmp_path: Path) -> None:
    (tmp_path / "a,b").touch()
    assert split_models(tmp_path / "a,b") == [str(tmp_path / "a,b")] and split_models("c,d") == ["c", "d"]
    many = [f"network-{number}.bin" for number in range(30)]  # more letters than a file's name may have
    assert split_models(",".join(many)) == many and find_specialist(",".join(many), 9) == ",".join(many)


def test_networks_that_judge_together_look_in_several_ways_and_pass_on_notes() -> None:
    parts = MadeUp(0.5, 1.0), MadeUp(0.1, 3.0)
    parts[1].note = "it has not learnt on this board"
    for together in (make_ensemble(parts, 2), pair(*parts, 2)):
        assert not together.turns.weight.any()
        assert together.note == parts[1].note


def test_files_of_an_ensemble_look_in_several_ways(files: Path) -> None:
    model = f"{files / 'pooled.bin'},{files / 'five.bin'}"
    assert load_evaluator(model, threads=1).turns.weight.any()
    assert not load_evaluator(model, threads=1, symmetries=2).turns.weight.any()
