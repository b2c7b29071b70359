"""The only doors to the terminal: answers go to stdout, everything else to stderr."""

import sys
from contextlib import suppress


def print_out(*values: object) -> None:
    """Print to stdout at once; for GTP answers and the results of batch programs."""
    print(*values, file=sys.stdout, flush=True)


def print_err(*values: object) -> None:
    """Print to stderr at once; for diagnostics that a GTP controller must not read.

    Where they cannot be written, as on a full disk or without a stderr, they are lost, and nothing else.
    """
    if sys.stderr is None:  # closed before the start; print would take stdout instead
        return
    with suppress(OSError):
        sys.stderr.write(" ".join(map(str, values)) + "\n")  # in one piece: two threads may have something to say
        sys.stderr.flush()
