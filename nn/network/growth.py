"""A wider or deeper network that begins by saying what a smaller one says, as in T. Chen et al., "Net2Net", ICLR 2016.

Added channels start at random, as in a new network, and nothing that was there before reads them yet: the weights from
added channels to old ones are 0. So every output stays as it was, while the weights that are 0 have gradients from the
first step on, which copies of channels, as in the paper, have only through noise.

Added blocks come last. They hand on what they get: the scale of their last norm is 0 (P. Goyal et al., "Accurate, Large
Minibatch SGD", 2017, section 5.1), or that convolution's weights are, where it has no norm.
"""

from dataclasses import replace

import torch
from torch import nn

from nn.network.pooled_net import BottleneckBlock, GlobalPoolingBlock, PooledNet, SqueezeExciteBlock

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


def _silence(block: nn.Module) -> None:
    """Let a new block hand on what it gets, and learn from the first step on."""
    last = block.layers[-1] if isinstance(block, BottleneckBlock) else block.second
    tensors = list((last.convolution if isinstance(last.norm, nn.Identity) else last.norm).parameters())  # type: ignore[union-attr]
    if isinstance(block, SqueezeExciteBlock):
        tensors += block.excite.parameters()
    for weights in tensors:
        weights.zero_()


@torch.no_grad()
def add_blocks(network: PooledNet, blocks: int) -> PooledNet:
    """Return a network with more blocks and the same outputs.

    Raises ValueError where it has more already, and where what follows a block changes what it gets twice: then nothing
    can be handed on as it is.
    """
    if blocks < network.config.blocks:
        raise ValueError(f"it has {network.config.blocks} blocks, more than {blocks}")
    if blocks > network.config.blocks and network.config.activation != "relu":
        raise ValueError(f"blocks are added to networks of --activation relu; it has {network.config.activation}")
    deep = PooledNet(replace(network.config, blocks=blocks))
    deep.load_state_dict(network.state_dict(), strict=False)
    for block in list(deep.blocks)[network.config.blocks:]:
        _silence(block)
    return deep
