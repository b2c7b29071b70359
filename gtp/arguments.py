"""Arguments of commands: text to color, point and number, or a GtpError."""

import math
import os
import re

from board.stone import Stone
from gtp.protocol import Command, GtpError

COLORS = {"b": Stone.BLACK, "black": Stone.BLACK, "w": Stone.WHITE, "white": Stone.WHITE}
INTEGER_PATTERN = re.compile(r"[+-]?[0-9]{1,10}")
MAX_INTEGER = 2**31 - 1


def to_file_name(text: str, windows: bool = os.name == "nt", old_encoding: str = "mbcs") -> str:
    """Return the name of a file of which a line of input tells (gtp/reader.py), as the system takes it.

    Where names are bytes, those that came in are the name, whatever the language. On Windows consoles and some programs
    write in an older encoding than UTF-8; raises ValueError where it is none of both.
    """
    data = text.encode("utf-8", "surrogateescape")
    if not windows:
        return os.fsdecode(data)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode(old_encoding)


def get_argument(command: Command, index: int, message: str) -> str:
    """Return an argument; raises GtpError with the message when it is missing."""
    if index >= len(command.args):
        raise GtpError(message)
    return command.args[index]


def get_color(command: Command, index: int = 0, message: str = "invalid color") -> Stone:
    """Return the color that an argument names."""
    color = COLORS.get(get_argument(command, index, message).lower())
    if color is None:
        raise GtpError(message)
    return color


def get_integer(command: Command, index: int, message: str) -> int:
    """Return a whole number of at most 31 bits."""
    text = get_argument(command, index, message)
    if not INTEGER_PATTERN.fullmatch(text) or abs(int(text)) > MAX_INTEGER:
        raise GtpError(message)
    return int(text)


def get_float(command: Command, index: int, message: str) -> float:
    """Return a finite number."""
    text = get_argument(command, index, message)
    try:
        value = float(text)
    except ValueError:
        raise GtpError(message) from None
    if not math.isfinite(value) or "_" in text:
        raise GtpError(message)
    return value
