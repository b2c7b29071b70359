"""How many cores there are to use."""

import os
from pathlib import Path

import pytest

from common import cores


@pytest.mark.parametrize(("share", "expected"), [
    ("max 100000", 64), ("50000 100000", 1), ("200000 100000", 2), ("150000 100000", 2), ("9900000 100000", 64),
    ("", 64), (None, 64)])
def test_a_container_has_the_cores_that_it_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: str | None,
                                                     expected: int) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)), raising=False)
    monkeypatch.setattr(cores, "CONTAINER_SHARE", tmp_path / "cpu.max", raising=False)
    if share is not None:
        (tmp_path / "cpu.max").write_text(f"{share}\n")
    assert cores.count_usable_cores() == expected
