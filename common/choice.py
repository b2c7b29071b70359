"""What an environment variable chooses."""

import os
from collections.abc import Collection


def read_choice(variable: str, choices: Collection[str]) -> str:
    """Return which choice an environment variable names, "" where it is not set; raises ValueError for another one."""
    wanted = os.environ.get(variable, "")
    if wanted and wanted not in choices:
        raise ValueError(f"{variable}={wanted}: say {', '.join(choices)}")
    return wanted
