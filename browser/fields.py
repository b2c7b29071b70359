"""Reading the fields of a message from a page; nothing in it is trusted."""

import base64
import json
from typing import Any


class MessageError(ValueError):
    """A message that cannot be understood; the text is one line."""


class MessageFields:
    """The fields of one message."""

    def __init__(self, text: str) -> None:
        """Take the message apart; raises MessageError unless it is an object of JSON."""
        try:
            content = json.loads(text)
        except (ValueError, RecursionError):
            raise MessageError("this is no message: it is not JSON") from None
        if not isinstance(content, dict):
            raise MessageError("this is no message: it is not an object")
        self._content = content

    def _get(self, name: str, default: Any) -> Any:
        """Return a field; raises MessageError where it is missing and there is no default."""
        value = self._content.get(name, default)
        if value is None:
            raise MessageError(f"the message has no {name}")
        return value

    def integer(self, name: str, low: int, high: int, default: int | None = None) -> int:
        """Return a whole number within bounds; raises MessageError."""
        value = self._get(name, default)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise MessageError(f"{name} must be a whole number from {low} to {high}")
        return value

    def number(self, name: str, low: float, high: float, default: float | None = None) -> float:
        """Return a number within bounds; raises MessageError."""
        value = self._get(name, default)
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise MessageError(f"{name} must be a number")
        if not low <= value <= high:  # neither are nan, the infinities and integers that no float can hold
            raise MessageError(f"{name} must be from {low:g} to {high:g}")
        return float(value)

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text; raises MessageError."""
        value = self._get(name, default)
        if not isinstance(value, str):
            raise MessageError(f"{name} must be a text")
        return value

    def has(self, name: str) -> bool:
        """Return whether a field is there."""
        return name in self._content

    def data(self, name: str) -> bytes:
        """Return bytes, which come as base64; raises MessageError."""
        try:
            return base64.b64decode(self.text(name), validate=True)
        except ValueError:
            raise MessageError(f"{name} must be base64") from None

    def choice(self, name: str, choices: tuple[str, ...], default: str | None = None) -> str:
        """Return one of some words; raises MessageError."""
        value = self.text(name, default)
        if value not in choices:
            raise MessageError(f"{name} must be one of {', '.join(choices)}")
        return value

    def flag(self, name: str, default: bool | None = None) -> bool:
        """Return true or false; raises MessageError."""
        value = self._get(name, default)
        if not isinstance(value, bool):
            raise MessageError(f"{name} must be true or false")
        return value

    def integers(self, name: str, most: int) -> list[int]:
        """Return a list of whole numbers, empty where it is missing; raises MessageError."""
        value = self._get(name, [])
        if (not isinstance(value, list) or len(value) > most
                or not all(isinstance(item, int) and not isinstance(item, bool) for item in value)):
            raise MessageError(f"{name} must be a list of at most {most} whole numbers")
        return value
