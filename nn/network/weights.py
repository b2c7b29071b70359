"""Weights on disk.

The lecture's network is a plain state_dict with TamaGo's key names: filters, blocks and board size are read from its
tensors. Files of other kinds (nn/network/kinds.py) say what they hold. KataGo's files are gzip files.
"""

import io
import math
import pickle
import warnings
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch

from common.atomic_file import write_atomically
from nn.constant import INPUT_PLANES
from nn.device import get_torch_device
from nn.model_file import (
    DAMAGED,
    GZIP_MAGIC,
    RANDOM_MODEL,
    ModelFile,
    ModelFileError,
    describe_sizes,
    read_model_file,
    read_pickle,
)
from nn.network.dual_net import POLICY_CHANNELS, DualNet
from nn.network.katago import KataGoNet
from nn.network.kinds import KINDS, MOST_BLOCKS, split_content, to_content
from nn.network.pooled_net import PooledNet

RANDOM_MODEL_SEED = 0
# How many times as large as a file, and how many bytes more, what it holds may be: torch packs nothing.
MOST_PACKING, ROOM = 4, 64 * 2**20

Network = DualNet | PooledNet | KataGoNet


class NetworkShape(NamedTuple):
    """The numbers a state_dict was made with."""

    filters: int
    blocks: int
    board_size: int


def save_atomically(content: Any, path: str | Path) -> None:
    """Write what torch.load can read, all or nothing; raises OSError."""
    buffer = io.BytesIO()
    torch.save(content, buffer)
    write_atomically(path, buffer.getvalue())


def save_network(network: torch.nn.Module, path: str | Path, about: dict[str, str] | None = None) -> None:
    """Write the weights as a model file, all or nothing; raises OSError.

    `about` says where they come from, in files of kinds that have room for it.
    """
    save_atomically(to_content(network, about or {}), path)


@torch.no_grad()
def mix_networks(network: Network, other: Network, share: float) -> Network:
    """Return a network, moved by `share` (0..1) of the way to another one; raises ValueError for another shape."""
    own, added = network.state_dict(), other.state_dict()
    if type(network) is not type(other) or network.shape != other.shape or any(
            name not in added or values.shape != added[name].shape for name, values in own.items()):
        raise ValueError("networks of different shapes")
    for name, values in own.items():
        if values.is_floating_point():
            values.lerp_(added[name], share)
    return network


def load_saved(content: bytes, device: torch.device | str) -> Any:
    """Return what save_atomically wrote, without running code from it; raises many types for damaged content.

    torch itself does not look at the checksums of the archive, so it reads a copy of what has passed them.
    """
    checked = io.BytesIO(content)
    if zipfile.is_zipfile(checked):
        with zipfile.ZipFile(io.BytesIO(content)) as archive, zipfile.ZipFile(checked := io.BytesIO(), "w") as copy:
            if sum(info.file_size for info in archive.infolist()) > MOST_PACKING * len(content) + ROOM:
                raise ValueError("its parts are far larger than the file")
            for name in dict.fromkeys(archive.namelist()):
                copy.writestr(name, read_pickle(archive, name) if name.endswith(".pkl") else archive.read(name))
    checked.seek(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pickles that torch may not understand: if so, that is told
        return torch.load(checked, map_location=device, weights_only=True)


def read_bytes(path: str | Path | ModelFile) -> bytes:
    """Return what a model file holds, whatever it is; raises ModelFileError."""
    try:
        return (path if isinstance(path, ModelFile) else read_model_file(path)).content
    except FileNotFoundError:
        raise ModelFileError(path, "there is no such file") from None
    except OSError as error:
        raise ModelFileError(path, error.strerror or type(error).__name__) from None


def parse_content(
    path: str | Path | ModelFile, data: bytes
) -> tuple[str | None, dict[str, Any], dict[str, torch.Tensor]]:
    """Return kind (None: DualNet), config and finite tensors of a model file; raises ModelFileError for all else."""
    try:
        content = load_saved(data, "cpu")
    except pickle.UnpicklingError as error:
        refused = "global" in str(error).rpartition("WeightsUnpickler error")[2].lower()
        reason = "it holds other objects than weights" if refused else DAMAGED
        raise ModelFileError(path, reason) from None
    except Exception:  # torch raises many types for a damaged archive
        raise ModelFileError(path, DAMAGED) from None
    try:
        return split_content(content)
    except ValueError as error:
        raise ModelFileError(path, str(error)) from None


def infer_shape(weights: dict[str, torch.Tensor]) -> NetworkShape:
    """Return the shape of a DualNet's state_dict; raises ValueError naming what does not fit."""
    try:
        stem, policy = weights["conv_layer.weight"], weights["policy_head.fc_layer.weight"]
    except KeyError as error:
        raise ValueError(f"it has no tensor {error.args[0]}, so it is not of a DualNet") from None
    if stem.ndim != 4 or stem.shape[1:] != (INPUT_PLANES, 3, 3) or policy.ndim != 2:
        raise ValueError(f"conv_layer.weight has shape {tuple(stem.shape)}, not [filters, {INPUT_PLANES}, 3, 3]")
    board_size = math.isqrt(max(0, policy.shape[0] - 1))
    if policy.shape != (board_size ** 2 + 1, POLICY_CHANNELS * board_size ** 2):
        raise ValueError(f"policy_head.fc_layer.weight has shape {tuple(policy.shape)}, which fits no board size")
    numbers = {name.split(".")[1] for name in weights if name.startswith("blocks.")}
    if len(numbers) > MOST_BLOCKS:  # to make so many takes minutes
        raise ValueError(f"it has {len(numbers)} blocks, not up to {MOST_BLOCKS}")
    return NetworkShape(stem.shape[0], len(numbers), board_size)


def load_network(
    path: str | Path | ModelFile, board_size: int | None = None, use_gpu: bool = False
) -> DualNet | PooledNet | KataGoNet:
    """Return the network of a model file in evaluation mode, on the device.

    Args:
        path: model file (or one that has been read), or "none" for random (seeded) weights.
        board_size: size that is needed; None takes the file's.
        use_gpu: whether to use the first CUDA device.

    Raises:
        ModelFileError: whatever is wrong with the file, or another board size is needed.
    """
    device = get_torch_device(use_gpu)
    if str(path) == RANDOM_MODEL:
        return make_random_network(board_size, device)
    data = read_bytes(path)
    try:
        network = KataGoNet(data) if data.startswith(GZIP_MAGIC) else _load_own(path, data, device)
    except ValueError as error:
        raise ModelFileError(path, str(error)) from None
    if board_size is not None and board_size not in network.sizes:
        sizes = describe_sizes(network.sizes)
        raise ModelFileError(path, f"it is for board size {sizes}, not {board_size}",
                             f"use --size {sizes}, or a model of size {board_size}")
    return network.to(device).eval()


def _load_own(path: str | Path | ModelFile, data: bytes, device: torch.device) -> DualNet | PooledNet:
    """Return the network of a file that train.py or TamaGo wrote; raises ValueError or ModelFileError."""
    kind, config, weights = parse_content(path, data)
    if kind:
        make: Callable[[], Any] = partial(KINDS[kind], config)
    else:
        shape = infer_shape(weights)
        make = partial(DualNet, device, shape.board_size, shape.filters, shape.blocks)
    with torch.device("meta"):  # without memory: a small file may say that it is a huge network
        misfit = find_misfit(make().state_dict(), weights)
    if misfit:
        raise ValueError(misfit)
    network = make()
    network.load_state_dict(weights)
    return network  # type: ignore[no-any-return]


def find_misfit(expected: dict[str, torch.Tensor], found: dict[str, torch.Tensor]) -> str:
    """Return the first name or shape in which two state_dicts differ, as a reason; empty if there is none."""
    for name in expected:
        if name not in found:
            return f"it has no tensor {name}"
        if found[name].shape != expected[name].shape:
            return f"{name} has shape {list(found[name].shape)}, not {list(expected[name].shape)}"
    for name in found:
        if name not in expected:
            return f"it has an unknown tensor {name}"
    return ""


def make_random_network(board_size: int | None, device: torch.device) -> DualNet:
    """Return a network of the default shape with weights from a fixed seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(RANDOM_MODEL_SEED)
        network = DualNet(device) if board_size is None else DualNet(device, board_size)
    return network.to(device).eval()
