"""A slow start is explained, a quick one is not."""
from __future__ import annotations

import threading

import pytest

from common import patience


def test_only_what_is_slow_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    heard = threading.Event()

    def say(line: str) -> None:
        said.append(line)
        heard.set()

    with patience.say_if_slow(say):
        pass
    monkeypatch.setattr(patience, "SLOW_SECONDS", 0.0)
    with patience.say_if_slow(say):
        assert heard.wait(60)
    assert said == [patience.SLOW_LINE]


def test_a_long_wait_is_said_again(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    heard = threading.Event()

    def say(line: str) -> None:
        said.append(line)
        if len(said) == 3:
            heard.set()

    monkeypatch.setattr(patience, "SLOW_SECONDS", 0.0)
    monkeypatch.setattr(patience, "REPEAT_SECONDS", 0.001)
    with patience.say_if_slow(say):
        assert heard.wait(60)
    assert said[1].startswith("Still loading after ")
