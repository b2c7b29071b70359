"""Command lines of KataGo: `main.py gtp -model M -config F` and `main.py analysis …`, as programs start that engine.

They become options of main.py. From the configuration file and -override-config those settings are taken that
`kata-set-param` knows and main.py has an option for; everything else is named on stderr and has no effect.
"""

import os
import re
from collections.abc import Container, Iterator, Sequence
from pathlib import Path

from common.exit_status import ProgramError
from gtp.parameters import PARAMETERS

MODES = {"gtp": ("--analysis-json", "false"), "analysis": ("--analysis-json", "true")}
# KataGo's options that take a value but mean nothing here, by their names without dashes.
IGNORED_WITH_VALUE = ("analysis-threads", "human-model")
# KataGo's setting that main.py has an option for, of one mode alone.
WINRATES_SETTING = "reportAnalysisWinratesAs"
# How the command line asks for a player that may not resign.
NO_RESIGNING = ("--resign-threshold", "0.0")
SETTING = re.compile(r"\s*([A-Za-z0-9_.]+)\s*=\s*([^#\n]*)")
NEGATIVE = re.compile(r"-[0-9.]+")  # a value such as komi, no option
MAX_NAMED = 12  # unknown settings that a note names


class StartError(ProgramError):
    """A command line that cannot be translated; the text is one line."""


def translate_arguments(arguments: Sequence[str], known: Container[str]) -> tuple[list[str], list[str]]:
    """Return the arguments as main.py's own, whose names are `known`, and the notes for stderr; raises StartError.

    Arguments that do not begin with one of MODES, and those with two dashes, are left as they are.
    """
    if not arguments or arguments[0] not in MODES:
        return list(arguments), []
    translation = _Translation(arguments[0], arguments[1:], known)
    return [*MODES[arguments[0]], *translation.options], [
        f"Note: no effect here: {text}" for text in translation.unknown]


class _Translation:
    """Reads the arguments after the mode from left to right."""

    def __init__(self, mode: str, arguments: Sequence[str], known: Container[str]) -> None:
        self.options: list[str] = []
        self.unknown: list[str] = []
        self._mode, self._known = mode, known
        self._may_resign, self._end_of_settings = True, 0
        self._rest = list(arguments)
        while self._rest:
            self._take(self._rest.pop(0))
        if not self._may_resign:  # before what the command line says itself after the settings
            self.options[self._end_of_settings:self._end_of_settings] = NO_RESIGNING

    def _take(self, word: str) -> None:
        name, _, value = word.lstrip("-").partition("=")
        if name in ("model", "override-version"):
            self.options += [f"--{name}", value or self._value(word)]
        elif name == "config":
            path = value or self._value(word)
            self._set(f"of {path}", read_config(path))
        elif name == "override-config":
            self._set("of -override-config", read_settings((value or self._value(word)).split(",")))
        elif name in IGNORED_WITH_VALUE:
            self.unknown.append(f"{word} {self._value(word)}" if not value else word)
        elif word.startswith("--"):
            self.options.append(word)
            if self._rest and (not self._rest[0].startswith("-") or NEGATIVE.fullmatch(self._rest[0])):
                self.options.append(self._rest.pop(0))
        else:
            self.unknown.append(word)

    def _value(self, word: str) -> str:
        """Return the argument after `word`; raises StartError."""
        if not self._rest:
            raise StartError(f"{word} needs a value")
        return self._rest.pop(0)

    def _set(self, origin: str, settings: Iterator[tuple[str, str]]) -> None:
        """Take over the settings that have an option, note the others; raises StartError for an impossible value."""
        unknown = []
        for name, text in settings:
            if name == WINRATES_SETTING and self._mode == "analysis":
                self.options += ["--winrates-as", text]
                continue
            if name not in PARAMETERS:
                unknown.append(name)
                continue
            try:
                changes = PARAMETERS[name].read(text)
            except ValueError as error:
                raise StartError(f"{name} = {text} {origin}: {error}") from None
            self._may_resign = changes.pop("may_resign", self._may_resign)
            if not all(option in self._known for option in changes):
                unknown.append(name)
                continue
            for option, value in changes.items():
                if value is not None:
                    self.options += [f"--{option.replace('_', '-')}", str(value)]
        self._end_of_settings = len(self.options)
        if unknown:
            more = f" and {len(unknown) - MAX_NAMED} more" if len(unknown) > MAX_NAMED else ""
            self.unknown.append(f"{', '.join(unknown[:MAX_NAMED])}{more} {origin}")


def read_config(path: str) -> Iterator[tuple[str, str]]:
    """Return the settings of a configuration file; raises StartError for one that cannot be read."""
    try:
        lines = Path(os.path.expanduser(path)).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise StartError(f"cannot read the configuration {path}: {error.strerror or error}") from None
    return read_settings(lines)


def read_settings(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield name and value of each line `name = value`; comments and empty lines are skipped."""
    for line in lines:
        if match := SETTING.match(line):
            yield match[1], match[2].strip()
