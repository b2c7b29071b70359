"""Commands run in this process, as their scripts run them, without the seconds that a new Python takes to start."""

import io
import subprocess
from contextlib import redirect_stderr, redirect_stdout

import click

from common.command_line import run_command


def run_in_process(command: click.Command, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command; return its exit status and what it printed."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            status = run_command(command, name, arguments)
        except SystemExit as error:
            status = int(error.code or 0)
    return subprocess.CompletedProcess(arguments, status, out.getvalue(), err.getvalue())
