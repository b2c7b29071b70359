"""Data files: reading, splitting, shuffling, symmetries."""

import tokenize
from pathlib import Path

import numpy as np
import pytest
import torch

from board.geometry import make_symmetry_index
from nn.classifier import ClassifierError, read_classifier
from nn.data.data_file import Blocks, write_arrays
from nn.data.dataset import (
    DataError,
    DataSet,
    Samples,
    find_data_files,
    load_batch,
    load_samples,
    open_files,
    split_samples,
    turn_batch,
)
from nn.data.labels import read_labels
from tests.nn.samples import make_arrays, write_data

CPU = torch.device("cpu")
TABLE = torch.from_numpy(make_symmetry_index(5))


def make_set(folder: Path, test_share: float = 0.2, batch_size: int = 8, seed: int = 0) -> DataSet:
    return DataSet(open_files(find_data_files(folder, "sl_data_*.npz"), test_share), 5, batch_size, seed)


@pytest.mark.parametrize(("total", "share", "train"), [
    (100, 0.2, 80), (100, 0.0, 100), (1, 0.5, 1), (2, 0.01, 1), (10, 0.999, 1), (0, 0.2, 0), (3, 0.2, 2),
])
def test_split(total: int, share: float, train: int) -> None:
    assert split_samples(total, share) == train


def test_one_file_gives_training_and_test_samples(tmp_path: Path) -> None:
    data = make_set(write_data(tmp_path, [50]))
    whole = load_samples(tmp_path / "sl_data_0.npz", 5)
    tests = np.concatenate([samples.win_rate for samples, _ in data.test_batches()])
    np.testing.assert_array_equal(tests, whole.win_rate[40:])
    trained = np.concatenate([samples.win_rate for samples, _ in data.training_batches(0)])
    assert sorted(trained) == sorted(whole.win_rate[:40])


def test_every_file_gives_its_last_samples_to_the_test(tmp_path: Path) -> None:
    data = make_set(write_data(tmp_path, [50, 20]))
    tests = np.concatenate([samples.win_rate for samples, _ in data.test_batches()])
    parts = [load_samples(tmp_path / f"sl_data_{k}.npz", 5).win_rate for k in (0, 1)]
    np.testing.assert_array_equal(tests, np.concatenate([parts[0][40:], parts[1][16:]]))


def test_epochs_are_shuffled_by_the_seed_alone(tmp_path: Path) -> None:
    folder = write_data(tmp_path, [40, 30])

    def order(seed: int, epoch: int) -> list[float]:
        return [rate for batch, _ in make_set(folder, seed=seed).training_batches(epoch) for rate in batch.win_rate]

    assert order(0, 0) == order(0, 0)
    assert len({tuple(order(0, 0)), tuple(order(0, 1)), tuple(order(1, 0))}) == 3


@pytest.mark.parametrize("skip", range(8))
def test_skipping_gives_the_rest_of_the_epoch(tmp_path: Path, skip: int) -> None:
    data = make_set(write_data(tmp_path, [40, 30]))
    whole, rest = list(data.training_batches(3)), list(data.training_batches(3, skip))
    assert len(whole) == data.batches_per_epoch == 7 and len(rest) == 7 - skip
    for (samples, symmetries), (other, other_symmetries) in zip(whole[skip:], rest, strict=True):
        np.testing.assert_array_equal(samples.planes, other.planes)
        np.testing.assert_array_equal(symmetries, other_symmetries)


def test_fewer_samples_than_a_batch_are_one_batch(tmp_path: Path) -> None:
    data = make_set(write_data(tmp_path, [5]), test_share=0.0)
    assert data.batches_per_epoch == 1 and data.test_count == 0
    assert [len(samples.value) for samples, _ in data.training_batches(0)] == [5]


def test_files_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    write_data(tmp_path, [2] * 11)
    assert [path.stem for path in find_data_files(tmp_path, "sl_data_*.npz")] == [f"sl_data_{k}" for k in range(11)]


def test_tamago_files_are_read(tmp_path: Path) -> None:
    arrays = make_arrays(9, 5)
    del arrays["win_rate"]
    np.savez_compressed(tmp_path / "sl_data_0.npz", **{
        **arrays, "input": arrays["input"].astype(np.float32), "policy": arrays["policy"].astype(np.int64),
    })
    samples = load_samples(tmp_path / "sl_data_0.npz", 5)
    assert samples.planes.dtype == np.int8 and samples.policy.dtype == np.uint8
    np.testing.assert_array_equal(samples.planes, arrays["input"])
    assert np.isnan(samples.win_rate).all()
    np.savez(tmp_path / "rl_data_0.npz", **{**arrays, "policy": arrays["policy"] / 2.0})
    assert load_samples(tmp_path / "rl_data_0.npz", 5).policy.max() == 0.5


def write_without_policy(path: Path) -> None:
    np.savez(path, input=np.zeros((1, 6, 5, 5)), value=np.zeros(1))


def write_bad_class(path: Path) -> None:
    np.savez(path, **{**make_arrays(2, 5), "value": np.array([0, 7])})


@pytest.mark.parametrize(("write", "reason"), [
    (lambda path: path.write_bytes(b"PK\x03\x04 no"), "cannot read"),
    (lambda path: path.write_bytes(b""), "cannot read"),
    (lambda path: np.save(path.open("wb"), np.zeros(3)), "cannot read"),
    (lambda path: np.savez(path, **make_arrays(2, 9)), "not for board size 5"),
    (write_without_policy, "no array 'policy'"),
    (write_bad_class, "value classes"),
])
def test_unusable_files_are_named(tmp_path: Path, write, reason: str) -> None:
    path = tmp_path / "sl_data_0.npz"
    write(path)
    with pytest.raises(DataError, match=reason) as caught:
        load_samples(path, 5)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_a_file_without_values_is_named(tmp_path: Path) -> None:
    np.savez(tmp_path / "sl_data_0.npz", input=np.zeros((1, 6, 5, 5)))
    with pytest.raises(DataError, match="sl_data_0.npz has no array 'value'"):
        open_files([tmp_path / "sl_data_0.npz"], 0.2)


@pytest.mark.parametrize("error", [SyntaxError("in a header"), tokenize.TokenError("EOF"), NotImplementedError("97")])
def test_what_numpy_stumbles_over_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    path = write_data(tmp_path, [5]) / "sl_data_0.npz"

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(np, "load", fail)
    with pytest.raises(DataError, match=r"sl_data_0.npz .*--kifu-dir"):
        load_samples(path, 5)
    with pytest.raises(DataError, match="make them anew"):
        read_labels(path)
    with pytest.raises(ClassifierError, match="it is damaged or no file of a classifier"):
        read_classifier(path)


def test_a_file_cut_off_is_named(tmp_path: Path) -> None:
    path = write_data(tmp_path, [50]) / "sl_data_0.npz"
    path.write_bytes(path.read_bytes()[:900])
    with pytest.raises(DataError, match="cannot read"):
        open_files([path], 0.2)


def test_no_file_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="--kifu-dir"):
        find_data_files(tmp_path, "sl_data_*.npz")


def test_planes_and_policy_are_turned_together() -> None:
    arrays = make_arrays(64, 5)
    planes = arrays["input"]
    policy = np.concatenate([planes[:, 3].reshape(64, 25), np.zeros((64, 1))], axis=1).astype(np.uint8)
    policy[:4] = np.eye(26, dtype=np.uint8)[25]
    ownership = planes[:, 1].reshape(64, 25) - planes[:, 2].reshape(64, 25)
    samples = Samples(planes, policy, arrays["value"].astype(np.int8), arrays["win_rate"], ownership,
                      np.zeros(64, dtype=np.float32), np.zeros(64, dtype=np.int16))
    symmetries = np.arange(64) % 8
    batch = turn_batch(load_batch(samples, symmetries), TABLE)
    turned = batch.policy[4:, :25].reshape(-1, 5, 5)
    assert torch.equal(turned, batch.planes[4:, 3])
    assert torch.equal(batch.ownership.view(-1, 5, 5), batch.planes[:, 1] - batch.planes[:, 2])
    assert torch.equal(batch.policy[:4, 25], torch.ones(4)) and batch.policy.sum() == 64
    assert not np.array_equal(batch.planes.numpy(), planes)
    for sample in range(64):
        variants = [np.rot90(part, k, axes=(1, 2)) for part in (planes[sample], planes[sample].transpose(0, 2, 1))
                    for k in range(4)]
        assert any(np.array_equal(batch.planes[sample].numpy(), variant) for variant in variants)
    identity = turn_batch(load_batch(samples, np.zeros(64, dtype=np.int64)), TABLE)
    np.testing.assert_array_equal(identity.planes.numpy(), planes)


def test_files_of_one_size_are_shuffled_in_different_ways(tmp_path: Path) -> None:
    folder = write_data(tmp_path, [24, 24])
    data = DataSet(open_files(find_data_files(folder, "sl_data_*.npz"), 0.0), 5, 24, 0)
    symmetries = [turned for _, turned in data.training_batches(0)]
    assert len(symmetries) == 2 and not np.array_equal(symmetries[0], symmetries[1])
    assert set(np.concatenate(symmetries)) == set(range(8))


def test_moves_turn_with_the_board_and_unknown_ones_stay_unknown(tmp_path: Path) -> None:
    samples = load_samples(write_data(tmp_path, [16]) / "sl_data_0.npz", 5)
    table, symmetries = torch.from_numpy(make_symmetry_index(5)), np.arange(16) % 8
    assert (turn_batch(load_batch(samples, symmetries), table).move == -1).all()
    played = samples._replace(move=samples.policy.argmax(axis=1).astype(np.int16))
    batch = turn_batch(load_batch(played, symmetries), table)
    assert torch.equal(batch.move, batch.policy.argmax(dim=1))


def test_a_file_that_changes_during_the_run_is_named(tmp_path: Path) -> None:
    data = DataSet(open_files(find_data_files(write_data(tmp_path, [20]), "sl_data_*.npz"), 0.2), 5, 8, 0)
    write_data(tmp_path, [30])
    with pytest.raises(DataError, match="sl_data_0.npz changed during training"):
        next(data.training_batches(0))


def test_a_file_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    def parts():
        yield np.zeros(1, dtype=np.int8)
        raise OSError("No space left on device")

    with pytest.raises(OSError, match="No space"):
        write_arrays(tmp_path / "sl_data_0.npz", {"value": Blocks((2,), np.int8, parts())})
    assert not list(tmp_path.iterdir())
