"""Commands run in this process, as their scripts run them, without the seconds that a new Python takes to start."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from click.testing import CliRunner, Result

from common.command_line import run_command


class _Program:
    """A command as its script runs it."""

    def __init__(self, command: click.Command) -> None:
        self.name = Path(str(sys.modules[command.callback.__module__].__file__)).name
        self._command = command

    def main(self, args: Sequence[str], **_: Any) -> None:
        """Run it and end with its status."""
        sys.exit(run_command(self._command, self.name, list(args)))


class ProgramRunner(CliRunner):
    """Runs commands and tells what they printed; `Result.exit_code` is the status that the program would end with."""

    def invoke(self, command: click.Command, arguments: Sequence[str]) -> Result:  # type: ignore[override]
        """Run a command; whatever it does not catch is raised here."""
        return super().invoke(_Program(command), arguments, catch_exceptions=False)  # type: ignore[arg-type]


def run_in_process(command: click.Command, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command; return its exit status and what it printed."""
    result = ProgramRunner().invoke(command, arguments)
    return subprocess.CompletedProcess(arguments, result.exit_code, result.stdout, result.stderr)
