"""Running an entry script: whatever a user gets wrong is one line on stderr and a proper exit status."""

import math
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from common.exit_status import EXIT_OK, ProgramError, reason_of, status_of, status_of_stop
from common.print_console import accept_any_letter, print_err


class FiniteFloat(click.types.FloatParamType):
    """Any number but nan and the infinities."""

    name = "float"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number; raises BadParameter."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{number} is not a finite number", param, ctx)
        return number


class FiniteRange(FiniteFloat, click.FloatRange):
    """A finite number of a range; click.FloatRange alone lets nan pass."""


def was_given(name: str) -> bool:
    """Return whether an option of the command that runs stands on its command line."""
    return click.get_current_context().get_parameter_source(name) == ParameterSource.COMMANDLINE


class NamedFile(click.Path):
    """A file to write whose name tells its format: it ends in one of some suffixes."""

    def __init__(self, *suffixes: str) -> None:
        """Take the suffixes, such as ".svg"."""
        super().__init__(dir_okay=False, path_type=Path)
        self.suffixes = suffixes

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; raises BadParameter."""
        path = super().convert(value, param, ctx)
        if Path(str(path)).suffix not in self.suffixes:
            self.fail(f"{value}: the file to write must end in {' or '.join(self.suffixes)}", param, ctx)
        return path


def run_command(command: click.Command, name: str, arguments: Sequence[str] | None = None,
                speaks: bool = True) -> int:
    """Run a click command on the arguments, by default the program's, and return the exit status.

    A bad option is one line that begins with `name`, and status 2; so is whatever else ends the program (ProgramError,
    OSError), with its status. Ctrl-C is status 130, SIGTERM 143 where it is raised. Of several processes that do the
    same only one `speaks`.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    give_stderr()
    say = print_err if speaks else no_words
    accept_any_letter()
    try:
        status = command.main(arguments, prog_name=name, standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        say(error.format_message())
        return error.exit_code
    except click.ClickException as error:
        say(f"{name}: {' '.join(error.format_message().split())} (see {name} --help)")
        return error.exit_code
    except ProgramError as error:
        say(f"{name}: {error}")
        return error.status
    except OSError as error:
        say(f"{name}: {reason_of(error)}")
        return status_of(error)
    except click.Abort as stop:  # what click makes of them within a command
        return status_of_stop(stop.__cause__)
    except KeyboardInterrupt as stop:
        return status_of_stop(stop)
    return status if isinstance(status, int) else EXIT_OK


def give_stderr() -> None:
    """Where stderr was closed before the start, have what is written to it go nowhere: progress bars need one."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (for the rest of the program)


def no_words(*_: object) -> None:
    """Say nothing."""
