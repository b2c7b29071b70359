"""What ends a program that labels games: one line and a proper exit status each."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from common.exit_status import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_REFUSED
from common.print_console import print_err
from nn.data.data_file import DataError
from nn.model_file import ModelFileError
from tools.labellib.teacher import LabelError
from tools.matchlib.errors import MatchError


@contextmanager
def report_failures(program: str, place: Path) -> Iterator[None]:
    """End the program named where this block fails or is stopped; `place` is where it writes."""
    try:
        yield
    except (LabelError, DataError, MatchError, ModelFileError) as error:
        print_err(f"{program}: {error}")
        sys.exit(EXIT_REFUSED)
    except OSError as error:
        print_err(f"{program}: {error.strerror or error}: {error.filename or place}; what was labelled before is kept")
        sys.exit(EXIT_FAILED)
    except KeyboardInterrupt:
        print_err(f"{program}: stopped; the same command goes on from here")
        sys.exit(EXIT_INTERRUPTED)
