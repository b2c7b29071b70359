"""The shape of a pooled network: what stands in its model file and what the options of train.py choose from."""

from dataclasses import dataclass

BLOCK_NAMES = ("res", "se", "gpool", "bottleneck")
ACTIVATION_NAMES = ("relu", "swish", "mish")
NORMS = ("batch", "none")


@dataclass(frozen=True)
class PooledConfig:
    """The shape of a pooled network; it stands in its model file."""

    features: str = "rich"  # name of its plane set
    planes: int = 24  # how many these are
    filters: int = 64
    blocks: int = 6
    block: str = "gpool"
    activation: str = "relu"
    norm: str = "batch"
    trained_on: tuple[int, ...] = (9,)  # board sizes it has learnt; others are played as well as that carries
