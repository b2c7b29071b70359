"""What a run begins with: random weights, a model file, or the run before it."""

from dataclasses import asdict, replace
from typing import Any

import torch

from nn.model_file import ModelFileError
from nn.network.dual_net import DEFAULT_BLOCKS, DEFAULT_FILTERS, DualNet
from nn.network.growth import add_blocks, add_filters
from nn.network.katago import KataGoNet
from nn.network.kinds import make_pooled_net
from nn.network.pooled_net import PooledNet
from nn.network.weights import load_network
from nn.training.run_config import TrainConfig, TrainError


def make_first_network(config: TrainConfig) -> DualNet | PooledNet:
    """Return the network a new run begins with; raises TrainError for a start that cannot be used or fits not."""
    if not config.start:
        filters, blocks = config.filters or DEFAULT_FILTERS, config.blocks or DEFAULT_BLOCKS
        if config.is_lecture:
            return DualNet(torch.device("cpu"), config.board_size, filters, blocks)
        return make_pooled_net({**asdict(config), "filters": filters, "blocks": blocks,
                                "trained_on": config.board_sizes})
    try:
        network = load_network(config.start, config.board_size)
    except ModelFileError as error:
        raise TrainError(f"cannot start from {error.path}: {error.reason}; give another model with --start") from None
    if isinstance(network, KataGoNet):
        raise TrainError(f"cannot start from {config.start}: KataGo's networks play here but do not learn; "
                         "give another model with --start")
    if isinstance(network, PooledNet):
        network = _grow(network, config)
    wanted = {name: getattr(config, name) for name in network.shape}
    misfits = {name: value for name, value in network.shape.items() if wanted[name] not in (value, None)}
    if misfits:
        options = " ".join(f"--{name} {value}" for name, value in network.shape.items())
        raise TrainError(f"{config.start} has other {' and '.join(misfits)} than the options say: say {options}")
    if isinstance(network, PooledNet):
        sizes = {*network.config.trained_on, *config.board_sizes}
        network.config = replace(network.config, trained_on=tuple(sorted(sizes)))
    return network


def _grow(network: PooledNet, config: TrainConfig) -> PooledNet:
    """Return a network with the filters and blocks that a run asks for where those are more; raises TrainError."""
    if config.filters and config.filters > network.config.filters:
        network = add_filters(network, config.filters)
    if config.blocks and config.blocks > network.config.blocks:
        try:
            network = add_blocks(network, config.blocks)
        except ValueError as error:
            raise TrainError(f"{config.start} does not grow deeper: {error}; leave out --blocks") from None
    return network


def continue_from(config: TrainConfig, state: dict[str, Any] | None) -> TrainConfig:
    """Return the config of a run that goes on from generation to generation, with what it begins from filled in."""
    if state is not None:
        shape = state["identity"]
        return replace(config, start="", filters=config.filters or shape.get("filters"),
                       blocks=config.blocks or shape.get("blocks"))
    if not config.start and not config.restart and config.output.exists():
        return replace(config, start=str(config.output))
    return config
