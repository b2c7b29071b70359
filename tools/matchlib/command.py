"""From the text of an engine's command line to the list that the system starts, without a shell."""

import os
import shlex
import shutil
import sys
from pathlib import Path

from gtp.engine_process import get_search_path
from program import PROGRAM_FOLDER
from tools.matchlib.errors import MatchError


def split_words(text: str, windows: bool = os.name == "nt") -> list[str]:
    """Return the words of a command line as a shell would, but on Windows, where backslashes stand between folders.

    Raises ValueError for quotes that do not end.
    """
    words = shlex.shlex(text, posix=True)
    words.whitespace_split, words.commenters = True, ""
    if windows:
        words.escape = ""
    return list(words)


def split_command(text: str) -> list[str]:
    """Split a command line and find its program.

    A first word ending in `.py` is a script: it runs under this Python and is looked up in the current directory
    first and beside the repository's programs second. `python` means this Python when the path has none.

    Args:
        text: Command line, quoted as for a shell; no shell ever sees it.

    Returns:
        The program's full path and its arguments.

    Raises:
        MatchError: The text is empty or badly quoted, or the program is not found.
    """
    try:
        words = split_words(text)
    except ValueError as error:
        raise MatchError(f"cannot split the engine command {text!r}: {error}") from error
    if not words:
        raise MatchError("the engine command is empty")
    program = words[0]
    if program.endswith(".py"):
        return [sys.executable, str(_find_script(program)), *words[1:]]
    found = shutil.which(program, path=get_search_path())
    if found is None and program in ("python", "python3"):
        found = sys.executable
    if found is None:
        raise MatchError(f"command not found: {program}")
    return [os.path.abspath(found), *words[1:]]


def _find_script(name: str) -> Path:
    """Return the full path of a Python script; raises MatchError when there is none."""
    for base in (Path.cwd(), PROGRAM_FOLDER):
        path = base / name
        if path.is_file():
            return path.resolve()
    raise MatchError(f"command not found: {name}")
