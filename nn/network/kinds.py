"""Which kinds of networks there are, and how one is made from its model file or from options.

A model file is a plain state_dict of the lecture's DualNet, or a dict that names its kind: {"kind", "config", "about",
"weights"}. A new kind is a file beside this one and a line in KINDS.
"""

from collections.abc import Callable
from dataclasses import asdict, fields, replace
from typing import Any

import torch
from torch import nn

from nn.constant import LEAST_FILTERS
from nn.network.pooled_config import NORMS, PooledConfig
from nn.network.pooled_net import ACTIVATIONS, BLOCKS, PooledNet
from nn.plane_sets import PLANE_SETS

MOST_FILTERS = 4096
MOST_BLOCKS = 256
# What weights may be, and the number of batches that a norm has seen.
NUMBERS = (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64)


def make_pooled_net(options: dict[str, Any]) -> PooledNet:
    """Return a pooled network with random weights; raises ValueError for options that do not exist."""
    names = {field.name for field in fields(PooledConfig)}
    config = PooledConfig(**{name: value for name, value in options.items() if name in names})
    sizes = config.trained_on if isinstance(config.trained_on, tuple | list) else (config.trained_on,)
    if not all(isinstance(size, int) for size in sizes):
        raise ValueError("it does not say the board sizes that it was trained on")
    for name, value, known in (("features", config.features, PLANE_SETS), ("block", config.block, BLOCKS),
                               ("activation", config.activation, ACTIVATIONS), ("norm", config.norm, NORMS)):
        if not isinstance(value, str) or value not in known:
            raise ValueError(f"it has an unknown {name} {str(value)[:40]!r} (known: {', '.join(known)})")
    for name, number, least, most in (("filters", config.filters, LEAST_FILTERS, MOST_FILTERS),
                                      ("blocks", config.blocks, 1, MOST_BLOCKS)):
        if not isinstance(number, int) or not least <= number <= most:
            raise ValueError(f"it has {str(number)[:40]} {name}, not {least} to {most}")
    return PooledNet(replace(config, planes=PLANE_SETS[config.features].planes, trained_on=tuple(sizes)))


# By the name of a kind: what makes one with random weights from its config, a dict; raises ValueError.
KINDS: dict[str, Callable[[dict[str, Any]], nn.Module]] = {PooledNet.kind: make_pooled_net}


def to_content(network: nn.Module, about: dict[str, str]) -> dict[str, Any]:
    """Return what is written to a model file; `about` tells where the network comes from (DualNet's file does not)."""
    # A fresh contiguous copy of each tensor: no device, memory format or shared storage leaks into the file.
    weights = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in network.state_dict().items()}
    if hasattr(network, "kind"):
        config: Any = network.config
        return {"kind": network.kind, "config": asdict(config), "about": about, "weights": weights}
    return weights


def split_content(content: Any) -> tuple[str | None, dict[str, Any], dict[str, torch.Tensor]]:
    """Return kind (None for a plain state_dict), config and weights; raises ValueError for anything else."""
    kind: str | None = None
    config: Any = {}
    weights = content
    if isinstance(content, dict) and "kind" in content:
        kind, config, weights = content["kind"], content.get("config"), content.get("weights")
        if not isinstance(kind, str) or kind not in KINDS:
            raise ValueError(f"it is of an unknown kind {str(kind)[:40]!r} (known: {', '.join(KINDS)})")
        if not isinstance(config, dict):
            raise ValueError("it does not say the shape of its network")
    if not isinstance(weights, dict) or not weights or not all(
        isinstance(name, str) and isinstance(tensor, torch.Tensor) for name, tensor in weights.items()
    ):
        raise ValueError("it holds no state_dict (names with tensors)")
    for name, tensor in weights.items():
        if tensor.dtype not in NUMBERS or tensor.layout != torch.strided or tensor.is_meta:
            raise ValueError(f"{name} is no plain tensor of real numbers")
        if tensor.nbytes > tensor.untyped_storage().nbytes():
            raise ValueError(f"{name} repeats its numbers")
        if not torch.isfinite(tensor).all():
            raise ValueError(f"{name} holds infinite or undefined numbers")
    return kind, config, weights
