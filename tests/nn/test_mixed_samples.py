"""Games on boards of several sizes in one run: which batches come, and a network that learns from all of them."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from nn.data.data_file import DataError
from nn.data.data_generator import generate_game_data
from nn.data.labels import pack_policies, read_labels
from nn.data.mixed_samples import MixedSamples, open_game_samples
from nn.inference.evaluator import NetworkEvaluator
from nn.network.weights import load_network
from nn.plane_sets import RICH
from nn.training.learn import SUPERVISED, TrainConfig, train
from nn.training.trainer import Trainer
from tests.files import write_files

SIZES = (3, 5)
GAMES = {  # more moves on the larger board
    "a.sgf": "(;SZ[5]KM[2.5]RE[B+7.5];B[cc];W[cd];B[dd];W[bc];B[ee];W[bb];B[dc];W[ce])",
    "b.sgf": "(;SZ[3]KM[0.5]RE[W+9.5];B[bb];W[cc];B[ab];W[ba])",
    "c.sgf": "(;SZ[5]KM[2.5]RE[0];B[bb];W[cb];B[ba];W[ca];B[cc])",
    "d.sgf": "(;SZ[4]KM[2.5]RE[0];B[bb])",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Games on boards of three sizes as data of two, those of 5x5 with labels."""
    write_files(tmp_path / "games", GAMES)
    policy = np.full((8, 26), 1.0 / 26)
    count, index, value = pack_policies(policy)
    np.savez(tmp_path / "labels.npz", names=np.array(["a.sgf"]), offset=np.array([0, 8]), policy_count=count,
             policy_index=index, policy_value=value, win_rate=np.full(8, 0.25, np.float16),
             lead=np.zeros(8, np.float16), ownership=np.zeros((8, 25), np.uint8))
    generate_game_data(tmp_path / "games", [tmp_path / "labels.npz"], SIZES, 1, tmp_path)
    return tmp_path


def test_labels_do_not_choose_between_two_games_of_one_name(folder: Path) -> None:
    """Where there are no labels, games may be called alike."""
    write_files(folder / "more", {name: GAMES[name] for name in ("a.sgf", "d.sgf")})
    both = [folder / "games", folder / "more"]
    generate_game_data(both, [], SIZES, 1, folder)
    assert open_data(folder).train_count == 25
    with pytest.raises(DataError, match=r"games.a\.sgf and .*more.a\.sgf have the same name"):
        generate_game_data(both, [folder / "labels.npz"], SIZES, 1, folder)
    assert open_data(folder).train_count == 25


def open_data(folder: Path, test_share: float = 0.0) -> MixedSamples:
    data = open_game_samples(sorted(folder.glob("games_*.npz")), RICH, SIZES, 3, 1, test_share, 1.0)
    assert isinstance(data, MixedSamples)
    return data


def test_every_game_of_a_wanted_size_is_used_and_others_are_named(folder: Path,
                                                                  capsys: pytest.CaptureFixture[str]) -> None:
    generate_game_data(folder / "games", [], SIZES, 1, folder)
    assert "d.sgf: board size 4, wanted 3 or 5 (skipped)" in capsys.readouterr().err
    assert open_data(folder).train_count == 17


def test_a_batch_is_of_one_size_and_all_batches_cost_alike(folder: Path) -> None:
    data = open_data(folder)
    batches = [samples for samples, _ in data.training_batches(0)]
    seen = Counter((samples.planes.shape[-1], len(samples.value)) for samples in batches)
    assert seen == {(3, 3): 1, (5, 1): 13} and data.batches_per_epoch == 14
    assert all(samples.policy.shape[1] == samples.planes.shape[-1] ** 2 + 1 for samples in batches)


def test_an_epoch_resumes_in_the_middle(folder: Path) -> None:
    data = open_data(folder)
    whole, rest = (list(data.training_batches(2, skip)) for skip in (0, 6))
    assert len(whole) == len(rest) + 6
    for (one, turned), (other, again) in zip(whole[6:], rest, strict=True):
        assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(one, other, strict=True))
        assert np.array_equal(turned, again)


def test_a_batch_needs_no_more_room_than_there_are_samples(folder: Path) -> None:
    data = open_game_samples(sorted(folder.glob("games_*.npz")), RICH, SIZES, 10**12, 1, 0.0, 1.0)
    assert [len(samples.value) for samples, _ in data.training_batches(0)] in ([4, 13], [13, 4])


def test_a_model_tells_where_its_data_lay(folder: Path) -> None:
    config = TrainConfig(board_sizes=SIZES, features=RICH.name, head="pooled", filters=8, blocks=1, use_gpu=False,
                         data_dir=folder)
    assert Trainer(config, SUPERVISED).about()["data"] == str(folder)


def test_the_last_games_of_each_size_are_for_testing(folder: Path) -> None:
    sizes = [samples.planes.shape[-1] for samples, _ in open_data(folder, 0.4).test_batches()]
    assert sizes == sorted(sizes) and sizes.count(5) == 5  # game c; the only one of 3x3 is learnt from


def test_data_of_a_size_not_asked_for_are_refused(folder: Path) -> None:
    with pytest.raises(DataError, match="is for board size 5, not 3 or 7: give the right --size"):
        open_game_samples(sorted(folder.glob("games_*.npz")), RICH, (3, 7), 3, 1, 0.0, 1.0)


def test_labels_out_of_order_are_refused(folder: Path) -> None:
    labels = dict(np.load(folder / "labels.npz"))
    for offset in ([0, 500, 8], [-3, 5, 8]):
        np.savez(folder / "labels.npz", **{**labels, "names": np.array(["a.sgf", "b.sgf"]), "offset": offset})
        with pytest.raises(DataError, match="does not fit together"):
            read_labels(folder / "labels.npz", 5)


def test_labels_of_large_boards_count_beyond_255(tmp_path: Path) -> None:
    """A policy that is flat over 19x19 has 362 entries; one byte for their number lost them."""
    count, index, value = pack_policies(np.full((2, 362), 1.0 / 362))
    assert list(count) == [362, 362]
    np.savez(tmp_path / "labels.npz", names=np.array(["x.sgf"]), offset=np.array([0, 2]), policy_count=count,
             policy_index=index, policy_value=value, win_rate=np.zeros(2, np.float16), lead=np.zeros(2, np.float16),
             ownership=np.zeros((2, 361), np.uint8))
    assert read_labels(tmp_path / "labels.npz").board_size == 19


@pytest.mark.slow
def test_one_network_learns_all_sizes_and_says_so(folder: Path) -> None:
    config = TrainConfig(board_sizes=SIZES, features=RICH.name, head="pooled", block="gpool", filters=8, blocks=2,
                         batch_size=3, epochs=1, value_weight=1.0, ownership_weight=1.0, lead_weight=0.1,
                         test_share=0.4, schedule="constant", use_gpu=False, data_dir=folder, output=folder / "x.bin")
    assert train(config) == ""
    notes = [NetworkEvaluator(load_network(config.output, size), board_size=size).note for size in (3, 4, 5)]
    assert notes[0] == notes[2] == "" and "learnt on 3x3 and 5x5 only" in notes[1]
    further = TrainConfig(**{**config.__dict__, "board_sizes": (5,), "start": str(config.output),
                             "data_dir": folder / "more", "output": folder / "y.bin"})
    (folder / "more").mkdir()
    generate_game_data(folder / "games", [], [5], 1, folder / "more")
    assert train(further) == ""
    assert not NetworkEvaluator(load_network(further.output, 3), board_size=3).note  # what it has learnt it keeps
