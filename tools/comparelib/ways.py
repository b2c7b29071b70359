"""Ways to train: names for options of train.py, each a change of one base."""

from typing import NamedTuple

from tools.matchlib.command import split_words
from tools.matchlib.config import FOLDER_NAME

BASE_NAME = "base"
BASE = ("--head pooled --filters 32 --blocks 4 --batch-size 128 --schedule cosine --optimizer muon "
        "--learning-rate 0.02 --value-weight 1 --value-blend 0.9 --teacher-weight 0.8 --ema 0.99 --test-share 0.02")


class TrainWay(NamedTuple):
    """One way to train."""

    name: str
    options: str  # beside those of the base, which they override


# What the lecture teaches to choose from; learning rates are those that suit each optimizer.
WAYS = (
    TrainWay(BASE_NAME, ""),
    TrainWay("block-res", "--block res"), TrainWay("block-se", "--block se"),
    TrainWay("block-bottleneck", "--block bottleneck"),
    TrainWay("features-basic", "--features basic"),
    TrainWay("activation-swish", "--activation swish"), TrainWay("activation-mish", "--activation mish"),
    TrainWay("norm-none", "--norm none"),
    TrainWay("optimizer-sgd", "--optimizer sgd --learning-rate 0.05"),
    TrainWay("optimizer-adamw", "--optimizer adamw --learning-rate 0.002"),
    TrainWay("optimizer-nadam", "--optimizer nadam --learning-rate 0.002"),
    TrainWay("optimizer-sam", "--optimizer sam --learning-rate 0.05"),
    TrainWay("no-average", "--ema 0"), TrainWay("label-smoothing", "--label-smoothing 0.05"),
    TrainWay("no-ownership", "--ownership-weight 0"), TrainWay("no-lead", "--lead-weight 0"),
    TrainWay("no-teacher", "--teacher-weight 0"),
)


def read_way(text: str) -> TrainWay:
    """Return the way of a text NAME=OPTIONS; raises ValueError."""
    name, separator, options = text.partition("=")
    if not FOLDER_NAME.fullmatch(name) or not separator:
        raise ValueError(f"{text[:60]!r} is not NAME=OPTIONS (a name has letters, digits and ._+-)")
    check_options(f"--way {name}", options)
    return TrainWay(name, options.strip())


def check_options(name: str, options: str) -> None:
    """Raise ValueError for options that no shell would take apart: each way is trained for long before the next."""
    try:
        split_words(options)
    except ValueError as error:
        raise ValueError(f"{name}: {error}: {options}") from None


def choose_ways(names: str, own: list[TrainWay]) -> list[TrainWay]:
    """Return the base, the ways of these names (with commas; empty: all that are known) and own ones.

    Raises ValueError for an unknown name and for one that stands twice.
    """
    known = {way.name: way for way in WAYS}
    wanted = names.split(",") if names else [] if own else list(known)
    for name in wanted:
        if name not in known:
            raise ValueError(f"there is no way {name!r}: choose from {', '.join(known)}, or give --way NAME=OPTIONS")
    ways = [known[BASE_NAME], *(known[name] for name in wanted if name != BASE_NAME), *own]
    for way in ways:
        if [other.name for other in ways].count(way.name) > 1:
            raise ValueError(f"{way.name} is given twice")
    return ways
