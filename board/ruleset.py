"""The rules of a game as one value; the board's size stays outside."""

import math
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from board.constant import DEFAULT_KOMI


class KoRule(Enum):
    """Which moves that repeat a position are illegal."""

    SIMPLE = "simple"  # retaking a single stone at once
    POSITIONAL = "positional"  # every repetition of a position (superko)
    SITUATIONAL = "situational"  # every repetition with the same side to move: known, not played


class Scoring(Enum):
    """What counts at the end."""

    AREA = "area"
    TERRITORY = "territory"  # known, not played


def format_komi(komi: float) -> str:
    """Return komi as text that tells it exactly, with neither an exponent nor needless digits."""
    return np.format_float_positional(komi, trim="-")


@dataclass(frozen=True)
class Rules:
    """What may be played and how it is counted.

    Raises ValueError, naming it, for a rule that this program cannot play: what exists can be played.
    """

    ko: KoRule = KoRule.SIMPLE
    suicide: bool = False
    scoring: Scoring = Scoring.AREA
    komi: float = DEFAULT_KOMI

    def __post_init__(self) -> None:
        """Refuse what cannot be played."""
        if self.ko is KoRule.SITUATIONAL:
            raise ValueError("situational superko cannot be played")
        if self.suicide:
            raise ValueError("suicide cannot be played")
        if self.scoring is not Scoring.AREA:
            raise ValueError(f"{self.scoring.value} scoring cannot be played")
        if not math.isfinite(self.komi):
            raise ValueError(f"komi {self.komi} is no number of points")

    @classmethod
    def of(cls, komi: float, superko: bool) -> "Rules":
        """Return area rules with positional superko, or with the simple ko alone."""
        return cls(KoRule.POSITIONAL if superko else KoRule.SIMPLE, komi=komi)

    @property
    def superko(self) -> bool:
        """Whether repetitions beyond the simple ko are illegal."""
        return self.ko is not KoRule.SIMPLE


class RulesFace:
    """The lecture's names for the rules of a board."""

    rules: Rules

    @property
    def komi(self) -> float:
        """The points given to White."""
        return self.rules.komi

    @komi.setter
    def komi(self, komi: float) -> None:
        self.rules = replace(self.rules, komi=komi)

    @property
    def check_superko(self) -> bool:
        """Whether moves that repeat a position are illegal."""
        return self.rules.superko

    @check_superko.setter
    def check_superko(self, check_superko: bool) -> None:
        self.rules = replace(self.rules, ko=Rules.of(self.rules.komi, check_superko).ko)

    def set_komi(self, komi: float) -> None:
        """Set the points given to White."""
        self.komi = komi

    def get_komi(self) -> float:
        """Return the points given to White."""
        return self.komi
