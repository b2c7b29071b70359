"""What may be changed while the program runs, under KataGo's and Leela Zero's names."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from engine.levels import FULL_LEVEL
from engine.options import MAX_C_PUCT, MAX_TEMPERATURE, RESIGN_THRESHOLD, EngineOptions
from mcts.constant import CONST_VISITS, DEFAULT_LAG

BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
# KataGo writes "no limit of time" as a number like this, seconds.
NO_TIME_LIMIT = 1e20
MAX_VISITS = 1_000_000_000
# KataGo's wideRootNoise raises the priors of the root to the power of 1 / (1 + WIDENING * noise).
WIDENING = 4.0
MAX_WIDE_ROOT_NOISE = 5.0
# KataGo's utilities go from -1 to 1, win rates from 0 to 1: its cpuctExploration counts so much of ours.
CPUCT_SCALE = 2.0
MAX_CPUCT = CPUCT_SCALE * MAX_C_PUCT
MAX_BATCH_SIZE = 1024


@dataclass(frozen=True)
class Parameter:
    """One value that can be asked for and set.

    Attributes:
        kind: "bool" or "string", as GoGui shows it.
        get: text of the value in some options.
        read: options to change for a text; raises ValueError.
    """

    kind: str
    get: Callable[[EngineOptions], str]
    read: Callable[[str], dict[str, Any]]


def read_boolean(text: str) -> bool:
    """Return a truth value; raises ValueError."""
    if text.lower() not in BOOLEANS:
        raise ValueError(f"{text} is neither true nor false")
    return BOOLEANS[text.lower()]


def read_number(text: str, least: float, most: float) -> float:
    """Return a number in a range; raises ValueError."""
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"{text!r} is no number") from None
    if not least <= value <= most:
        raise ValueError(f"{text} is not in {least:g}..{most:g}")
    return value


def read_whole(text: str, least: int, most: int) -> int:
    """Return a whole number in a range; raises ValueError."""
    value = read_number(text, least, most)
    if value != int(value):
        raise ValueError(f"{text} is no whole number")
    return int(value)


def read_visits(text: str, least: int = 1) -> dict[str, Any]:
    """Return the options for a number of visits; 0, where it is taken, means the default."""
    return {"visits": read_whole(text, least, MAX_VISITS) or None, "strict_visits": None}


def read_seconds(text: str) -> dict[str, Any]:
    """Return the options for seconds per move."""
    seconds = read_number(text, 0.001, float("inf"))
    return {"const_time": None if seconds >= NO_TIME_LIMIT else seconds}


def widen_root(noise: float) -> float:
    """Return the temperature of the root for KataGo's wideRootNoise."""
    return 1.0 + WIDENING * noise


def read_noise(text: str) -> float:
    """Return the temperature of the root for a text with KataGo's wideRootNoise."""
    return widen_root(read_number(text, 0.0, MAX_WIDE_ROOT_NOISE))


def refuse_advantage(text: str) -> dict[str, Any]:
    """Take playoutDoublingAdvantage 0; raises ValueError for another one, saying why."""
    if float(text) != 0:
        raise ValueError("the network knows no difference in strength, only 0 can be played")
    return {}


def show_boolean(value: bool) -> str:
    """Return a truth value as text."""
    return "true" if value else "false"


# KataGo's resignThreshold counts a loss as -1 and a win as +1; its search threads are lines that are looked at at the
# same time, here the positions of one call of the network.
PARAMETERS = {
    "maxVisits": Parameter("string", lambda options: str(options.strict_visits or options.visits or CONST_VISITS),
                           read_visits),
    "maxTime": Parameter("string", lambda options: f"{options.const_time or NO_TIME_LIMIT:g}", read_seconds),
    "allowResignation": Parameter(
        "bool", lambda options: show_boolean(options.may_resign and options.resign_threshold > 0),
        lambda text: {"may_resign": read_boolean(text)}),
    "resignThreshold": Parameter(
        "string", lambda options: f"{2 * options.resign_threshold - 1:g}",
        lambda text: {"resign_threshold": round((read_number(text, -1.0, 1.0) + 1) / 2, 6)}),
    "chosenMoveTemperature": Parameter(
        "string", lambda options: f"{options.temperature:g}",
        lambda text: {"temperature": read_number(text, 0.0, MAX_TEMPERATURE)}),
    "ponderingEnabled": Parameter(
        "bool", lambda options: show_boolean(options.ponder), lambda text: {"ponder": read_boolean(text)}),
    "wideRootNoise": Parameter(
        "string", lambda options: f"{(options.root_temperature - 1) / WIDENING:g}",
        lambda text: {"root_temperature": read_noise(text)}),
    "analysisWideRootNoise": Parameter(
        "string", lambda options: f"{(options.analysis_root_temperature - 1) / WIDENING:g}",
        lambda text: {"analysis_root_temperature": read_noise(text)}),
    "cpuctExploration": Parameter(
        "string", lambda options: f"{CPUCT_SCALE * options.c_puct:g}",
        lambda text: {"c_puct": read_number(text, 0.0, MAX_CPUCT) / CPUCT_SCALE}),
    "numSearchThreads": Parameter(
        "string", lambda options: str(options.search_params().batch_size),
        lambda text: {"batch_size": read_whole(text, 1, MAX_BATCH_SIZE)}),
    "playoutDoublingAdvantage": Parameter("string", lambda _: "0", refuse_advantage),
    # Not KataGo's: how strong the player is (engine/levels.py).
    "level": Parameter(
        "string", lambda options: str(options.level),
        lambda text: {"level": read_whole(text, 1, FULL_LEVEL)}),
    "liveGfx": Parameter(
        "bool", lambda options: show_boolean(options.live_gfx), lambda text: {"live_gfx": read_boolean(text)}),
}

# By Leela Zero's name: how its description goes on after `option name NAME`, and how a value is read.
LZ_OPTIONS: dict[str, tuple[str, Callable[[str], dict[str, Any]]]] = {
    "Visits": (f"type spin default 0 min 0 max {MAX_VISITS}", lambda text: read_visits(text, 0)),
    "Playouts": (f"type spin default 0 min 0 max {MAX_VISITS}", lambda text: read_visits(text, 0)),
    "Lagbuffer": (f"type spin default {round(100 * DEFAULT_LAG)} min 0 max 3000",
                  lambda text: {"lag": read_number(text, 0.0, 3000.0) / 100}),
    "Resign Percentage": (f"type spin default {round(100 * RESIGN_THRESHOLD)} min 0 max 30",
                          lambda text: {"resign_threshold": read_number(text, 0.0, 30.0) / 100}),
    "Pondering": ("type check default false", lambda text: {"ponder": read_boolean(text)}),
}
