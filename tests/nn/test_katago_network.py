"""KataGo's networks: tiny files of every kind against numpy, and files that are not what they say."""
from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
import torch

from board.go_board import GoBoard
from board.stone import Stone
from nn.feature import encode_board
from nn.inference import evaluator as inference
from nn.inference.loading import load_evaluator
from nn.model_file import ModelFileError
from nn.network.katago import VERSIONS, KataGoNet, mish
from nn.network.weights import load_network
from nn.plane_sets import KATAGO
from tests.reference.katago_model import PLAIN, POOLING, TinyNetwork, forward


def random_planes(size: int, count: int = 3) -> np.ndarray:
    """Return planes whose last eight are constant, as the encoder makes them."""
    rng = np.random.default_rng(size)
    planes = rng.integers(0, 2, (count, 30, size, size)).astype(np.float32)
    planes[:, 22:] = rng.standard_normal((count, 8, 1, 1))
    return planes


def assert_equals_numpy(network: TinyNetwork, binary: bool, size: int) -> None:
    """Assert that a file gives what numpy says of the network."""
    planes = random_planes(size)
    with torch.inference_mode():
        found = KataGoNet(network.content(binary)).eval()(torch.from_numpy(planes))
    for tensor, expected in zip(found, forward(network, planes), strict=True):
        assert tensor.dtype == torch.float32
        assert np.allclose(tensor.numpy(), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_in_both_formats(version: int) -> None:
    network = TinyNetwork(version, blocks=[PLAIN, POOLING])
    for binary in (True, False):
        assert_equals_numpy(network, binary, size=7)


@pytest.mark.parametrize(("version", "blocks"), [
    (8, [PLAIN]), (10, [POOLING, POOLING]), (15, [[PLAIN, POOLING], PLAIN, [[PLAIN], POOLING]]), (14, [[PLAIN, PLAIN]]),
])
@pytest.mark.parametrize("size", [7, 10, 19])
def test_blocks_on_boards(version: int, blocks: list, size: int) -> None:
    assert_equals_numpy(TinyNetwork(version, blocks=blocks, kernel=5, seed=size), True, size)


@pytest.mark.parametrize("activation", ["ACTIVATION_RELU", "ACTIVATION_MISH", "ACTIVATION_SILU", "ACTIVATION_IDENTITY"])
def test_activations(activation: str) -> None:
    assert_equals_numpy(TinyNetwork(12, activation, [PLAIN, POOLING, [PLAIN]]), True, 9)


def test_a_policy_with_more_outputs_than_are_used() -> None:
    assert_equals_numpy(TinyNetwork(17, policies=4), True, 9)


def replaced(old: bytes, new: bytes) -> bytes:
    """Return a file in which one word is another."""
    data = TinyNetwork(15, blocks=[PLAIN, [POOLING]]).plain_bytes(binary=True)
    assert old in data
    return gzip.compress(data.replace(old, new, 1))


@pytest.mark.parametrize(("content", "reason"), [
    (b"", "cut off"), (b"\x1f\x8b", "cut off"), (b"\x1f\x8bnonsense", "cannot be unpacked"),
    (gzip.compress(b"", mtime=0), "a word is missing"), (gzip.compress(b"model.bin", mtime=0), "a word is missing"),
    (gzip.compress(b"x" * 10_000, mtime=0), "a word is missing"), (gzip.compress(b"name seven", mtime=0), "'seven'"),
    (TinyNetwork(8).content(True)[:-400], "cut off"),
    (replaced(b"tiny\n15", b"tiny\n7"), "version is 7"), (replaced(b"tiny\n15", b"tiny\n18"), "version is 18"),
    (replaced(b"15\n22\n19", b"15\n22\n13"), "other inputs"),
    (replaced(b"0.25\n150.0\n0", b"0.25\n150.0\n1"), "imitates people"),
    (replaced(b"0.25\n150.0\n0\n0\n0", b"0.25\n150.0\n0\n0\n1"), "an option"),
    (replaced(b"17.0", b"nan"), "not positive"), (replaced(b"17.0", b"many"), "'many'"),
    (replaced(b"ordinary_block", b"transformer_attention_block"), "'transformer_attention_block'"),
    (replaced(b"ACTIVATION_RELU", b"ACTIVATION_TANH"), "ACTIVATION_TANH"),
    (replaced(b"3\n3\n22\n5\n1\n1", b"3\n3\n23\n5\n1\n1"), "23 and 5 channels, not 22 and 5"),
    (replaced(b"3\n3\n22\n5\n1\n1", b"3\n3\n22\n999999999\n1\n1"), "999999999"),
    (replaced(b"3\n3\n22\n5\n1\n1", b"4\n4\n22\n5\n1\n1"), "4x4"),
    (replaced(b"3\n3\n22\n5\n1\n1", b"3\n3\n22\n5\n2\n1"), "dilated"),
    (replaced(b"trunk\n2\n5", b"trunk\n2\n16000"), "16000"), (replaced(b"trunk\n2\n5", b"trunk\n0\n5"), "not in 1"),
    (replaced(b"trunk\n2\n5\n4\n4\n4\n4\n0", b"trunk\n2\n5\n4\n4\n4\n4\n1"), "an option"),
    (replaced(b"@BIN@", b"@TXT@"), "not where they should be"),
    (replaced(b"norm\n5\n0.001", b"norm\n5\n-0.001"), "not positive"),
])
def test_files_that_cannot_be_used_say_why(content: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        KataGoNet(content)


@pytest.mark.parametrize(("number", "reason"), [(1, "begin"), (2, "begin"), (3, "ends"), (4, "begin"), (5, "ends")])
def test_heads_of_other_sizes_are_refused(number: int, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    add, sizes = TinyNetwork.convolution, []

    def add_one_of_3x3(self: TinyNetwork, inputs: int, outputs: int, size: int = 3) -> None:
        sizes.append(size)
        add(self, inputs, outputs, 3 if size == 1 and sizes.count(1) == number else size)

    monkeypatch.setattr(TinyNetwork, "convolution", add_one_of_3x3)
    with pytest.raises(ValueError, match=reason):
        KataGoNet(TinyNetwork(8).content(True))
    assert sizes.count(1) == 5


def test_text_that_is_damaged() -> None:
    text = TinyNetwork(8).plain_bytes(binary=False)
    lines = text.split(b"\n")
    row = next(i for i, line in enumerate(lines) if line.count(b" ") == 4)
    for line, reason in ((b"one two three four five", "no numbers"), (lines[row] + b" nan", "does not have"),
                         (b" ".join([b"nan"] * 5), "infinite"), (b"", "does not have|no numbers|missing"),
                         (b"1 2 3 4 0." + b"5" * 200, "no numbers")):  # many so long would take all memory
        damaged = gzip.compress(b"\n".join([*lines[:row], line, *lines[row + 1:]]))
        with pytest.raises(ValueError, match=reason):
            KataGoNet(damaged)


def test_every_cut_of_a_file_is_noticed() -> None:
    for binary in (True, False):
        data = TinyNetwork(11, blocks=[PLAIN]).plain_bytes(binary)
        for end in range(0, len(data) - 4, len(data) // 60):
            with pytest.raises(ValueError, match="\\w"):
                KataGoNet(gzip.compress(data[:end], 0))


def test_a_file_that_unpacks_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nn.network.katago_file.MAX_BYTES", 1 << 20)
    with pytest.raises(ValueError, match="unpacks to more"):
        KataGoNet(gzip.compress(bytes(1 << 22)))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of a tiny network's file."""
    path = tmp_path / "tiny.bin.gz"
    path.write_bytes(TinyNetwork(15, "ACTIVATION_MISH", [PLAIN, POOLING, [PLAIN, POOLING]]).content(True))
    return path


def positions(size: int) -> np.ndarray:
    """Return the planes of a young game."""
    board, planes = GoBoard(size, komi=6.5), []
    for number, (x, y) in enumerate([(3, 3), (4, 3), (5, 5), (4, 4), (4, 5), (3, 4)]):
        board.put_stone(board.POS(x, y), Stone.BLACK if number % 2 == 0 else Stone.WHITE)
        planes.append(encode_board(board, board.get_to_move(), KATAGO))
    return np.stack(planes)


@pytest.mark.parametrize(("half", "tolerance"), [(None, 1e-3), (torch.bfloat16, 0.05)], ids=["float32", "bfloat16"])
def test_one_file_plays_many_sizes(
    path: Path, half: torch.dtype | None, tolerance: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inference, "choose_half_dtype", lambda _: half)  # what this machine is good at does not matter
    network = TinyNetwork(15, "ACTIVATION_MISH", [PLAIN, POOLING, [PLAIN, POOLING]])
    for size in (7, 9):
        evaluator = load_evaluator(path, size)
        assert evaluator.plane_set is KATAGO and evaluator.board_size == size
        planes = positions(size)
        for found, expected in zip(evaluator.evaluate_plainly(planes), forward(network, planes), strict=True):
            assert found.dtype == np.float32
            assert np.allclose(found, expected, atol=tolerance * max(1.0, np.abs(expected).max()))


def test_a_size_it_was_not_trained_on_is_refused(path: Path) -> None:
    with pytest.raises(ModelFileError, match="tiny.bin.gz: it is for board size 7 to 19, not 5; use --size 7 to 19"):
        load_network(path, 5)


def test_a_damaged_file_names_itself(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(ModelFileError, match="cannot use model .*tiny.bin.gz: it is cut off; give another file"):
        load_network(path)


def test_mish_is_that_of_torch() -> None:
    numbers = torch.linspace(-40, 40, 4001)
    assert torch.allclose(mish(numbers), torch.nn.functional.mish(numbers), atol=1e-5)
