"""What a study varies: places {name} in a command line, and what may stand there."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

NAME = re.compile(r"[A-Za-z_]\w*")
PLACE = re.compile(r"\{([A-Za-z_]\w*)\}")


@dataclass(frozen=True)
class Tunable:
    """One thing that varies: a number of a range, or one of several words."""

    name: str
    low: float = 0.0
    high: float = 0.0
    is_whole: bool = False
    is_log: bool = False  # numbers are drawn evenly by their logarithms
    words: tuple[str, ...] = ()

    def suggest(self, trial: Any) -> str:
        """Return what an Optuna trial proposes, as text for a command line."""
        if self.words:
            return str(trial.suggest_categorical(self.name, list(self.words)))
        if self.is_whole:
            return str(trial.suggest_int(self.name, int(self.low), int(self.high), log=self.is_log))
        return show(trial.suggest_float(self.name, self.low, self.high, log=self.is_log))

    def describe(self) -> str:
        """Return it as the command line gave it, for the study's file."""
        if self.words:
            return f"{self.name}:{','.join(self.words)}"
        kind = ":whole" if self.is_whole else ""
        low, high = map(write_exactly, (self.low, self.high))
        return f"{self.name}:{low}:{high}{':log' if self.is_log else ''}{kind}"


def write_exactly(number: float) -> str:
    """Return a number with as few digits as tell it from all others."""
    short = f"{number:g}"
    return short if float(short) == number else repr(number).removesuffix(".0")


def show(value: Any) -> str:
    """Return a proposed value as text."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def read_range(text: str, is_whole: bool) -> Tunable:
    """Return the numbers of a text NAME:LOW:HIGH or NAME:LOW:HIGH:log; raises ValueError, naming what is wrong."""
    name, *rest = text.split(":")
    is_log = rest[2:] == ["log"]
    if not NAME.fullmatch(name) or len(rest) != 2 + is_log:
        raise ValueError(f"{text} is not NAME:LOW:HIGH or NAME:LOW:HIGH:log")
    try:
        low, high = (float(number) for number in rest[:2])
    except ValueError:
        raise ValueError(f"{text}: {rest[0]} and {rest[1]} must be numbers") from None
    if not 0.0 < high - low < math.inf:  # nor nan
        raise ValueError(f"{text}: the range must go up, from a number to a greater one")
    if is_log and low <= 0.0:
        raise ValueError(f"{text}: with log the range must begin above 0")
    if is_whole and not (low.is_integer() and high.is_integer()):
        raise ValueError(f"{text}: the range of whole numbers must begin and end with one")
    return Tunable(name, low, high, is_whole, is_log)


def read_words(text: str) -> Tunable:
    """Return the words of a text NAME:WORD,WORD,...; raises ValueError, naming what is wrong."""
    name, _, words = text.partition(":")
    choices = tuple(words.split(","))
    if not NAME.fullmatch(name) or len(choices) < 2 or "" in choices or len(set(choices)) < len(choices):
        raise ValueError(f"{text} is not NAME:WORD,WORD,... with two different words or more")
    return Tunable(name, words=choices)


def check_space(tunables: Sequence[Tunable], command: str) -> None:
    """Raise ValueError unless each tunable has its place in the command, and each place its tunable."""
    names, places = [tunable.name for tunable in tunables], set(PLACE.findall(command))
    if not names:
        raise ValueError("nothing varies: give --float, --int or --choice")
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{name} is given twice")
        if name not in places:
            raise ValueError(f"{name} has no place in --first: write {{{name}}} where its value belongs")
    for name in sorted(places - set(names)):
        raise ValueError(f"nothing says what may stand at {{{name}}} in --first: give --float {name}:LOW:HIGH")


def fill(command: str, values: dict[str, str]) -> str:
    """Return the command with the values in their places."""
    return PLACE.sub(lambda place: values[place[1]], command)
