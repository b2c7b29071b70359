"""Model files: what loads, what is refused and how."""

import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from common.atomic_file import write_atomically
from nn.device import get_torch_device
from nn.inference.loading import load_evaluator
from nn.model_file import ModelFileError
from nn.network.dual_net import DualNet
from nn.network.kinds import to_content
from nn.network.pooled_net import PooledConfig, PooledNet
from nn.network.weights import load_network, save_network

CPU = torch.device("cpu")


def weights(board_size: int = 5) -> dict[str, torch.Tensor]:
    return DualNet(CPU, board_size, 4, 1).state_dict()


def pooled(**config: Any) -> dict[str, Any]:
    """Return the content of a pooled network's file that says so of its shape."""
    content = to_content(PooledNet(PooledConfig(filters=4, blocks=1)), {})
    return content | {"config": content["config"] | config}


@pytest.mark.parametrize(("board_size", "filters", "blocks"), [(9, 64, 6), (5, 4, 1), (19, 3, 0), (2, 1, 2)])
def test_shape_is_read_from_the_file(tmp_path: Path, board_size: int, filters: int, blocks: int) -> None:
    network = DualNet(CPU, board_size, filters, blocks)
    save_network(network.to(memory_format=torch.channels_last), tmp_path / "model.bin")  # type: ignore[call-overload]
    loaded = load_network(tmp_path / "model.bin")
    assert (loaded.board_size, loaded.shape["filters"], loaded.shape["blocks"]) == (board_size, filters, blocks)
    assert not loaded.training
    for name, tensor in network.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], tensor)


def test_a_saved_model_is_a_plain_state_dict(tmp_path: Path) -> None:
    save_network(DualNet(CPU), tmp_path / "model.bin")
    content = torch.load(tmp_path / "model.bin", weights_only=True)
    assert list(content) == list(DualNet(CPU).state_dict())
    assert all(tensor.is_contiguous() and tensor.device == CPU for tensor in content.values())
    assert (tmp_path / "model.bin").stat().st_size < 1_950_000


class Payload:
    """Would run code when unpickled carelessly."""

    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, ("touch /tmp/hiyoko-was-here",)


def truncated(path: Path) -> None:
    torch.save(weights(), path)
    path.write_bytes(path.read_bytes()[:3000])


def not_finite(path: Path) -> None:
    broken = weights()
    broken["bn_layer.running_var"][1] = float("nan")
    torch.save(broken, path)


def pack(path: Path, **parts: bytes) -> None:
    """Write an archive as torch's are laid out, but packed."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in ({"version": b"3\n", "byteorder": b"little"} | parts).items():
            archive.writestr(f"archive/{name.replace('_', '.')}", content)


ONE = torch.zeros(1)
BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (lambda path: None, "no such file"),
    "folder": (lambda path: path.mkdir(), "directory"),
    "empty": (lambda path: path.write_bytes(b""), "damaged"),
    "truncated": (truncated, "damaged"),
    "text": (lambda path: path.write_text("GIT LFS pointer\n" * 9), "damaged"),
    "old pickle": (lambda path: path.write_bytes(pickle.dumps({"a": 1})), "damaged|no state_dict"),
    "tuples that crash": (lambda path: pack(path, data_pkl=b"\x80\x02})" + b"\x85" * 3_000_000 + b"K\x01s."),
                          "damaged"),
    "tuples that are hashed for ever": (lambda path: pack(path, data_pkl=b"\x80\x02}K\x01q\x00" + b"h\x00\x86q\x00" * 60
                                                          + b"K\x01s."), "damaged"),
    "a hole in its table of contents": (lambda path: pack(path, data_pkl=b"\x80\x02\x86."), "damaged"),
    "bomb": (lambda path: pack(path, data_pkl=pickle.dumps({}, 2), data0=bytes(2**27)), "damaged"),
    "code": (lambda path: torch.save(Payload(), path), "other objects"),
    "list": (lambda path: torch.save([1, 2], path), "no state_dict"),
    "empty dict": (lambda path: torch.save({}, path), "no state_dict"),
    "nested": (lambda path: torch.save({"state_dict": weights()}, path), "no state_dict"),
    "foreign": (lambda path: torch.save({"conv1.weight": torch.zeros(3)}, path), "no tensor conv_layer.weight"),
    "other stem": (lambda path: torch.save({**weights(), "conv_layer.weight": torch.zeros(4, 17, 3, 3)}, path),
                   "conv_layer.weight has shape"),
    "one missing": (lambda path: torch.save({k: v for k, v in weights().items() if k != "bn_layer.bias"}, path),
                    "no tensor bn_layer.bias"),
    "one more": (lambda path: torch.save({**weights(), "score.bias": torch.zeros(1)}, path),
                 "unknown tensor score.bias"),
    "other head": (lambda path: torch.save({**weights(), "value_head.fc_layer.bias": torch.zeros(1)}, path),
                   r"value_head.fc_layer.bias has shape \[1\], not \[3\]"),
    "odd policy": (lambda path: torch.save({**weights(), "policy_head.fc_layer.weight": torch.zeros(25, 50)}, path),
                   "fits no board size"),
    "blocks without end": (lambda path: torch.save({**weights(), **{f"blocks.{i}.a": ONE for i in range(5000)}}, path),
                           "it has 5000 blocks"),
    "not finite": (not_finite, "bn_layer.running_var holds infinite"),
    "sparse": (lambda path: torch.save({**weights(), "conv_layer.weight": torch.zeros(4, 6, 3, 3).to_sparse()}, path),
               "conv_layer.weight is no plain tensor"),
    "complex": (lambda path: torch.save({**weights(), "bn_layer.bias": torch.zeros(4, dtype=torch.complex64)}, path),
                "bn_layer.bias is no plain tensor"),
    "nowhere": (lambda path: torch.save({**weights(), "bn_layer.bias": torch.zeros(4, device="meta")}, path),
                "bn_layer.bias is no plain tensor"),
    "eight bits": (lambda path: torch.save({**weights(), "bn_layer.bias": torch.zeros(4).to(torch.float8_e5m2)}, path),
                   "bn_layer.bias is no plain tensor"),
    "endless": (lambda path: torch.save({**weights(), "bn_layer.bias": torch.zeros(1).expand(10**13)}, path),
                "bn_layer.bias repeats"),
    "list for a kind": (lambda path: torch.save(pooled() | {"kind": ["pooled"]}, path), "unknown kind"),
    "list for a name": (lambda path: torch.save(pooled(block=["res"]), path), "unknown block"),
    "small for its shape": (lambda path: torch.save(pooled(filters=4096, blocks=16), path),
                            r"stem.convolution.weight has shape \[4, 24, 3, 3\], not \[4096"),
    "other size": (lambda path: torch.save(weights(7), path), "board size 7, not 5"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_files_give_one_clear_line(tmp_path: Path, case: str) -> None:
    make, reason = BROKEN[case]
    path = tmp_path / "model.bin"
    make(path)
    with pytest.raises(ModelFileError, match=reason) as caught:
        load_evaluator(path, board_size=5)
    text = str(caught.value)
    assert "\n" not in text and str(path) in text and caught.value.advice in text
    assert not Path("/tmp/hiyoko-was-here").exists()


def test_torch_adds_no_warning_to_that_line(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    (tmp_path / "model.bin").write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(ModelFileError):
        load_evaluator(tmp_path / "model.bin", board_size=5)
    assert not recwarn.list


def test_flipped_bytes_are_noticed_or_change_nothing(tmp_path: Path) -> None:
    path = tmp_path / "model.bin"
    torch.save(weights(), path)
    content, expected = path.read_bytes(), load_network(path).state_dict()
    noticed = 0
    for place in range(0, len(content), 97):
        flipped = bytearray(content)
        flipped[place] ^= 0x10
        path.write_bytes(flipped)
        try:
            found = load_network(path, 5).state_dict()
        except ModelFileError:
            noticed += 1
        else:
            assert all(torch.equal(found[name], expected[name]) for name in expected), place
    assert noticed > 50


def test_none_is_random_but_always_the_same() -> None:
    before = torch.random.get_rng_state()
    first, second = load_network("none", 5), load_network("none", 5)
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))
    assert torch.equal(before, torch.random.get_rng_state())
    assert load_network("none").board_size == 9 and load_evaluator("none", 7).board_size == 7


def test_a_missing_gpu_is_said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert get_torch_device(True) == CPU and "CUDA" in capsys.readouterr().err
    assert get_torch_device(False) == CPU and capsys.readouterr().err == ""


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.bin"
    write_atomically(path, b"old")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["model.bin"]
