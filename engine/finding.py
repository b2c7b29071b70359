"""What the doctor's checks take and give."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.options import EngineOptions

OK, WARN, FAIL = "ok", "warn", "FAIL"
NAME_WIDTH = 14


@dataclass(frozen=True)
class Finding:
    """One line of the doctor's report."""

    level: str  # OK, WARN or FAIL
    name: str
    text: str

    def __str__(self) -> str:
        """Return the line."""
        return f"{self.level:<4}  {self.name:<{NAME_WIDTH}} {' '.join(self.text.split())}"


@dataclass(frozen=True)
class Patient:
    """What is examined: the options of the command line, and main.py."""

    options: EngineOptions
    program: Path

    @property
    def folder(self) -> Path:
        """The folder of the program."""
        return self.program.parent


Check = Callable[[Patient], Iterator[Finding]]
