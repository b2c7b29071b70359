"""A wider network that begins by saying what a narrow one says, as in T. Chen et al., "Net2Net", ICLR 2016.

Added channels start at random, as in a new network, and nothing that was there before reads them yet: the weights from
added channels to old ones are 0. So every output stays as it was, while the weights that are 0 have gradients from the
first step on, which copies of channels, as in the paper, have only through noise.
"""

from dataclasses import replace

import torch
from torch import nn

from nn.network.pooled_net import GlobalPoolingBlock, PooledNet

# Layers that read a pooled board (mean, scaled mean and maximum of each channel), and those that write in two parts.
READ_POOLED = ("spread", "to_pass", "hidden")
POOL_PARTS = 3
WRITE_PAIRS = ("excite",)


def _places(old: list[int], new: list[int]) -> torch.Tensor:
    """Return where channels that lie in parts of the `old` sizes come to lie in parts of the `new` ones."""
    starts = [sum(new[:part]) for part in range(len(new))]
    return torch.cat([torch.arange(count) + start for count, start in zip(old, starts, strict=True)])


def _even(old: int, new: int, parts: int) -> torch.Tensor:
    """Return the places of channels that lie in so many parts of one size."""
    return _places([old // parts] * parts, [new // parts] * parts)


def _copy(old: nn.Module, new: nn.Module, rows: torch.Tensor, columns: torch.Tensor | None) -> None:
    """Put the tensors of a layer where its outputs (`rows`) and inputs (`columns`) are in the new one."""
    for name, values in old.state_dict().items():
        target = new.state_dict()[name]
        if values.dim() == 0:
            target.copy_(values)
        elif values.dim() == 1 or columns is None:
            target[rows] = values
        else:
            target[rows] = 0.0
            target[rows[:, None], columns] = values


@torch.no_grad()
def add_filters(network: PooledNet, filters: int) -> PooledNet:
    """Return a network with more filters and the same outputs; raises ValueError where it has more already."""
    if filters < network.config.filters:
        raise ValueError(f"it has {network.config.filters} filters, more than {filters}")
    wide = PooledNet(replace(network.config, filters=filters))
    modules = dict(wide.named_modules())
    for path, old in network.named_modules():
        if not isinstance(old, nn.Conv2d | nn.Linear | nn.BatchNorm2d):
            continue
        name, new = path.rpartition(".")[2], modules[path]
        count, wide_count = len(old.weight), len(modules[path].weight)  # type: ignore[arg-type]
        rows = _even(count, wide_count, 2 if name in WRITE_PAIRS else 1)
        block = network.get_submodule(path.rpartition(".first.")[0]) if ".first." in path else None
        if isinstance(block, GlobalPoolingBlock):
            pooled = filters // 4
            rows = _places([block.pooled, count - block.pooled], [pooled, wide_count - pooled])
        columns = None
        if not isinstance(old, nn.BatchNorm2d):
            columns = _even(old.weight.shape[1], new.weight.shape[1],  # type: ignore[union-attr, arg-type]
                            POOL_PARTS if name in READ_POOLED else 1)
        _copy(old, new, rows, columns)
    return wide
