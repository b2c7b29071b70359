"""Printing, the command line, the kernel decorator: what every floor uses, and so the first thing that is imported.

That makes it the place to refuse a Python that cannot read the other files; this one is kept readable for old ones.
"""

from __future__ import annotations

import sys

OLDEST_PYTHON = (3, 11)


def complain_about_python(version: tuple[int, ...]) -> str:
    """Return what to do about a Python that is too old, "" for one that is not."""
    if version[:2] >= OLDEST_PYTHON:
        return ""
    needed, here = ".".join(map(str, OLDEST_PYTHON)), ".".join(map(str, version[:3]))
    return (f"Python {needed} or newer is needed, and this is {here}: install a newer one, then type "
            "`python3 -m venv .venv && .venv/bin/pip install -r requirements.txt` and start with .venv/bin/python")


if complaint := complain_about_python(sys.version_info[:3]):
    sys.exit(complaint)
